"""A file is replayed with the settings that it holds, whatever its test asks now."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.report.stored_settings import as_stored

SHOP = "postgresql://me:secret@host/shop"
HIDDEN = "postgresql://me@host/shop"
THEN = RequestingTest(
    "test_shop.py::test_shop",
    ("order",),
    (SHOP,),
    (EFFECTIVELY_ONCE,),
    ("shop_tools",),
)


def file_of(test, **without):
    options = test.to_json()
    for name in without:
        del options[name]
    return SimpleNamespace(options=options)


def test_a_test_that_did_not_change_is_replayed_as_it_is():
    """With the places as it names them: the file has no password."""
    found, sentence = as_stored(THEN, file_of(THEN))

    assert found == THEN
    assert sentence == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key": ("item",)}, "key=order (now item)"),
        ({"key": ()}, "key=order (now none)"),
        ({"code": ("-shop_tools", "x")}, "code=shop_tools (now -shop_tools, x)"),
        (
            {"claims": (RECOVERABLE,)},
            "guarantees=effectively-once (now recoverable)",
        ),
    ],
)
def test_the_files_own_options_are_used_and_the_difference_is_reported(change, words):
    """In one sentence, with what the test asks for now."""
    now = RequestingTest(**{**vars(THEN), **change})

    found, sentence = as_stored(now, file_of(THEN))

    assert found == THEN
    assert sentence == f"replayed with the file's own {words}"


def test_a_place_is_granted_by_the_test_alone():
    """A file that was sent along lets no sink write where its test would not."""
    now = RequestingTest(**{**vars(THEN), "allow": ()})

    found, sentence = as_stored(now, file_of(THEN))

    assert found.allow == ()
    assert "secret" not in sentence
    assert sentence.count("without") == 1
    assert sentence.endswith("which the test does not allow")


def test_a_place_that_the_file_does_not_name_is_not_granted():
    """The sink was judged without it."""
    now = RequestingTest(**{**vars(THEN), "allow": (SHOP, "/data/new")})

    found, sentence = as_stored(now, file_of(THEN))

    assert found.allow == (SHOP,)
    assert "/data/new" in sentence


def test_what_an_older_file_does_not_hold_is_taken_from_the_test():
    """There is nothing else to go by."""
    now = RequestingTest(**{**vars(THEN), "key": ("item",), "code": ()})

    found, sentence = as_stored(now, file_of(THEN, key=1, code=1))

    assert found == now
    assert sentence == ""
