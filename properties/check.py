"""The first judge: exhaustive search of a protocol at given sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.explore.search import Exploration, Limits, explore
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.language.trace import trace
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.property import Property, own_properties
from onceproof.properties.verdicts import Verdict, weakest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.explore.questions import Answer
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.traces import Trace


@dataclass(frozen=True)
class Finding:
    """How one property came out, and the trace that shows it if one does."""

    property: Property
    verdict: Verdict
    trace: Trace | None = None
    clause: int = 0
    lemmas: tuple[str, ...] = ()
    note: str = ""


@dataclass
class Report:
    """What a judge found about a protocol."""

    protocol: Protocol
    findings: list[Finding] = field(default_factory=list)
    exploration: Exploration | None = None

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each property, by name."""
        return {f.property.name: f.verdict for f in self.findings}


def claims_of(protocol: Protocol) -> list[Property]:
    """List all that is claimed of a protocol: guarantees first, then its own."""
    return [*guarantees_of(protocol), *own_properties(protocol)]


def parameters_of(protocol: Protocol) -> dict[str, Any]:
    """Give the sizes, numbers and parts that a protocol was made with, by name."""
    found: dict[str, Any] = {}
    for name, what in protocol.parameters().items():
        if isinstance(what, Sort):
            found[name] = protocol.sizes[what]
        elif isinstance(what, Param):
            found[name] = protocol.argument(what)
        else:
            found[name] = protocol.parts[name].label()
    return found


def check(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    limits: Limits | None = None,
    symmetry: bool = False,
    progress: Callable[[int, int, int], None] | None = None,
) -> Report:
    """Search every reachable state and judge each property.

    Properties default to all that is claimed of the protocol. A refuted one
    carries a shortest trace. With ``symmetry`` states that differ in the names of
    members alone count once; claims about fair runs are then undecided.
    """
    chosen = claims_of(protocol) if properties is None else list(properties)
    system = trace(protocol)
    questions = {p.name: p.questions(system) for p in chosen}
    asked = {(q.when, q.term, q.given): q for qs in questions.values() for q in qs}
    exploration = explore(
        system,
        list(asked.values()),
        limits=limits,
        symmetry=symmetry,
        progress=progress,
    )
    answers = {a.question.name: a for a in exploration.answers}
    report = Report(protocol, exploration=exploration)
    for prop in chosen:
        mine = [
            answers[asked[q.when, q.term, q.given].name] for q in questions[prop.name]
        ]
        report.findings.append(_finding(prop, mine))
    return report


def _finding(prop: Property, answers: list[Answer]) -> Finding:
    verdict = weakest(Verdict(a.verdict) for a in answers)
    shown = [
        (len(a.trace.steps), number, a.trace)
        for number, a in enumerate(answers)
        if a.trace is not None and a.verdict == verdict
    ]
    if not shown:
        return Finding(prop, verdict)
    _, clause, trace_ = min(shown, key=lambda s: s[:2])
    return Finding(prop, verdict, trace_, clause)
