"""What tasks of Spark do with the states of a level; each has the code that expands."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from onceproof.model.search.states.claim_flags import REST, bit_of
from onceproof.spark_checks.engine.state_table import batch_of, columns, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from onceproof.model.search.native.portable import PortableExpander

    Words = NDArray[np.int64]
    Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

SUMMARY = "summary string"


@dataclass(frozen=True)
class Sought:
    """A state that is looked for in a level: where a flag is set, or not set."""

    name: str
    """The name of the question."""
    flag: int
    """The number of the flag; of a claim about steps the number of the claim."""
    wanted: bool = False
    """Whether a state is looked for in which the claim is true."""
    at_rest: bool = False
    """Whether only states of rest count."""
    of_steps: bool = False
    """Whether a step that breaks the claim is looked for, and the state before it."""


@dataclass
class LevelSummary:
    """What was seen as the states of a level were expanded."""

    generated: int = 0
    """How many steps there are, those that change nothing included."""
    taken: set[int] = field(default_factory=set)
    """The numbers of the events that change a state."""
    some: list[int] = field(default_factory=list)
    """The flags that are set in some state, as words."""
    found: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The least state for each question that one answers."""

    def add(self, other: LevelSummary) -> None:
        """Take in what was seen of other states."""
        self.generated += other.generated
        self.taken |= other.taken
        longer = max(len(self.some), len(other.some))
        mine, theirs = (
            [*words, *[0] * (longer - len(words))] for words in (self.some, other.some)
        )
        self.some = [a | b for a, b in zip(mine, theirs, strict=True)]
        for name, state in other.found.items():
            self.found[name] = min(self.found.get(name, state), state)

    @property
    def rested(self) -> bool:
        """Whether a state rests."""
        return self.has(REST)

    def has(self, flag: int) -> bool:
        """Return whether a flag is set in some state."""
        word, bit = bit_of(flag)
        return len(self.some) > word and self.some[word] >> bit & 1 == 1

    def as_json(self) -> str:
        """Write it as JSON."""
        return json.dumps(
            {
                "generated": self.generated,
                "taken": sorted(self.taken),
                "some": self.some,
                "found": {name: list(state) for name, state in self.found.items()},
            }
        )

    @classmethod
    def of_json(cls, text: str) -> LevelSummary:
        """Read it from JSON."""
        data: dict[str, Any] = json.loads(text)
        found = {name: tuple(state) for name, state in data["found"].items()}
        return cls(data["generated"], set(data["taken"]), data["some"], found)


def successors(expander: PortableExpander) -> Task:
    """Return a task that yields the successors of its states."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = columns(expander.words)
        for rows in function_of(batches, expander.words):
            for _, made in expander.pieces(rows):
                yield batch_of(made.states, names=names)

    return run


def summary(expander: PortableExpander, sought: Sequence[Sought]) -> Task:
    """Return a task that yields one summary of all its states."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen = LevelSummary()
        for rows in function_of(batches, expander.words):
            for piece, made in expander.pieces(rows):
                one = LevelSummary(
                    made.generated,
                    set(np.unique(made.events).tolist()),
                    np.bitwise_or.reduce(made.flags, axis=0).tolist(),
                )
                for what in sought:
                    state = _least(expander, what, piece, made.flags, made.broken)
                    if state is not None:
                        one.found[what.name] = state
                seen.add(one)
        yield pa.RecordBatch.from_arrays([pa.array([seen.as_json()])], ["summary"])

    return run


def holding(expander: PortableExpander, flag: int) -> Task:
    """Return a task that yields those of its states that rest and have a flag."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = columns(expander.words)
        for rows in function_of(batches, expander.words):
            for piece, made in expander.pieces(rows):
                good = _set(made.flags, REST) & _set(made.flags, flag)
                yield batch_of(piece[good], names=names)

    return run


def steps(expander: PortableExpander, events: Sequence[int]) -> Task:
    """Return a task that yields each step of its states by one of some events.

    The columns are those of the state before, and then those of the state after.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = step_columns(expander.words)
        for rows in function_of(batches, expander.words):
            for piece, made in expander.pieces(rows):
                chosen = np.isin(made.events, np.array(events, np.int64))
                before = piece[made.sources[chosen]]
                yield batch_of(before, made.states[chosen], names=names)

    return run


def step_columns(words: int) -> list[str]:
    """Name the columns of steps: the state before, and the state after."""
    return [*columns(words, prefix="before"), *columns(words)]


def predecessors(expander: PortableExpander, wanted: Sequence[int]) -> Task:
    """Return a task that yields each step into a state: the state before, the event."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = [*columns(expander.words), "event"]
        target = np.array(wanted, np.int64)
        for rows in function_of(batches, expander.words):
            for piece, made in expander.pieces(rows):
                hits = np.flatnonzero((made.states == target).all(axis=1))
                before = piece[made.sources[hits]]
                yield batch_of(before, made.events[hits], names=names)

    return run


def _least(
    expander: PortableExpander,
    what: Sought,
    rows: Words,
    flags: Words,
    broken: Words,
) -> tuple[int, ...] | None:
    """Return the least state that answers a question, or None."""
    if what.of_steps:
        if broken[what.flag, 0] < 0:
            return None
        # The code names the first such state only, and which is first is chance.
        chosen = [
            row
            for row in range(len(rows))
            if expander.expand(rows[row : row + 1]).broken[what.flag, 0] >= 0
        ]
        found = rows[chosen]
    else:
        hits = _set(flags, what.flag) == what.wanted
        if what.at_rest:
            hits = hits & _set(flags, REST)
        found = rows[hits]
    if not len(found):
        return None
    first = np.lexsort(found.T[::-1])[0]
    return tuple(int(word) for word in found[first])


def _set(flags: Words, number: int) -> NDArray[np.bool_]:
    word, bit = bit_of(number)
    found: NDArray[np.bool_] = flags[:, word] & (1 << bit) != 0
    return found
