"""A patch of the test's process does not reach the sink, and is refused."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace
from unittest import mock

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.pytest_plugin import patched
from onceproof.spark_checks.pytest_plugin.patched import refuse_patches

TABLE = "orders"


@pytest.fixture
def item(request):
    return request.node


def test_what_monkeypatch_changes_is_refused_by_its_name(item, monkeypatch):
    """A module's variable, an entry of a dictionary, and a module."""
    monkeypatch.setattr(sys.modules[__name__], "TABLE", "test_orders")
    monkeypatch.setitem(vars(os), "onceproof_test", 1)
    monkeypatch.setitem(sys.modules, "onceproof_test", ModuleType("onceproof_test"))

    with pytest.raises(UsageError) as found:
        refuse_patches(item)

    message = str(found.value)
    assert "test_patched.TABLE" in message
    assert "['onceproof_test'] of a dict" in message
    assert "sys.modules['onceproof_test']" in message
    assert "monkeypatch.setenv" in message


def test_what_the_processes_share_may_be_patched(item, monkeypatch, tmp_path):
    """The environment, the working directory, and where modules are looked for."""
    monkeypatch.setenv("ORDERS_TABLE", "test_orders")
    monkeypatch.delenv("ORDERS_NONE", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)

    refuse_patches(item)


def test_a_patch_that_is_taken_back_is_none(item, monkeypatch):
    """What counts is what is patched when a sink is judged."""
    with monkeypatch.context() as inside:
        inside.setattr(sys.modules[__name__], "TABLE", "test_orders")
    monkeypatch.setattr(sys.modules[__name__], "TABLE", "test_orders")
    monkeypatch.undo()

    refuse_patches(item)


def test_a_mock_in_a_module_of_the_users_is_refused():
    """Whoever put it there."""
    with (
        mock.patch.object(patched, "user_modules", return_value={__name__: ""}),
        mock.patch(f"{__name__}.TABLE"),
        pytest.raises(UsageError, match=r"test_patched\.TABLE is patched"),
    ):
        refuse_patches(SimpleNamespace(fixturenames=()))
