"""The first judge: exhaustive search of a protocol at given sizes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from typing import Protocol as TypingProtocol

from onceproof.model.errors import UsageError
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.state import State
from onceproof.model.language.fields import Param
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.sorts import Sort
from onceproof.model.language.tracing.never_read import never_read
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.exhaustive import Exploration, FaultChoice, explore
from onceproof.model.search.reduction.goals import keeps
from onceproof.model.search.simulation import Simulation
from onceproof.model.search.simulation import simulate as random_walks
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.bounds import bounds_of
from onceproof.properties.judges.weighing import weighed, with_premise
from onceproof.properties.property import Property, distinct, own_properties
from onceproof.properties.verdicts import Verdict, exit_status, weakest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.declarations.modality import Modality
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.limits import Limits
    from onceproof.model.search.queries import SearchQuery, SearchResult
    from onceproof.model.traces import Trace

    _Key = tuple[Modality, Term, Term | None]

_LIBRARY = "onceproof."


class Engine(TypingProtocol):
    """What searches every reachable state of a system, as ``explore`` does."""

    def __call__(
        self,
        system: System,
        questions: Sequence[SearchQuery] = (),
        /,
        *,
        limits: Limits | None = None,
        symmetry: bool = False,
        progress: Callable[[int, int, int], None] | None = None,
        keep: int = 0,
    ) -> Exploration:
        """Search, and settle the questions."""
        ...


@dataclass(frozen=True)
class Finding:
    """The verdict on one property, with the trace that shows it."""

    property: Property
    """The property."""
    verdict: Verdict
    """The verdict."""
    trace: Trace | None = None
    """The trace that refutes it, or that witnesses a ``sometimes``."""
    clause: int = 0
    """The number of the clause that fails."""
    lemmas: tuple[str, ...] = ()
    """The lemmas that the proof uses."""
    note: str = ""
    """A remark, such as why the verdict is no stronger."""
    bounds: str = ""
    """What a verdict that holds is limited to: sizes, faults, and how far was searched.
    """
    confirmed: str = ""
    """How far another judge agrees."""
    unmet: tuple[str, ...] = ()
    """The clauses whose premise no state meets."""
    unseen: tuple[str, ...] = ()
    """The clauses whose premise no state met that was seen."""


@dataclass
class Report:
    """The findings of a judge about a protocol."""

    protocol: Protocol
    """The protocol."""
    findings: list[Finding] = field(default_factory=list)
    """A finding for each property."""
    run: Exploration | Simulation | None = None
    """The search or the walks behind the findings, if any."""
    confirming: Exploration | None = None
    """The search at the same sizes that confirms what z3 found, if it came to its end.
    """
    inferred: dict[str, str] = field(default_factory=dict)
    """The lemmas that were inferred, by name, as a modeller writes them."""

    @property
    def never_taken(self) -> tuple[str, ...]:
        """The actions that no step of the search, or of the walks, took."""
        run = self.run or self.confirming
        return () if run is None else run.never_taken

    @property
    def never_read(self) -> tuple[str, ...]:
        """State of the user's own classes that neither a guard nor a claim depends on.

        In the library, some state is there for parts that are not in their slots.
        """
        own = {
            part.path_to(name)
            for part in self.protocol.all_parts()
            for kind in type(part).__mro__
            if not kind.__module__.startswith(_LIBRARY)
            for name, what in vars(kind).items()
            if isinstance(what, State)
        }
        if not own:
            return ()
        system = trace(self.protocol)
        questions = [
            question
            for claim in claims_of(self.protocol)
            for question in claim.questions(system)
        ]
        terms = [question.term for question in questions]
        terms += [q.given for q in questions if q.given is not None]
        return tuple(path for path in never_read(system, terms) if path in own)

    @property
    def exploration(self) -> Exploration | None:
        """The search behind the report, if it was one."""
        return self.run if isinstance(self.run, Exploration) else None

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each property, by name: the weakest of those of one name."""
        found: dict[str, list[Verdict]] = {}
        for finding in self.findings:
            found.setdefault(finding.property.name, []).append(finding.verdict)
        return {name: weakest(verdicts) for name, verdicts in found.items()}

    @property
    def exit_status(self) -> int:
        """Return the exit status that all findings amount to."""
        return exit_status(finding.verdict for finding in self.findings)


def claims_of(protocol: Protocol) -> list[Property]:
    """List all that is claimed of a protocol: guarantees first, then its own.

    Raises ``ModelError`` where two claims share a name.
    """
    return distinct([*guarantees_of(protocol), *own_properties(protocol)])


