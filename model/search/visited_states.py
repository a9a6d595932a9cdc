"""The reachable states of a system, packed, in the order of their discovery.

Levels are slices of that order, and a path to a state is worked out backwards, level
by level, without a table of parents. Memory grows with the states found.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.search.compiling.compiled import Compiled
from onceproof.model.search.native.expander import expander_ir, instances
from onceproof.model.search.states.claim_flags import FlagNumbers
from onceproof.model.search.states.expansions import Buffers, Expansion, Workspace
from onceproof.model.search.states.layout import Layout
from onceproof.model.search.states.packed_states import PackedStates
from onceproof.model.search.symmetry import Symmetry
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery

    Words = NDArray[np.int64]

_ROOM = 1 << 20


class VisitedStates:
    """The reachable states of a system, found so far, in order of discovery."""

    def __init__(
        self,
        system: System,
        questions: Sequence[SearchQuery] = (),
        *,
        symmetry: bool = False,
        conditions: Sequence[Term] = (),
        choosable: bool = False,
    ) -> None:
        """Compile the system; nothing is searched yet.

        With ``symmetry``, states that differ only in names are represented by one.
        ``conditions`` are flagged in each state as claims are; whoever reads these
        flags learns of every event, those of members in the same state included. With
        ``choosable`` it can be searched again without some of the faults.
        """
        self.system = system
        self.interpreter = Interpreter(system.protocol)
        self.layout = Layout(system.fields, system.sizes)
        # What claims about fair runs name is marked (see ``fairness/orbits.py``).
        terms = [q.term for q in questions if not q.lively]
        self.symmetry = Symmetry(system, self.layout, terms) if symmetry else None
        self.flags = FlagNumbers(
            [*(term for q in questions for term in q.terms), *conditions]
        )
        self.step_claims = [q for q in questions if q.when is Modality.STEP]
        began = time.perf_counter()
        width = self.layout.words
        # Only a state that stays as it is made can be sifted where it is made.
        self._sifting = width == 1 and self.symmetry is None and not conditions
        source = expander_ir(
            system,
            self.layout,
            self.flags.claims,
            [q.term for q in self.step_claims],
            None if conditions else self.symmetry,
            choosable=choosable,
            sifting=self._sifting,
        )
        self._choosable = choosable
        self._expand = Compiled(source, "expand")
        self.events = system.events()
        self._most = max(1, sum(instances(system, a) for a in system.actions))
        self._chunk = max(16, min(16384, _ROOM // (self._most * width)))
        self.forget()
        self._work.found.prepare()
        self.expand(0, 0)
        self.compile_seconds = time.perf_counter() - began

    def forget(self) -> None:
        """Go back to where nothing is searched, and every fault may happen."""
        width, flags = self.layout.words, self.flags.words
        actions = len(self.system.actions)
        self._work = Workspace(
            PackedStates(width, self.layout.bits),
            np.full((len(self.step_claims) + 1, 2), -1, np.int64),
            [np.ones(actions, np.int64)] if self._choosable else [],
            [
                Buffers(self._chunk, self._most, width, flags, len(self.events))
                for _ in range(2)
            ],
        )
        self.levels = [0]

    @property
    def broken(self) -> Words:
        """For each claim about steps the first row and successor that break it."""
        return self._work.broken

    def allow(self, faults: Collection[str]) -> None:
        """Search with these faults alone from now on; nothing is searched yet."""
        self.forget()
        (allowed,) = self._work.allowed
        allowed[:] = [not a.fault or a.name in faults for a in self.system.actions]

    def memory_for(self, coming: int) -> int:
        """Bytes held, at most, while so many rows are added: successors included."""
        buffers = sum(one.memory for one in self._work.buffers)
        return self._work.found.memory_for(coming) + buffers

    def full_with(self, coming: int) -> str:
        """Say why so many rows more may be more than can be held; else ""."""
        return self._work.found.full_with(coming)

    @property
    def states(self) -> Words:
        """The states found, in the first ``count`` rows."""
        return self._work.found.rows

    @property
    def count(self) -> int:
        """How many states were found."""
        return self._work.found.count

    def expand(self, lo: int, hi: int) -> Expansion:
        """Expand rows ``lo`` to ``hi``, at most a chunk; valid until the next call."""
        return self._counted(lo, hi)

    def _counted(self, lo: int, hi: int, states: Words | None = None) -> Expansion:
        (into, _), work = self._work.buffers, self._work
        made = self._expanded(lo, hi, into, work, states)
        into.count(alone=False)
        return made

    @property
    def most_rows(self) -> int:
        """How many rows can be expanded at once."""
        return self._chunk

    def expand_rows(self, rows: Words) -> Expansion:
        """Expand states that need not be in the graph; valid until the next call."""
        return self._counted(0, len(rows), np.ascontiguousarray(rows))

    def grow(self) -> bool:
        """Find the next level; answer whether there is anything in it."""
        for made in self.sweep(self.levels[-2], self.levels[-1], sifted=True):
            self.add(made.states)
        self.levels.append(self.count)
        return self.levels[-1] > self.levels[-2]

    def sweep(
        self, lo: int, hi: int, *, backwards: bool = False, sifted: bool = False
    ) -> Iterator[Expansion]:
        """Expand rows ``lo`` to ``hi`` piece by piece, a piece ahead of its reader.

        A piece is valid until the next is read. Whoever asks for ``sifted`` successors
        adds them all.
        """
        expand = self._sifted if sifted else self._expanded
        pieces = [(a, min(hi, a + self._chunk)) for a in range(lo, hi, self._chunk)]
        if backwards:
            pieces.reverse()
        work, alone = self._work, sifted and self._sifting
        if len(pieces) < 2:  # noqa: PLR2004 - nothing to do ahead
            for piece in pieces:
                made = expand(*piece, work.buffers[0], work)
                work.buffers[0].count(alone=alone)
                yield made
            return
        with ThreadPoolExecutor(1) as pool:
            work.found.beside = pool
            try:
                yield from self._ahead(pool, expand, pieces, work, alone=alone)
            finally:
                work.found.beside = None

    @staticmethod
    def _ahead(
        pool: ThreadPoolExecutor,
        expand: Callable[[int, int, Buffers, Workspace], Expansion],
        pieces: Sequence[tuple[int, int]],
        work: Workspace,
        *,
        alone: bool,
    ) -> Iterator[Expansion]:
        """Expand each piece while the reader has the one before it."""
        ready: tuple[Future[Expansion], Buffers] | None = None
        for (lo, hi), into in zip(pieces, cycle(work.buffers), strict=False):
            coming = pool.submit(expand, lo, hi, into, work), into
            if ready is not None:
                made = ready[0].result()
                ready[1].count(alone=alone)
                yield made
            ready = coming
        if ready is not None:
            made = ready[0].result()
            ready[1].count(alone=alone)
            yield made

    def _sifted(self, lo: int, hi: int, into: Buffers, work: Workspace) -> Expansion:
        if not self._sifting:
            made = self._expanded(lo, hi, into, work)
            made.states = work.found.sift(made.states)
            return made
        into.taken[:] = 0
        self._run(work.found.rows, lo, hi, into, work, sifting=True)
        made = self._of(lo, hi, into)
        made.events = np.flatnonzero(into.taken)
        work.found.touch_ahead()
        return made

    def _expanded(
        self,
        lo: int,
        hi: int,
        into: Buffers,
        work: Workspace,
        states: Words | None = None,
    ) -> Expansion:
        rows = work.found.rows if states is None else states
        self._run(rows, lo, hi, into, work)
        if self.symmetry is not None:
            self.symmetry.reduce(into.states, int(into.made[0]))
        return self._of(lo, hi, into)

    def _of(self, lo: int, hi: int, into: Buffers) -> Expansion:
        made, generated = (int(n) for n in into.made)
        return Expansion(
            lo,
            hi,
            into.states[:made],
            into.events[:made],
            into.sources[:made],
            self.flags.of(into.flags[: hi - lo]),
            generated,
        )

    def _run(
        self,
        states: Words,
        lo: int,
        hi: int,
        into: Buffers,
        work: Workspace,
        *,
        sifting: bool = False,
    ) -> None:
        recent = work.found.recent if sifting else None
        self._expand(
            states,
            lo,
            hi,
            into.states,
            into.events,
            into.sources,
            into.flags,
            work.broken,
            into.made,
            *work.allowed,
            *([recent, into.taken] if self._sifting else []),
        )

    def sift(self, rows: Words) -> Words:
        """Leave out rows that were sifted lately, in place. The others are added."""
        return self._work.found.sift(rows)

    def add(self, rows: Words) -> None:
        """Add those of ``rows`` that are new."""
        self._work.found.add(rows)

    def start(self) -> int:
        """Add the initial states; answer how many were generated."""
        found = [self.layout.pack(s) for s in self.interpreter.initial_states()]
        rows = np.array(found, np.int64).reshape(len(found), -1)
        if self.symmetry is not None:
            self.symmetry.reduce(rows, len(rows))
        self.add(rows)
        self.levels = [0, self.count]
        return len(rows)

    def slots(self, rows: Words) -> Words:
        """Return a number for each row, the same for the same state."""
        return self._work.found.slots(rows)

    @property
    def slot_count(self) -> int:
        """One more than the largest number that ``slots`` can answer."""
        return self._work.found.slot_count

    def edges(self) -> tuple[Words, Words, Words]:
        """Return all steps between the states found: sources, events, targets."""
        row_of = self.row_numbers()
        found = [
            (made.sources.copy(), made.events.copy(), row_of[self.slots(made.states)])
            for made in self.sweep(0, self.count)
        ]
        sources, events, targets = zip(*found, strict=True)
        return np.concatenate(sources), np.concatenate(events), np.concatenate(targets)

    def row_numbers(self) -> Words:
        """Return for each slot the row of its state; -1 where no state is."""
        found = np.full(self.slot_count, -1, np.int64)
        found[self.slots(self.states[: self.count])] = np.arange(self.count)
        return found

    def steps_without(self, taken: NDArray[np.bool_]) -> tuple[str, ...]:
        """Name the actions and faults that have no event among those ``taken``."""
        happened = {e.name for e, was in zip(self.events, taken, strict=True) if was}
        return tuple(name for name in self.interpreter.steps if name not in happened)

    def path_to(self, row: int) -> list[tuple[int, int]]:
        """Return a shortest path to a row: pairs of event number and row reached."""
        path: list[tuple[int, int]] = []
        while row >= self.levels[1]:
            level = next(i for i, end in enumerate(self.levels) if end > row) - 1
            event, source = self._into(row, level)
            path.append((event, row))
            row = source
        path.append((-1, row))
        return path[::-1]

    def _into(self, row: int, level: int) -> tuple[int, int]:
        wanted = self.states[row].copy()
        for made in self.sweep(self.levels[level - 1], self.levels[level]):
            hits = np.flatnonzero((made.states == wanted).all(axis=1))
            if len(hits):
                return int(made.events[hits[0]]), int(made.sources[hits[0]])
        message = f"state {row} has no predecessor"
        raise RuntimeError(message)

    def trace_to(self, row: int) -> Trace:
        """Return a shortest trace to a row, or to a state that it represents."""
        (_, first), *rest = self.path_to(row)
        state = self.layout.unpack(self.states[first].tolist())
        steps = []
        for event, at in rest:
            if self.symmetry is None:
                taken = self.events[event]
                after = self.layout.unpack(self.states[at].tolist())
            else:
                taken, after = self._step_towards(state, self.events[event].name, at)
            steps.append((taken, after))
            state = after
        return Trace(self.layout.unpack(self.states[first].tolist()), tuple(steps))

    def _step_towards(self, state: State, name: str, row: int) -> tuple[Event, State]:
        """Find the step of that name from a state to one that a row represents."""
        for event in self.events:
            after = self.interpreter.after(state, event) if event.name == name else None
            if after is None:
                continue
            packed = np.array([self.layout.pack(after)], np.int64)
            if self.symmetry is not None:
                self.symmetry.reduce(packed, 1)
            if (packed[0] == self.states[row]).all():
                return event, after
        message = f"no step leads to state {row}"
        raise RuntimeError(message)

    def trace_breaking(self, number: int) -> Trace:
        """Return a shortest trace whose last step breaks a claim of steps."""
        trace = self.trace_to(int(self.broken[number, 0]))
        last = np.array([self.layout.pack(trace.states[-1])], np.int64)
        self.broken[:] = -1
        made = self._work.buffers[0]
        self._run(last, 0, 1, made, self._work)
        successor = int(self.broken[number, 1])
        event = self.events[int(made.events[successor])]
        after = self.layout.unpack(made.states[successor].tolist())
        return Trace(trace.start, (*trace.steps, (event, after)))
