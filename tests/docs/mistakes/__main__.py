"""Writes the page: ``python -m tests.docs.mistakes > docs/mistakes.md``."""

from __future__ import annotations

import sys

from onceproof.spark_checks.session.session_pool import SessionPool
from tests.docs.mistakes.page import Page

lab = SessionPool()
try:
    sys.stdout.write(Page(lab, sys.stderr.write).text())
finally:
    lab.close()
