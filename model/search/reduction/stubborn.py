"""Stubborn sets: the events of a state that a search has to follow.

A *stubborn set* S of a state s is a set of events with this property (D1): of each
path from s whose last event is in S and whose other events are not, the last event can
be moved to the front, and the path still ends in the same state. Events count only
where they change the state, so "enabled" here means: the guard holds, and something
changes. Valmari's closure gives such sets:

1. An event of S that is enabled in s accords with every event outside of S: wherever
   both are enabled they commute, and neither disables the other. ``accord`` derives
   this from what they read and write, and from guards that exclude each other.
2. For an event of S that is not enabled in s, S has every event that may enable it: if
   a part of the guard is false, all that may make this part true; if the guard holds
   and nothing would change, all that write what the event reads or writes.

Proof of D1, for a path b1 ... bn a with a in S and no b in S. If a were not enabled in
s, some b would have enabled it, against 2. So a is enabled in s, and accords with b1:
it is enabled after b1 as well, and b1 after a, with the same result. Repeat for
b2 ... bn.

The search follows the events of S alone. It keeps every question that it is used for
because S is, besides, chosen for *goals*: states that settle a question. For a goal g
of s that is not s itself, S meets every path from s to g:

- The goal is that a claim is false (``always``) or true (``sometimes``). Write the
  claim that holds until then as clauses. For each clause S has all events that may
  falsify one of its literals that is true in s. A path to a goal falsifies a whole
  clause, this literal too, so it has an event of S. If no event of S is enabled, no
  goal can be reached from s.
- The goal is any state of rest, where no action is enabled (faults may be). If s rests,
  all its events are followed. If not, S has an action a that is enabled in s. At rest a
  is disabled, and by 1 only an event of S disables it: so a path has an event of S.

Claim: if a goal is n steps away from s, the reduced search reaches a goal of the same
question from s in n steps. For n = 0 there is nothing to show. Else the path has a
first event x in S; by D1 it can be moved to the front, and the goal is n - 1 steps from
the state after x, which the reduced search visits. So shortest counterexamples keep
their length, and no proviso about cycles is needed: each step that is followed brings
some goal nearer. A question that is settled needs no goals any more.

Symmetry can be used at the same time: goals are closed under renaming, so the distance
to the nearest one is that of every state of an orbit, and the step x from the
representative leads to an orbit that is one step nearer. S is computed for the
representative; all its events must be known, so members in the same state all act.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.terms import terms as t
from onceproof.model.search.reduction.closure import SET_BITS, keep_rows
from onceproof.model.search.reduction.footprints import Footprints, accord
from onceproof.model.search.reduction.goals import clauses
from onceproof.model.search.states.claim_flags import bit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.claim_flags import FlagNumbers
    from onceproof.model.search.states.expansions import Expansion

    Words = NDArray[np.int64]

_MOST = 20_000


class Reduction:
    """What a system's stubborn sets are computed from, worked out once."""

    def __init__(self, system: System, questions: Sequence[SearchQuery]) -> None:
        """Derive from the terms which events accord, and which enable which."""
        self._prints = Footprints(system)
        self._events = self._prints.events()
        self._questions = list(questions)
        self._goals = [(q, self._clauses(q)) for q in questions if not _of_rest(q)]

    def _clauses(self, question: SearchQuery) -> list[tuple[t.Term, ...]]:
        ground = self._prints.ground(question.term)
        return clauses(ground, holds=question.when is not Modality.SOMETIMES)

    @property
    def rest(self) -> bool:
        """Whether a question asks of states of rest."""
        return any(map(_of_rest, self._questions))

    @property
    def conditions(self) -> list[t.Term]:
        """The claims whose truth in a state decides what can be left out there."""
        found: dict[t.Term, None] = {}
        for event in self._events:
            found.update(dict.fromkeys(event.conditions))
        for _, all_clauses in self._goals:
            for clause in all_clauses:
                found.update(dict.fromkeys(clause))
        return list(found)

    @property
    def too_large(self) -> str:
        """Why the conditions are too many to be worked out in each state; else ""."""
        number = len(self.conditions)
        if number <= _MOST:
            return ""
        return (
            f"it would look at {number:,} conditions in each state, {_MOST:,} at most"
        )

    def tables(self, flags: FlagNumbers) -> _Tables:
        """Lay out what the native code reads; conditions are found by their flags."""
        return _Tables(
            self._conflicts(),
            self._writers(),
            self._guards(flags),
            [(q, self._falsifiers(c, flags)) for q, c in self._goals],
            self._set(not e.fault for e in self._events),
            rest=self.rest,
        )

    def _set(self, members: Iterable[bool]) -> Words:
        """Pack a set of events into words."""
        found = np.zeros(-(-len(self._events) // SET_BITS) or 1, np.int64)
        for number, member in enumerate(members):
            if member:
                word, bit = divmod(number, SET_BITS)
                found[word] |= 1 << bit
        return found

    def _sets(self, rows: Iterable[Words]) -> Words:
        width = len(self._set(()))
        return np.array(list(rows), np.int64).reshape(-1, width)

    def _conflicts(self) -> Words:
        """Return, for each event, the events that do not accord with it."""
        return self._sets(
            self._set(a is not b and not accord(a, b) for b in self._events)
            for a in self._events
        )

    def _writers(self) -> Words:
        """Return, for each event, those that write what it reads or writes."""
        return self._sets(
            self._set(bool(b.writes & a.touches) for b in self._events)
            for a in self._events
        )

    def _changing(self, term: t.Term, *, value: bool) -> Words:
        may = self._prints.may_become
        return self._set(may(event, term, value=value) for event in self._events)

    def _guards(self, flags: FlagNumbers) -> _Choices:
        enablers = {
            c: self._changing(c, value=True)
            for c in dict.fromkeys(c for e in self._events for c in e.conditions)
        }
        return self._choices((e.conditions for e in self._events), enablers, flags)

    def _falsifiers(
        self, found: Sequence[tuple[t.Term, ...]], flags: FlagNumbers
    ) -> _Choices:
        literals = dict.fromkeys(literal for clause in found for literal in clause)
        changing = {c: self._changing(c, value=False) for c in literals}
        return self._choices(found, changing, flags)

    def _choices(
        self,
        groups: Iterable[tuple[t.Term, ...]],
        sets: dict[t.Term, Words],
        flags: FlagNumbers,
    ) -> _Choices:
        starts, terms = [0], list[t.Term]()
        for group in groups:
            terms += group
            starts.append(len(terms))
        places = [bit_of(flags.number(term)) for term in terms]
        return _Choices(
            np.array(starts, np.int64),
            np.array(places, np.int64).reshape(-1, 2),
            self._sets(sets[term] for term in terms),
        )


@dataclass(frozen=True)
class _Choices:
    """Groups of conditions, of which one of a given truth value is chosen each."""

    starts: Words
    """Where each group begins, and where the last one ends."""
    places: Words
    """The word and the bit of each condition's flag."""
    sets: Words
    """The events that may change each condition."""

    def joined(self, other: _Choices) -> _Choices:
        """Put the groups of both one after the other."""
        return _Choices(
            np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]),
            np.concatenate([self.places, other.places]),
            np.concatenate([self.sets, other.sets]),
        )


