"""The fault-free run: the points that a user's code reaches, and what readers see."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.protocols.parts.sinks.manifest import Manifest, ManifestDirectory
from onceproof.properties.words.readers import readers_see
from onceproof.spark_checks.inject.adapters import DataSourceKind, kind_of, manifests
from onceproof.spark_checks.inject.checkpoint_edits import add_unnamed_file, own
from onceproof.spark_checks.inject.exchange_points import exchanges_in
from onceproof.spark_checks.inject.forked_driver import HUNG
from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.inject.tracing.injection_points import (
    OUTSIDE_FILE,
    points_in,
    seen_in,
)
from onceproof.spark_checks.plan.rules import (
    CALLED_BACK,
    EFFECTS,
    LINES,
    OUTSIDE,
    UNDO,
    WORK,
)
from onceproof.spark_checks.plan.run_draft import RunDraft
from onceproof.spark_checks.replay.observations import Observations
from onceproof.spark_checks.replay.steering.interleaving_run import fresh
from onceproof.spark_checks.replay.steering.isolation import (
    first_look,
    refuse_rows_of_others,
    refuse_unexplained_rows,
)
from onceproof.spark_checks.replay.steering.steered_query import SteeredQuery
from onceproof.spark_checks.sinks.code_points import ABORT, DRIVER, TASK
from onceproof.spark_checks.sinks.exchange_model import InstrumentedExchanges
from onceproof.spark_checks.sinks.exchanges import ELSEWHERE, PAST
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)
from onceproof.spark_checks.sinks.user_sink import has_code
from onceproof.spark_checks.stores.layered import breaks

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.properties.ledger import History
    from onceproof.spark_checks.plan.run_plan import RunPlan
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints
    from onceproof.spark_checks.sinks.exchanges import SeenExchanges
    from onceproof.spark_checks.sinks.interface import ModelledSink

_NOTED = ((LINES, DRIVER), (WORK, TASK), (UNDO, ABORT))


def discovered(context: ReplayContext, sink: ModelledSink) -> ModelledSink:
    """Describe a user's sink by the points that its code reaches.

    Raises ``UsageError`` where the sink fails without a fault, or where readers do not
    see each event once.
    """
    batches = context.source.batches
    folder, built = fresh(context, sink)
    before = first_look(context, built)
    built.close()
    shutil.rmtree(folder, ignore_errors=True)
    sink = replace(sink, code=built.code)
    draft = RunDraft(number=0, offered=batches, moment="at rest")
    for batch in range(batches):
        for function, where in _NOTED:
            draft.rule(
                function, "call", batch, "note", mark=line_trace.file_of(where, batch)
            )
    draft.rule(OUTSIDE, "call", 0, "note", mark=OUTSIDE_FILE)
    draft.rule(EFFECTS, "call", 0, "note")
    listing = _Listing()
    unreliable = breaks(sink.store)
    folder, trial = _tried(
        context, sink, draft.finished(), listing, unreliable=unreliable
    )
    refuse_rows_of_others(context, sink, before)
    if trial.unreadable or not _well(context, trial, trial.looks):
        raise UsageError(_wrong(context, sink, trial))
    refuse_unexplained_rows(sink, before)
    marks = folder / "marks"
    seen = seen_in(marks, batches, callback=(marks / CALLED_BACK).exists())
    exchanges = None
    if unreliable:
        exchanges = _exchanged(context, sink, draft.finished(), trial)
    if not (seen.driver or seen.tasks) and listing.tables:
        files = listing.model(context, trial)
        shutil.rmtree(folder, ignore_errors=True)
        uncut = None if exchanges is None else exchanges.without_cuts()
        return replace(sink, model=files, into_files=True, exchanges=uncut)
    shutil.rmtree(folder, ignore_errors=True)
    if not (seen.driver or seen.tasks) and has_code(built.under_test):
        raise UsageError(_no_lines(sink, seen))
    kind = kind_of(built.under_test)
    committer = isinstance(kind, DataSourceKind) and bool(seen.last)
    if committer:
        points = _aborted(context, sink, seen)
        seen = replace(seen, aborts=dict.fromkeys(range(batches), points))
    model = UserCode(
        on_driver=int(bool(seen.driver)),
        in_tasks=int(bool(seen.tasks)),
        committer=int(committer),
    )
    steps = {"sink.run": LINES} if seen.driver else {}
    steps |= {"write": WORK} if seen.tasks else {}
    return replace(
        sink,
        engine=InstrumentedExchanges if unreliable else InstrumentedMicroBatch,
        model=model,
        steps=steps,
        seen=seen,
        exchanges=exchanges,
        parameters=seen.sizes | (exchanges.sizes if exchanges is not None else {}),
    )


def _no_lines(sink: ModelledSink, seen: SeenPoints) -> str:
    """Return an error: no fault can be injected into a sink's code."""
    why = ", ".join(f"{name} ({why})" for name, why in seen.outside)
    besides = f"; what ran is {why}" if why else ""
    return (
        f"no line of {sink.name}'s code was seen to run, so no fault can be "
        f"injected{besides}; help: name the package or the folder that it is in, as "
        "code="
    )


