"""What a module makes as it is imported is made anew in a process that starts again."""

from __future__ import annotations

import importlib
import sys

import pytest

from onceproof.spark_checks.inject.hosts import made_at_import

MODULE = """
import datetime, functools, itertools, random, threading, uuid
import numpy

NAME = "orders"
RUN = uuid.uuid4()
TIMES = {"start": [datetime.datetime.now(), 1]}
SEEN = set()
LOCK = threading.Lock()
RANDOM = random.Random()
NUMPY = numpy.random.default_rng()
SEEDED = numpy.random.default_rng(7)
NUMBERS = itertools.count()


@functools.cache
def run_id():
    return uuid.uuid4()


class Config:
    table = "t"
    run = uuid.uuid4().hex

    def __init__(self):
        self.own = uuid.uuid4().hex
        self.lock = LOCK


CONFIG = Config()


def write(batch, run=uuid.uuid4().hex, *, at=uuid.uuid4().int):
    return run, at
"""
ANEW = {
    ("orders_made", "RUN", ""),
    ("orders_made", "RANDOM", ""),
    ("orders_made", "NUMPY", ""),
    ("orders_made", "TIMES", ""),
    ("orders_made", "Config", "run"),
    ("orders_made", "CONFIG", "own"),
    ("orders_made", "write", "__defaults__"),
    ("orders_made", "write", "__kwdefaults__"),
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Import a module twice: as it is here, and as another process would have it."""
    (tmp_path / "orders_made.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    other = made_at_import.of_another_import(["orders_made"])
    del sys.modules["orders_made"]
    module = importlib.import_module("orders_made")
    yield module, made_at_import.of_modules(["orders_made"]), other
    del sys.modules["orders_made"]


def test_each_kind_of_value_that_is_made_anew_is_found(made):
    """What is the same in each import is no such value, and what is no data neither."""
    _, first, other = made

    anew = {
        key
        for key, value in first.items()
        if not made_at_import.same(other[key], value)
    }

    assert anew == ANEW
    assert ("orders_made", "NAME", "") in first
    assert not {key[1] for key in first} & {"LOCK", "NUMBERS"}


def test_a_restarted_process_has_what_another_import_made(made):
    module, first, other = made
    text = made_at_import.text_of(other)

    made_at_import.renew(first, made_at_import.values_of(text))

    assert other["orders_made", "RUN", ""] == module.RUN
    assert other["orders_made", "TIMES", ""] == module.TIMES
    assert module.Config.run == other["orders_made", "Config", "run"]
    assert module.CONFIG.own == other["orders_made", "CONFIG", "own"]
    assert module.write(None) == (
        *other["orders_made", "write", "__defaults__"],
        other["orders_made", "write", "__kwdefaults__"]["at"],
    )


def test_what_the_code_has_set_since_stays(made):
    """It is what building the sink has left, and no import makes it."""
    module, first, other = made
    module.RUN = "chosen"
    module.SEEN.add("a")

    made_at_import.renew(first, other)

    assert ("chosen", {"a"}) == (module.RUN, module.SEEN)


def test_what_another_import_has_not_is_left_alone(made):
    module, first, other = made
    run = module.RUN
    del other["orders_made", "RUN", ""]

    made_at_import.renew(first, other)

    assert module.RUN is run


def test_a_restarted_process_remembers_no_result_of_a_function(made):
    """A function that is cached makes its value again."""
    module, first, other = made
    run = module.run_id()

    made_at_import.renew(first, other)

    assert module.run_id() != run
