"""The page of mistakes shows what comes out of real runs."""

from __future__ import annotations

import pytest

from tests.docs.mistakes import foreach_batch
from tests.docs.mistakes.page import FAMILIES, Page, page_path

pytestmark = pytest.mark.spark


@pytest.mark.grid
def test_the_page_is_what_its_sinks_come_to(pool):
    """Every figure of it comes from a run: a fresh one gives the same page."""
    shown = page_path().read_text(encoding="utf-8")

    fresh = Page(pool).text()

    assert shown == fresh
    assert sum(map(len, FAMILIES.values())) >= 10


@pytest.mark.grid
@pytest.mark.parametrize("mistakes", [foreach_batch.MISTAKES])
def test_an_append_and_its_mend_come_out_as_the_page_has_it(pool, mistakes):
    """The first mistake of a family, judged anew, has its row on the page."""
    shown = page_path().read_text(encoding="utf-8")

    row = Page(pool).row(mistakes[0])

    assert row in shown
    assert "It holds" in row
