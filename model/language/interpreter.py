"""The reference semantics: a protocol's methods, run as the Python that they are."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.model.language.sorts import Member
from onceproof.model.language.steps import Event, fields_of, steps_of
from onceproof.model.language.stores.plain_store import PlainStore
from onceproof.model.language.stores.store import Disabled
from onceproof.model.language.terms.types import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onceproof.model.language.composition.protocol import Protocol

State: TypeAlias = tuple[Value, ...]


class Interpreter:
    """A protocol as plain Python: states are tuples of values, in field order."""

    def __init__(self, protocol: Protocol) -> None:
        """Prepare the protocol's fields and steps."""
        self.protocol = protocol
        self.fields = fields_of(protocol)
        self.steps = {step.name: step for step in steps_of(protocol)}
        self.places = [
            (field, place)
            for field in self.fields
            for place in field.places(protocol.sizes)
        ]

    def initial_states(self) -> Iterator[State]:
        """Yield each state that the protocol may start from, in a fixed order."""
        choices = [
            field.starts(
                tuple(Member(i, s) for i, s in zip(place, field.sorts, strict=True))
            )
            for field, place in self.places
        ]
        yield from itertools.product(*choices)

    def events(self) -> Iterator[Event]:
        """Yield every event that the protocol names, enabled or not."""
        for step in self.steps.values():
            ranges = [range(self.protocol.sizes[sort]) for sort in step.sorts]
            for members in itertools.product(*ranges):
                yield Event(step.name, members, step.fault, step.fair)

    def after(self, state: State, event: Event) -> State | None:
        """Return the state after ``event``, or None where it is not enabled."""
        if event.name not in self.steps:
            message = f"{self.protocol.label()} has no action {event.name!r}"
            raise UsageError(message)
        step = self.steps[event.name]
        members = tuple(
            Member(i, s) for i, s in zip(event.members, step.sorts, strict=True)
        )
        store = self.store(state)
        try:
            step.run(self.protocol, store, members)
        except Disabled:
            return None
        return tuple(store.values[f.path][place] for f, place in self.places)

    def successors(self, state: State) -> Iterator[tuple[Event, State]]:
        """Yield each enabled event with the state it leads to."""
        for event in self.events():
            after = self.after(state, event)
            if after is not None:
                yield event, after

    def moves(self, state: State) -> dict[Event, State]:
        """Return the events that change a state, each with the state it leads to."""
        return {e: after for e, after in self.successors(state) if after != state}

    def resting(self, state: State) -> bool:
        """Return whether no action, faults apart, changes anything any more."""
        return all(event.fault for event in self.moves(state))

    def look(self, state: State) -> Protocol:
        """Return the protocol in ``state``, for reading."""
        return self.protocol.bound(self.store(state, frozen=True))

    def evaluate(self, claim: Callable[..., object], *states: State) -> object:
        """Evaluate ``claim`` of the protocol in one state, or before and after."""
        return claim(*(self.look(state) for state in states))

    def store(self, state: State, *, frozen: bool = False) -> PlainStore:
        """Return a store that holds ``state``, for one step to read and write."""
        values: dict[str, dict[tuple[int, ...], Value]] = {
            f.path: {} for f in self.fields
        }
        for (field, place), value in zip(self.places, state, strict=True):
            values[field.path][place] = value
        return PlainStore(values, frozen=frozen)
