"""Compares what each reader of a model says with what the brute force found."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.export.javascript import coded, source
from onceproof.model.export.tla import module
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms.terms import subterms
from onceproof.model.language.tracing.rest import rests
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.symmetry import interchangeable
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check, claims_of, simulate
from tests.soundness.independent.brute import Brute, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.traces import Trace
    from onceproof.properties.judges.by_search import Finding
    from onceproof.properties.property import Property
    from tests.node import Node
    from tests.soundness.cases import Case
    from tests.soundness.independent.brute import Clause

RUNS = ("eventually", "leads_to")
WEAKEST = ("refuted", "undecided", "vacuous", "exhausted")
BOUNDED = ("always", "step", "at_rest")
DEPTH = 4
# What rest is after an action grows with the square of what rest is.
MOST_OF_REST = 600
HISTORIES = 20_000
JAVASCRIPT_STATES = 40


class DisagreementError(AssertionError):
    """A reader and the brute force differ; ``what`` names the comparison."""

    def __init__(self, what: str, detail: object) -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


Tally = Counter[tuple[str, str, str]]


def agree(what: str, found: object, expected: object, detail: object = "") -> None:
    """Raise unless a reader's answer is the brute force's."""
    if found != expected:
        text = f"the reader says {found!r}, the brute force {expected!r} {detail}"
        raise DisagreementError(what, text)


class Compared:
    """One protocol, and what the brute force knows of each of its properties."""

    def __init__(self, case: Case, tally: Tally) -> None:
        self.case = case
        self.tally = tally
        self.brute = case.brute
        self.protocol = case.kind()
        self.reference = Interpreter(self.protocol)
        places = [(f.path, tuple(at)) for f, at in self.reference.places]
        agree("elements", sorted(places), sorted(self.brute.keys))
        self._order = [places.index(key) for key in self.brute.keys]
        self.by_property: dict[str, list[Clause]] = {}
        for clause in self.brute.clauses:
            self.by_property.setdefault(clause.property, []).append(clause)
        self.settled = {c: self.brute.settle(c) for c in self.brute.clauses}
        self._event = {(e.name, e.members): i for i, e in enumerate(self.brute.events)}

    def state(self, theirs: Any) -> int:
        """Give the number of a reader's state; every one must be reachable."""
        mine = tuple(theirs[i] for i in self._order)
        if mine not in self.brute.number:
            raise DisagreementError("states", f"{mine} is not reachable")
        return self.brute.number[mine]

    def verdict(self, name: str) -> str:
        """Give the brute force's verdict of a property.

        What leads to what is claimed of each member on its own: members for whom it
        never comes up count only where it comes up for none.
        """
        verdicts = [(c.when, self.settled[c].verdict) for c in self.by_property[name]]
        idle = ("leads_to", "vacuous")
        if any(
            when == "leads_to" and verdict != "vacuous" for when, verdict in verdicts
        ):
            verdicts = [one for one in verdicts if one != idle]
        return min((verdict for _, verdict in verdicts), key=WEAKEST.index)

    def count(self, judge: str, finding: Finding) -> None:
        """Note which verdict a judge gave of which modality."""
        for clause in self.by_property[finding.property.name]:
            self.tally[judge, clause.when, str(finding.verdict)] += 1

    # Traces -----------------------------------------------------------------------

    def path(self, what: str, shown: Trace) -> list[int]:
        """Follow a trace step by step, and give the states it goes through."""
        way = [self.state(shown.start)]
        if way[0] >= self.brute.starts:
            raise DisagreementError(what, "the trace starts in no initial state")
        for event, after in shown.steps:
            number = self._event[event.name, event.members]
            to = self.state(after)
            steps = self.brute.steps[way[-1]]
            idle = number in self.brute.stutters[way[-1]] and to == way[-1]
            if (number, to) not in steps and not idle:
                raise DisagreementError(what, f"{event} does not lead there")
            way.append(to)
        return way

    def shows(self, what: str, finding: Finding, *, shortest: bool) -> None:
        """Check the trace of a finding: it is real, and shows what is claimed."""
        clause = self.by_property[finding.property.name][finding.clause]
        if finding.trace is None:
            if str(finding.verdict) == "refuted":
                raise DisagreementError(
                    what, f"{clause.property} is refuted without a trace"
                )
            return
        way = self.path(what, finding.trace)
        brute = self.brute
        if clause.when in RUNS:
            self._lasso(what, clause, finding.trace, way)
            return
        if clause.when == "step":
            good = len(way) > 1 and not brute.ask(clause, *way[-2:])
        elif clause.when == "sometimes":
            good = brute.ask(clause, way[-1])
        elif clause.when == "recoverable":
            good = self.settled[clause].verdict == "refuted"
        else:
            good = not brute.ask(clause, way[-1])
            good = good and (clause.when == "always" or brute.rests[way[-1]])
        if not good:
            raise DisagreementError(what, f"the trace does not show {clause.property}")
        if shortest:
            lengths = [
                self.settled[c].shortest for c in self.by_property[clause.property]
            ]
            least = min(n for n in lengths if n is not None)
            agree(f"{what} length", len(way) - 1, least, clause.property)

    def _lasso(self, what: str, clause: Clause, shown: Trace, way: list[int]) -> None:
        brute = self.brute
        if shown.loop is None:
            raise DisagreementError(what, f"{clause.property} has no lasso")
        cycle = way[shown.loop :]
        answers = [brute.ask(clause, i) for i in way]
        good = [a[1] if isinstance(a, tuple) else a for a in answers]
        begins = [
            i
            for i, a in enumerate(answers)
            if not good[i] and (a[0] if isinstance(a, tuple) else i == 0)
        ]
        held = any(not any(good[i:]) for i in begins)
        taken = {self._event[e.name, e.members] for e, _ in shown.steps[shown.loop :]}
        fair = all(
            not does.fair
            or e in taken
            or any(all(e != f for f, _ in brute.steps[i]) for i in cycle)
            for e, does in enumerate(brute.events)
        )
        if cycle[0] != cycle[-1] or not held or not fair:
            raise DisagreementError(
                what, f"{clause.property}: no fair run that breaks it"
            )


