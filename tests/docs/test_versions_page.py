"""The page of versions is what the replays on them came to."""

from __future__ import annotations

from tests.matrix.results import PAGE, PLUGIN, kept, outcomes, page, read

ONE = {
    "name": "one",
    "guarantees": {
        "durable": "held",
        "effectively-once": "refuted",
        "agreement": "undecided",
    },
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
    cell = "**not as stated**: effectively-once (undecided: agreement); 11 of 12"
    assert f"| `one` | — | {cell}, **1 drifted** |" in text


PRINTED = """
.F.
FAILED tests/test_it.py::test_a - 4 xfailed
===== 1 failed, 7 passed, 2 skipped, 9 deselected in 3.21s =====
"""


def test_the_plugin_has_a_row_of_its_own_below_the_sinks():
    """Tests that fail stand out, and a version that has not run them has a dash."""
    known = {
        "3.5.9": {PLUGIN: outcomes(PRINTED, 1)},
        "4.0.5": {PLUGIN: outcomes("9 passed, 1 skipped in 1s", 0)},
        "4.1.4": {PLUGIN: outcomes("no tests ran in 1s", 5)},
        "4.2.1": {},
    }

    last = page(known).strip().splitlines()[-1]

    cells = "**1 failed, 7 passed, 2 skipped** | 9 passed, 1 skipped"
    assert last == f"| {PLUGIN} | {cells} | **nothing ran** | — |"
    assert known["3.5.9"][PLUGIN]["failed"] == ["tests/test_it.py::test_a"]


def test_the_page_says_which_connectors_there_are():
    """A dash below a version that is not among them needs no other reason."""
    assert "delta 3.5, 4.0, 4.1, 4.2; " in page({})
