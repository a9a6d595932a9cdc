"""What Spark did in cells of the grid is a behaviour of the right model, and no other.

The runs were recorded by an agent in Spark: see ``recorded_cells``.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path

import pytest

from onceproof.model.language.declarations.decorators import kebab
from onceproof.spark_checks.cli.output.grid_console import show_grid
from onceproof.spark_checks.grid.cell import GridCell
from onceproof.spark_checks.grid.cell_runs import CellRuns
from onceproof.spark_checks.grid.cell_traces import CellTraces
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault, every_fault
from onceproof.spark_checks.grid.grid_run import GridReport, run_grid
from onceproof.spark_checks.grid.inside_spark import (
    DRIVER_DIES,
    TASK_DIES,
    realised,
    rules_of,
)
from onceproof.spark_checks.grid.logged_batches import (
    BatchLogs,
    LoggedBatch,
    read_logs,
)
from onceproof.spark_checks.grid.model_parts import (
    LOGGED_LATER,
    QUERIES,
    UNPREDICTED,
    WITH_STATE,
    WITHOUT_STATE,
    ModelledQuery,
)
from onceproof.spark_checks.grid.task_stores import last_commits
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.queries.sources import SOURCES
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
from onceproof.spark_checks.session.java.agent.agent import missing_agent
from onceproof.spark_checks.session.java.agent.durable_steps import step_names
from onceproof.spark_checks.session.session_pool import SessionPool
from tests.spark_checks.grid import wrong_logged_later_models, wrong_stateful_models
from tests.spark_checks.grid.recorded_cells import ASYNC, IDS, recorded
from tests.spark_checks.grid.wrong_stateful_models import (
    ComputedOnce,
    LoggedIsDone,
    NoBatchWithoutData,
    SkippedBatchCannotBeLogged,
    SkippedBatchMovesTheWatermark,
    StateBySinkAlone,
    StateCommittedOnce,
    TasksOutliveTheDriver,
    WatermarkAtOnce,
    WatermarkInMemory,
)
from tests.spread import spread

FILE = Path(wrong_stateful_models.__file__)
CELLS = recorded()
NOTHING = GridFault.NONE.words
WINDOWS, TWICE = "window-append", "total-update-two-writes"
WRONG = {
    StateBySinkAlone: (WINDOWS, "needs driver == committing, but driver is running"),
    StateCommittedOnce: (WINDOWS, "needs 1 == 0"),
    WatermarkInMemory: (WINDOWS, "but begins[3] is 0"),
    WatermarkAtOnce: (WINDOWS, "but begins[0] is 1"),
    SkippedBatchMovesTheWatermark: (WINDOWS, "needs logged == 0, but logged is 1"),
    SkippedBatchCannotBeLogged: (WINDOWS, "needs ran"),
    NoBatchWithoutData: (WINDOWS, "log_without_data(2) needs not ran"),
    LoggedIsDone: (WINDOWS, "needs commits == 0, but commits is 1"),
    ComputedOnce: (TWICE, "commit_state(0, 0, 0) needs task[0, 0] == idle"),
    TasksOutliveTheDriver: (
        WINDOWS,
        "needs task[0, 0] == idle, but task[0, 0] is written",
    ),
}
"""By wrong model, the query whose runs reject it, and by what part of a guard."""
LATE = (SkippedBatchMovesTheWatermark, SkippedBatchCannotBeLogged)


def everything(step, of):
    """Say that an agent reports a step, as that of the recordings did."""
    return True


def traces_of(query, configuration):
    return CellTraces(named(query), parsed(configuration), everything)


def first_rejected(query):
    """Return the trace of the first cell of a query that its model does not explain."""
    for cell in CELLS:
        if cell.query == query:
            one = traces_of(query, cell.configuration).check(cell.steps, cell.logs)
            if one.unexplained:
                return one
    return None


@pytest.mark.parametrize("cell", spread(CELLS, 16), ids=lambda cell: cell.name)
def test_each_recorded_cell_is_a_behaviour_of_the_model(cell):
    found = traces_of(cell.query, cell.configuration).check(cell.steps, cell.logs)

    assert found.conforms, found


def test_the_recordings_have_what_is_to_be_explained():
    """Commits of state, each kind of fault, a skipped batch, one without data."""
    steps = {one.step for cell in CELLS for one in cell.steps}
    faults = {cell.fault for cell in CELLS}

    assert {"commit_state", "log_offsets", "log_commit", "sink_commit"} <= steps
    every = {str(one) for one in every_fault(3)}
    assert every <= faults
    assert any(
        not batch.with_data
        for cell in CELLS
        for logs in cell.logs
        for batch in logs.batches.values()
    )
    assert any("sink=" in cell.configuration for cell in CELLS)


def test_each_wrong_model_is_tried():
    found = {
        model
        for _, model in inspect.getmembers(wrong_stateful_models, inspect.isclass)
        if model.__module__ == wrong_stateful_models.__name__
    }

    assert found == set(WRONG)
    assert len(found) >= 8


@pytest.mark.parametrize(
    "model",
    [
        # The cells that reject these come late among the recorded ones.
        pytest.param(one, marks=pytest.mark.grid if one in LATE else ())
        for one in WRONG
    ],
    ids=lambda model: model.__name__,
)
def test_a_wrong_model_is_rejected_and_the_part_that_fails_is_named(model, monkeypatch):
    query, part = WRONG[model]
    engine = dataclasses.replace(WITH_STATE, protocol=f"{FILE}:{kebab(model.__name__)}")
    wrong = dataclasses.replace(QUERIES[query], engine=engine)
    monkeypatch.setitem(QUERIES, query, wrong)

    found = first_rejected(query)

    assert found is not None, "no run rejects it"
    assert "no behaviour of the model explains this step" in found.unexplained[0]
    assert any(part in line for line in found.unexplained), found.unexplained


@pytest.mark.parametrize(
    "step", ["log_offsets", "start_batch", "commit_state", "sink_commit", "log_commit"]
)
def test_a_run_without_a_step_that_the_model_needs_is_rejected(step):
    """The first one of its kind is left out, as if Spark had not taken it."""
    cell = next(cell for cell in CELLS if cell.fault == NOTHING)
    left_out = next(one for one in cell.steps if one.step == step)
    place = (left_out.step, left_out.batch, left_out.partition)
    steps = [s for s in cell.steps if (s.step, s.batch, s.partition) != place]

    found = traces_of(cell.query, cell.configuration).check(steps, cell.logs)

    assert len(steps) < len(cell.steps)
    assert found.checked
    assert found.unexplained


def test_the_second_of_two_operators_has_to_end_with_a_step_of_the_file_sink():
    """Tasks of the first one have none, so only those of the second one need it."""
    cell = next(
        cell
        for cell in CELLS
        if cell.query == "window-of-windows" and "sink=files" in cell.configuration
    )
    left_out = next(one for one in cell.steps if one.step == "commit_task")
    place = (left_out.step, left_out.batch, left_out.partition)
    steps = [s for s in cell.steps if (s.step, s.batch, s.partition) != place]

    traces = traces_of(cell.query, cell.configuration)

    assert traces.check(cell.steps, cell.logs).conforms
    assert traces.check(steps, cell.logs).unexplained


def test_a_watermark_that_no_batch_has_left_is_rejected():
    """It is read off the commit log, and the model says which one is there."""
    cell = next(
        cell for cell in CELLS if (cell.query, cell.fault) == (WINDOWS, NOTHING)
    )
    *before, logs = cell.logs
    last = max(logs.commits)
    moved = dataclasses.replace(logs, commits={**logs.commits, last: 12_345})

    found = traces_of(cell.query, cell.configuration).check(
        cell.steps, [*before, moved]
    )

    assert "the one after no batch of these" in found.unexplained[0]


def test_a_query_without_a_model_is_not_compared_and_says_why(monkeypatch):
    monkeypatch.delitem(QUERIES, WINDOWS)
    monkeypatch.setitem(UNPREDICTED, WINDOWS, "why")

    found = traces_of(WINDOWS, "default").check(CELLS[0].steps, CELLS[0].logs)

    assert found == TraceCheck(unchecked=f"{WINDOWS}: why")


def test_one_operator_does_not_explain_the_commits_of_two(monkeypatch):
    """The tasks of the second one commit state, too, once the first have ended."""
    query = "window-of-windows"
    parts = {**QUERIES[query].parts, "operators": "one-operator"}
    alone = dataclasses.replace(QUERIES[query], parts=parts)
    monkeypatch.setitem(QUERIES, query, alone)

    found = first_rejected(query)

    assert found is not None
    assert "commit_state" in found.unexplained[0]


def test_a_second_operator_s_task_does_not_commit_before_the_first_have_ended():
    """One partition's tasks commit for both operators before the other one's do."""
    cell = next(
        cell
        for cell in CELLS
        if (cell.query, cell.fault) == ("window-of-windows", NOTHING)
    )
    steps = list(cell.steps)
    at = [
        i
        for i, one in enumerate(steps)
        if one.step == "commit_state" and one.batch == 0
    ]
    mine = sorted((steps[i] for i in at), key=lambda one: one.partition)
    for i, one in zip(at, mine, strict=True):
        steps[i] = one

    found = traces_of(cell.query, cell.configuration).check(steps, cell.logs)

    assert [one.event for one in mine] == ["call", "return"] * 4
    assert found.checked
    assert "commit_state" in found.unexplained[0]


def test_a_model_that_logs_a_batch_first_does_not_explain_logs_in_the_background(
    monkeypatch,
):
    """A batch was done before its entry in the offset log."""
    settings = {**WITHOUT_STATE.settings, "progress": {"async": {}}}
    before = dataclasses.replace(WITHOUT_STATE, settings=settings, later=None)
    cell = next(
        cell for cell in CELLS if cell.query == "map" and "background" in cell.fault
    )
    monkeypatch.setitem(QUERIES, "map", ModelledQuery(before))

    found = traces_of(cell.query, cell.configuration).check(cell.steps, cell.logs)

    assert (
        "sink_commit" in found.unexplained[0] or "start_batch" in found.unexplained[0]
    )


def joined(fault):
    """Return a recorded cell of a join."""
    wanted = ("join-inner", fault)
    return next(cell for cell in CELLS if (cell.query, cell.fault) == wanted)


def commits_of(cell):
    """Return where a cell has the commits of stores of one task that succeeded."""
    at = [i for i, one in enumerate(cell.steps) if one.step == "commit_state"]
    first = cell.steps[at[0]]
    return [
        i
        for i in at
        if (cell.steps[i].partition, cell.steps[i].batch, cell.steps[i].attempt)
        == (first.partition, first.batch, first.attempt)
    ]


def test_a_task_of_a_join_commits_four_stores_and_has_committed_with_the_last():
    cell = joined(NOTHING)
    at = commits_of(cell)

    kept = list(last_commits(cell.steps, 4))

    assert [cell.steps[i].event for i in at] == ["call", "return"] * 4
    left = [one for one in kept if one in {cell.steps[i] for i in at}]
    assert left == [cell.steps[i] for i in at[-2:]]
    others = [one for one in cell.steps if one.step != "commit_state"]
    assert [one for one in kept if one.step != "commit_state"] == others
    assert list(last_commits(cell.steps, 1)) == list(cell.steps)


def test_a_task_of_a_join_that_commits_three_of_its_stores_has_not_committed():
    """Then Spark must not go on: a run in which it does has no behaviour."""
    cell = joined(NOTHING)
    last = set(commits_of(cell)[-2:])
    steps = [one for i, one in enumerate(cell.steps) if i not in last]

    found = traces_of(cell.query, cell.configuration).check(steps, cell.logs)

    assert found.checked
    assert found.unexplained


def test_a_fifth_commit_of_a_task_with_four_stores_is_no_behaviour():
    cell = joined(NOTHING)
    at = commits_of(cell)
    steps = list(cell.steps)
    steps[at[-1] + 1 : at[-1] + 1] = [cell.steps[i] for i in at[-2:]]

    found = traces_of(cell.query, cell.configuration).check(steps, cell.logs)

    assert found.checked
    assert found.unexplained


def test_batches_are_numbered_by_what_they_read():
    """A batch without data ends where the one before it has; one may read two."""
    marks = [events.millis(second) for second in (0, *events.WATERMARKS)]
    offsets = {
        0: LoggedBatch(("1",), 2, 0),
        1: LoggedBatch(("2",), 3, marks[2]),
        2: LoggedBatch(("2",), 3, marks[3]),
    }
    logs = BatchLogs(offsets, {0: marks[2], 1: marks[3]})

    end = logs.end(WITH_STATE, watermarked=True)

    shown = [(one.number, one.with_data) for one in logs.batches.values()]
    assert shown == [(0, True), (1, True), (1, False)]
    holds = {(one.path, one.place): one.value for _, one in end.holds}
    assert holds == {
        ("offsets", ()): 2,
        ("commits", ()): 2,
        ("ends_logged", ()): 2,
        ("ends", ()): 0,
        ("begins", (0,)): 0,
        ("begins", (1,)): 1,
        ("logged", ()): 2,
    }


def a_map(fault):
    """Return a recorded cell of a query whose logs are written in the background."""
    return next(cell for cell in CELLS if cell.query == "map" and fault in cell.fault)


@pytest.mark.parametrize("lost", range(7))
def test_a_batch_that_the_commit_log_lost_is_rejected(lost):
    """Also one in the midst of others, which the last entry does not show."""
    cell = a_map(NOTHING)
    *before, last = cell.logs
    left = {n: mark for n, mark in last.commits.items() if n != lost}
    assert set(last.commits) == set(range(7))

    found = traces_of(cell.query, cell.configuration).check(
        cell.steps, [*before, dataclasses.replace(last, commits=left)]
    )

    assert found.checked
    assert "commits: the logs name" in found.unexplained[0]


def test_logs_without_what_was_logged_are_rejected():
    """An empty log is known to be empty."""
    cell = a_map(NOTHING)

    found = traces_of(cell.query, cell.configuration).check(
        cell.steps, [*cell.logs[:-1], BatchLogs({}, {})]
    )

    assert found.checked
    assert "offsets: the logs name 0 batches" in found.unexplained[0]


def test_an_offset_log_with_a_gap_is_not_compared():
    cell = a_map(NOTHING)
    last = cell.logs[-1]
    gap = {n: one for n, one in last.offsets.items() if n != 1}

    found = traces_of(cell.query, cell.configuration).check(
        cell.steps, [*cell.logs[:-1], dataclasses.replace(last, offsets=gap)]
    )

    assert not found.checked
    assert "the offset log" in found.unchecked


def test_a_run_that_dies_before_it_has_logged_anything_is_compared():
    """Its logs are empty, and the model's are."""
    cell = a_map("before offsets/0 is written in the background")
    assert cell.logs[0] == BatchLogs({}, {})

    found = traces_of(cell.query, cell.configuration).check(cell.steps, cell.logs)

    assert found.conforms