# Search ---------------------------------------------------------------------------


def searched(seen: Compared) -> None:
    """States, levels and verdicts of the exhaustive search."""
    report = check(seen.protocol)
    run, brute = report.exploration, seen.brute
    assert run is not None
    agree("search distinct", run.distinct, len(brute.states))
    agree("search generated", run.generated, brute.generated)
    agree("search depth", run.depth, max(brute.far) + 1)
    taken = {brute.events[e].name for out in brute.steps for e, _ in out}
    never = {e.name for e in brute.events} - taken
    agree("search never taken", set(run.never_taken), never)
    for finding in report.findings:
        name = finding.property.name
        when = seen.by_property[name][0].when
        agree(f"search {when}", str(finding.verdict), seen.verdict(name), name)
        seen.count("search", finding)
        seen.shows(f"search {when} trace", finding, shortest=when not in (*RUNS,))


def by_orbits(seen: Compared) -> None:
    """The search with symmetry: the same verdicts, as many states as orbits."""
    brute, system = seen.brute, trace(seen.protocol)
    sorts = [
        s
        for s in interchangeable(system)
        if any(s in (*f.sorts, getattr(f.type, "sort", None)) for f in system.fields)
    ]
    text = seen.case.path.read_text(encoding="utf-8")
    names_members = re.search(r", Drawn\.|@(sometimes|recoverable)\(per=", text)
    for sort in sorts:
        if not brute.alike(sort) and not names_members:
            raise DisagreementError(
                "interchangeable", f"{sort} is not: its members differ"
            )
    try:
        report = check(seen.protocol, symmetry=True)
    except UsageError:
        if sorts and not names_members:
            raise
        return
    assert report.exploration is not None
    if not names_members:
        namings = brute.namings(sorts)
        orbits = {
            min(brute.number[brute.renamed(s, n)] for n in namings)
            for s in brute.states
        }
        agree("symmetry distinct", report.exploration.distinct, len(orbits))
        agree("symmetry depth", report.exploration.depth, max(brute.far) + 1)
    for finding in report.findings:
        name = finding.property.name
        when = seen.by_property[name][0].when
        seen.count("symmetry", finding)
        agree(f"symmetry {when}", str(finding.verdict), seen.verdict(name), name)
        seen.shows(f"symmetry {when} trace", finding, shortest=when not in RUNS)


