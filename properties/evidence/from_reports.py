"""Records of a search, of random walks or of proofs: a report as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.fields import Param
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.exhaustive import Exploration
from onceproof.model.search.simulation import Simulation
from onceproof.model.text import shell_word
from onceproof.model.versions import versions_of
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.record import (
    ASSUMED,
    CHECKED,
    CONFIGURED,
    Assumption,
    Evidence,
    Fingerprints,
    TraceEvidence,
    today,
)
from onceproof.properties.judges.by_search import parameters_of
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.system import System
    from onceproof.model.traces import Trace
    from onceproof.properties.judges.by_search import Finding, Report
    from onceproof.properties.property import Property

_ASKED = {
    "symmetry": "symmetry",
    "reduce": "reduce",
    "engine": "engine",
    "walks": "simulate",
    "depth": "depth",
    "seed": "seed",
}


def records_of(
    report: Report,
    *,
    subject: str = "",
    how: Mapping[str, Any] | None = None,
    steps: Callable[[Trace], Sequence[str]] | None = None,
    day: str = "",
) -> tuple[Evidence, ...]:
    """Return a report of a protocol as evidence, a record for each guarantee.

    ``subject`` is how the protocol is named where it is not of the library, ``how``
    says what was asked of the judge besides, ``steps`` gives the steps of a trace in
    words. Witnesses and lemmas are no guarantees: that witnesses are met is reported as
    an assumption.
    """
    protocol = report.protocol
    system = trace(protocol)
    subject = subject or subject_of(protocol)
    model = fingerprints.of_system(system)
    witnesses = tuple(f for f in report.findings if is_witness(f.property))
    kind, coverage, settings = _judge(report)
    allowed = fault_set(system)
    scope = {"model": protocol.label(), **parameters_of(protocol), **settings}
    scope |= how or {}
    if not allowed:
        del scope["faults"]
    command = _command(kind, subject, scope)
    return tuple(
        Evidence(
            subject=subject,
            guarantee=found.property.name,
            judge=kind,
            claim=found.property.text,
            scope=scope,
            faults=protocol.faults if allowed else 0,
            fault_set=allowed,
            verdict=found.verdict,
            coverage=coverage,
            fingerprints=Fingerprints(
                model, fingerprints.of_property(found.property, system)
            ),
            parameters=settings_of(protocol),
            versions=versions_of("onceproof", "z3-solver" if kind == "prove" else ""),
            date=day or today(),
            command=f"{command} --evidence",
            assumptions=_assumptions(system, found.property, witnesses),
            lemmas=found.lemmas,
            note=_note(found),
            trace=_shown(found, command, steps or _plain),
        )
        for found in report.findings
        if is_guarantee(found.property)
    )


def is_witness(prop: Property) -> bool:
    """Return whether a property only shows that a model is not idle."""
    return all(clause.when is Modality.SOMETIMES for clause in prop.clauses)


def is_guarantee(prop: Property) -> bool:
    """Return whether a property is something that users may be promised."""
    return not prop.lemma and not is_witness(prop)


def subject_of(protocol: Protocol) -> str:
    """Name a protocol as it is typed after ``onceproof check``, sizes apart."""
    kind = type(protocol)
    standard = kind()
    chosen = "".join(
        f" --set {name}={protocol.parts[name].label()}"
        for name, what in kind.parameters().items()
        if isinstance(what, Slot)
        and type(protocol.parts[name]) is not type(standard.parts[name])
    )
    return f"{kind.label()}{chosen}"


def settings_of(protocol: Protocol) -> dict[str, Any]:
    """Return all that a protocol and its parts were made with, by path."""
    return {**parameters_of(protocol), **_inside(protocol)}


def _inside(holder: Part) -> dict[str, Any]:
    """Return the numbers that the parts of a part were made with."""
    found: dict[str, Any] = {}
    for part in holder.parts.values():
        for name, what in part.parameters().items():
            if isinstance(what, Param):
                found[part.path_to(name)] = part.argument(what)
        found |= _inside(part)
    return found


def fault_set(system: System) -> tuple[str, ...]:
    """Name the faults that can happen."""
    return tuple(a.name.replace("_", "-") for a in system.actions if a.fault)


def _judge(report: Report) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Name the judge, count what it looked at, and say what its scope adds."""
    run = report.run
    if isinstance(run, Exploration):
        coverage: dict[str, Any] = {"states": run.distinct, "depth": run.steps}
        if run.stopped:
            coverage["stopped"] = run.stopped
        if run.reduced:
            coverage["reduced"] = True
        return "check", coverage, {}
    if isinstance(run, Simulation):
        coverage = {"walks": run.walks, "steps": run.steps, "states": run.distinct}
        settings = {"walks": run.walks, "depth": run.depth, "seed": run.seed}
        settings |= {"guided": True} if run.guided else {}
        return "simulate", coverage, settings
    return "prove", {}, {}


