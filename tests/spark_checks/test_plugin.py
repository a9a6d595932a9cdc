"""The pytest plugin judges a user's own sink, by every line that it runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark

PROJECT = """
import pytest
from onceproof.spark_checks.sinks.interface import ForeachBatch


def append_sink(target):
    path = str(target.path / "flights")

    def write(batch, batch_id):
        batch.write.mode("append").parquet(path)

    return ForeachBatch(write, read=lambda spark: spark.read.parquet(path))


def marked_first(target):
    path = str(target.path / "flights")
    done = target.path / "done"

    def write(batch, batch_id):
        if mark(batch_id):
            batch.write.mode("append").parquet(path)

    def mark(batch_id):
        known = done / str(batch_id)
        if known.exists():
            return False
        done.mkdir(exist_ok=True)
        known.touch()
        return True

    return ForeachBatch(write, read=lambda spark: spark.read.parquet(path))


def overwrite_sink(target):
    path = str(target.path / "flights")

    def write(batch, batch_id):
        batch.write.mode("overwrite").parquet(f"{path}/batch={batch_id}")

    def read(spark):
        return spark.read.parquet(path).drop("batch")

    return ForeachBatch(write, read=read)


@pytest.mark.effectively_once(key="flight_id", faults=1)
@pytest.mark.parametrize("sink", [append_sink, marked_first, overwrite_sink])
def test_sink(onceproof_replay, sink):
    onceproof_replay(sink)
"""


def test_a_right_sink_holds_and_two_wrong_ones_are_refuted(pytester):
    """One appends, one marks before it writes; the headline says what readers see."""
    pytester.makepyfile(test_sinks=PROJECT)

    result = pytester.runpytest_subprocess("--junitxml=junit.xml")

    result.assert_outcomes(passed=1, failed=2)
    told = result.stdout.str()
    assert (
        "append_sink is not effectively-once: at rest, of the events readers see"
        in told
    )
    assert "422 twice" in told
    assert "marked_first is not effectively-once: at rest, of the events" in told
    assert "420 not at all, 422 once" in told
    assert "before line" in told
    assert "mark()" in told
    assert "refuted: test_sinks.py::test_sink[append_sink]" in told
    assert "onceproof_verdict" in (pytester.path / "junit.xml").read_text()
    found = sorted(f.name for f in (pytester.path / ".onceproof").iterdir())
    assert "append_sink--effectively-once.json" in found
    assert "marked_first--effectively-once.json" in found
    assert not any("overwrite" in name for name in found)


def test_the_file_replays_the_failure_until_it_is_fixed(pytester):
    """FAILED while the sink is as it was, ERROR when it runs other lines."""
    path = pytester.makepyfile(test_sinks=PROJECT)
    pytester.runpytest_subprocess("-k", "append_sink")
    file = pytester.path / ".onceproof" / "append_sink--effectively-once.json"
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay", str(file)]

    before = subprocess.run(command, capture_output=True, text=True, check=False)
    path.write_text(
        PROJECT.replace(
            '"append").parquet(path)\n\n',
            '"append").parquet(path)\n        again = batch_id\n\n',
            1,
        )
    )
    after = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (before.returncode, before.stdout[:6]) == (1, "FAILED")
    assert (after.returncode, after.stdout[:5]) == (2, "ERROR")
    assert "runs other lines" in after.stdout
    assert json.loads(file.read_text())["sink"] == "test_sinks.py::append_sink"


@pytest.mark.parametrize(
    ("marker", "answer"),
    [
        ("", "needs a marker"),
        ("@pytest.mark.effectively_once(fault=1)", "did you mean faults=?"),
        ("@pytest.mark.effectively_once(key='id')", "not supported yet"),
        ("@pytest.mark.effectively_once(key='flight_id', faults=9)", "must be 1 to 3"),
    ],
)
def test_what_the_marker_does_not_take_is_refused(pytester, marker, answer):
    """In one sentence, before Spark is started."""
    pytester.makepyfile(f"import pytest\n{marker}\ndef test_it(onceproof_replay): pass")

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(errors=1)
    assert answer in result.stdout.str()


def test_unused_it_imports_neither_spark_nor_z3_and_can_be_switched_off(pytester):
    """A test that asks for nothing pays nothing."""
    pytester.makepyfile(
        """
        import sys

        def test_it():
            heavy = {"pyspark", "z3", "numba", "hypothesis"} & set(sys.modules)
            assert not heavy
        """
    )

    used = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    off = pytester.runpytest_subprocess("-p", "no:onceproof", "--markers")

    used.assert_outcomes(passed=1)
    assert "= onceproof =" not in used.stdout.str()
    assert "effectively_once" not in off.stdout.str()