def with_fewer_orders(seen: Compared) -> None:
    """The search with a reduction, claim by claim: verdicts alike, traces as short.

    Those claims that it keeps are then asked together, and with symmetry, too.
    """
    kept = [c for c in claims_of(seen.protocol) if _with_fewer_orders(seen, [c])]
    if kept:
        _with_fewer_orders(seen, kept)
        with suppress(UsageError):
            _with_fewer_orders(seen, kept, symmetry=True)


def _with_fewer_orders(seen: Compared, claims: list[Property], **how: bool) -> bool:
    """Compare one search; answer whether it left out any orders at all."""
    report = check(seen.protocol, claims, reduce=True, **how)
    run, every = report.exploration, len(seen.brute.states)
    assert run is not None
    if run.reduced:
        agree("reduction states", run.distinct <= every, True)
        fewer = "fewer" if run.distinct < every else "all"
        seen.tally["reduction", "states", fewer] += 1
    elif not how:
        agree("reduction of none", run.distinct, every)
    for finding in report.findings:
        name = finding.property.name
        when = seen.by_property[name][0].when
        if run.reduced:
            seen.count("reduction", finding)
        agree(f"reduction {when}", str(finding.verdict), seen.verdict(name), name)
        seen.shows(f"reduction {when} trace", finding, shortest=when not in RUNS)
    return run.reduced


def walked(seen: Compared, seed: int) -> None:
    """Random walks: what they show is real, and nothing else is claimed."""
    report = simulate(seen.protocol, walks=20, depth=6, seed=seed)
    for finding in report.findings:
        name = finding.property.name
        when = seen.by_property[name][0].when
        seen.count("simulation", finding)
        verdict, truth = str(finding.verdict), seen.verdict(name)
        if verdict == "refuted":
            agree(f"simulation {when}", "refuted", truth, name)
        elif verdict == "held":
            agree(f"simulation {when} held", truth != "vacuous", True, name)
        else:
            agree(f"simulation {when} verdict", verdict, "undecided", name)
        seen.shows(f"simulation {when} trace", finding, shortest=False)


# Proofs ---------------------------------------------------------------------------


def proved(seen: Compared, most: int) -> None:
    """z3: by induction, at these sizes and at every size, and to a depth."""
    system, asked = trace(seen.protocol), claims_of(seen.protocol)
    if sum(1 for _ in subterms(rests(system))) > MOST_OF_REST:
        asked = [p for p in asked if all(c.when != "at_rest" for c in p.clauses)]
        seen.tally["z3", "at_rest", "left out: too large"] += 1
    report = prove(seen.protocol, asked, depth=DEPTH, timeout_seconds=30)
    for finding in report.findings:
        name = finding.property.name
        clauses = seen.by_property[name]
        when = clauses[0].when
        seen.count("z3", finding)
        verdict, truth = str(finding.verdict), seen.verdict(name)
        lengths = [seen.settled[c].shortest for c in clauses if c.when in BOUNDED]
        near = [n for n in lengths if n is not None and n <= DEPTH]
        detail = f"{name} {finding.note}"
        if verdict == "refuted":
            agree(f"z3 refuted {when}", "refuted", truth, detail)
            seen.shows(f"z3 {when} trace", finding, shortest=True)
            continue
        if truth == "refuted" and near:
            what = f"z3 {verdict} {when}"
            raise DisagreementError(what, f"refuted after {min(near)} steps: {detail}")
        if verdict in ("exhausted", "proved"):
            agree(f"z3 {verdict} {when}", truth, "exhausted", detail)
            for sizes in other_sizes(seen, finding):
                _holds_at(seen, finding, sizes, most)
        elif verdict == "bounded" and when == "sometimes":
            seen.shows(f"z3 {when} trace", finding, shortest=True)
        elif verdict == "vacuous":
            agree(f"z3 vacuous {when}", truth, "vacuous", detail)
        elif verdict not in ("bounded", "undecided"):
            what = f"z3 {when}"
            raise DisagreementError(what, f"says {verdict}")