def test_a_batch_may_start_after_its_offsets_are_logged_in_the_background(monkeypatch):
    """The thread that logs may be faster than the one that runs the batch."""
    cell = a_map(NOTHING)
    steps = list(cell.steps)
    started = steps.pop(at_step(steps, "start_batch", "call"))
    logged = at_step(steps, "log_offsets", "return")
    later = [*steps[: logged + 1], started, *steps[logged + 1 :]]
    never = [one for one in steps if (one.step, one.batch) != ("start_batch", 0)]

    traces = traces_of(cell.query, cell.configuration)
    assert steps[logged].batch == started.batch == 0
    assert traces.check(later, cell.logs).conforms
    assert traces.check(never, cell.logs).unexplained

    use_logged_later(wrong_logged_later_models.LoggedOnceItStarts, monkeypatch)
    wrong = traces_of(cell.query, cell.configuration)
    assert wrong.check(cell.steps, cell.logs).conforms
    assert "log_offsets" in wrong.check(later, cell.logs).unexplained[0]


def test_a_batch_does_not_start_after_its_sink_is_called():
    cell = a_map(NOTHING)
    steps = list(cell.steps)
    started = steps.pop(at_step(steps, "start_batch", "call"))
    called = at_step(steps, "sink_commit", "return")
    later = [*steps[: called + 1], started, *steps[called + 1 :]]

    found = traces_of(cell.query, cell.configuration).check(later, cell.logs)

    assert found.checked
    assert found.unexplained


