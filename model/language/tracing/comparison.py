"""Compares traced terms with plain Python in sampled states, before they are used.

A method runs once on symbols, and leaves a term. Whatever of Python no symbol can see
(what is counted, kept, or taken from elsewhere) would make the term mean something
else than the method. So each guard, effect and claim is worked out both ways, in the
states that the protocol starts from, on walks from there, and in states that are drawn
at random from all that its types allow.
"""

from __future__ import annotations

import itertools
import random
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import Member
from onceproof.model.language.source_location import modelling
from onceproof.model.language.stores.plain_store import PlainStore, UnguardedStore
from onceproof.model.language.stores.store import Disabled
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    Type,
    Value,
    spelled,
)
from onceproof.model.language.tracing.evaluation import Meaning

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from onceproof.model.language.fields import Field
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Step
    from onceproof.model.language.terms import terms as t
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.evaluation import Known, Values, Worth

STARTS = 3
WALKED = 9
DRAWN = 8
"""How many states are looked at: first ones, ones that are walked to, any at all."""

MOST_TUPLES = 2
"""For how many tuples of members an action is compared in one state."""

REACHED = 6_000
"""About how often actions and claims are compared in the states a search reached."""

FEWEST = 24
"""In how many of these they are compared however many actions and claims there are."""

MOST_REACHED = 64
"""For how many tuples of members an action is compared in each of these."""

FORCED = 3
"""How often the effect of an action that never happened there is compared."""

_SEED = 20061
_FAR = 200
_SHOWN = 12

_HELP = (
    "let it depend on the state alone, by the operators and quantifiers of the language"
)


@dataclass(frozen=True)
class ComparedClaim:
    """A claim as it was traced."""

    predicate: Callable[..., object]
    """The claim in plain Python: of a state, or of the states before and after."""
    worth: Worth
    """What was traced of it, to be worked out in a state and the one after it."""
    steps: bool
    """Whether it is about steps."""
    where: str
    """Where the model claims it."""