def other_sizes(seen: Compared, finding: Finding) -> Iterator[dict[str, int]]:
    """Yield the sizes that a proof speaks of, where it is for every size."""
    if not finding.note.startswith("inductive for every number"):
        return
    sorts = {
        s.name: size
        for s, size in seen.protocol.sizes.items()
        if not s.ordered and s.name in seen.protocol.parameters()
    }
    ways = sorted(itertools.product(range(1, 6), repeat=len(sorts)), key=sum)
    for way in ways:
        sizes = dict(zip(sorts, way, strict=True))
        if sizes != sorts:
            yield sizes


_AT_SIZES: dict[Any, Brute | None] = {}


def _holds_at(
    seen: Compared, finding: Finding, sizes: dict[str, int], most: int
) -> None:
    key = (seen.case.path, tuple(sizes.items()), most)
    if key not in _AT_SIZES:
        smaller = [
            k
            for k, found in _AT_SIZES.items()
            if k[0] == key[0]
            and found is None
            and all(dict(k[1])[s] <= n for s, n in sizes.items())
        ]
        try:
            found = None if smaller else Brute(seen.case.kind(**sizes), most)
        except TooLargeError:
            found = None
        _AT_SIZES[key] = found
    brute = _AT_SIZES[key]
    if brute is None:
        return
    seen.tally["z3 at other sizes", "checked", str(sum(sizes.values()))] += 1
    for clause in brute.clauses:
        if clause.property == finding.property.name:
            verdict = brute.settle(clause).verdict
            if verdict == "refuted":
                what = f"z3 {finding.verdict} {clause.when} for every size"
                raise DisagreementError(what, f"{clause.property} fails at {sizes}")


# Interleavings ----------------------------------------------------------------------


def listed(seen: Compared) -> None:
    """The classes of interleavings: every observed history, and no other."""
    brute = seen.brute
    try:
        wanted = brute.histories(HISTORIES)
    except TooLargeError:
        return
    try:
        found = interleavings(seen.protocol)
    except UsageError as error:
        if wanted is None:
            seen.tally["interleavings", "runs", "refused"] += 1
            return
        raise DisagreementError("interleavings refused", error) from error
    agree("interleavings end", wanted is not None, True)
    assert wanted is not None
    agree("interleavings crashes", set(found.crashes) >= brute.crashes, True)
    sorts = [s for s, n in seen.protocol.sizes.items() if n > 1 and not s.ordered]
    sorts = [s for s in sorts if brute.alike(s)]
    namings = brute.namings(sorts)
    if len(namings) > 24:
        return
    counts = Counter()
    for one in found.classes:
        way = seen.path("interleavings trace", one.trace)
        if not brute.rests[way[-1]] or not one.faults:
            raise DisagreementError("interleavings trace", "not at rest, or no fault")
        past: list[Any] = [brute.durable(brute.states[way[0]])]
        for (event, _), before, after in zip(
            one.trace.steps, way, way[1:], strict=False
        ):
            if event.name in brute.crashes:
                pair = (brute.states[before], brute.states[after])
                past.append(tuple(brute.durable(s) for s in pair))
        past.append(brute.durable(brute.states[way[-1]]))
        counts[brute.canonical(tuple(past), namings)] += one.size
    expected = {brute.canonical(history, namings) for history in wanted}
    agree("interleavings runs", sum(counts.values()), sum(wanted.values()))
    lost, made_up = expected - set(counts), set(counts) - expected
    if lost or made_up:
        text = f"{len(lost)} lost of {len(expected)}, {len(made_up)} made up: "
        raise DisagreementError("interleavings histories", text + str(sorted(lost)[:1]))
    key = "several" if len(expected) > 1 else "one" if expected else "none"
    seen.tally["interleavings", "runs", key] += 1


