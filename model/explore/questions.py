"""What is asked of a system, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.model.language import terms as t
    from onceproof.model.traces import Trace


@dataclass(frozen=True)
class Question:
    """A claim to be settled: ``when`` says of which states, or steps, it speaks."""

    name: str
    when: str
    term: t.Term


@dataclass(frozen=True)
class Answer:
    """What the search found about one question.

    ``verdict`` is one of exhausted, refuted, undecided, vacuous; ``trace`` is the
    shortest that refutes the claim, or that witnesses a ``sometimes``.
    """

    question: Question
    verdict: str
    trace: Trace | None = None
