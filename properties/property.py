"""Properties: named claims, each written once and judged by search, z3 and Spark."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.explore.questions import Question
from onceproof.model.language.protocol import ClaimMark, Protocol, kebab
from onceproof.properties.ledger import Ledger, of_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.trace import System


@dataclass(frozen=True)
class Clause:
    """One claim: ``holds(view)``, or ``holds(before, after)`` for when == "step".

    ``when`` is always, step, at_rest, recoverable or sometimes. ``text`` completes
    the sentence "it is claimed that ...".
    """

    when: str
    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True)
class Property:
    """A named claim: all of its clauses.

    A property reads a ledger, or (``own`` is True) the protocol's own state.
    ``needs`` names what a protocol must let be observed to be judged by it.
    """

    name: str
    clauses: tuple[Clause, ...]
    needs: tuple[str, ...] = ()
    own: bool = False
    lemma: bool = False

    @property
    def text(self) -> str:
        """What is claimed, in words."""
        return "; ".join(clause.text for clause in self.clauses)

    def view(self, protocol: Protocol) -> Ledger | Protocol:
        """Give what the clauses read, for a protocol in a state."""
        return protocol if self.own else of_protocol(protocol)

    def questions(self, system: System) -> list[Question]:
        """Trace each clause into a question about a system."""
        return [
            Question(
                f"{self.name}#{number}",
                clause.when,
                system.claim(self._claim(clause), steps=clause.when == "step"),
            )
            for number, clause in enumerate(self.clauses)
        ]

    def _claim(self, clause: Clause) -> Callable[..., object]:
        def claim(*protocols: Protocol) -> object:
            return clause.holds(*(self.view(p) for p in protocols))

        return claim


def own_properties(protocol: Protocol) -> list[Property]:
    """List what a protocol claims of its own state."""
    found = []
    for name, mark, method in protocol.marked(ClaimMark):
        when = "always" if mark.when == "lemma" else mark.when
        clause = Clause(when, _sentence(method), _calling(name))
        found.append(
            Property(kebab(name), (clause,), own=True, lemma=mark.when == "lemma")
        )
    return found


def _calling(name: str) -> Callable[..., bool]:
    def holds(protocol: Protocol, *after: Protocol) -> Any:
        return getattr(protocol, name)(*after)

    return holds


def _sentence(method: Callable[..., Any]) -> str:
    text = (inspect.getdoc(method) or "").strip().split("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]