# Other languages --------------------------------------------------------------------

STEP = """({ source, states }) => {
  const model = eval(source);
  return states.map(state => {
    const next = model.enabled(state);
    return {
      next: next.map(e => [model.events[e.event].name, e.members, e.state]),
      rests: model.rests(state),
      holds: model.questions.map(q => !q.holds ? null
        : q.ofSteps ? next.map(e => q.holds(state, e.state))
        : q.holds(state)),
    };
  });
}"""


def scripted(seen: Compared, node: Node) -> None:
    """JavaScript: successors, rest and claims."""
    brute, system = seen.brute, trace(seen.protocol)
    asked = [
        (prop, number, question)
        for prop in claims_of(seen.protocol)
        for number, question in enumerate(prop.questions(system))
    ]
    types = {f.path: f.type for f in system.fields}
    back = {mine: theirs for theirs, mine in enumerate(seen._order)}
    order = [back[i] for i in range(len(seen._order))]
    keys = [brute.keys[i] for i in order]

    def code(state: int) -> list[Any]:
        values = [brute.states[state][i] for i in order]
        return [coded(types[k[0]], v) for k, v in zip(keys, values, strict=True)]

    codes = {tuple(code(i)): i for i in range(len(brute.states))}
    some = range(min(len(brute.states), JAVASCRIPT_STATES))
    data = {
        "source": source(system, [q for *_, q in asked]),
        "states": [code(i) for i in some],
    }
    for i, one in zip(some, node(STEP, data), strict=True):
        wanted = {(e, to) for e, to in brute.steps[i]}
        wanted |= {(e, i) for e in brute.stutters[i]}
        named = {
            (brute.events[e].name, brute.events[e].members, to) for e, to in wanted
        }
        found = [(n, tuple(m), codes.get(tuple(s))) for n, m, s in one["next"]]
        agree("javascript next", set(found), named)
        agree("javascript rests", one["rests"], brute.rests[i])
        for (prop, number, question), value in zip(asked, one["holds"], strict=True):
            clause = seen.by_property[prop.name][number]
            what = f"javascript {clause.when}"
            seen.tally["javascript", clause.when, str(value)[:5]] += 1
            if question.when in RUNS:
                agree(what, value, None)
            elif question.when == "step":
                answers = [brute.ask(clause, i, to) for *_, to in found]
                agree(what, value, answers, prop.name)
            else:
                agree(what, value, brute.ask(clause, i), prop.name)


def exported(seen: Compared) -> str:
    """TLA+: the module can be written."""
    system = trace(seen.protocol)
    questions = [q for p in claims_of(seen.protocol) for q in p.questions(system)]
    made = module(system, questions)
    seen.tally["tla", "module", "written"] += 1
    return made.text


def everything(case: Case, tally: Tally, node: Node | None, *, most: int) -> None:
    """Compare every reader, and raise at the first that differs."""
    for _, comparison in comparisons(case, tally, node, most=most):
        comparison()


def comparisons(
    case: Case, tally: Tally, node: Node | None, *, most: int
) -> list[tuple[str, Any]]:
    """List the comparisons of a protocol by name."""
    seen = Compared(case, tally)
    found = [
        ("search", lambda: searched(seen)),
        ("symmetry", lambda: by_orbits(seen)),
        ("reduction", lambda: with_fewer_orders(seen)),
        ("simulation", lambda: walked(seen, 7)),
        ("z3", lambda: proved(seen, most)),
        ("interleavings", lambda: listed(seen)),
        ("tla", lambda: exported(seen)),
    ]
    if node is not None:
        found.append(("javascript", lambda: scripted(seen, node)))
    return found