class Samples:
    """States of a protocol, to compare plain Python and terms in."""

    def __init__(
        self, protocol: Protocol, fields: Sequence[Field], sizes: Mapping[Sort, int]
    ) -> None:
        """Draw states, always the same; those on walks are added by ``actions``."""
        self._protocol = protocol
        self._sizes = sizes
        self._meaning = Meaning(sizes)
        self._random = random.Random(_SEED)  # noqa: S311 - the same for everyone
        self._fields = fields
        drawn = [self._draw(_start) for _ in range(STARTS)]
        self._states: list[Values] = [*drawn, *(self._draw(_any) for _ in range(DRAWN))]
        self._steps: list[tuple[Values, Values]] = []
        self._compared_steps: list[Compared] = []
        self._noted: list[ComparedClaim] | None = None

    def _draw(self, choose: Callable[[random.Random, Field, Any], Value]) -> Values:
        return {
            field.path: {
                place: choose(
                    self._random, field, tuple(map(Member, place, field.sorts))
                )
                for place in field.places(self._sizes)
            }
            for field in self._fields
        }

    # Actions ----------------------------------------------------------------------

    def actions(self, traced: Iterable[tuple[Step, ActionTerm]]) -> None:
        """Compare guard and effect of each action in each state, and walk on.

        Raises ``ModelError`` where they differ.
        """
        compared = [self._compared(step, action) for step, action in traced]
        self._compared_steps = compared
        for state in self._states:
            self._everywhere(compared, state)
        for start in self._states[:STARTS]:
            self._walk(compared, start)
        for one in compared:
            if not one.happened:
                one.force(self._states, self._random)

    def _walk(self, compared: list[Compared], state: Values) -> None:
        for _ in range(-(-WALKED // STARTS)):
            reached = self._everywhere(compared, state)
            if not reached:
                return
            after = self._random.choice(reached)
            self._steps.append((state, after))
            self._states.append(after)
            state = after

    def _everywhere(self, compared: list[Compared], state: Values) -> list[Values]:
        """Compare every action in a state; list the states that come next."""
        reached = []
        for one in compared:
            for members in one.some(self._random):
                after = one.compare(state, members)
                if after is not None and after != state:
                    reached.append(after)
        return reached

    # States that were reached -------------------------------------------------------

    @contextmanager
    def noted(self) -> Generator[list[ComparedClaim]]:
        """Collect the claims that are traced meanwhile."""
        found: list[ComparedClaim] = []
        self._noted = found
        try:
            yield found
        finally:
            self._noted = None

    def worthwhile(self, claims: Sequence[ComparedClaim]) -> int:
        """Return in how many states to compare all actions and these claims."""
        events = sum(one.tuples for one in self._compared_steps)
        return max(FEWEST, REACHED // max(1, events + len(claims)))

    def reached(
        self, states: Iterable[Values], claims: Sequence[ComparedClaim]
    ) -> None:
        """Compare all actions and some claims in states that a search reached.

        Raises ``ModelError`` where they differ.
        """
        for state in states:
            afters = [
                after
                for one in self._compared_steps
                for members in one.some(self._random, MOST_REACHED)
                if (after := one.compare(state, members)) is not None
            ]
            for claim in claims:
                with modelling(claim.where):
                    for after in afters[:MOST_TUPLES] if claim.steps else [state]:
                        views = (state, after) if claim.steps else (state,)
                        self._compare_claim(claim.predicate, claim.worth, views)

    def walk_far(self, claims: Sequence[ComparedClaim]) -> None:
        """Compare in the states of random walks, in place of those of a search."""
        left = self.worthwhile(claims)
        while left > 0:
            state = self._states[self._random.randrange(STARTS)]
            for _ in range(min(left, _FAR)):
                self.reached([state], claims)
                left -= 1
                following = self._everywhere(self._compared_steps, state)
                if not following:
                    break
                state = self._random.choice(following)

    def _compared(self, step: Step, action: ActionTerm) -> Compared:
        return Compared(self._protocol, step, action, self._meaning, self._sizes)

    # Claims -----------------------------------------------------------------------

    def claim(
        self,
        predicate: Callable[..., object],
        term: t.Term,
        *,
        steps: bool,
        where: str = "",
    ) -> None:
        """Compare a claim in each state, or of each step.

        Raises ``ModelError`` where plain Python and the term differ.
        """
        worth = self._meaning.of(term)
        for states in self._pairs() if steps else zip(self._states, strict=True):
            self._compare_claim(predicate, worth, states)
        if self._noted is not None:
            self._noted.append(ComparedClaim(predicate, worth, steps, where))

    def _compare_claim(
        self,
        predicate: Callable[..., object],
        worth: Worth,
        states: tuple[Values, ...],
    ) -> None:
        views = [self._protocol.bound(PlainStore(s, frozen=True)) for s in states]
        plain = predicate(*views)
        traced = worth({}, states[0], states[-1])
        if not isinstance(plain, bool) or plain != traced:
            message = (
                f"this claim is {_shown(plain)} in plain Python and "
                f"{_shown(traced)} as it was traced, {_described(states)}; {_HELP}"
            )
            raise ModelError(message)

    def _pairs(self) -> Iterator[tuple[Values, Values]]:
        yield from self._steps
        yield from itertools.pairwise(self._states)


class Compared:
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
        self._params = action.params
        self._guard = meaning.of(action.guard)
        self._effect = meaning.effect(action.writes)
        self.happened = False
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
            self.happened = True
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
            if plain is not None and plain != traced:
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
        message = f"{name} {what}, {_described(states)}; {_HELP}"
        raise ModelError(message, where=self._step.where)


def _start(chance: random.Random, field: Field, members: tuple[Member, ...]) -> Value:
    return chance.choice(field.starts(members))


def _any(chance: random.Random, field: Field, members: tuple[Member, ...]) -> Value:
    """Draw from all values of a type; now and then one that the field starts from."""
    if chance.random() < 0.25:  # noqa: PLR2004 - a share
        return _start(chance, field, members)
    return _drawn(chance, field.type)


def _drawn(chance: random.Random, type_: Type) -> Value:
    if isinstance(type_, BoolType):
        return chance.random() < 0.5  # noqa: PLR2004 - a fair coin
    if isinstance(type_, EnumType):
        return chance.choice(type_.members)
    if isinstance(type_, IntType):
        return chance.randint(type_.low, type_.high)
    message = f"no value can be drawn from {type_}"
    raise TypeError(message)


def _difference(plain: Values, traced: Values) -> str:
    path, place = next(
        (path, place)
        for path, held in plain.items()
        for place in held
        if held[place] != traced[path].get(place)
    )
    return (
        f"gives {_named(path, place)} the value {_shown(plain[path][place])} in plain "
        f"Python, and {_shown(traced[path].get(place))} as it was traced"
    )


def _described(states: Sequence[Values]) -> str:
    both = ("before", "after") if len(states) > 1 else ("where",)
    return ", and ".join(
        f"{word} {_listed(state)}" for word, state in zip(both, states, strict=True)
    )


def _listed(state: Values) -> str:
    parts = [
        f"{_named(path, place)}={_shown(value)}"
        for path, held in state.items()
        for place, value in held.items()
    ]
    more = [f"{len(parts) - _SHOWN} more"] if len(parts) > _SHOWN else []
    return ", ".join(parts[:_SHOWN] + more)


def _named(path: str, place: tuple[int, ...]) -> str:
    return f"{path}[{', '.join(map(str, place))}]" if place else path


def _shown(value: object) -> str:
    return str(spelled(value))