def at_step(steps, step, event):
    """Return where a step is first reported so."""
    return next(i for i, s in enumerate(steps) if (s.step, s.event) == (step, event))


def use_logged_later(model, monkeypatch):
    """Take another model of logs that are written in the background."""
    file = Path(wrong_logged_later_models.__file__)
    engine = dataclasses.replace(
        LOGGED_LATER, protocol=f"{file}:{kebab(model.__name__)}"
    )
    before = dataclasses.replace(WITHOUT_STATE, later=engine)
    monkeypatch.setitem(QUERIES, "map", ModelledQuery(before))


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            wrong_logged_later_models.LoggedOnceItIsDone, marks=pytest.mark.ci
        ),
        pytest.param(
            wrong_logged_later_models.NextOnceItIsCommitted, marks=pytest.mark.grid
        ),
        pytest.param(wrong_logged_later_models.LoggedIsDone, marks=pytest.mark.grid),
    ],
    ids=lambda model: model.__name__,
)
def test_a_wrong_model_of_logs_in_the_background_is_rejected(model, monkeypatch):
    use_logged_later(model, monkeypatch)

    found = [
        traces_of(cell.query, cell.configuration).check(cell.steps, cell.logs)
        for cell in CELLS
        if cell.query == "map"
    ]

    assert any(one.unexplained for one in found)


