"""A user's sink with ``model=``: it is compared with the part that its author names."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.language import action, if_else, not_, state, when
from onceproof.model.protocols.micro_batch import Sink
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.report.assessment import CLAIMED, AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.report.part_comparison import compare
from onceproof.spark_checks.sinks.interface import ForeachBatch
from onceproof.spark_checks.sinks.named_part import (
    functions_of,
    part_of,
    reference_of,
    steps_in_model,
)
from onceproof.spark_checks.sinks.user_sink import own_sink

HERE = Path(__file__).parent
SCHEMA = "id string, amount long"


class WrittenOver(Sink):
    """A batch's file takes the place of the one that an earlier run has left."""

    files = state(False, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b):
        """The batch is due, whatever is there."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def put_file(self, b):
        """Put the file in its place."""
        when(self.due[b])
        self.files[b] = True
        self.due[b] = False

    def finished(self, b):
        """The callback returns when the file is there."""
        return not_(self.due[b])

    def visible(self, b, e):
        """A reader sees what the files hold."""
        return if_else(self.files[b], 1, 0)


def put_file(folder, rows, batch_id):
    draft = folder / f"{batch_id}.tmp"
    draft.write_text(json.dumps([row.asDict() for row in rows]))
    draft.replace(folder / f"{batch_id}.json")


def add_file(folder, rows, batch_id):
    del batch_id
    put_file(folder, rows, len(list(folder.glob("*.json"))))


def files(target, *, put=put_file, **named):
    folder = target.path

    def write(batch, batch_id):
        put(folder, batch.collect(), batch_id)

    def read(spark):
        texts = [f.read_text() for f in sorted(folder.glob("*.json"))]
        rows = [(r["id"], r["amount"]) for text in texts for r in json.loads(text)]
        return spark.createDataFrame(rows, SCHEMA)

    return ForeachBatch(write, read=read, **named)


upserting = functools.partial(files, model="upsert-whole", steps={"merge": put_file})
appending = functools.partial(
    files, put=add_file, model="append-whole", steps={"append": add_file}
)
taken_for_appending = functools.partial(
    files, model="append-whole", steps={"append": put_file}
)
taken_for_appending_without_steps = functools.partial(files, model="append-whole")
of_its_own = functools.partial(files, model=WrittenOver, steps={"put_file": put_file})
never_called = functools.partial(files, model="upsert-whole", steps={"merge": add_file})


@pytest.fixture
def judged(pool, tmp_path):
    def ask(build, **words):
        test = RequestingTest("", ("id",), (), words.pop("claims", CLAIMED), ())
        choice = words.pop("choice", Choice(most=6))
        few = {"events": SCHEMA, "batches": 1, "partitions": 1, **words}
        request = AssessmentRequest(HERE, tmp_path, test=test, choice=choice, **few)
        return judge(build, request, pool=pool)

    return ask


@pytest.mark.grid
@pytest.mark.spark
@pytest.mark.parametrize(
    "build", [upserting, pytest.param(of_its_own, marks=pytest.mark.grid)]
)
def test_a_sink_that_does_as_its_part_says_holds_and_says_so(judged, build):
    """It is compared with the part in interleavings of the part, and none differs."""
    found = judged(build)

    part = part_of(found.report.under_test)
    assert found.verdict is Verdict.HELD
    assert not found.drift
    assert part is not None
    assert f"; readers saw what its model {part.label()} expects in" in found.headline


@pytest.mark.spark
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(taken_for_appending, marks=pytest.mark.ci),
        pytest.param(taken_for_appending_without_steps, marks=pytest.mark.grid),
    ],
)
def test_a_wrong_part_is_reported_as_drift_and_does_not_hold(judged, build):
    """The claims held; still the sink does something else than the part says."""
    found = judged(build)

    assert found.verdict is Verdict.UNDECIDED
    assert not found.holds
    assert "drifts from its model append-whole: in interleaving" in found.headline
    assert "at rest, the model expects batch 0: 1 of 1 seen twice" in found.headline
    assert "and readers see batch 0: 2 of 2 seen once" in found.headline
    assert "here they differ" in found.story


@pytest.mark.grid
@pytest.mark.spark
def test_a_refuted_sink_is_told_how_it_compares_with_its_part(judged):
    """It appends, and its part says that appending breaks the claim: no drift."""
    found = judged(appending)

    assert found.verdict is Verdict.REFUTED
    assert not found.drift
    assert "saw what its model append-whole expects in" in found.story


@pytest.mark.grid
@pytest.mark.spark
def test_a_step_that_is_never_called_decides_nothing(judged):
    """The faults of the part could not be injected: nothing is compared."""
    found = judged(never_called)

    assert found.verdict is Verdict.UNDECIDED
    assert "could not be compared with its model upsert-whole: never" in found.headline


def named(model, **words):
    return ForeachBatch(print, read="t", model=model, **words)


@pytest.mark.parametrize(
    ("under_test", "message"),
    [
        (named("apend-whole"), "did you mean 'append-whole'?"),
        (named(int), "takes the name of a part, or a subclass of Sink"),
        (named("no_such_module:Part"), "cannot be imported"),
        (named("./parts.py:Part"), "cannot be imported"),
        (named(":Part"), "write module:Class"),
        (named(f"{__name__}:put_file"), "is no subclass of Sink"),
        (named(None, steps={"append": put_file}), "model= names no part"),
        (named("append-whole", steps={"apend": put_file}), "did you mean 'append'?"),
        (named("batch-ledger", steps={"write": put_file}), "batch-ledger has no such"),
        (named("append-whole", steps={"append": 7}), "which is no function"),
        (named("append", result=lambda events: events), "has a result="),
    ],
)
def test_what_does_not_fit_is_refused_with_help(under_test, message):
    """A name that is mistyped would leave a sink uncompared."""
    with pytest.raises(UsageError, match=re.escape(message)):
        part_of(under_test)


def test_a_class_that_no_import_finds_is_refused():
    """The tests' process could not find it again."""

    class Local(Sink):
        """Nothing."""

    with pytest.raises(UsageError, match="at the top of a module"):
        reference_of(Local)


