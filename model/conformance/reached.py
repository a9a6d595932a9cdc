"""The states that a protocol may be in after each prefix of a trace."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from onceproof.model.conformance.observed import ObservedKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.model.conformance.observed import (
        ObservedEvent,
        ObservedTrace,
        Silence,
    )
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event

Key: TypeAlias = "tuple[State, frozenset[str]]"
Layer: TypeAlias = "dict[Key, Reached]"


class LimitReachedError(Exception):
    """More states were met than a check may look at."""


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A state that explains a prefix of a trace, and how it was reached."""

    state: State
    """The state."""
    open: frozenset[str]
    """The calls whose events have not been taken."""
    before: Reached | None = None
    """What it was reached from; None for an initial state."""
    event: Event | None = None
    """The event that was taken; None where only an observation went by."""
    observed: int | None = None
    """The position of the observation that the event is, or None if it left none."""

    @property
    def key(self) -> Key:
        """What tells it from others after the same prefix."""
        return self.state, self.open

    @property
    def steps(self) -> tuple[Reached, ...]:
        """All that was reached on the way here, in order, the initial state first."""
        found = [self]
        while found[-1].before is not None:
            found.append(found[-1].before)
        return tuple(reversed(found))


class Successors:
    """The steps of one protocol, each computed once, whatever the trace is."""

    def __init__(self, interpreter: Interpreter) -> None:
        """Prepare to run the steps of a protocol."""
        self.interpreter = interpreter
        self.events = tuple(interpreter.events())
        self._after: dict[tuple[State, Event], State | None] = {}
        self.at = {
            (field.path, place): number
            for number, (field, place) in enumerate(interpreter.places)
        }

    def after(self, state: State, event: Event) -> State | None:
        """Return the state after an event, or None where it is not enabled."""
        try:
            return self._after[state, event]
        except KeyError:
            found = self.interpreter.after(state, event)
            self._after[state, event] = found
            return found

    def holds(self, state: State, observation: ObservedEvent) -> bool:
        """Return whether a state is as an observation describes it."""
        return all(
            state[self.at[one.path, one.place]] == one.value
            for one in observation.holds
        )


class PrefixStates:
    """Follows one trace: after each observation, every state that explains it."""

    def __init__(
        self, successors: Successors, trace: ObservedTrace, *, most: int
    ) -> None:
        """Look at no more than ``most`` states, those of all prefixes together."""
        self._successors = successors
        self._observations = trace.observations
        self._silences = trace.silences
        quiet = frozenset[str]().union(*(one.steps for one in trace.silences))
        self._quiet = tuple(e for e in successors.events if e.name in quiet)
        self._most = most
        self.looked_at = 0
        self._calls = {
            one.key: number
            for number, one in enumerate(trace.observations)
            if one.kind is ObservedKind.CALL
        }

    def first(self) -> Layer:
        """Return the initial states."""
        states = self._successors.interpreter.initial_states()
        return self._counted(Reached(state, frozenset()) for state in states)

    def closed(self, layer: Layer) -> Layer:
        """Add all that silent steps, and the events of open calls, lead to.

        Raises ``LimitReachedError``.
        """
        found = dict(layer)
        queue = deque(layer.values())
        while queue:
            for one in self._unobserved(queue.popleft()):
                if one.key not in found:
                    self._count()
                    found[one.key] = one
                    queue.append(one)
        return found

    def after(self, layer: Layer, position: int) -> Layer:
        """Return the states of a closed layer that explain one more observation."""
        found: Layer = {}
        for one in self._explained(layer.values(), position):
            if one.key not in found:
                self._count()
                found[one.key] = one
        return found

    def candidates(self, position: int) -> tuple[Event, ...]:
        """Return the events of which one must be taken by an observation."""
        one = self._observations[position]
        if one.kind is ObservedKind.RETURN:
            return self._observations[self._calls[one.key]].events
        return one.events if one.kind is ObservedKind.STEP else ()

    def needs_closure(self, position: int) -> bool:
        """Return whether steps may come before an observation, so that they matter."""
        return self._observations[position].kind is not ObservedKind.CALL

    def _explained(self, layer: Iterable[Reached], position: int) -> Iterator[Reached]:
        observation = self._observations[position]
        holds = self._successors.holds
        for one in layer:
            match observation.kind:
                case ObservedKind.STEP:
                    for event in observation.events:
                        after = self._successors.after(one.state, event)
                        if after is not None and holds(after, observation):
                            yield Reached(after, one.open, one, event, position)
                case ObservedKind.STATE:
                    if holds(one.state, observation):
                        yield Reached(one.state, one.open, one, None, position)
                case ObservedKind.CALL:
                    opened = one.open | {observation.key}
                    yield Reached(one.state, opened, one, None, position)
                case ObservedKind.RETURN:
                    if observation.key not in one.open and holds(
                        one.state, observation
                    ):
                        yield Reached(one.state, one.open, one, None, position)
                case ObservedKind.GONE:
                    left = one.open - {observation.key}
                    yield Reached(one.state, left, one, None, position)
                case _:
                    assert_never(observation.kind)

    def _unobserved(self, one: Reached) -> Iterator[Reached]:
        successors = self._successors
        for event in self._quiet:
            after = successors.after(one.state, event)
            if after is None or (after == one.state):
                continue
            if any(self._silent(s, event, one.state, after) for s in self._silences):
                yield Reached(after, one.open, one, event)
        for key in one.open:
            number = self._calls[key]
            call = self._observations[number]
            for event in call.events:
                after = successors.after(one.state, event)
                if after is not None and successors.holds(after, call):
                    yield Reached(after, one.open - {key}, one, event, number)

    def _silent(
        self, silence: Silence, event: Event, before: State, after: State
    ) -> bool:
        if event.name not in silence.steps:
            return False
        look = self._successors.interpreter.look
        return silence.when is None or silence.when(look(before), event, look(after))

    def _counted(self, some: Iterable[Reached]) -> Layer:
        found: Layer = {}
        for one in some:
            self._count()
            found.setdefault(one.key, one)
        return found

    def _count(self) -> None:
        self.looked_at += 1
        if self.looked_at > self._most:
            raise LimitReachedError
