"""The page of a reconciliation: what is wrong comes first, and nothing runs in it."""

from __future__ import annotations

import re

import pytest

from onceproof.spark_checks.reconcile import page
from onceproof.spark_checks.reconcile.page import page_of
from onceproof.spark_checks.reconcile.request import Pair
from tests.spark_checks.reconcile.counted import READ, outcome, reconciled

WELL, LOST = outcome("1"), outcome("2", visible=0, events=3)


def texts(shown, kind="td"):
    """The cells of a page, without what marks them."""
    found = re.findall(rf"<{kind}[^>]*>(.*?)</{kind}>", shown)
    return [re.sub(r"<[^>]*>", "", one) for one in found]


@pytest.mark.parametrize(
    ("outcomes", "headline"),
    [
        ([WELL], "at-most-once, at-least-once, effectively-once, sums-agree held for "),
        ([WELL, LOST], "Not effectively-once: 3 missing"),
        ([outcome(visible=2)], "Not effectively-once: 10 duplicated"),
        ([outcome(sources=2)], "Undecided: 10 keys belong to more than one row"),
        ([outcome(owed=False)], "Not tested: at-least-once, effectively-once"),
    ],
)
def test_the_title_is_the_verdict(outcomes, headline):
    """Nothing but held is shown as what holds."""
    found = reconciled(*outcomes)

    shown = page_of(found, READ)

    assert texts(shown, "h1")[0].startswith(headline)
    assert ('<h1 class="holds">' in shown) == found.holds


def test_groups_with_something_wrong_come_first_and_the_others_are_folded():
    """Who reads of an incident looks for these."""
    shown = page_of(reconciled(WELL, LOST, outcome("3")), READ)

    listed, folded = shown.split("<details>")
    assert "Something is wrong in 1 of 3 groups." in listed
    assert "2" in texts(listed)
    assert [n for n in texts(folded) if n in {"1", "3"}] == ["1", "3"]
    assert "The 2 groups without a fault" in folded


def test_groups_beyond_the_most_are_counted(monkeypatch):
    """What is not listed is stated."""
    monkeypatch.setattr(page, "MOST_GROUPS", 2)
    wrong = [outcome(str(n), visible=0) for n in range(5)]

    assert "3 more are not on this page" in page_of(reconciled(*wrong), READ)


ODD = "<script>alert(1)</script>**b** `c` \u202e\x1b[31m & \"q\" 'p'"


def test_a_key_is_shown_letter_by_letter_and_cannot_run():
    """Markup is escaped, what does not print is spelled, and no stars become bold."""
    examples = {"missing": ({"id": ODD, "part": None}, {"id": "", "part": "null"})}

    shown = page_of(reconciled(WELL, outcome(ODD, visible=0), examples=examples), READ)

    assert "<script" not in shown
    assert "<strong>" not in shown
    assert "\x1b" not in shown
    assert "**b** `c` \\u202e\\x1b[31m &amp;" in shown
    cells = texts(shown)
    assert "empty text" in cells
    assert shown.count("<em class='quiet'>null</em>") == 1


def test_it_says_what_was_read_and_when_and_how_that_is_repeated():
    """Times are those of UTC, and the policy lets nothing be loaded."""
    late = reconciled(WELL, sums=(), time=Pair("at", "at"), until="2026-01-31")

    shown = page_of(late, READ)

    for text in (
        "jdbc:postgresql://host/db; dbtable=payments",
        "2026-02-01T03:04:05Z to 2026-02-01T03:05:06Z",
        "at &lt;= 2026-01-31",
        "onceproof reconcile --source parquet:landing --key id",
        "Spark 4.1.4",
    ):
        assert text in shown
    assert "default-src &#x27;none&#x27;" in shown or "default-src 'none'" in shown
    assert "src=" not in shown
    assert "href=" not in shown
