"""Each script that shows a finding about Spark still shows it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from onceproof.spark_checks import Hudi
from tests.spark_checks.stores.needed import needs
from tests.test_house import ROOT

SCRIPTS = ROOT / "docs" / "explanation" / "findings"
SHOWN = {
    "available_now_of_a_simple_reader": (
        "run 1 by availableNow ends: 2 of 10 events are read, and no error\n"
        "run 2 by availableNow ends: 4 of 10 events are read, and no error"
    ),
    "archives_read_again": "forgotten before tasks that do nothing: py4j, pyspark.zip",
    "checksum_of_another_attempt": (
        "the batch is repeated: the query runs\n"
        "start 1 with more events: the query fails, "
        "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED\n"
        "start 2 with more events: the query fails, "
        "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED\n"
        "without checks of files: the query runs"
    ),
    "deleted_checkpoint": ("before maintenance, 0 of 40 counts are wrong\nafter it, "),
    "delta_lost_reply": (
        "plain: no error; 2 appends, 3 commits, 2 rows\n"
        "with-version: Failed to commit transaction: Concurrent transaction failed.; "
        "2 appends, 2 commits, 2 rows"
    ),
    "delta_versions": (
        "Spark, versions 5 and 0, two orders: 1 of 2 are there\n"
        "delta-rs, version 0 twice, one order: it is there 2 times"
    ),
    "exit_in_a_callback": (
        "the callback raises: StreamingQueryException; the query has ended\n"
        "the callback exits: no error within 15 s; the query is still active"
    ),
    "files_by_their_times": (
        "file 0, written now: is read\n"
        "file 1, written 30 days ago: is not read\n"
        "file 2, written in 10 days: is read\n"
        "file 3, written now: is not read\n"
        "file 4, written now: is not read\n"
        "after one more run: 2 of 5 files are read\n"
        "with a maxFileAge of years: 5 of 5 files are read"
    ),
    "folder_of_the_file_sink": (
        "two checkpoints, one order each: 1 of 2 orders are in the folder\n"
        "a table with 2 orders, and a stream adds 1: it has 1\n"
        "then INSERT INTO adds 1: it has 1\n"
        "a reader that ignores the sink's log: it has 4"
    ),
    "half_read_batch": (
        "batch 0 is noted as done: True; state of 1 of 4 partitions\n"
        "restart 1: the query fails, CANNOT_LOAD_STATE_STORE\n"
        "restart 2: the query fails, CANNOT_LOAD_STATE_STORE\n"
        "restart 3: the query fails, CANNOT_LOAD_STATE_STORE\n"
        "offsets/1 and commits/0 are deleted by hand: the query runs"
    ),
    "hudi_new_checkpoint": (
        "restart with the same checkpoint: 20 of 20 orders are there\n"
        "restart with a new checkpoint: 10 of 20 orders are there\n"
        "restart with a new checkpoint and identifier: 20 of 20 orders are there"
    ),
    "initial_offset_asked_again": (
        "begins recent: after a crash in batch 0 the sink has [4, 5, 6, 7]\n"
        "begins fixed: after a crash in batch 0 the sink has [2, 3, 4, 5, 6, 7]"
    ),
    "minus_zero": (
        "a batch, dropDuplicates: 1 of 1 rows\n"
        "a stream, dropDuplicates: 2 of 1 rows\n"
        "a stream, dropDuplicatesWithinWatermark: 2 of 1 rows\n"
        "a stream, dropDuplicates of price + 0.0: 1 of 1 rows"
    ),
    "no_batch_without_data": (
        "no fault: readers see 1 of 1 windows\n"
        "restart 1: readers see 0 of 1 windows\n"
        "restart 2: readers see 0 of 1 windows\n"
        "restart 3: readers see 0 of 1 windows\n"
        "with one more event: readers see 1 of 1 windows"
    ),
    "one_version_of_state": (
        "RocksDB, 1 to retain: batch 1 fails: commits/1 cannot be written\n"
        "RocksDB, 1 to retain: restart 1: CANNOT_LOAD_STATE_STORE\n"
        "RocksDB, 1 to retain: restart 2: CANNOT_LOAD_STATE_STORE\n"
        "RocksDB, 2 to retain: batch 1 fails: commits/1 cannot be written\n"
        "RocksDB, 2 to retain: restart 1: it runs"
    ),
    "origins_of_settings": "a third or more is where they were set: True",
    "process_for_each_file": (
        "10 files and their checksums: 2 processes for each\n"
        "local files are those of org.apache.hadoop.hive.ql.io.ProxyLocalFileSystem\n"
        "a rename onto another file: refused"
    ),
    "seed_of_a_stream": (
        "no failure: none of 1000 events is in no part or in both (0 and 0)\n"
        "a failure between the writes: some of 1000 events is in no part or in both"
    ),
    "skipped_batch": (
        "format 2, file sink, the driver dies: assertion failed: CheckpointInfo "
        "length: 0, numPartitions: 2; readers see 0 of 1 windows\n"
        "format 2, foreachBatch, no fault: it runs; readers see 1 of 1 windows\n"
        "format 2, foreachBatch, the driver dies: it runs; readers see 1 of 1 windows"
    ),
    "swallowed_errors": (
        "batches that Spark noted as done: 0, 1\n"
        "events that the service has taken: order-1"
    ),
    "truncated_foreach": "task (0, 0): 0 rows, error=None",
    "values_of_a_repeated_batch": (
        "current_timestamp(), restarted with UTC: "
        "the same value in the repeated batch\n"
        "localtimestamp(), restarted with UTC: the same value in the repeated batch\n"
        "now(), restarted with UTC: another value in the repeated batch\n"
        "uuid(), restarted with UTC: another value in the repeated batch\n"
        "to_date(at), restarted with UTC: the same value in the repeated batch\n"
        "to_date(at), restarted with Asia/Tokyo: another value in the repeated batch"
    ),
    "watermark_of_two_inputs": (
        "one run: minute 01: 2\nthree runs: no window is shown"
    ),
}
STORES = {"hudi_new_checkpoint": Hudi()}
PACKAGES = {"swallowed_errors": "pyspark-data-sources==0.1.11"}


def test_each_script_is_run():
    """None is left out."""
    scripts = {path.stem for path in SCRIPTS.glob("*.py")}

    assert scripts == set(SHOWN)


@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("archives_read_again", marks=pytest.mark.grid),
        pytest.param("available_now_of_a_simple_reader", marks=pytest.mark.grid),
        pytest.param("checksum_of_another_attempt", marks=pytest.mark.grid),
        pytest.param("deleted_checkpoint", marks=pytest.mark.grid),
        pytest.param("delta_lost_reply", marks=pytest.mark.ci),
        pytest.param("delta_versions", marks=pytest.mark.grid),
        pytest.param("exit_in_a_callback", marks=pytest.mark.grid),
        pytest.param("files_by_their_times", marks=pytest.mark.grid),
        pytest.param("folder_of_the_file_sink", marks=pytest.mark.grid),
        pytest.param("half_read_batch", marks=pytest.mark.grid),
        pytest.param("hudi_new_checkpoint", marks=pytest.mark.grid),
        pytest.param("initial_offset_asked_again", marks=pytest.mark.grid),
        pytest.param("minus_zero", marks=pytest.mark.grid),
        pytest.param("no_batch_without_data", marks=pytest.mark.grid),
        pytest.param("one_version_of_state", marks=pytest.mark.grid),
        pytest.param("origins_of_settings", marks=pytest.mark.grid),
        pytest.param("process_for_each_file", marks=pytest.mark.ci),
        pytest.param("seed_of_a_stream", marks=pytest.mark.grid),
        pytest.param("skipped_batch", marks=pytest.mark.grid),
        pytest.param("swallowed_errors", marks=pytest.mark.grid),
        pytest.param("truncated_foreach", marks=pytest.mark.ci),
        pytest.param("values_of_a_repeated_batch", marks=pytest.mark.grid),
        pytest.param("watermark_of_two_inputs", marks=pytest.mark.grid),
    ],
)
def test_a_finding_is_shown(name, tmp_path):
    """What the page says of Spark is what it does."""
    if name in STORES:
        needs(STORES[name])
    script = SCRIPTS / f"{name}.py"
    if name in PACKAGES:
        install = [sys.executable, "-m", "pip", "install", "--no-deps", "--target"]
        subprocess.run([*install, tmp_path, PACKAGES[name]], check=True)

    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )

    assert done.returncode == 0, done.stderr
    assert SHOWN[name] in done.stdout
