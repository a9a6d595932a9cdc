"""Writes the page: ``python -m tests.docs.mistakes > docs/mistakes.md``."""

from __future__ import annotations

import sys

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session.session_pool import SessionPool
from tests.docs.mistakes.page import Page

pool = SessionPool(ENTRY_POINTS)
try:
    sys.stdout.write(Page(pool, sys.stderr.write).text())
finally:
    pool.close()