def parameters_of(protocol: Part) -> dict[str, Any]:
    """Return the sizes, numbers and parts that a protocol was made with, by name."""
    found: dict[str, Any] = {}
    for name, what in protocol.parameters().items():
        if isinstance(what, Sort):
            found[name] = protocol.sizes[what]
        elif isinstance(what, Param):
            found[name] = protocol.argument(what)
        else:
            found[name] = protocol.parts[name].label()
    return found


def every_parameter_of(protocol: Part) -> dict[str, Any]:
    """Give what ``make`` takes to make a protocol again, its parts' included.

    That of a part is named by its path, such as ``sink.committer``.
    """
    found = parameters_of(protocol)
    for name, what in protocol.parameters().items():
        if not isinstance(what, Slot):
            continue
        inner = protocol.parts[name]
        # A sort that both have is the protocol's.
        own = {
            key
            for key, one in inner.parameters().items()
            if not (isinstance(one, Sort) and one in protocol.parameters().values())
        }
        found |= {
            f"{name}.{key}": value
            for key, value in every_parameter_of(inner).items()
            if key.partition(".")[0] in own
        }
    return found


def check(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    limits: Limits | None = None,
    symmetry: bool = False,
    progress: Callable[[int, int, int], None] | None = None,
    engine: Engine | None = None,
    reduce: bool = False,
) -> Report:
    """Search every reachable state and judge each property.

    ``properties`` defaults to all claims about the protocol. A refuted property has a
    shortest trace. With ``symmetry`` states that differ only in the names of members
    count once; claims about fair runs have the verdicts of the full graph, with traces
    that may be longer, or are undecided where they take too much room.
    ``engine`` searches; the default is the native search. With ``reduce`` it leaves
    states out that no property needs, and counterexamples stay as short. Raises
    ``UsageError`` for ``reduce`` with another engine.
    """
    if reduce and engine is not None:
        message = "only the native search can be reduced; leave `engine` out"
        raise UsageError(message)
    queries = _Queries(protocol, properties)
    search = engine or partial(explore, reduce=reduce)
    exploration = search(
        queries.system,
        queries.questions,
        limits=limits,
        symmetry=symmetry,
        progress=progress,
        keep=queries.worthwhile,
    )
    queries.compare(exploration)
    if exploration.not_reduced:
        why = f"{exploration.not_reduced}; {queries.reducible}"
        exploration = replace(exploration, not_reduced=why)
    return queries.report(exploration, exploration.answers)


def simulate(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    walks: int,
    depth: int,
    seed: int,
    progress: Callable[[int, int, int], None] | None = None,
    guided: bool = False,
) -> Report:
    """Judge each property by random walks: refuted, or held in all that were made.

    With ``guided`` they are led to durable states that were not met yet, in two
    processes where one can be forked; what comes out is the same without.
    """
    queries = _Queries(protocol, properties)
    queries.compare_walks()
    if guided:
        # Few searches need it, and all would pay for its import.
        from onceproof.model.search.swarm import swarm as walks_of  # noqa: PLC0415
    else:
        walks_of = random_walks
    simulation = walks_of(
        queries.system,
        queries.questions,
        walks=walks,
        depth=depth,
        seed=seed,
        progress=progress,
    )
    return queries.report(simulation, simulation.answers)


class FaultSets:
    """Judges a protocol where only some of its faults happen: one compiled search."""

    def __init__(self, protocol: Protocol, properties: Sequence[Property]) -> None:
        """Compile the protocol, and all properties that may be asked about it."""
        self._queries = _Queries(protocol, properties)
        self._search = FaultChoice(self._queries.system, self._queries.questions)

    def check(
        self,
        faults: Collection[str],
        properties: Sequence[Property],
        *,
        limits: Limits | None = None,
        samples: int = 0,
    ) -> Report:
        """Judge some of the properties as ``check`` does, with no other faults.

        In so many ``samples`` of the states that are found, all claims and steps are
        compared with plain Python.
        """
        names = {prop.name for prop in properties}
        asked = self._queries.questions_of(names)
        run = self._search.explore(faults, asked, limits=limits, keep=samples)
        self._queries.compare(run)
        return self._queries.report(run, run.answers, names)


