"""Evidence of replays: a sink's report as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.language.tracing.trace import trace
from onceproof.model.text import shell_word
from onceproof.model.versions import versions_of
from onceproof.properties.counterexample.file import labels_of
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.from_reports import (
    fault_set,
    settings_of,
)
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
from onceproof.properties.judges.by_history import broken
from onceproof.properties.judges.by_search import parameters_of
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.readers import at_moment, readers_see
from onceproof.spark_checks.report.evidence.source_files import near, sources_of
from onceproof.spark_checks.stores.layered import breaks, itself

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport

_SIZES = {
    "BATCH": "batches",
    "PARTITION": "partitions",
    "ATTEMPT": "attempts of a task",
}
_AS_IT_SETS = ("Query", "BatchJob")
_TAKEN = (
    "the source gives the same events again",
    "a driver dies as its process does: what the operating system has accepted stays",
    "no speculative attempts, and none that outlives the driver",
)


def records_of_replay(
    report: SinkReport,
    *,
    root: Path,
    claims: Sequence[Property] = (),
    files: Mapping[str, str] | None = None,
    test: str = "",
    nth: int = 1,
    options: str = "",
    into: Path | None = None,
    day: str = "",
    unsettled: str = "",
) -> tuple[Evidence, ...]:
    """Return how a sink came out as evidence, a record for each guarantee.

    ``claims`` are the guarantees that were asked for, where not all were; ``files``
    name the counterexamples that were written. ``test`` is the test that asked, for
    the ``nth`` time of this sink; it was run with ``options``, and left its records
    ``into`` a folder. Paths are relative to ``root``. Where something besides the
    replay leaves it ``unsettled``, nothing is held, and the records say why.
    """
    protocol = report.protocol
    system = trace(protocol)
    model = fingerprints.of_system(system)
    subject = subject_of(report, root)
    code = sources_of(subject, root)
    written = files or {}
    scope = {**_scope(report), **({"test": test} if test else {})}
    scope |= {"replay of the test": nth} if nth > 1 else {}
    command = _command(report, subject, test)
    leaving = "--evidence"
    if into is not None:
        leaving = f"{options} --onceproof-evidence={near(str(into), root)}".strip()
    return tuple(
        Evidence(
            subject=subject,
            guarantee=prop.name,
            judge="replay",
            claim=prop.text,
            scope=scope,
            faults=protocol.faults,
            fault_set=fault_set(system),
            verdict=_concluded(report, prop, unsettled),
            coverage=_coverage(report),
            fingerprints=Fingerprints(
                model, fingerprints.of_property(prop, system), code
            ),
            parameters=settings_of(protocol),
            versions={**versions_of("onceproof", "pyspark"), **report.versions},
            date=day or today(),
            command=f"{command} {leaving}",
            assumptions=_assumptions(report),
            note=_note(report, prop, unsettled),
            trace=_shown(report, prop, command, near(written.get(prop.name, ""), root)),
        )
        for prop in report.properties
        if not claims or prop in claims
    )


def subject_of(report: SinkReport, root: Path) -> str:
    """Name a sink: a reference sink by its name, another as ``path.py::function``."""
    sink = report.sink
    if not sink.code:
        return sink.name
    path, sign, function = sink.name.rpartition("::")
    files = [place for place in sink.code if place.endswith(".py")]
    if not sign and not files:
        return sink.name
    return f"{near(files[0] if files else path, root)}::{function}"


def _scope(report: SinkReport) -> dict[str, Any]:
    given, kind = report.given, type(report.under_test).__name__
    result = getattr(report.under_test, "result", None)
    numbers = parameters_of(report.protocol)
    query = "each event as it is" if given.own else "flights, and which were late"
    columns = ", ".join(given.key) or "all columns"
    return {
        "source": "files, of rows of its own" if given.own else "files, of flights",
        "query": "held to result=" if result else f"{query}, identified by {columns}",
        "sink": kind,
        **_store(report),
        "output mode": "as it sets" if kind in _AS_IT_SETS else "append",
        "trigger": "as it sets" if kind in _AS_IT_SETS else "availableNow",
        "Spark": versions_of("pyspark")["pyspark"],
        "events": given.events,
        **{word: numbers[name] for name, word in _SIZES.items()},
    }


def _store(report: SinkReport) -> dict[str, str]:
    """Name the store that a sink writes to, and say if its connections break."""
    store = report.sink.store
    if store is None:
        return {}
    breaking = ", whose connections break" if breaks(store) else ""
    return {"store": f"{itself(store).name}{breaking}"}


def _coverage(report: SinkReport) -> dict[str, Any]:
    found: dict[str, Any] = {
        "interleavings": f"{len(report.replayed)} of {len(report.classes.classes)}",
        "durable states hit": (
            f"{report.covered} of {len(report.classes.durable_states)}"
        ),
    }
    if not report.sink.code:
        found["interleavings that drift from the model"] = len(report.drift)
    if report.missed:
        found["not steered"] = len(report.missed)
    if report.sink.seen is not None and report.sink.seen.passed:
        found["repetitions without a fault"] = report.sink.seen.passed
    if report.sink.seen is not None and report.sink.seen.outside:
        names = [f"{name} ({why})" for name, why in report.sink.seen.outside]
        found["code without faults"] = ", ".join(names)
    return found


def _concluded(report: SinkReport, prop: Property, unsettled: str) -> Verdict:
    verdict = report.concluded(prop)
    return Verdict.UNDECIDED if unsettled and verdict.holds else verdict


def _note(report: SinkReport, prop: Property, unsettled: str) -> str:
    verdict = report.concluded(prop)
    if unsettled and verdict.holds:
        return unsettled
    if verdict is not Verdict.UNDECIDED:
        return ""
    if report.left:
        return f"time ran out before {report.left} interleavings"
    if report.model.verdicts.get(prop.name) is Verdict.REFUTED:
        return "the model refutes it at a moment when no replay looks"
    if report.unobserved(prop):
        return "the reader failed at a moment that it speaks of"
    if report.never_cut:
        return f"no connection was broken {report.never_cut[0]}"
    if report.unknown_exchanges:
        return f"{report.unknown_exchanges} exchanges of the code were not cut"
    if names := report.differing:
        return f"{names[0]} differs from build to build, and a restart kept its value"
    if report.never_hit:
        return f"no fault was injected before {report.never_hit[0]}"
    return "something could not be steered as planned"


def _assumptions(report: SinkReport) -> tuple[Assumption, ...]:
    numbers = parameters_of(report.protocol)
    found = [Assumption(text, ASSUMED) for text in _TAKEN]
    most = report.protocol.faults
    plural = "" if most == 1 else "s"
    found.append(Assumption(f"at most {most} fault{plural} in a run", CONFIGURED))
    text = f"a task is tried at most {numbers['ATTEMPT']} times"
    found.append(Assumption(text, CONFIGURED))
    if not report.sink.code and report.replayed and not report.drift:
        text = "Spark did what the model does in every interleaving replayed"
        found.append(Assumption(text, CHECKED))
    if report.sink.code:
        found.append(Assumption("without a fault each event is seen once", CHECKED))
    return tuple(found)


def _shown(
    report: SinkReport, prop: Property, command: str, file: str
) -> TraceEvidence | None:
    outcome = report.first_break(prop)
    if outcome is None or outcome.spark is None:
        return None
    clause, moment = broken(prop, outcome.spark) or (0, 0)
    seen = readers_see(outcome.spark, moment)
    when = at_moment(outcome.spark.moments[moment], rested=outcome.spark.rested)
    one = outcome.interleaving.trace
    return TraceEvidence(
        clause=prop.clauses[clause].text,
        steps=tuple(labels_of(report.protocol, one)),
        fault_steps=tuple(n for n, event in enumerate(one.events, 1) if event.fault),
        command=_again(report, command, outcome, file),
        failpoints=outcome.failpoints,
        outcome=f"{when}, {seen}",
        file=file,
    )


def _command(report: SinkReport, subject: str, test: str) -> str:
    """Return the command that replays a sink again, at the same sizes."""
    if report.sink.code:
        return f"pytest {shell_word(test or subject)}"
    numbers = parameters_of(report.protocol)
    return (
        f"onceproof replay {subject} --faults {report.protocol.faults} "
        f"--batches {numbers['BATCH']} --events {report.given.events}"
    )


def _again(report: SinkReport, command: str, outcome: Outcome, file: str) -> str:
    """Return the command that shows a trace again."""
    if report.sink.code:
        return f"onceproof replay {shell_word(file)}" if file else command
    return f"{command} --only {outcome.interleaving.number}"