def test_logs_that_were_purged_number_nothing():
    """What the first batches were is not known, so the runs are not compared."""
    logs = BatchLogs({3: LoggedBatch(("9",), 4, 0)}, {3: 0})

    assert logs.batches == {}
    assert logs.end(WITHOUT_STATE, watermarked=False).holds == ()
    cell = next(cell for cell in CELLS if cell.query == WINDOWS)
    found = traces_of(WINDOWS, cell.configuration).check(
        cell.steps, [logs] * len(cell.logs)
    )
    assert "the offset log of run 0 does not name" in found.unchecked
    assert not found.conforms


def test_a_commit_that_was_logged_and_purged_in_one_run_is_not_missing(tmp_path):
    """With one version to retain, a run purges what the run before has not left."""

    class Source:
        def read_by(self, sources):
            return int(sources[0]) + 1

    settings = json.dumps({"batchWatermarkMs": 0})
    for log, batches in (("offsets", (2, 3)), ("commits", (2,))):
        (tmp_path / log).mkdir()
        for batch in batches:
            lines = ("v1", settings, str(batch)) if log == "offsets" else ("v1",)
            done = () if log == "offsets" else ('{"nextBatchWatermarkMs":0}',)
            (tmp_path / log / str(batch)).write_text("\n".join((*lines, *done)))
    earlier = BatchLogs(
        {n: LoggedBatch((str(n),), n + 1, 0) for n in (0, 1)}, commits={0: 0}
    )

    logs = read_logs(tmp_path, Source(), earlier)

    assert logs.purged == {1}
    holds = dict(logs.end(WITHOUT_STATE, watermarked=False).holds)
    assert list(holds) == [
        "offsets: the logs name 4 batches",
        "commits: the logs name 3 batches",
    ]
    (tmp_path / "commits" / "2").unlink()
    lost = read_logs(tmp_path, Source(), dataclasses.replace(earlier, commits={}))
    assert lost.purged == {0, 1}
    (tmp_path / "offsets" / "0").write_text(f"v1\n{settings}\n0")
    assert read_logs(tmp_path, Source(), earlier).purged == set()


