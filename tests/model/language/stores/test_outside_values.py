"""What a model's methods may not read: they depend on the state alone."""

from __future__ import annotations

import datetime as dt
import gc
import os
import random
import secrets
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import Protocol, action, always, state, when
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_search import check

if TYPE_CHECKING:
    from collections.abc import Callable

READ: dict[str, Callable[[], Any]] = {
    "time.time": time.time,
    "time.perf_counter_ns": time.perf_counter_ns,
    "time.gmtime": time.gmtime,
    "datetime.now": dt.datetime.now,
    "date.today": dt.date.today,
    "random.random": random.random,
    "random.choice": lambda: random.choice([1, 2]),
    "random of one's own": random.Random(3).random,
    "secrets": lambda: secrets.randbelow(5),
    "uuid4": uuid.uuid4,
    "os.urandom": lambda: os.urandom(1),
    "os.getpid": os.getpid,
}


class Reads(Protocol):
    """Asks something else than its state, in an action that never happens."""

    n = state(0, high=1)
    ask: Callable[[], Any]

    @action
    def go(self) -> None:
        """Ask, and forget the answer: two runs of it agree."""
        when(self.n > 0)
        type(self).ask()
        self.n = 1


class Claims(Reads):
    """The same in a claim."""

    @action
    def go(self) -> None:
        """Go."""
        self.n = 1

    @always
    def is_good(self) -> bool:
        """Asked, and not answered."""
        type(self).ask()
        return self.n < 2


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("kind", [Reads, Claims])
def test_what_is_read_from_outside_is_refused_even_if_it_has_no_effect(name, kind):
    protocol = type(kind.__name__, (kind,), {"ask": staticmethod(READ[name])})

    with pytest.raises(
        ModelError, match=r"depends on (chance|the time|the machine)"
    ) as e:
        check(protocol())

    assert e.value.where.startswith(f"{__file__}:")


def test_the_line_that_reads_is_named():
    protocol = type("Reads", (Reads,), {"ask": staticmethod(time.time)})
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()

    with pytest.raises(ModelError) as caught:
        trace(protocol())

    line = int(caught.value.where.rpartition(":")[2])
    assert lines[line - 1].strip() == "type(self).ask()"


def test_a_profiler_that_is_at_work_goes_on():
    seen = []
    protocol = type("Reads", (Reads,), {"ask": staticmethod(lambda: None)})

    sys.setprofile(lambda _, event, __: seen.append(event))
    try:
        trace(protocol())
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)

    assert len(seen) > 1000


def test_nothing_watches_afterwards():
    trace(type("Reads", (Reads,), {"ask": staticmethod(lambda: None)})())

    assert sys.getprofile() is None


def test_what_happens_as_garbage_is_collected_is_not_the_models_doing():
    gc.callbacks.append(clock := lambda *_: time.time())
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        system = trace(type("Reads", (Reads,), {"ask": staticmethod(lambda: [[]])})())
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(clock)

    assert system.fields
    assert gc.isenabled()
