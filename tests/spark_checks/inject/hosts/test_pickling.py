"""What reaches another process: functions with the globals of their own module."""

from __future__ import annotations

import functools
import socket
import sys
import threading

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.hosts.pickling import pack, pack_build, unpack
from onceproof.spark_checks.inject.hosts.user_modules import (
    Finder,
    third_party,
    user_modules,
)

HELD = threading.local()
COUNT = [0]


def top(target):
    return target


def made(value):
    def build(target):
        COUNT[0] += 1
        return target, value, HELD

    return build


def test_a_function_of_a_module_is_named():
    """It arrives as what the module there holds."""
    assert unpack(pack(top)) is top


def test_a_local_function_has_the_globals_of_its_module():
    """Not copies of them: what cannot be copied may lie there, and state is shared."""
    found = unpack(pack(made(7)))
    before = COUNT[0]

    target, value, held = found("here")

    assert (target, value) == ("here", 7)
    assert held is HELD
    assert COUNT[0] == before + 1


def test_a_local_function_keeps_its_words():
    """Defaults, names, keywords and what is written on it."""

    def build(target, size=3, *, name="t"):
        """Builds."""
        return target, size, name

    build.note = "mine"

    found = unpack(pack(build))

    assert found("here") == ("here", 3, "t")
    assert (found.__qualname__, found.__doc__) == (build.__qualname__, "Builds.")
    assert found.note == "mine"


def test_a_lock_arrives_open():
    """A process that starts anew holds none."""
    lock = threading.Lock()
    lock.acquire()

    found = unpack(pack(made(lock)))

    assert not found("here")[1].locked()


@pytest.mark.parametrize("wrap", [lambda f: f, functools.partial])
def test_what_cannot_travel_is_named(wrap):
    """With where it is held, and what to do."""
    mine, other = socket.socketpair()
    with mine, other, pytest.raises(UsageError) as refused:
        pack_build(wrap(made(mine)), "test.py::orders")

    message = str(refused.value)
    assert message.startswith("test.py::orders cannot be run in a process of its own: ")
    assert "'value' of made.<locals>.build() is a socket.socket" in message
    assert "inside the function that builds the sink" in message


def test_a_module_is_found_in_the_file_it_had(tmp_path, monkeypatch):
    """Whatever it is called, and whatever lies above it."""
    (tmp_path / "orders.py").write_text("NAME = __name__\n")
    places = {"strange.names.orders": str(tmp_path / "orders.py")}
    monkeypatch.setattr(sys, "meta_path", [Finder(places), *sys.meta_path])

    found = __import__("strange.names.orders", fromlist=["NAME"])

    assert found.NAME == "strange.names.orders"
    for name in ("strange.names.orders", "strange.names", "strange"):
        del sys.modules[name]


def test_what_a_module_imports_is_read_off_its_text(tmp_path):
    """Through other modules of the user's, which are not among it."""
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("from shop import second\ndef f():\n    import polars\n")
    second.write_text("import deltalake.table as t\nfrom . import first\n")
    places = {
        "shop": f"{tmp_path}/",
        "shop.first": str(first),
        "shop.second": str(second),
    }

    found = third_party("shop.first", places)

    assert found == {"polars", "deltalake.table"}


def test_only_the_users_own_modules_are_told_of():
    """What is installed, and what is ours, is imported as it is anywhere."""
    found = user_modules()

    assert found[__name__] == __file__
    assert not {"pytest", "socket"} & set(found)
    assert not any(name.startswith("onceproof.") for name in found)