class _Tables:
    """Leaves out the successors that no open question needs."""

    def __init__(
        self,
        conflicts: Words,
        writers: Words,
        guards: _Choices,
        goals: Sequence[tuple[SearchQuery, _Choices]],
        actions: Words,
        *,
        rest: bool,
    ) -> None:
        self._conflicts = conflicts
        self._writers = writers
        self._guards = guards
        self._goals = list(goals)
        self._actions = actions
        self._rest = rest
        self._settled: frozenset[str] | None = None
        self._open = guards

    def needed(self, made: Expansion, settled: frozenset[str]) -> NDArray[np.bool_]:
        """Return which successors have to be followed.

        ``settled`` names the questions that some state has settled already.
        """
        if settled != self._settled:
            self._settled = settled
            width = self._conflicts.shape[1]
            empty = np.zeros((0, 2), np.int64), np.zeros((0, width), np.int64)
            self._open = _Choices(np.zeros(1, np.int64), *empty)
            for question, choices in self._goals:
                if question.name not in settled:
                    self._open = self._open.joined(choices)
        keep = np.empty(len(made.events), np.int64)
        keep_rows(
            made.lo,
            made.events,
            made.sources,
            made.flags.rows,
            self._conflicts,
            self._writers,
            self._guards.starts,
            self._guards.places,
            self._guards.sets,
            self._open.starts,
            self._open.places,
            self._open.sets,
            self._actions,
            self._rest,
            keep,
        )
        return keep.astype(np.bool_)


def _of_rest(question: SearchQuery) -> bool:
    return question.when is Modality.AT_REST
