"""Why an event cannot be taken: the parts of its guard, or of its effect, that fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.conformance.term_text import text_of
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import spelled
from onceproof.model.language.tracing.evaluation import Meaning
from onceproof.model.language.tracing.trace import trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.conformance.observed import ObservedEvent
    from onceproof.model.conformance.reached import Successors
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event
    from onceproof.model.language.tracing.evaluation import Known, Values

_MOST_READ = 4


@dataclass(frozen=True)
class FailedPart:
    """A part of a guard, or of what was observed after a step, that does not hold."""

    text: str
    """The part, such as ``commits == 1``."""
    found: tuple[str, ...] = ()
    """What the state holds of it, such as ``commits is 0``."""
    of_guard: bool = True
    """Whether it is of the guard; else the step's effect is not what was observed."""

    def __str__(self) -> str:
        """Show the part, and what the state holds."""
        values = f", but {', '.join(self.found)}" if self.found else ""
        return f"{self.text}{values}"


class Blame:
    """Finds the parts of guards and effects that fail, for the events of a protocol."""

    def __init__(self, successors: Successors) -> None:
        """Trace the protocol into terms."""
        self._successors = successors
        self._interpreter = successors.interpreter
        system = trace(self._interpreter.protocol)
        self._actions = {action.name: action for action in system.actions}
        self._meaning = Meaning(system.sizes)

    def of(
        self, state: State, event: Event, observation: ObservedEvent
    ) -> tuple[FailedPart, ...]:
        """Return why an event is not taken in a state, with what is observed of it.

        It is empty only where it can be taken.
        """
        after = self._successors.after(state, event)
        if after is not None:
            return self.unlike(after, observation)
        action = self._actions.get(event.name)
        if action is None:
            return (FailedPart("the model never takes this step"),)
        known = dict(zip(action.params, event.members, strict=True))
        values = self._interpreter.store(state).values
        failed = tuple(
            FailedPart(text_of(part, more), tuple(self._read(part, more, values)))
            for part, more in self._failing(action.guard, known, values)
        )
        return failed or (FailedPart("its effect is outside of the model's bounds"),)

    def unlike(
        self, state: State, observation: ObservedEvent
    ) -> tuple[FailedPart, ...]:
        """Return what an observation says of a state, and is not so."""
        failed = []
        for one in observation.holds:
            found = state[self._successors.at[one.path, one.place]]
            if found != one.value:
                label = labelled(one.path, one.place)
                claimed = f"{label} == {spelled(one.value)}"
                is_ = f"{label} is {spelled(found)}"
                failed.append(FailedPart(claimed, (is_,), of_guard=False))
        return tuple(failed)

    def _failing(
        self, term: t.Term, known: Known, values: Values
    ) -> Iterator[tuple[t.Term, Known]]:
        """Yield the smallest parts of a claim that fail, with the members of each."""
        if self._true(term, known, values):
            return
        parts = _conjuncts(term)
        if isinstance(term, t.Not) and isinstance(term.body, t.Exists):
            term = t.ForAll(term.body.vars, t.negation(term.body.body))
        if parts:
            for part in parts:
                yield from self._failing(part, known, values)
        elif isinstance(term, t.ForAll):
            for more in self._meaning.members(term.vars):
                if not self._true(term.body, {**known, **more}, values):
                    yield from self._failing(term.body, {**known, **more}, values)
                    return
        else:
            yield term, known

    def _true(self, term: t.Term, known: Known, values: Values) -> bool:
        try:
            return bool(self._meaning.of(term)(known, values, values))
        except KeyError:
            return False

    def _read(self, term: t.Term, known: Known, values: Values) -> Iterator[str]:
        """Yield what the state holds of the elements that a part reads, each once."""
        found = dict.fromkeys(self._elements(term, known, values))
        for number, text in enumerate(found):
            if number == _MOST_READ:
                yield "..."
                return
            yield text

    def _elements(self, term: t.Term, known: Known, values: Values) -> Iterator[str]:
        if isinstance(term, t.Quantified):
            for more in self._meaning.members(term.vars):
                yield from self._elements(term.body, {**known, **more}, values)
            return
        for inner in t.children(term):
            yield from self._elements(inner, known, values)
        if isinstance(term, t.Get):
            indices = [self._meaning.of(i)(known, values, values) for i in term.indices]
            place = tuple(map(int, indices))
            label = labelled(term.field, place)
            held = values[term.field]
            if place in held:
                yield f"{label} is {spelled(held[place])}"
            else:
                yield f"there is no {label}"


def _conjuncts(term: t.Term) -> tuple[t.Term, ...]:
    """Return the claims of which a claim is the conjunction, or nothing."""
    if isinstance(term, t.And):
        return term.parts
    if isinstance(term, t.Not) and isinstance(term.body, t.Or):
        return tuple(t.negation(part) for part in term.body.parts)
    return ()


def labelled(path: str, place: tuple[int, ...]) -> str:
    """Name an element of the state, such as ``task[0, 1]``."""
    return f"{path}[{', '.join(map(str, place))}]" if place else path
