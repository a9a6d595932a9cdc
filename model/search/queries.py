"""What is asked of a system, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.declarations.modality import Modality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.terms import terms as t
    from onceproof.model.traces import Trace


@dataclass(frozen=True)
class SearchQuery:
    """A claim to be settled: ``when`` says of which states, steps or runs it speaks.

    Of every fair run it speaks where ``when`` is ``LEADS_TO``: once ``given`` holds,
    ``term`` does, then or later. ``EVENTUALLY`` is the same from the initial states.
    """

    name: str
    """The name of the claim, as messages show it."""
    when: Modality
    term: t.Term
    given: t.Term | None = None

    @property
    def lively(self) -> bool:
        """Whether the claim is about runs, not about states or steps."""
        return self.when.of_runs

    @property
    def whole(self) -> bool:
        """Whether only the whole graph of states can settle the claim."""
        return self.when.of_whole_graph

    @property
    def terms(self) -> tuple[t.Term, ...]:
        """The claims about single states that have to be known."""
        if self.when is Modality.STEP:
            return ()
        return (self.term,) if self.given is None else (self.term, self.given)


def refuse_doubles(questions: Sequence[SearchQuery]) -> None:
    """Refuse two questions of one name: each would be given the other's answer."""
    names = [question.name for question in questions]
    for name in names:
        if names.count(name) > 1:
            message = f"two questions are called {name!r}; give each its own name"
            raise ValueError(message)


@dataclass(frozen=True)
class SearchResult:
    """What the search found about one question."""

    question: SearchQuery
    """The question."""
    verdict: str
    """One of exhausted, refuted, undecided, vacuous."""
    trace: Trace | None = None
    """The shortest trace that refutes the claim, or that witnesses a ``sometimes``."""
    note: str = ""
    """Why the claim is undecided, where that is not plain."""
