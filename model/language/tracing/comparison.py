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
from typing import TYPE_CHECKING

from onceproof.model.errors import ModelError
from onceproof.model.language.source_location import modelling
from onceproof.model.language.stores.plain_store import PlainStore
from onceproof.model.language.tracing.compared_step import (
    HELP,
    MOST_REACHED,
    MOST_TUPLES,
    ComparedStep,
    described,
    shown,
)
from onceproof.model.language.tracing.evaluation import Meaning
from onceproof.model.language.tracing.state_draw import StateDraw

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Step
    from onceproof.model.language.terms import terms as t
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.evaluation import Values, Worth

STARTS = 3
WALKED = 9
DRAWN = 8
"""How many states are looked at: first ones, ones that are walked to, any at all."""

SOUGHT = 64
ENOUGH = 3
"""In how many more states an action is compared that has seldom happened so far."""

REACHED = 6_000
"""About how often actions and claims are compared in the states a search reached."""

FEWEST = 24
"""In how many of these they are compared however many actions and claims there are."""

_SEED = 20061
_FAR = 200


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
        draw = StateDraw(fields, sizes, self._random)
        drawn = [draw.initial() for _ in range(STARTS)]
        self._draw = draw
        self._states: list[Values] = [*drawn, *(draw.any() for _ in range(DRAWN))]
        self._steps: list[tuple[Values, Values]] = []
        self._compared_steps: list[ComparedStep] = []
        self._noted: list[ComparedClaim] | None = None

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
            self._look_for(one)
            if not one.happened:
                one.force(self._states, self._random)

    def _look_for(self, one: ComparedStep) -> None:
        """Compare a step in more states until it happens in some of them."""
        for _ in range(SOUGHT):
            if one.happened >= ENOUGH:
                return
            state = self._draw.any()
            for members in one.some(self._random):
                one.compare(state, members)

    def _walk(self, compared: list[ComparedStep], state: Values) -> None:
        for _ in range(-(-WALKED // STARTS)):
            reached = self._everywhere(compared, state)
            if not reached:
                return
            after = self._random.choice(reached)
            self._steps.append((state, after))
            self._states.append(after)
            state = after

    def _everywhere(self, compared: list[ComparedStep], state: Values) -> list[Values]:
        """Compare every action in a state; list the states that come next."""
        reached = []
        for one in compared:
            for members in one.some(self._random):
                after = one.compare(state, members)
                if after is not None and after != state:
                    reached.append(after)
        return reached

    @property
    def happened(self) -> frozenset[str]:
        """Names the actions and faults that happened in one of the states at least."""
        return frozenset(one.name for one in self._compared_steps if one.happened)

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

    def _compared(self, step: Step, action: ActionTerm) -> ComparedStep:
        return ComparedStep(self._protocol, step, action, self._meaning, self._sizes)

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
                f"this claim is {shown(plain)} in plain Python and "
                f"{shown(traced)} as it was traced, {described(states)}; {HELP}"
            )
            raise ModelError(message)

    def _pairs(self) -> Iterator[tuple[Values, Values]]:
        yield from self._steps
        yield from itertools.pairwise(self._states)