def test_functions_are_named_as_the_tracer_names_them():
    """Those inside of another, those with some arguments given, and methods."""

    def inner():
        pass

    found = functions_of({"a": functools.partial(inner), "b": put_file, "c": "x.y"})

    assert found["a"] == inner.__code__.co_qualname
    assert found["b"] == put_file.__code__.co_qualname
    assert found["c"] == "x.y"


def test_an_action_is_named_with_or_without_its_part():
    """``sink.append`` is what ``onceproof check`` shows."""
    part = part_of(named("append-whole"))

    assert part is not None
    assert steps_in_model(part, {"append": "f"}) == {"sink.append": "f"}
    assert steps_in_model(part, {"sink.append": "f"}) == {"sink.append": "f"}
    assert part_of(named(f"{__name__}:WrittenOver")) is WrittenOver
    assert reference_of(WrittenOver) == f"{__name__}:WrittenOver"


class AskedError(Exception):
    """Ends a comparison once it has asked for a replay."""


@pytest.mark.parametrize(("faults", "most"), [(1, None), (2, 5)])
def test_with_one_fault_all_interleavings_of_a_part_are_replayed(faults, most):
    """Those that were left out might be the ones that drift."""
    sink = own_sink(upserting, HERE)
    under_test = named("append-whole")
    report = SimpleNamespace(sink=sink, under_test=under_test, patience=90.0)
    request = ReplayRequest(faults=faults, choice=Choice(most=5, first=(3,)), stop=True)
    asked = []

    def replay(*words):
        asked.extend(words)
        raise AskedError

    with pytest.raises(AskedError):
        compare(report, CLAIMED, request, replay)

    modelled, wanted = asked
    assert wanted.choice == Choice(most=most)
    assert wanted.patience == 90.0
    assert not wanted.stop
    assert modelled.compared
    assert modelled.code == sink.code
    assert modelled.model.label() == "append-whole"
