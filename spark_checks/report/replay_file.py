"""A counterexample file is replayed: the failure is still there, or it is fixed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import pick, protocols
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.text import shell_word
from onceproof.properties.counterexample.file import Counterexample, read, steps_of
from onceproof.properties.judges.by_history import broken
from onceproof.properties.judges.by_search import every_parameter_of
from onceproof.properties.trust import own_code
from onceproof.properties.words.readers import failed as failed_reader
from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.inputs.event_files import enough
from onceproof.spark_checks.inputs.sizes import MOST, MOST_FAULTS, TIMEOUT, Sizes
from onceproof.spark_checks.plan.enumeration import Enumerations, protocol_of
from onceproof.spark_checks.replay import engine, request
from onceproof.spark_checks.report.counterexamples import DRIFT, GUARANTEE_NAMED
from onceproof.spark_checks.report.coverage import reader_errors
from onceproof.spark_checks.report.rerun import RerunResult, replay_test
from onceproof.spark_checks.report.stored_settings import (
    choice_of,
    given_by,
    sizes_of,
)
from onceproof.spark_checks.sinks.exchange_model import OWN_CODE_ENGINES
from onceproof.spark_checks.sinks.reference import every_reference_sink
from onceproof.spark_checks.sinks.user_sink import find_sink

if TYPE_CHECKING:
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.events import Listener
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport
    from onceproof.spark_checks.sinks.interface import ModelledSink


def replay_file(
    path: Path,
    listener: Listener | None = None,
    *,
    keep: bool = False,
    allow: tuple[str, ...] = (),
    trust: bool = False,
    agent: bool = False,
    kill_drivers: bool = False,
) -> RerunResult:
    """Replay a counterexample file; the ``listener`` gets its progress.

    This runs the sink or the test that the file names, which must lie in the project.
    The sink may write to its target, and to those places of the file that ``allow``
    names too. With ``trust`` the code may lie anywhere, and write where the file says.
    With an ``agent``, faults are injected inside Spark. ``kill_drivers`` runs each
    query in a driver with a JVM of its own, which SIGKILL ends.
    Raises ``UsageError``, before any Spark is started, for a file that is damaged, or
    that names something that is not known here.
    """
    counterexample = read(path)
    if counterexample.test:
        return replay_test(
            path,
            counterexample,
            listener,
            trust=trust,
            agent=agent,
            kill_drivers=kill_drivers,
        )
    given = given_by(counterexample)
    sink, sizes = _asked(path, counterexample, allow, trust=trust)
    about = (str(path), counterexample.sink, counterexample.property)
    stale, enumerations = "", Enumerations()
    if not sink.code:
        protocol = protocol_of(sink, sizes, faults=counterexample.faults)
        stale = _stale(counterexample, protocol, enumerations)
    if stale:
        return RerunResult(*about, "ERROR", stale)
    reports = engine.replay(
        [sink],
        listener or (lambda _: None),
        request.ReplayRequest(
            faults=counterexample.faults,
            sizes=sizes,
            choice=choice_of(counterexample),
            keep=keep,
            agent=agent,
            kill_drivers=kill_drivers,
            given=given,
            timeout=float(counterexample.options.get("timeout", TIMEOUT)),
        ),
        enumerations=enumerations,
    )
    return answered(path, counterexample, reports[0])


def answered(
    path: Path, counterexample: Counterexample, report: SinkReport
) -> RerunResult:
    """Return what the replay of a file's interleaving has shown.

    Where a user's sink runs other lines by now, it is FAILED if any failure of the
    same kind breaks the property, and FIXED if all were replayed and none does.
    """
    about = (str(path), counterexample.sink, counterexample.property)
    outcomes = report.outcomes
    cut_short = f"time ran out before {report.left} of its interleavings"
    if not outcomes and report.left:
        return RerunResult(*about, "ERROR", cut_short)
    if not outcomes:
        return RerunResult(*about, "ERROR", "there is no such interleaving any more")
    once = report.unsteady.get(counterexample.property, {})
    failed = [
        o
        for o in outcomes
        if o.interleaving.number not in once and _fails(counterexample, o)
    ]
    open_ = report.unobserved(*_claims(counterexample))
    missed = [o for o in outcomes if o.spark is None or o in [*report.missed, *open_]]
    shown = (failed or missed or outcomes)[0]
    folder = str(report.kept.get(shown.interleaving.number, ""))
    steps = steps_of(Interpreter(report.protocol), outcomes[0].interleaving.trace)
    why = ""
    if report.sink.code and (len(outcomes) > 1 or steps != counterexample.steps):
        why = (
            f"{counterexample.property}, over {len(outcomes)} failures of this kind: "
            "the sink runs other lines than when the file was written"
        )
    if failed:
        return RerunResult(*about, "FAILED", why, folder)
    if report.left:
        return RerunResult(*about, "ERROR", cut_short, folder)
    if all(o.known and o not in open_ for o in missed) and len(missed) < len(outcomes):
        return RerunResult(*about, "FIXED", why, folder)
    first = next((o for o in missed if not o.known or o in open_), missed[0])
    failing = next(iter(reader_errors(o for o in open_ if o is first)), "")
    reason = first.not_replayed or (failed_reader(failing) if failing else "")
    reason = reason or f"not reproducible: {once.get(first.interleaving.number)}"
    return RerunResult(*about, "ERROR", reason, folder)


def _claims(counterexample: Counterexample) -> tuple[Property, ...]:
    """Return the guarantee that a file is about; none where it is about drift."""
    found = GUARANTEE_NAMED.get(counterexample.property)
    return () if found is None else (found,)


def _fails(counterexample: Counterexample, outcome: Outcome) -> bool:
    if counterexample.property == DRIFT:
        return outcome.drift
    prop = GUARANTEE_NAMED[counterexample.property]
    return outcome.spark is not None and broken(prop, outcome.spark) is not None


def _asked(
    path: Path, counterexample: Counterexample, allow: tuple[str, ...], *, trust: bool
) -> tuple[ModelledSink, Sizes]:
    """Find the sink and sizes of a file.

    Raises ``UsageError`` for what is not known here, or was never of a replay.
    """
    message = ""
    sinks = every_reference_sink()
    if "::" in counterexample.sink:
        sinks[counterexample.sink] = _own(path, counterexample, allow, trust=trust)
    if not counterexample.sink:
        message = (
            f"{path} is about a model alone, and names no sink to replay; help: "
            f"onceproof explore {shell_word(str(path))} shows it"
        )
    elif counterexample.protocol not in (
        MicroBatch.label(),
        *OWN_CODE_ENGINES,
        *(sink.engine.label() for sink in sinks.values()),
    ):
        pick(counterexample.protocol, protocols(), "protocol")
        message = (
            f"{path} is about {counterexample.protocol}, which no sink is replayed by"
        )
    elif counterexample.sink not in sinks:
        message = (
            f"{path} is about sink {counterexample.sink!r}, which is not known here"
        )
    elif counterexample.property not in (DRIFT, *GUARANTEE_NAMED):
        message = f"{path} is about {counterexample.property!r}, which is no guarantee"
    elif not 1 <= counterexample.faults <= MOST_FAULTS:
        message = f"{path} is damaged: 'faults' is {counterexample.faults}"
    for name, most in MOST.items():
        value = counterexample.parameters.get(name)
        if not message and not (type(value) is int and 1 <= value <= most):
            message = f"{path} is damaged: {name!r} of its parameters is {value!r}"
    if message:
        raise UsageError(message)
    sizes = sizes_of(counterexample)
    enough(sizes.events, sizes.batches, sizes.partitions)
    return sinks[counterexample.sink], sizes


def _own(
    path: Path, counterexample: Counterexample, allow: tuple[str, ...], *, trust: bool
) -> ModelledSink:
    """Find the sink of a file's project; where it may write, the file does not say."""
    code = counterexample.sink.partition("::")[0]
    wanted = tuple(counterexample.options.get("allow", ()))
    if not trust:
        own_code(code, path)
        # A file has its places without their passwords.
        given = {redacted(place) for place in allow}
        if beyond := [place for place in wanted if redacted(place) not in given]:
            message = (
                f"{path} lets its sink write to {beyond[0]!r}, outside of the replay's "
                "own folder; give --trust if that is meant"
            )
            raise UsageError(message)
    elif not Path(code).is_file():
        message = f"{path} names {code}, and there is no such file"
        raise UsageError(message)
    named = counterexample.options.get("code", ())
    return find_sink(counterexample.sink, Path.cwd(), allowed=wanted, named=named)


def _stale(
    counterexample: Counterexample, protocol: MicroBatch, enumerations: Enumerations
) -> str:
    """Say in what the model differs from the one that the file was written by."""
    if counterexample.parameters != every_parameter_of(protocol):
        return "the model's parameters have changed since the file was written"
    classes = enumerations.interleavings(protocol).classes
    for one in classes:
        if one.number == counterexample.interleaving:
            if steps_of(Interpreter(protocol), one.trace) == counterexample.steps:
                return ""
            return "the model has changed since the file was written"
    return f"there is no interleaving {counterexample.interleaving} any more"
