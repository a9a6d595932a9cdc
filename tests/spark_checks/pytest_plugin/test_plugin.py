"""The pytest plugin over real Spark: what a test and a command line show."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

SINKS = """
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
"""

PROJECT = f"""
import pytest
{SINKS}

@pytest.mark.effectively_once(key="id", batches=1)
@pytest.mark.parametrize("sink", [append_sink, marked_first, overwrite_sink])
def test_sink(onceproof_replay, sink):
    onceproof_replay(sink, events="id string, amount long")
"""

EXPECTED = """
[[expected]]
test = "test_sinks.py::test_sink[{sink}]"
guarantee = "effectively-once"
reason = "planned"
expires = {day}
"""


def onceproof(*words):
    return module("onceproof.spark_checks.cli", *words)


def module(*words):
    command = [sys.executable, "-m", *map(str, words)]
    # Code in the home folder itself is not run, and pytester's home is the project.
    apart = {**os.environ, "HOME": str(Path.cwd() / "home")}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=apart
    )


def files(pytester):
    return sorted((pytester.path / ".onceproof").glob("*/*.json"))


@pytest.mark.ci
def test_a_right_sink_holds_and_two_wrong_ones_are_refuted(pytester):
    """A headline that stands alone, then because, lanes, the file: within 40 lines."""
    pytester.makepyfile(test_sinks=PROJECT)

    words = ("--junitxml=junit.xml", "--onceproof-most=4")
    result = pytester.runpytest_subprocess(*words)

    result.assert_outcomes(passed=1, failed=2)
    text = result.stdout.str()
    message = "after the query finished, readers see 4 of 4 events"
    assert f"append_sink is not effectively-once: {message} twice" in text
    assert f"marked_first is not effectively-once: {message} not at all" in text
    assert "the process dies before line" in text
    assert "mark()" in text
    assert "refuted: test_sinks.py::test_sink[append_sink]" in text
    assert "onceproof_verdict" in (pytester.path / "junit.xml").read_text()
    stories = text.split("Captured onceproof call")[1:]
    for story in stories:
        lines = story.partition("again:")[0].splitlines()[1:]
        assert lines[0] == "because"
        assert any(line.endswith("readers see") for line in lines)
        assert len(lines) < 40
    found = [f"{f.parent.name} {f.name}" for f in files(pytester)]
    assert found == [
        "test_sinks.py-test_sink-append_sink append_sink--effectively-once.json",
        "test_sinks.py-test_sink-marked_first marked_first--effectively-once.json",
        "test_sinks.py-test_sink-marked_first marked_first--recoverable.json",
    ]
    assert not (pytester.path / ".onceproof" / "evidence").exists()


@pytest.mark.grid
def test_a_session_of_ones_own_hands_its_settings_over(pytester):
    """But for those of its application; it is another session that replays."""
    pytester.makeini("[pytest]\nonceproof_spark_fixture = spark\n")
    pytester.makepyfile(
        """
        import pytest
        from pyspark.sql import SparkSession

        @pytest.fixture(scope="session")
        def spark():
            builder = SparkSession.builder.master("local[1]").appName("mine")
            builder = builder.config("spark.sql.session.timeZone", "Europe/Paris")
            session = builder.config("spark.sql.caseSensitive", "true").getOrCreate()
            yield session
            session.stop()

        def test_settings(spark, onceproof_spark):
            assert onceproof_spark is not spark
            assert onceproof_spark.conf.get("spark.sql.caseSensitive") == "true"
            assert onceproof_spark.conf.get("spark.sql.shuffle.partitions") == "2"
            assert onceproof_spark.conf.get("spark.app.name") == "onceproof"
        """
    )

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(passed=1)


@pytest.mark.grid
@pytest.mark.parametrize(
    "apart", [False, pytest.param(True, marks=pytest.mark.grid)], ids=["file", "apart"]
)
def test_a_file_is_replayed_by_its_test_until_the_sink_is_mended(pytester, apart):
    """FAILED, then FIXED though other lines run; a test apart says so too."""
    fixed = SINKS.replace('mode("append")', 'mode("overwrite")', 1).replace(
        ".parquet(path)", '.parquet(f"{path}/batch={batch_id}")', 1
    )
    path = pytester.makepyfile(test_sinks=PROJECT)
    pytester.runpytest_subprocess("-k", "append_sink", "--onceproof-most=5")
    [file] = [f for f in files(pytester) if "append" in f.name]

    before = onceproof("replay", file)
    written = onceproof("export", file, "--to", "pytest")
    path.write_text(PROJECT.replace(SINKS, fixed).replace("def write", "def write", 1))
    after = onceproof("replay", file)

    assert (before.returncode, before.stdout[:6]) == (1, "FAILED"), before.stderr
    assert written.stdout == "wrote test_append_sink_effectively_once.py\n"
    assert (after.returncode, after.stdout[:5]) == (0, "FIXED")
    if apart:
        done = module("pytest", "test_append_sink_effectively_once.py")
        assert "1 passed" in done.stdout, done.stdout
    data = json.loads(file.read_text())
    assert data["sink"] == "test_sinks.py::append_sink"
    assert data["test"] == "test_sinks.py::test_sink[append_sink]"
    assert (file.parent / file.stem / "checkpoint" / "commits").is_dir()


@pytest.mark.grid
def test_known_failures_are_expected_until_a_day_or_until_they_are_fixed(pytester):
    """Xfailed with the reason; after the day, failed; what is fixed fails as well."""
    pytester.makepyfile(test_sinks=PROJECT)
    days = {
        "append_sink": "2999-01-31",
        "overwrite_sink": "2999-01-31",
        "marked_first": "2020-01-31",
    }
    text = [EXPECTED.format(sink=sink, day=day) for sink, day in days.items()]
    (pytester.path / "onceproof_expect.toml").write_text("".join(text))

    result = pytester.runpytest_subprocess("-rx", "--onceproof-most=9")

    result.assert_outcomes(xfailed=1, failed=2)
    message = result.stdout.str()
    assert "until 2999-01-31: planned" in message
    assert "expects is fixed (planned); take the entry out" in message
    assert "(expected until 2020-01-31: planned)" in message


@pytest.mark.grid
def test_what_failed_last_is_replayed_first(pytester):
    """As long as it fails nothing else is run."""
    pytester.makepyfile(test_sinks=PROJECT)
    words = ("-k", "append_sink", "--onceproof-trace=off", "--onceproof-most=8")

    first = pytester.runpytest_subprocess(*words)
    second = pytester.runpytest_subprocess(*words)

    first.assert_outcomes(failed=1)
    second.assert_outcomes(failed=1)
    replayed = [
        int(re.findall(r"refuted: \S+, (\d+) of", run.stdout.str())[0])
        for run in (first, second)
    ]
    assert replayed[1] < replayed[0]
    assert "skipped after a refutation" in second.stdout.str()
    assert not (pytester.path / ".onceproof").exists()


GIVEN = f"""
import pytest
from hypothesis import given, strategies as st
from onceproof.properties.testing.strategies import on_spark, replays
{SINKS}

ROW = st.fixed_dictionaries({{"id": st.integers(0, 99), "late": st.booleans()}})


@on_spark
@given(case=replays(ROW, key="id", faults=2, batches=(1, 3)))
@pytest.mark.effectively_once(key="id")
def test_given(onceproof_replay, case):
    onceproof_replay(append_sink, case=case, schema="id long, late boolean")
"""


@pytest.mark.grid
def test_an_example_over_spark_shrinks_to_the_least(pytester):
    """One fault and few rows are left of what may be two faults and three batches."""
    pytester.makepyfile(test_given=GIVEN)

    result = pytester.runpytest_subprocess(
        "--hypothesis-seed=1", "--onceproof-shrink-budget=45"
    )

    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "Case(faults=1, " in text
    assert {int(n) for n in re.findall(r"(\d+) twice", text)} <= {1, 2, 3}
    assert "twice" in text
    assert "--onceproof-seed=1" in text
