"""Interleavings against all runs, listed one by one: no observable history is lost."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from tests.model.random_runs import Drawn, draw

MOST_STATES = 1_500
MOST_RUNS = 6_000


class TooManyError(Exception):
    """A protocol has more runs than a test has patience."""


class AllRuns:
    """Every run of a protocol, in plain Python, and what is observed of it."""

    def __init__(self, drawn: Drawn) -> None:
        """Search the states, then list the runs that end at rest after a fault."""
        self.drawn = drawn
        self.reference = Interpreter(drawn.protocol)
        self.sorts = {s.name: s.sorts for s in self.reference.steps.values()}
        self.steps = self._graph()
        keyed = [
            e
            for e in {e for out in self.steps.values() for e in out}
            if e.fault or e.name in drawn.writing
        ]
        self.keys = set(keyed)
        self.free = {
            (a, b) for a, b in itertools.permutations(keyed, 2) if self._commute(a, b)
        }
        self.runs = list(self._runs())

    def seen(self, at: Any) -> tuple[Any, ...]:
        """Give what endures of a state, or is observed, place by place."""
        return tuple(
            (f.path, place, value)
            for (f, place), value in zip(self.reference.places, at, strict=True)
            if f.path in self.drawn.seen
        )

    def _graph(self) -> dict[Any, dict[Any, Any]]:
        steps: dict[Any, dict[Any, Any]] = {}
        todo = list(self.reference.initial_states())
        while todo:
            now = todo.pop()
            if now in steps:
                continue
            steps[now] = {
                e: after for e, after in self.reference.successors(now) if after != now
            }
            todo += steps[now].values()
            if len(steps) > MOST_STATES:
                raise TooManyError
        return steps

    def _commute(self, a: Any, b: Any) -> bool:
        """Decide as the documentation says: looking at every state for both orders."""
        if {a.name, b.name} & self.drawn.crashes:
            return False
        met = False
        for out in self.steps.values():
            for one, other in ((a, b), (b, a)):
                if one not in out:
                    continue
                then = self.steps[out[one]]
                if other in then:
                    met = True
                    around = self.steps[out[other]] if other in out else {}
                    if around.get(one) != then[other]:
                        return False
                elif other in out:
                    return False
        return met

    def _runs(self) -> Any:
        found = 0
        todo: list[Any] = [(s, s, ()) for s in self.reference.initial_states()]
        while todo:
            start, now, run = todo.pop()
            out = self.steps[now]
            if any(e.fault for e, _, _ in run) and all(e.fault for e in out):
                found += 1
                if found > MOST_RUNS:
                    raise TooManyError
                yield start, now, run
            if len(run) > 30:
                raise TooManyError
            todo += [
                (start, after, (*run, (e, now, after))) for e, after in out.items()
            ]

    # What is observed ---------------------------------------------------------

    def history(self, start: Any, end: Any, run: Any) -> Any:
        """Say what those see who look when it begins, at each crash, and at rest."""
        looks = [
            ((e.name, e.members), self.seen(before), self.seen(after))
            for e, before, after in run
            if e.name in self.drawn.crashes
        ]
        return self._least((self.seen(start), tuple(looks), self.seen(end)), ())

    def kind(self, start: Any, end: Any, run: Any) -> Any:
        """Say of which class a run is: what is observed, and what has an order."""
        looks = [
            ((e.name, e.members), self.seen(before), self.seen(after))
            for e, before, after in run
            if e.name in self.drawn.crashes
        ]
        word = [
            (e, self._changed(before, after) if e.name in self.drawn.heeding else ())
            for e, before, after in run
            if e in self.keys
        ]
        return self._least((self.seen(start), tuple(looks), self.seen(end)), word)

    def _changed(self, before: Any, after: Any) -> tuple[Any, ...]:
        pairs = zip(self.seen(before), self.seen(after), strict=True)
        return tuple(new for old, new in pairs if old != new)

    def _least(self, seen: Any, word: Any) -> Any:
        """Give the least of all renamings of what was observed and of the word."""
        protocol = self.drawn.protocol
        (sort,) = [s for s in protocol.sizes if s.text == "thing"]
        ways = itertools.permutations(range(protocol.sizes[sort]))
        return min((self._renamed(seen, word, sort, way) for way in ways), key=repr)

    def _renamed(self, seen: Any, word: Any, sort: Any, renaming: Any) -> Any:
        of = {f.path: f.sorts for f in self.reference.fields}

        def members(at: tuple[int, ...], sorts: Any) -> tuple[int, ...]:
            return tuple(
                renaming[i] if s is sort else i for i, s in zip(at, sorts, strict=True)
            )

        def places(values: Any) -> Any:
            return tuple(sorted((p, members(at, of[p]), v) for p, at, v in values))

        def event(name: str, at: tuple[int, ...]) -> Any:
            return name, members(at, self.sorts[name])

        start, looks, end = seen
        found = (
            places(start),
            tuple((event(*e), places(a), places(b)) for e, a, b in looks),
            places(end),
        )
        letters = [(event(e.name, e.members), places(c)) for e, c in word]
        free = {
            (event(a.name, a.members), event(b.name, b.members)) for a, b in self.free
        }
        return found, _first(letters, free)


def _first(letters: list[Any], free: set[Any]) -> tuple[Any, ...]:
    """Give the first of all words that exchanges of free neighbours lead to."""
    left, found = list(letters), []
    while left:
        can = [
            i
            for i, (event, _) in enumerate(left)
            if all((before, event) in free for before, _ in left[:i])
        ]
        found.append(left.pop(min(can, key=lambda i: repr(left[i]))))
    return tuple(found)


def compare(drawn: Drawn) -> int:
    """Hold the classes against all runs; answer how many runs there are."""
    by_hand = AllRuns(drawn)
    expected = Counter(by_hand.kind(*run) for run in by_hand.runs)

    found = interleavings(drawn.protocol)

    steps = [
        (one.trace.start, one.trace.states[-1], _steps(one.trace))
        for one in found.classes
    ]
    assert {by_hand.history(*run) for run in by_hand.runs} == {
        by_hand.history(*run) for run in steps
    }
    assert found.crashes == {
        e.name for e in by_hand.reference.events() if e.name in drawn.crashes
    }
    sizes = {
        by_hand.kind(*run): one.size
        for run, one in zip(steps, found.classes, strict=True)
    }
    assert len(sizes) == len(found.classes)
    assert sizes == expected
    return len(by_hand.runs)


def _steps(trace: Any) -> tuple[Any, ...]:
    return tuple(
        (event, before, after)
        for event, before, after in zip(
            trace.events, trace.states, trace.states[1:], strict=False
        )
    )


BLOCK = 10


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, marks=[] if b < 4 else pytest.mark.grid) for b in range(60)],
)
def test_no_history_is_lost_and_none_is_listed_twice(block):
    """Classes are those of all runs, one by one: their histories, words and sizes."""
    listed = 0
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        try:
            runs = compare(draw(seed))
        except TooManyError:
            continue
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
        listed += runs > 1

    assert listed >= BLOCK // 3
