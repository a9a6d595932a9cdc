"""Writes the page: ``python -m tests.docs.mistakes > docs/mistakes.md``."""

from __future__ import annotations

import sys

from onceproof.spark_checks.session.session_pool import SessionPool
from tests.docs.mistakes.page import Page

pool = SessionPool()
try:
    sys.stdout.write(Page(pool, sys.stderr.write).text())
finally:
    pool.close()