def test_each_fault_is_at_a_step_that_the_agent_knows():
    """Or it is none that an agent injects, and the plan says so."""
    steps = {step for step, _ in DRIVER_DIES.values()} | {"commit_state"}

    assert steps <= set(step_names())
    for placed in every_fault(1):
        assert realised(placed, stateful=True)
        [first, *others] = rules_of(placed, 3)
        assert first.batch == placed.batch
        assert first.mark
        assert len(others) == (2 if placed.fault is GridFault.IN_TASKS else 0)
    assert not realised(PlacedFault(GridFault.IN_TASKS), stateful=False)
    assert not any(realised(PlacedFault(one), stateful=False) for one in TASK_DIES)
    assert not realised(PlacedFault(GridFault.TORN_COMMITS), stateful=True)


def test_a_step_that_no_model_explains_is_no_success(capsys):
    """Even where readers see what they should."""
    same = Comparison((), ())
    unlike = TraceCheck(checked=True, unexplained=("no behaviour explains it",))
    cell = GridCell(
        named(WINDOWS),
        parsed("default"),
        PlacedFault(GridFault.NONE),
        with_batch=same,
        trace=unlike,
    )
    report = GridReport((cell,), (), "4")

    show_grid(report)

    assert report.status() == 2
    assert "no behaviour explains it" in capsys.readouterr().out
    assert cell.to_json()["conforms"] is False
    assert report.to_json()["unexplained"] == 1
    explained = dataclasses.replace(cell, trace=TraceCheck(checked=True))
    assert GridReport((explained,), (), "4").status() == 0


