"""Writes the page: ``python -m tests.docs.mistakes > docs/mistakes.md``."""

from __future__ import annotations

import sys

from onceproof.spark_checks.session.session_pool import Lab
from tests.docs.mistakes.page import Page

lab = Lab()
try:
    sys.stdout.write(Page(lab, sys.stderr.write).text())
finally:
    lab.close()
