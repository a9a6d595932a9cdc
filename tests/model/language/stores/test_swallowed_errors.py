"""What a model hides from the trace is refused, though no sampled state shows it.

Each model here breaks its claim in one state of a thousand, in plain Python alone.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import random
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    always,
    if_else,
    not_,
    processes,
    state,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_search import check, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

RARE = 777
MOST = 1000


def _branch(n: Any) -> bool:
    try:
        if n == RARE:
            return True
    except Exception:  # noqa: BLE001 - it is what a model may not do
        pass
    return False


def _suppressed(n: Any) -> bool:
    with contextlib.suppress(Exception):
        return n in (RARE,)  # noqa: FURB171 - `in` is what is hidden
    return False


def _looked_up(n: Any) -> bool:
    try:
        return {RARE: True}[n]
    except Exception:  # noqa: BLE001 - it is what a model may not do
        return False


def _as_text(n: Any) -> bool:
    return {str(RARE): True}.get(str(n), False)


def _formatted(n: Any) -> bool:
    return f"{n}" == str(RARE)


def _kind(n: Any) -> bool:
    return isinstance(n, int) and n == RARE


def _either_kind(n: Any) -> bool:
    return isinstance(n, int | str) and n == RARE


def _matched(n: Any) -> bool:
    match n:
        case int():
            return n == RARE
    return False


def _attribute(n: Any) -> bool:
    return getattr(n, "real", 0) == RARE


def _exact_kind(n: Any) -> bool:
    return type(n) == int and n == RARE  # noqa: E721 - it is what is hidden


def _named_kind(n: Any) -> bool:
    return type(n).__name__ == "int" and n == RARE


def _shown(n: Any) -> bool:
    return repr(n) == str(RARE)


def _listed(n: Any) -> bool:
    return str([n]) == f"[{RARE}]"


def _has_attribute(n: Any) -> bool:
    return hasattr(n, "__round__") and n == RARE


def _no_term(n: Any) -> bool:
    return getattr(n, "term", None) is None and n == RARE


def _identical(n: Any) -> bool:
    return operator.is_(n == RARE, True)


@functools.singledispatch
def _dispatched(n: Any) -> bool:
    return False


@_dispatched.register
def _(n: int) -> bool:
    return n == RARE


HIDING = [
    _branch,
    _suppressed,
    _looked_up,
    _as_text,
    _formatted,
    _kind,
    _either_kind,
    _matched,
    _attribute,
    _exact_kind,
    _named_kind,
    _shown,
    _listed,
    _has_attribute,
    _no_term,
    _identical,
    _dispatched,
]


def _counting(hides: Callable[[Any], bool]) -> type[Protocol]:
    class Counting(Protocol):
        """Counts, and does something else once."""

        n = state(0, high=MOST)
        bad = state(False)

        @action
        def count_on(self) -> None:
            """Count."""
            when(self.n < MOST)
            self.n = self.n + 1
            self.bad = hides(self.n)

        @always
        def is_good(self) -> bool:
            """It never happens."""
            return not_(self.bad)

    return Counting


def _claiming(hides: Callable[[Any], bool]) -> type[Protocol]:
    class Claiming(Protocol):
        """Counts; what is hidden is in the claim."""

        n = state(0, high=MOST)

        @action
        def count_on(self) -> None:
            """Count."""
            when(self.n < MOST)
            self.n = self.n + 1

        @always
        def is_good(self) -> bool:
            """It never happens."""
            return not_(hides(self.n))

    return Claiming


@pytest.mark.parametrize("make", [_counting, _claiming])
@pytest.mark.parametrize("hides", HIDING, ids=lambda h: h.__name__)
def test_what_is_hidden_from_the_trace_is_refused(
    make: Callable[..., type[Protocol]], hides: Callable[[Any], bool]
) -> None:
    with pytest.raises(ModelError, match=r"test_swallowed_errors\.py:\d+: "):
        check(make(hides)())


class Far(Protocol):
    """Counts, and goes wrong by its type, after more steps than are sampled."""

    n = state(0, high=60)
    bad = state(False)

    @action
    def count_on(self) -> None:
        """Count."""
        when(self.n < 60)
        self.n = self.n + 1
        self.bad = if_else(self.n == 50, type(self.n) == int, False)  # noqa: E721


def test_random_walks_are_compared_with_plain_python_as_well() -> None:
    """However short the walks are that are asked for."""
    with pytest.raises(ModelError, match="as it was traced"):
        simulate(Far(), walks=1, depth=1, seed=0)


class CaughtGuard(Protocol):
    """Counts; what the guard ends is caught."""

    n = state(0, high=MOST)
    bad = state(False)

    @action
    def count_on(self) -> None:
        """Count, or note that there is nothing more to count."""
        try:
            when(self.n < RARE)
        except Exception:  # noqa: BLE001 - it is what a model may not do
            self.bad = True
            return
        self.n = self.n + 1


class SuppressedWait(Protocol):
    """What the language itself waits for is caught."""

    P = Sort("process")
    proc = processes(P, crashes=1)
    n = state(0, high=MOST)

    @action(per=P)
    def back(self, p: Member) -> None:
        """Restart, or not."""
        with contextlib.suppress(Exception):
            self.proc.restart(p)
        self.n = 1


@pytest.mark.parametrize("kind", [CaughtGuard, SuppressedWait])
def test_a_guard_that_may_be_caught_is_refused(kind: type[Protocol]) -> None:
    with pytest.raises(ModelError, match="inside of `try` or `with`"):
        trace(kind())


class Outside(Protocol):
    """A guard beside a block that catches is a guard."""

    n = state(0, high=MOST)

    @action
    def count_on(self) -> None:
        """Count."""
        with contextlib.suppress(KeyError):
            most = {"most": MOST}["least"]
        most = MOST
        when(self.n < most)
        self.n = self.n + 1


def test_a_guard_outside_of_what_catches_is_none_that_is_caught() -> None:
    assert trace(Outside()).actions


class ByChance(Protocol):
    """Does something else now and then."""

    n = state(0, high=MOST)

    @action
    def count_on(self) -> None:
        """Count."""
        when(self.n < MOST - 1)
        self.n = self.n + (2 if random.random() < 1e-9 else 1)

    @always
    def is_good(self) -> bool:
        """Chance decides."""
        return random.random() >= 0


class ClaimByChance(Protocol):
    """Claims something else now and then."""

    n = state(0, high=1)

    @action
    def go(self) -> None:
        """Go."""
        self.n = 1

    @always
    def is_good(self) -> bool:
        """Chance decides."""
        return random.random() > 1e-9


@pytest.mark.parametrize("kind", [ByChance, ClaimByChance])
def test_chance_is_refused_however_rarely_it_shows(kind: type[Protocol]) -> None:
    with pytest.raises(ModelError, match="depends on chance"):
        check(kind())


class Grown(Protocol):
    """Changes its class as it runs."""

    n = state(0, high=1)
    by = 1

    @action
    def go(self) -> None:
        """Go once, then never."""
        type(self).by = 0
        self.n = self.by


class Heir(Grown):
    """Hides what its base class has."""


@pytest.mark.parametrize("kind", [Grown, Heir])
def test_an_attribute_of_a_class_that_a_step_changes_is_refused(
    kind: type[Protocol],
) -> None:
    by = Grown.by
    try:
        with pytest.raises(ModelError, match="by is no state of the model"):
            trace(kind())
    finally:
        Grown.by = by
        if "by" in vars(Heir):
            del Heir.by