def _assumptions(
    system: System, prop: Property, witnesses: Sequence[Finding]
) -> tuple[Assumption, ...]:
    assumptions = []
    met = [f.property.name for f in witnesses if f.verdict.holds]
    unmet = [f.property.name for f in witnesses if f.verdict is Verdict.VACUOUS]
    if met:
        assumptions.append(Assumption(f"the model reaches {', '.join(met)}", CHECKED))
    if unmet:
        assumptions.append(
            Assumption(f"the model never reaches {', '.join(unmet)}", CHECKED)
        )
    most = system.protocol.faults
    if fault_set(system):
        plural = "" if most == 1 else "s"
        assumptions.append(
            Assumption(f"at most {most} fault{plural} in a run", CONFIGURED)
        )
    fair = [a.name.replace("_", "-") for a in system.actions if a.fair]
    if fair and any(clause.when.of_runs for clause in prop.clauses):
        text = f"{len(fair)} fair actions: what stays possible eventually happens"
        assumptions.append(Assumption(text, ASSUMED))
    assumptions.append(Assumption("the system does as the model says", ASSUMED))
    return tuple(assumptions)


def _note(found: Finding) -> str:
    """Keep of a judge's note what every run of it says."""
    return found.note.partition("; not inductive")[0] if found.verdict.holds else ""


def _command(kind: str, subject: str, scope: Mapping[str, Any]) -> str:
    """Return the command that has the judge look again, at the same sizes."""
    name, _, slots = subject.partition(" --set ")
    chosen = [one.partition("=")[0] for one in slots.split(" --set ")]
    known = ("model", *chosen, *_ASKED)
    sizes = [f" --set {k}={v}" for k, v in scope.items() if k not in known]
    asked = [
        f" --{option}" if scope[word] is True else f" --{option} {scope[word]}"
        for word, option in _ASKED.items()
        if word in scope
    ]
    verb = "prove" if kind == "prove" else "check"
    shown = f" --set {slots}" if slots else ""
    return f"onceproof {verb} {shell_word(name)}{shown}{''.join([*sizes, *asked])}"


def _plain(trace: Trace) -> list[str]:
    return [str(event) for event in trace.events]


def _shown(
    found: Finding, command: str, steps: Callable[[Trace], Sequence[str]]
) -> TraceEvidence | None:
    """Return the trace of a claim that is refuted."""
    if found.trace is None or found.verdict is not Verdict.REFUTED:
        return None
    events = found.trace.events
    loop = found.trace.loop
    outcome = "" if loop is None else f"from step {loop + 1} on for ever"
    if loop == len(events):
        outcome = "after the last step the run may stay there for ever"
    return TraceEvidence(
        clause=found.property.clauses[found.clause].text,
        steps=tuple(steps(found.trace)),
        fault_steps=tuple(n for n, event in enumerate(events, 1) if event.fault),
        command=f"{command} --property {found.property.name}",
        outcome=outcome,
    )