def _tried(
    context: ReplayContext,
    sink: ModelledSink,
    run: RunPlan,
    listing: _Listing | None = None,
    *,
    unreliable: bool = False,
) -> tuple[Path, SteeredQuery]:
    """Run a fresh sink once, to its end.

    The run is repeated once after a failure that was not the sink's.
    """
    for last in (False, True):
        folder, built = fresh(context, sink, breaks=unreliable, looks_past=unreliable)
        query = SteeredQuery(context, folder, built, sink, kind_of(built.under_test))
        try:
            problem = query.go(run)
            if listing is not None and not problem:
                listing.lay(context, folder, query, run)
        finally:
            query.close()
        if last or not problem.help or (folder / "marks" / HUNG).exists():
            break
        shutil.rmtree(folder, ignore_errors=True)
    if problem or query.unplanned:
        why = problem.reason or query.unplanned[0]
        message = f"{sink.name} fails without any fault: {why}"
        raise UsageError(message)
    return folder, query


def with_exchanges(context: ReplayContext, sink: ModelledSink) -> ModelledSink:
    """Describe a reference sink by the exchanges of its steps with its store.

    The last exchange of a step is the one in which it takes effect. Raises
    ``UsageError`` where the sink fails without a fault.
    """
    draft = RunDraft(
        number=0, offered=context.source.batches, moment="at rest"
    ).finished()
    folder, trial = _tried(context, sink, draft, unreliable=True)
    found = _exchanged(context, sink, draft, trial)
    shutil.rmtree(folder, ignore_errors=True)
    return replace(sink, exchanges=found.lasts())


def _exchanged(
    context: ReplayContext, sink: ModelledSink, run: RunPlan, trial: SteeredQuery
) -> SeenExchanges:
    """Find the exchanges of a sink's code with its store; another run must agree.

    Raises ``UsageError`` where there are none that could be cut.
    """
    folder, again = _tried(context, sink, run, unreliable=True)
    shutil.rmtree(folder, ignore_errors=True)
    requests, uncut = trial.requests
    beside = max(trial.past.held, again.past.held)
    # Who held one that has ended is not known: others may connect to the store, too.
    beside += min(trial.past.unknown, again.past.unknown)
    last = context.source.batches - 1
    ends = sum(one.where.batch > last for one in requests)
    others = {**uncut, PAST: beside}
    others[ELSEWHERE] = uncut.get(ELSEWHERE, 0) + ends
    requests, then = (
        [one for one in every if one.where.batch <= last]
        for every in (requests, again.requests[0])
    )
    found = exchanges_in(requests, others, then)
    if not found.places:
        reasons = (f"{number} {why}" for why, number in found.not_cut.items())
        besides = "; ".join(["", *reasons])
        message = (
            f"{sink.name}'s code exchanges nothing with its store, so no connection of "
            f"it can be broken{besides}; help: let it connect as target.store says, or "
            "name the store without Unreliable()"
        )
        raise UsageError(message)
    return found


class _Listing:
    """Finds out whether readers of Spark's file sink go by its manifest.

    A file that the manifest does not name is laid beside the others: that is what a
    task leaves that does not commit. Who sees it lists the folder.
    """

    def __init__(self) -> None:
        self.tables: list[Path] = []
        self._look: Any = None

    def lay(
        self, context: ReplayContext, folder: Path, query: SteeredQuery, run: RunPlan
    ) -> None:
        """Lay such a file in each folder that Spark's file sink wrote to, and look."""
        named = query.kind.edits()
        self.tables = manifests(folder) if named is None else [named]
        laid = [add_unnamed_file(own(table, context.scratch)) for table in self.tables]
        if laid and all(laid):
            self._look = query.look_again(run)

    def model(self, context: ReplayContext, query: SteeredQuery) -> type[Manifest]:
        """Return the model of the sink as its readers see it."""
        well = self._look is not None and _well(context, query, [self._look])
        return Manifest if well else ManifestDirectory


def _well(context: ReplayContext, query: SteeredQuery, looks: list[Any]) -> bool:
    """Return whether readers see each event once, and nothing else."""
    history = _seen(context, query, looks)
    return set(history.seen(0)) == {1} and not history.unexplained[0]


def _seen(context: ReplayContext, query: SteeredQuery, looks: list[Any]) -> History:
    line = Observations(("at rest",), tuple(looks), tuple(query.promised), rested=True)
    [history] = context.histories([line])
    return history


def _wrong(context: ReplayContext, sink: ModelledSink, query: SteeredQuery) -> str:
    """Describe what is wrong with a sink after the fault-free run."""
    if query.unreadable:
        why = next(iter(query.unreadable.values()))
        return f"{sink.name} cannot be read, without any fault: {why}"
    history = _seen(context, query, query.looks)
    wrong = (row.example for row in history.rows if row.outcomes[0].visible != 1)
    such = next((f", such as {example}" for example in wrong if example), "")
    return (
        f"{sink.name} is wrong even without a fault: "
        f"{readers_see(history, 0)}{such}; the sink itself loses or repeats "
        "them, or key= and read= do not fit"
    )


def _aborted(
    context: ReplayContext, sink: ModelledSink, seen: SeenPoints
) -> tuple[CodePoint, ...]:
    """List the points of the code that takes a batch back, when its commit raises."""
    draft = RunDraft(number=0, offered=1, moment="at rest")
    last = seen.last[0]
    draft.stops(LINES, "call", 0, "raise", line=last.text, nth=last.time)
    draft.rule(UNDO, "call", 0, "note", mark=line_trace.file_of(ABORT, 0))
    folder, _ = _tried(context, sink, draft.finished())
    points = points_in(folder / "marks" / line_trace.file_of(ABORT, 0))
    shutil.rmtree(folder, ignore_errors=True)
    return points
