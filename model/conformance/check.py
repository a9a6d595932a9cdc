"""Whether some behaviour of a protocol explains a trace: every one is followed.

After each observation, all states that explain the trace so far are kept, with those
that silent steps lead to. So an accepted trace has a behaviour, and a rejected one is
rejected at the first observation that none explains.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onceproof.model.conformance.blame import Blame
from onceproof.model.conformance.divergence import (
    Behaviour,
    Divergence,
    NearMiss,
    behaviour_of,
)
from onceproof.model.conformance.observed import ObservedKind
from onceproof.model.conformance.reached import (
    LimitReachedError,
    PrefixStates,
    Reached,
    Successors,
)
from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.model.conformance.observed import ObservedTrace
    from onceproof.model.conformance.reached import Layer
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.steps import Event

MOST_STATES = 200_000
_NEAREST = 3
_MISSING = 2
_TRIED = 20_000


@dataclass(frozen=True)
class Conformance:
    """Whether a trace is a behaviour of a model."""

    observations: int
    """How many observations the trace has."""
    explained: int
    """How many of them, from the first on, a behaviour of the model explains."""
    states: int
    """How many states were looked at, those after each observation together."""
    behaviour: Behaviour | None = None
    """One behaviour that explains them."""
    divergence: Divergence | None = None
    """The first observation that no behaviour explains; None if there is none."""
    undecided: str = ""
    """Why it is not known whether the trace conforms; empty if it is."""

    @property
    def conforms(self) -> bool | None:
        """Whether the trace conforms; None if that is not known."""
        if self.undecided:
            return None
        return self.divergence is None


class Conformer:
    """Checks traces against one protocol; the steps that it computes, it keeps."""

    def __init__(self, protocol: Protocol, *, most_states: int = MOST_STATES) -> None:
        """Give up on a trace after looking at ``most_states`` states."""
        self.protocol = protocol
        self._successors = Successors(Interpreter(protocol))
        self._most = most_states
        self._blame: Blame | None = None

    def check(self, trace: ObservedTrace) -> Conformance:
        """Decide whether some behaviour of the protocol explains a trace.

        Raises ``UsageError`` for a trace without observations.
        """
        observations = trace.observations
        if not observations:
            message = "the trace holds no event, so it shows nothing"
            raise UsageError(message)
        prefixes = PrefixStates(self._successors, trace, most=self._most)
        layer: Layer = {}
        done = 0
        try:
            layer = prefixes.first()
            for position in range(len(observations)):
                if prefixes.needs_closure(position):
                    layer = prefixes.closed(layer)
                after = prefixes.after(layer, position)
                if not after:
                    break
                layer, done = after, position + 1
        except LimitReachedError:
            why = (
                f"more than {self._most:,} states of the model were looked at by event "
                f"{done + 1} of {len(observations)}"
            )
            return Conformance(
                len(observations), done, prefixes.looked_at, undecided=why
            )
        behaviour = behaviour_of(min(layer.values(), key=_length), done)
        found = Conformance(len(observations), done, prefixes.looked_at, behaviour)
        if done == len(observations):
            return found
        return replace(found, divergence=self._divergence(trace, layer, done, prefixes))

    def _divergence(
        self, trace: ObservedTrace, layer: Layer, position: int, prefixes: PrefixStates
    ) -> Divergence:
        return Divergence(
            position,
            trace.observations[position],
            len({one.state for one in layer.values()}),
            self._nearest(trace, layer, position, prefixes),
            self._missing(layer, position, prefixes),
            self._rest(trace, layer, position),
        )

    def _nearest(
        self, trace: ObservedTrace, layer: Layer, position: int, prefixes: PrefixStates
    ) -> tuple[NearMiss, ...]:
        """Return the nearest miss of each event that was tried, the nearest first."""
        if self._blame is None:
            self._blame = Blame(self._successors)
        observation = trace.observations[position]
        steps = self._successors.interpreter.steps
        found = []
        events: Iterable[Event | None] = prefixes.candidates(position) or (None,)
        for event in events:
            best: NearMiss | None = None
            for one in layer.values():
                if event is None:
                    failed = self._blame.unlike(one.state, observation)
                else:
                    failed = self._blame.of(one.state, event, observation)
                if failed and (best is None or len(failed) < len(best.failed)):
                    where = "" if event is None else steps[event.name].where
                    way = behaviour_of(one, position)
                    best = NearMiss(event, one.state, way, failed, where)
            if best is not None:
                found.append(best)
        found.sort(key=lambda miss: (len(miss.failed), len(miss.behaviour.observed)))
        return tuple(found[:_NEAREST])

    def _missing(
        self, layer: Layer, position: int, prefixes: PrefixStates
    ) -> tuple[Event, ...]:
        """Return the fewest steps that would have to come first, if a few suffice."""
        events = sorted(self._successors.events, key=lambda event: event.fault)
        tried = itertools.count()
        level = dict(layer)
        seen = set(layer)
        for _ in range(_MISSING):
            further: Layer = {}
            for one, event in itertools.product(level.values(), events):
                if next(tried) > _TRIED:
                    return ()
                after = self._successors.after(one.state, event)
                if after is None or after == one.state:
                    continue
                reached = Reached(after, one.open, one, event)
                if reached.key in seen:
                    continue
                seen.add(reached.key)
                try:
                    explained = prefixes.after({reached.key: reached}, position)
                except LimitReachedError:
                    return ()
                if explained:
                    return _since(reached, layer)
                further[reached.key] = reached
            level = further
        return ()

    def _rest(self, trace: ObservedTrace, layer: Layer, position: int) -> bool:
        """Return whether the trace without one observation is explained."""
        observations = trace.observations
        left = observations[:position] + observations[position + 1 :]
        calls = {one.key for one in left if one.kind is ObservedKind.CALL}
        if position >= len(left) or any(
            one.key and one.key not in calls for one in left
        ):
            return False
        prefixes = PrefixStates(
            self._successors, replace(trace, observations=left), most=self._most
        )
        try:
            for at in range(position, len(left)):
                if prefixes.needs_closure(at):
                    layer = prefixes.closed(layer)
                layer = prefixes.after(layer, at)
                if not layer:
                    return False
        except LimitReachedError:
            return False
        return True


def _length(reached: Reached) -> int:
    return len(reached.steps)


def _since(reached: Reached, layer: Layer) -> tuple[Event, ...]:
    """Return the steps since the last state that is in a layer."""
    found: list[Event] = []
    for one in reversed(reached.steps):
        if one.key in layer:
            break
        if one.event is not None:
            found.append(one.event)
    return tuple(reversed(found))
