"""Reference sinks on stores are judged as their files state, and as models predict."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from onceproof.model.errors import ModelError
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.append import Append, AppendWhole
from onceproof.model.protocols.parts.sinks.batch_ledger import LedgerOfCounter
from onceproof.model.protocols.parts.sinks.committed_files import (
    MovedByJob,
    PublishedByJob,
    PublishedByTask,
)
from onceproof.model.protocols.parts.sinks.dual_write import (
    DualWrite,
    DualWriteUnlessDone,
    Outbox,
    OutboxByKey,
    OutboxOnce,
)
from onceproof.model.protocols.parts.sinks.ledger_apart import PublishedByKey
from onceproof.model.protocols.parts.sinks.open_transactions import OpenTransactions
from onceproof.model.protocols.parts.sinks.prepared import (
    Prepared,
    PreparedAborted,
    PreparedExpired,
    PreparedInStore,
    PreparedUndecided,
    PreparedUnknown,
)
from onceproof.model.protocols.parts.sinks.upsert import Upsert, UpsertWhole
from onceproof.model.protocols.two_stores import MicroBatchTwoStores
from onceproof.properties.judges.by_search import check
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.report.counterexamples import write_counterexamples
from onceproof.spark_checks.report.replay_file import replay_file
from onceproof.spark_checks.sinks import reference
from onceproof.spark_checks.sinks.reference import (
    every_reference_sink,
    reference_sinks,
)
from onceproof.spark_checks.stores.known_stores import STORE_NAMES, STORES
from onceproof.spark_checks.stores.layered import itself
from onceproof.spark_checks.stores.postgres import server as postgres_server
from tests.spark_checks.stores.needed import needs

PLAIN, EVERY = reference_sinks(), every_reference_sink()
RESTARTED = reference_sinks("new-checkpoint")
SINKS = {n: s for n, s in EVERY.items() if n not in PLAIN | RESTARTED}
INSIDE = "happens inside Spark, out of reach"
SENT = "Spark's own writer has sent is not known"
MORTAL = "keeps a task of Spark's own file writer alive"
UNREACHED = {
    "delta-stream": (INSIDE,),
    "hudi-stream": (INSIDE,),
    "hudi-stream-new-checkpoint": (INSIDE,),
    "iceberg-stream": (INSIDE,),
    "kafka-spark-sink": (INSIDE, SENT),
    "postgres-spark-jdbc": (INSIDE, SENT),
    "s3-append-directory": (INSIDE,),
    "s3-append-magic": (INSIDE,),
    "s3-append-v1": (INSIDE,),
    "s3-append-v2": (INSIDE, SENT),
    "s3-stream": (INSIDE, MORTAL),
}
"""Why some interleavings of a sink are not replayed, where some are not."""
ALL = [pytest.param(name, marks=pytest.mark.grid) for name in SINKS]


@pytest.mark.spark
@pytest.mark.parametrize("name", ALL)
def test_each_sink_is_judged_as_its_file_states(pool, name, tmp_path):
    """Spark leaves the very ledger that the model does, at every moment looked at."""
    needs(itself(SINKS[name].store))
    plan = ReplayRequest(sizes=Sizes(batches=2))
    [report] = replay([SINKS[name]], lambda _: None, plan, pool=pool)

    assert report.as_stated, {n: str(v) for n, v in report.verdicts.items()}
    assert not report.drift
    left = {o.not_replayed for o in report.outcomes} - {""}
    assert all(why.endswith(UNREACHED.get(name, ())) for why in left), left
    files = write_counterexamples(report, tmp_path)
    for file in sorted(files.values())[:1]:
        assert str(replay_file(Path(file))).startswith("FAILED")


def test_sinks_without_a_store_need_none():
    """A plain replay starts no server."""
    assert not any(sink.store for sink in (PLAIN | RESTARTED).values())
    assert all(sink.store for sink in SINKS.values())


@pytest.mark.parametrize("store", STORE_NAMES)
def test_the_sinks_of_a_store_lie_in_a_folder_of_its_name(store):
    """They write to the store that the replay starts, and are named after it."""
    try:
        found = reference_sinks(store)
    except ImportError as error:
        pytest.skip(str(error))

    assert found
    assert {itself(sink.store) for sink in found.values()} == {STORES[store]()}
    assert all(name.startswith(f"{store}-") for name in found)
    assert found.items() <= SINKS.items()


@pytest.mark.ci
@pytest.mark.parametrize("sink", SINKS.values(), ids=SINKS)
def test_a_sink_states_what_its_model_part_breaks(sink):
    """What readers of a model see at a moment when no replay looks is named apart."""
    found = check(protocol_of(sink, Sizes())).verdicts

    refuted = {name for name, verdict in found.items() if not verdict.holds}
    assert refuted == sink.refuted | sink.unseen


QUICK = (AppendWhole, LedgerOfCounter, OpenTransactions, Prepared, UpsertWhole)
SLOW = (
    DualWrite,
    DualWriteUnlessDone,
    MovedByJob,
    Outbox,
    OutboxByKey,
    OutboxOnce,
    PreparedAborted,
    PreparedExpired,
    PreparedInStore,
    PreparedUndecided,
    PreparedUnknown,
    PublishedByJob,
    PublishedByKey,
    PublishedByTask,
)


@pytest.mark.parametrize(
    "kind", [*QUICK, *(pytest.param(one, marks=pytest.mark.grid) for one in SLOW)]
)
def test_the_model_breaks_just_what_it_states(kind):
    """With two faults as with one."""
    for faults in (1, 2):
        found = check(MicroBatch(sink=kind, faults=faults)).verdicts
        refuted = {name for name, verdict in found.items() if not verdict.holds}
        assert refuted == set(kind.breaks)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("kind", "also"),
    [
        (DualWrite, {"atomic-visibility"}),
        (DualWriteUnlessDone, {"atomic-visibility", "agreement"}),
        (Outbox, {"atomic-visibility"}),
        (OutboxByKey, {"atomic-visibility"}),
        (OutboxOnce, {"atomic-visibility"}),
    ],
)
def test_two_stores_are_never_written_together(kind, also):
    """Who reads one and the other sees what a reader of both joined does not."""
    found = check(MicroBatchTwoStores(sink=kind)).verdicts

    refuted = {name for name, verdict in found.items() if not verdict.holds}
    assert refuted == {*kind.breaks, *also}


def test_a_second_store_has_no_turn_after_tasks_that_write_to_it():
    """It would be written at the same time as the first one."""
    with pytest.raises(ModelError, match="append writes in tasks, so it has no turn"):
        check(MicroBatch(sink=DualWrite(second=Append)))


@pytest.mark.ci
def test_a_first_store_that_tasks_write_to_has_its_turn_before():
    """Parts of a batch show there, and none of it in the second store before."""
    found = check(MicroBatchTwoStores(sink=DualWrite(first=Upsert))).verdicts

    refuted = {name for name, verdict in found.items() if not verdict.holds}
    assert refuted == {"at-most-once", "effectively-once", "atomic-visibility"}


def test_a_store_that_cannot_be_started_says_what_to_install(monkeypatch):
    """In a sentence, and nothing is replayed."""
    monkeypatch.setenv(postgres_server.VARIABLE, "/nowhere")

    done = CliRunner().invoke(main, ["replay", "--store", "postgres"])

    assert done.exit_code == 2
    assert "the store postgres cannot be started" in done.output
    assert "apt-get install postgresql" in done.output


def test_a_package_that_only_the_sinks_need_is_named(monkeypatch):
    """A store needs no client where Spark reads and writes, and its sinks may."""
    needs(STORES["delta"]())
    for name in [
        n for n in sys.modules if n.startswith(f"{reference.__name__}.delta.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "deltalake", None)

    done = CliRunner().invoke(main, ["replay", "--store", "delta"])

    assert done.exit_code == 2
    assert "need the package deltalake, and it is not installed" in done.output


def test_an_unknown_store_is_refused_with_those_there_are():
    """By name."""
    done = CliRunner().invoke(main, ["replay", "--store", "oracle"])

    assert done.exit_code == 2
    assert all(f"'{name}'" in done.output for name in STORE_NAMES)