class _Queries:
    """The questions that properties put to a protocol, each once."""

    def __init__(
        self, protocol: Protocol, properties: Sequence[Property] | None
    ) -> None:
        self._protocol = protocol
        self._properties = (
            claims_of(protocol) if properties is None else distinct(properties)
        )
        self.system = trace(protocol)
        with self.system.samples.noted() as self._claims:
            self._by_property = [p.questions(self.system) for p in self._properties]
            self._premises = [p.premises(self.system) for p in self._properties]
        self._asked: dict[_Key, SearchQuery] = {}
        every = itertools.chain(*self._by_property, *self._premises)
        for question in filter(None, every):
            # Two properties may share a name, and their questions then would too.
            name = f"{len(self._asked)} {question.name}"
            self._asked.setdefault(_key(question), replace(question, name=name))

    @property
    def questions(self) -> list[SearchQuery]:
        """All questions."""
        return list(self._asked.values())

    def questions_of(self, names: Collection[str]) -> list[SearchQuery]:
        """Return the questions of some properties, each once."""
        keys = {
            _key(question)
            for prop, asked, premises in zip(
                self._properties, self._by_property, self._premises, strict=True
            )
            for question in (*asked, *premises)
            if question is not None and prop.name in names
        }
        return [asked for key, asked in self._asked.items() if key in keys]

    @property
    def reducible(self) -> str:
        """Say which of the properties a reduced search could take."""
        names = [
            f"--property {prop.name}"
            for prop, asked, premises in zip(
                self._properties, self._by_property, self._premises, strict=True
            )
            if all(keeps(q.when) for q in (*asked, *premises) if q is not None)
        ]
        if not names:
            return "so do all that were asked for"
        return f"a reduced search takes the others: {' '.join(names)}"

    @property
    def worthwhile(self) -> int:
        """In how many states that a search reached plain Python is asked again."""
        return self.system.samples.worthwhile(self._claims)

    def compare(self, exploration: Exploration) -> None:
        """Compare with plain Python in states that were reached.

        Raises ``ModelError`` where what was traced means something else.
        """
        interpreter = Interpreter(self._protocol)
        states = (interpreter.store(state).values for state in exploration.kept)
        self.system.samples.reached(states, self._claims)
        exploration.kept = []

    def compare_walks(self) -> None:
        """Compare with plain Python on walks of its own; raises ``ModelError``."""
        self.system.samples.walk_far(self._claims)

    def report(
        self,
        run: Exploration | Simulation,
        found: list[SearchResult],
        names: Collection[str] | None = None,
    ) -> Report:
        """Return each property its verdict, from the answers to its questions.

        With ``names``, only the properties of these names.
        """
        answers = {_key(a.question): a for a in found}
        report = Report(self._protocol, run=run)
        bounds = f"{_extent(run)}; {bounds_of(self.system)}"
        for prop, questions, premises in zip(
            self._properties, self._by_property, self._premises, strict=True
        ):
            if names is not None and prop.name not in names:
                continue
            mine = [answers[_key(q)] for q in questions]
            met = [None if q is None else answers[_key(q)].verdict for q in premises]
            report.findings.append(_finding(prop, mine, met, bounds))
        return report


def _key(question: SearchQuery) -> _Key:
    """What distinguishes a question from others, whatever it is called."""
    return question.when, question.term, question.given


def _extent(run: Exploration | Simulation) -> str:
    """Return how far a judge looked."""
    if isinstance(run, Simulation):
        kind = "guided" if run.guided else "random"
        return f"{run.walks:,} {kind} walks of at most {run.depth:,} steps"
    if run.stopped:
        return f"{run.distinct:,} states, where the search was stopped"
    plural = "" if run.steps == 1 else "s"
    if run.reduced:
        return (
            f"{run.distinct:,} states of a partial-order reduction that keeps every "
            f"violation, at most {run.steps} step{plural} from the start"
        )
    return f"every reachable state, at most {run.steps} step{plural} from the start"


def _finding(
    prop: Property, answers: list[SearchResult], met: list[str | None], bounds: str
) -> Finding:
    answers = [
        replace(a, verdict=with_premise(a.verdict, m))
        for a, m in zip(answers, met, strict=True)
    ]
    unmet, unseen = (
        [n for n, m in enumerate(met) if m == verdict]
        for verdict in (Verdict.VACUOUS, Verdict.UNDECIDED)
    )
    verdict, note = weighed(prop, answers, unmet)
    bounds = bounds if verdict.holds else ""
    shown = [
        (len(a.trace.steps), number, a.trace)
        for number, a in enumerate(answers)
        if a.trace is not None and a.verdict == verdict
    ]
    _, clause, trace_ = min(shown, key=lambda s: s[:2], default=(0, 0, None))
    return Finding(
        prop,
        verdict,
        trace_,
        clause,
        note=note,
        bounds=bounds,
        unmet=tuple(prop.clauses[n].idle for n in unmet),
        unseen=tuple(prop.clauses[n].idle for n in unseen),
    )
