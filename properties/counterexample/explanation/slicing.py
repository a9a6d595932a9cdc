"""Why a run breaks a claim: which values contradict it, and which steps made them so.

The claim is worked out over its terms, and the elements of the state that settle it are
noted: of a conjunction that fails, one part that fails; of a quantifier, one member.
From these it goes backwards: to the step that last changed an element, and to what that
step read to be possible and to choose the new value. Weiser, Program Slicing, 1984.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import IntType, spelled
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.terms.types import Value
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.traces import Trace

Place: TypeAlias = tuple[int, ...]
# An element of the state before (0) or after (1) a step.
Read: TypeAlias = tuple[str, Place, int]
Element: TypeAlias = tuple[str, Place]

MOST_NAMED = 3


class Evaluation:
    """Works terms out in plain states, and notes which elements settle them."""

    def __init__(
        self, system: System, states: Sequence[Mapping[Element, Value]]
    ) -> None:
        """Look at one state, or at that before a step and that after it."""
        self._system = system
        self._states = states

    def of(
        self, term: t.Term, known: Mapping[t.Var, int]
    ) -> tuple[Any, frozenset[Read]]:
        """Return what a term is worth, and the elements that make it so."""
        match term:
            case t.Const():
                return term.value, frozenset()
            case t.Var():
                return known[term], frozenset()
            case t.Get():
                return self._get(term, known)
            case t.Not():
                value, read = self.of(term.body, known)
                return not value, read
            case t.And() | t.Or():
                each = (self.of(part, known) for part in term.parts)
                return _joined(each, until=isinstance(term, t.Or))
            case t.ForAll() | t.Exists():
                each = (self.of(term.body, more) for more in self._members(term, known))
                return _joined(each, until=isinstance(term, t.Exists))
            case t.Sum():
                all_ = [self.of(term.body, more) for more in self._members(term, known)]
                return sum(v for v, _ in all_), frozenset().union(*(r for _, r in all_))
            case t.Ite():
                test, read = self.of(term.test, known)
                value, more_read = self.of(term.then if test else term.orelse, known)
                return value, read | more_read
            case t.Eq():
                return self._of_both(operator.eq, term, known)
            case t.Less():
                return self._of_both(operator.lt, term, known)
            case t.Add():
                return self._of_both(operator.add, term, known)
            case t.Sub():
                return self._of_both(operator.sub, term, known)
            case _:
                assert_never(term)

    def _of_both(
        self,
        combine: Callable[[Any, Any], Any],
        term: t.Eq | t.Less | t.Add | t.Sub,
        known: Mapping[t.Var, int],
    ) -> tuple[Any, frozenset[Read]]:
        left, one = self.of(term.left, known)
        right, other = self.of(term.right, known)
        return combine(left, right), one | other

    def _get(
        self, term: t.Get, known: Mapping[t.Var, int]
    ) -> tuple[Any, frozenset[Read]]:
        indices = [self.of(index, known) for index in term.indices]
        place = tuple(int(value) for value, _ in indices)
        when = int(term.after)
        read = frozenset([(term.field, place, when)])
        value = self._states[when][term.field, place]
        return value, read.union(*(more for _, more in indices))

    def _members(
        self, term: t.Quantifier, known: Mapping[t.Var, int]
    ) -> list[dict[t.Var, int]]:
        ranges = [range(self._system.sizes[var.type.sort]) for var in term.vars]
        return [
            {**known, **dict(zip(term.vars, each, strict=True))}
            for each in itertools.product(*ranges)
        ]


def _joined(each: Any, *, until: bool) -> tuple[bool, frozenset[Read]]:
    """Join truth values up to the first that settles the whole."""
    every: frozenset[Read] = frozenset()
    for value, read in each:
        if bool(value) == until:
            return until, read
        every |= read
    return not until, every


@dataclass(frozen=True)
class Reason:
    """A step that had a part in it, and the elements that it wrote to that end."""

    step: int
    """The number of the step, from 1."""
    elements: tuple[Element, ...]
    """The elements of the state that it wrote to that end."""


class Slice:
    """Goes backwards through a run, from elements to the steps that made them so."""

    def __init__(self, system: System, interpreter: Interpreter, run: Trace) -> None:
        """Look at a run of a system."""
        self._system = system
        self._places = [(f.path, place) for f, place in interpreter.places]
        self._run = run
        self.labels = Labels(interpreter)
        self.states = [self._elements(state) for state in run.states]
        self._actions = {action.name: action for action in system.actions}
        self._channels = {box.path for box in self.labels.boxes}

    def contradiction(self, term: t.Term, at: int, *, step: bool) -> frozenset[Read]:
        """Return the elements that settle a claim in a state, or of the step to it."""
        states = self.states[at - 1 : at + 1] if step else [self.states[at]]
        return Evaluation(self._system, states).of(term, {})[1]

    def reasons(self, reads: Collection[Read], at: int, *, step: bool) -> list[Reason]:
        """List the steps that led to what was read in a state, in order of time."""
        todo: dict[int, set[Element]] = {}
        self._ask(todo, [(r[:2], at - 1 + r[2] if step else at) for r in reads])
        found = []
        while todo:
            number = max(todo)
            wanted = todo.pop(number)
            found.append(Reason(number, tuple(sorted(wanted, key=self._order))))
            self._ask(todo, [(e, number - 1) for e in self._read_by(number, wanted)])
        return found[::-1]

    def in_the_way(self, reads: Collection[Read], at: int) -> frozenset[Read]:
        """Return what keeps the elements that were read from being changed any more.

        Where no step ever changed them, that is why they are as they are.
        """
        found: frozenset[Read] = frozenset()
        looking = Evaluation(self._system, [self.states[at]])
        paths = {path for path, place, _ in reads if self._untouched((path, place), at)}
        for action in self._system.actions:
            if action.fault or paths.isdisjoint(action.written):
                continue
            ranges = [range(self._system.sizes[p.type.sort]) for p in action.params]
            for members in itertools.product(*ranges):
                known = dict(zip(action.params, members, strict=True))
                found |= looking.of(action.guard, known)[1]
        return found

    def _untouched(self, element: Element, at: int) -> bool:
        return self.states[at][element] == self.states[0][element]

    def _ask(
        self, todo: dict[int, set[Element]], wanted: Sequence[tuple[Element, int]]
    ) -> None:
        """Note for each element the step that last wrote it, if one did."""
        for element, at in wanted:
            number = next((n for n in range(at, 0, -1) if self._wrote(n, element)), 0)
            if number and not element[0].startswith("faults"):
                todo.setdefault(number, set()).add(element)

    def _wrote(self, number: int, element: Element) -> bool:
        """Return whether a step gave an element its value, perhaps the one it had.

        A step that writes the value which is there already may be the one that should
        have changed it. What moves up in a channel is no such value.
        """
        if self.states[number][element] != self.states[number - 1][element]:
            return True
        path, place = element
        event = self._run.events[number - 1]
        action = self._actions[event.name]
        if path not in action.written or self._is_message(path):
            return False
        known = dict(zip(action.params, event.members, strict=True))
        looking = Evaluation(self._system, [self.states[number - 1]])
        value = self._after(action, element)
        while isinstance(value, t.Ite):
            test, _ = looking.of(value.test, known)
            value = value.then if test else value.orelse
        if not isinstance(value, t.Get) or value.field != path:
            return True
        return place != tuple(int(looking.of(i, known)[0]) for i in value.indices)

    def _after(self, action: ActionTerm, element: Element) -> t.Term:
        """Return what an element holds after an action, in terms of before."""
        path, place = element
        indices = tuple(t.Const(i, IntType(i, i)) for i in place)
        return action.after(t.Get(path, indices, self._system.field(path).type))

    def _is_message(self, path: str) -> bool:
        return path.rpartition(".")[0] in self._channels

    def _read_by(self, number: int, wanted: Collection[Element]) -> set[Element]:
        """List what a step read: for its guard, and for the values that are wanted."""
        event = self._run.events[number - 1]
        action = self._actions[event.name]
        known = dict(zip(action.params, event.members, strict=True))
        looking = Evaluation(self._system, [self.states[number - 1]])
        read = set(looking.of(action.guard, known)[1])
        for element in wanted:
            read |= looking.of(self._after(action, element), known)[1]
        return {(path, place) for path, place, _ in read}

    def _order(self, element: Element) -> tuple[bool, Element]:
        """Put what is in a channel last: that a message was sent says less."""
        return self._is_message(element[0]), element

    def _elements(self, state: State) -> dict[Element, Value]:
        return dict(zip(self._places, state, strict=True))


def reason_in_words(slice_: Slice, reason: Reason, run: Trace) -> str:
    """Say in a sentence what a step changed."""
    event = run.events[reason.step - 1]
    before, after = run.states[reason.step - 1 : reason.step + 1]
    labels = slice_.labels
    label = labels.event(event, before)
    values = {
        labels.element(*e): (labels.value(*e, before), labels.value(*e, after))
        for e in reason.elements
    }
    changed = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
    left = {name: pair for name, pair in values.items() if pair[0] == pair[1]}
    parts = [
        f"{name} from {plain(old)} to {plain(new)}"
        for name, (old, new) in [*changed.items()][:MOST_NAMED]
    ]
    if len(changed) > len(parts):
        parts.append(f"{len(changed) - len(parts)} more")
    kept = [
        f"{name} at {plain(new)}" for name, (_, new) in [*left.items()][:MOST_NAMED]
    ]
    if len(left) > len(kept):
        kept.append(f"{len(left) - len(kept)} more as they were")
    done = [
        f"{verb} {joined(some)}"
        for verb, some in (("changed", parts), ("left", kept))
        if some
    ]
    what = "the fault " if event.fault else ""
    return f"because step {reason.step}, {what}{label}, {' and '.join(done)}"


def joined(parts: Sequence[str]) -> str:
    """Join parts of a sentence."""
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


def plain(value: object) -> str:
    """Show a value in a sentence."""
    value = spelled(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
