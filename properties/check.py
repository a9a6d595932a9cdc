"""The first judge: exhaustive search of a protocol at given sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.explore.search import Exploration, Limits, explore
from onceproof.model.explore.simulate import Simulation
from onceproof.model.explore.simulate import simulate as random_walks
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.language.trace import trace
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.property import Property, own_properties
from onceproof.properties.verdicts import Verdict, weakest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.explore.questions import Answer, Question
    from onceproof.model.language.protocol import Part, Protocol
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
    run: Exploration | Simulation | None = None

    @property
    def exploration(self) -> Exploration | None:
        """The search behind the report, if it was one."""
        return self.run if isinstance(self.run, Exploration) else None

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each property, by name."""
        return {f.property.name: f.verdict for f in self.findings}


def claims_of(protocol: Protocol) -> list[Property]:
    """List all that is claimed of a protocol: guarantees first, then its own."""
    return [*guarantees_of(protocol), *own_properties(protocol)]


def parameters_of(protocol: Part) -> dict[str, Any]:
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
    asked = _Asked(protocol, properties)
    exploration = explore(
        asked.system,
        asked.questions,
        limits=limits,
        symmetry=symmetry,
        progress=progress,
    )
    return asked.report(exploration, exploration.answers)


def simulate(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    walks: int,
    depth: int,
    seed: int,
    progress: Callable[[int, int, int], None] | None = None,
) -> Report:
    """Judge each property by random walks: refuted, or held in all that were made."""
    asked = _Asked(protocol, properties)
    simulation = random_walks(
        asked.system,
        asked.questions,
        walks=walks,
        depth=depth,
        seed=seed,
        progress=progress,
    )
    return asked.report(simulation, simulation.answers)


class _Asked:
    """The questions that properties put to a protocol, each asked once."""

    def __init__(
        self, protocol: Protocol, properties: Sequence[Property] | None
    ) -> None:
        self._protocol = protocol
        self._properties = (
            claims_of(protocol) if properties is None else list(properties)
        )
        self.system = trace(protocol)
        self._by_property = {p.name: p.questions(self.system) for p in self._properties}
        self._asked = {
            (q.when, q.term, q.given): q
            for questions in self._by_property.values()
            for q in questions
        }

    @property
    def questions(self) -> list[Question]:
        """All questions."""
        return list(self._asked.values())

    def report(self, run: Exploration | Simulation, found: list[Answer]) -> Report:
        """Give each property its verdict, from the answers to its questions."""
        answers = {a.question.name: a for a in found}
        report = Report(self._protocol, run=run)
        for prop in self._properties:
            mine = [
                answers[self._asked[q.when, q.term, q.given].name]
                for q in self._by_property[prop.name]
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
