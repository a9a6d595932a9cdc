"""The page of versions is what the replays on them came to."""

from __future__ import annotations

from tests.matrix.results import PAGE, kept, page, read

ONE = {
    "name": "one",
    "guarantees": {"durable": "held", "effectively-once": "refuted"},
    "interleavings": 12,
    "replayed": 11,
    "drift": 1,
    "as_stated": False,
    "seconds": 3.5,
}


def test_the_page_is_what_its_results_come_to():
    assert PAGE.read_text(encoding="utf-8") == page(read())


def test_what_is_not_as_stated_stands_out_and_what_cannot_run_is_a_dash():
    text = page({"3.5.9": {}, "4.1.4": kept([ONE])})

    assert "| sink | 3.5.9 | 4.1.4 |" in text
    cell = "**not as stated**: effectively-once; 11 of 12, **1 drifted**"
    assert f"| `one` | — | {cell} |" in text
