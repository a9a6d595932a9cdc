"""The installed version of pytest has the names that the plugin uses."""

from __future__ import annotations

import os

from onceproof.spark_checks.pytest_plugin import pytest_internals


class Holder:
    """Something that is patched."""

    value = 1


def test_what_a_fixture_patched_can_be_listed(request, monkeypatch):
    """A version that keeps it otherwise fails here; a patched sink would be judged."""
    held = {"key": 1}
    monkeypatch.setattr(Holder, "value", 2)
    monkeypatch.setitem(held, "key", 2)
    monkeypatch.setenv("ONCEPROOF_TEST", "1")

    patch = pytest_internals.fixture_of(request.node, "monkeypatch")

    assert patch is monkeypatch
    assert pytest_internals.attributes_patched_by(patch) == [(Holder, "value")]
    found = pytest_internals.items_patched_by(patch)
    assert [(id(what), key) for what, key in found] == [
        (id(held), "key"),
        (id(os.environ), "ONCEPROOF_TEST"),
    ]


def test_a_section_that_was_added_can_be_taken_back(request):
    """A version that keeps them otherwise fails here."""
    item = request.node
    before = list(pytest_internals.sections_of(item))

    item.add_report_section("call", "onceproof", "a story")

    sections = pytest_internals.sections_of(item)
    assert sections == [*before, ("call", "onceproof", "a story")]
    sections[:] = before
    assert pytest_internals.sections_of(item) == before
