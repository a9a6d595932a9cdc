"""One step, compared in plain Python and as the term that was traced of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import Member
from onceproof.model.language.stores.plain_store import PlainStore, UnguardedStore
from onceproof.model.language.stores.store import Disabled
from onceproof.model.language.terms.types import spelled

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Step
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.evaluation import Known, Meaning, Values

MOST_TUPLES = 2
"""For how many tuples of members an action is compared in one state."""

MOST_REACHED = 64
"""For how many tuples of members an action is compared in a state of a search."""

FORCED = 3
"""How often the effect of an action that never happened there is compared."""

HELP = (
    "let it depend on the state alone, by the operators and quantifiers of the language"
)
"""What to do about a difference between plain Python and a term."""

_SHOWN = 12


class ComparedStep:
    """A step in both worlds."""

    def __init__(
        self,
        protocol: Protocol,
        step: Step,
        action: ActionTerm,
        meaning: Meaning,
        sizes: Mapping[Sort, int],
    ) -> None:
        """Prepare a step, and what was traced of it."""
        self._protocol = protocol
        self._step = step
        self.name = step.name
        self._params = action.params
        self._guard = meaning.of(action.guard)
        self._effect = meaning.effect(action.writes)
        self.happened = 0
        self._members = list(itertools.product(*(range(sizes[s]) for s in step.sorts)))

    @property
    def tuples(self) -> int:
        """For how many tuples of members it is compared in a reached state."""
        return min(MOST_REACHED, len(self._members))

    def some(
        self, chance: random.Random, most: int = MOST_TUPLES
    ) -> list[tuple[int, ...]]:
        """Choose the members for which to compare: all of them where they are few."""
        if len(self._members) <= most:
            return self._members
        return chance.sample(self._members, most)

    def compare(self, state: Values, members: tuple[int, ...]) -> Values | None:
        """Compare the step in a state; give the state after it, if it can happen."""
        known: Known = dict(zip(self._params, members, strict=True))
        plain = self._plainly(PlainStore, state, members)
        possible = bool(self._guard(known, state, state))
        if possible != (plain is not None):
            verbs = ("cannot", "can")
            self._refuse(
                f"{verbs[plain is not None]} happen in plain Python, and "
                f"{verbs[possible]} as it was traced",
                (state,),
                members,
            )
        if plain is not None:
            self.happened += 1
            traced = self._effect(known, state)
            if plain != traced:
                self._refuse(_difference(plain, traced), (state,), members)
        return plain

    def force(self, states: Sequence[Values], chance: random.Random) -> None:
        """Compare the effect of a step that could nowhere happen as if it could.

        Where it leaves the bounds of its state, there is nothing to compare.
        """
        compared = 0
        for state in states:
            members = chance.choice(self._members)
            known: Known = dict(zip(self._params, members, strict=True))
            try:
                plain = self._plainly(UnguardedStore, state, members)
                traced = self._effect(known, state)
            except (ModelError, KeyError):
                continue
            if plain is None:
                continue
            if plain != traced:
                self._refuse(_difference(plain, traced), (state,), members)
            compared += 1
            if compared == FORCED:
                return

    def _plainly(
        self, kind: type[PlainStore], state: Values, members: tuple[int, ...]
    ) -> Values | None:
        store = kind({path: dict(held) for path, held in state.items()})
        try:
            self._step.run(
                self._protocol, store, tuple(map(Member, members, self._step.sorts))
            )
        except Disabled:
            return None
        return store.values

    def _refuse(
        self, what: str, states: Sequence[Values], members: tuple[int, ...]
    ) -> None:
        name = f"{self._step.name}({', '.join(map(str, members))})"
        message = f"{name} {what}, {described(states)}; {HELP}"
        raise ModelError(message, where=self._step.where)


def _difference(plain: Values, traced: Values) -> str:
    path, place = next(
        (path, place)
        for path, held in plain.items()
        for place in held
        if held[place] != traced[path].get(place)
    )
    return (
        f"gives {_named(path, place)} the value {shown(plain[path][place])} in plain "
        f"Python, and {shown(traced[path].get(place))} as it was traced"
    )


def described(states: Sequence[Values]) -> str:
    """Word the values that a state holds, or the states before and after a step."""
    both = ("before", "after") if len(states) > 1 else ("where",)
    return ", and ".join(
        f"{word} {_listed(state)}" for word, state in zip(both, states, strict=True)
    )


def _listed(state: Values) -> str:
    parts = [
        f"{_named(path, place)}={shown(value)}"
        for path, held in state.items()
        for place, value in held.items()
    ]
    more = [f"{len(parts) - _SHOWN} more"] if len(parts) > _SHOWN else []
    return ", ".join(parts[:_SHOWN] + more)


def _named(path: str, place: tuple[int, ...]) -> str:
    return f"{path}[{', '.join(map(str, place))}]" if place else path


def shown(value: object) -> str:
    """Word one value."""
    return str(spelled(value))