@pytest.mark.spark
@pytest.mark.ci
def test_a_driver_dies_before_a_batch_that_is_done_is_logged():
    """A thread of Spark's writes the logs, and the agent waits there for the batch."""
    kafka = SOURCES["kafka"].store
    if missing := [*filter(None, [missing_agent()]), *kafka.missing()]:
        pytest.skip("; ".join(missing))
    pool = SessionPool(ENTRY_POINTS, agent=True)
    try:
        with pool.session(
            attempts=2, partitions=2, needs=pool.needs_of(kafka)
        ) as session:
            runs = CellRuns(
                session.fork(),
                pool.folder("grid"),
                named("map"),
                parsed(ASYNC),
                store=pool.stores.running(kafka),
                agent=session.agent,
            )
            try:
                plain = runs.without_fault()
                hit = runs.with_fault(PlacedFault(GridFault.BEFORE_LOGS, 1))
            finally:
                runs.close()
    finally:
        pool.close()

    for cell in (plain, hit):
        assert not cell.refusal
        assert not cell.refuted, cell.story()
        assert cell.trace.conforms, cell.story()


@pytest.mark.spark
@pytest.mark.grid
def test_the_agent_and_edits_of_the_checkpoint_give_the_same_verdicts():
    """In each cell; and every step that the agent reports is one of the model's."""
    if missing_agent():
        pytest.skip(missing_agent())
    cells = {}
    for agent in (False, True):
        pool = SessionPool(ENTRY_POINTS, agent=agent)
        try:
            report = run_grid(
                [named(WINDOWS)], [parsed(f"{IDS},sink=files")], pool=pool
            )
        finally:
            pool.close()
        cells[agent] = {cell.placed: cell for cell in report.cells if not cell.refusal}

    assert {one: cell.verdicts for one, cell in cells[True].items()} | {
        one: cell.verdicts for one, cell in cells[False].items()
    } == {one: cell.verdicts for one, cell in cells[True].items()}
    assert any(cell.refuted for cell in cells[True].values())
    assert [c.story() for c in cells[True].values() if not c.trace.conforms] == []
