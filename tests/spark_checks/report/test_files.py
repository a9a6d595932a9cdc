"""A counterexample file is replayed, or refused in one sentence before Spark starts."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.counterexample.file import Counterexample, read, steps_of
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.judges.by_search import parameters_of
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.session import session_pool
from tests.spark_checks.steering import SINKS, SMALL, numbered

SINK = SINKS["foreach-batch-append"]
WORDS = ("log_offsets(0)", "write(0, 0, 0)", "crash()", "write(0, 0, 0)")


@pytest.fixture
def written(tmp_path):
    """Write a file as a replay does, with some of its fields damaged."""

    def write(**damage):
        protocol = protocol_of(SINK, SMALL)
        number = numbered(
            SINK.name, *WORDS, "write(0, 1, 0)", "log_commit(0)", faults=1
        )
        one = interleavings(protocol).classes[number - 1]
        path = tmp_path / "a file.json"
        Counterexample(
            protocol=protocol.label(),
            parameters=parameters_of(protocol),
            property="atomic-visibility",
            clause="a unit is visible whole or not at all",
            fails_at=0,
            steps=steps_of(Interpreter(protocol), one.trace),
            versions={},
            sink=SINK.name,
            interleaving=number,
            events=100,
        ).write(path)
        if damage:
            data = json.loads(path.read_text())
            del data["digest"]
            path.write_text(json.dumps(data | damage))
        return path

    return write


@pytest.fixture
def no_spark(monkeypatch):
    """Let a replay that starts Spark after all fail."""

    def start(*_, **__):
        pytest.fail("Spark was started")

    monkeypatch.setattr(session_pool, "WarmSession", start)


def refused(path):
    result = CliRunner().invoke(main, ["replay", str(path)])
    assert result.exit_code == 2, result.output
    assert len(result.output.strip().splitlines()) == 1, result.output
    return result.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no counterexample file"),
        ('{"a": 1}', "no counterexample file"),
        ('{"format": "onceproof counterexample", "schema": 99}', "schema 99"),
        ('{"format": "onceproof counterexample", "schema": 1}', "it has no 'protocol'"),
    ],
)
def test_a_file_that_is_no_counterexample_is_refused(
    tmp_path, no_spark, content, message
):
    """A damaged, foreign or newer file ends in one sentence and exit status 2."""
    path = tmp_path / "a file.json"
    path.write_text(content)

    output = refused(path)

    assert message in output


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"parameters": {}}, "'BATCH' of its parameters is None"),
        ({"parameters": {"BATCH": "2"}}, "'BATCH' of its parameters is '2'"),
        ({"parameters": {"BATCH": 10**9}}, "'BATCH' of its parameters is 1000000000"),
        ({"parameters": []}, "'parameters' is not an object"),
        ({"property": "once"}, "'once', which is no guarantee"),
        ({"property": None}, "'property' is not a text"),
        ({"protocol": "micro-bach"}, "did you mean 'micro-batch'"),
        ({"protocol": "two-phase-commit"}, "which no sink is replayed by"),
        ({"sink": "none"}, "'none', which is not known here"),
        ({"sink": ""}, "names no sink"),
        ({"sink": "", "protocol": "my_lease.py"}, "onceproof explore"),
        ({"sink": ["x"]}, "'sink' is not a text"),
        ({"interleaving": "1"}, "'interleaving' is not a whole number"),
        ({"faults": True}, "'faults' is not a whole number"),
        ({"faults": 99}, "'faults' is 99"),
        ({"events": 1}, "too few"),
        ({"events": 10**9}, "there are 336,776 flights, not 1,000,000,000"),
        ({"steps": [1]}, "'steps[0]' is not an object"),
        ({"steps": [{"event": "crash"}]}, "has no 'members'"),
        ({"observed": {"rows": 1}}, "is damaged"),
        ({"observed": []}, "is damaged"),
        ({"more": 1}, "is damaged"),
        ({"schema": 0}, "schema 0"),
    ],
)
def test_a_damaged_file_is_refused(written, no_spark, damage, message):
    """Whatever is missing, of another type or unknown is named, with no traceback."""
    path = written(**damage)

    output = refused(path)

    assert message in output


def test_a_file_that_was_changed_is_refused(written, no_spark):
    """A digest of the content guards it; a deliberate change removes the digest."""
    path = written()
    path.write_text(path.read_text().replace('"events": 100', '"events": 101'))

    output = refused(path)

    assert "it was changed after it was written" in output


OLD_NAMES = (
    ('"schema": 2', '"schema": 1'),
    ('"options":', '"asked":'),
    ('"outcomes":', '"fared":'),
    ('"instrumented-micro-batch"', '"struck-inside"'),
)


def as_schema_1(path):
    """Rewrite a file as the first schema had it, with a digest of its own."""
    text = path.read_text()
    for new, old in OLD_NAMES:
        text = text.replace(new, old)
    data = json.loads(text)
    del data["digest"]
    head = {name: data.pop(name) for name in ("format", "schema")}
    digest = of_data(data)
    path.write_text(json.dumps({**head, **data, "digest": digest}))


def of_schema_1(path):
    """Write a file with all that was renamed, and return what it holds."""
    moment = EventOutcome(promised=True, visible=2)
    history = History(("at rest",), (Row(0, True, (moment,)),), (0,))
    found = Counterexample(
        protocol="instrumented-micro-batch",
        parameters={},
        property="at-most-once",
        clause="no effect is ever visible twice",
        fails_at=0,
        steps=(),
        versions={},
        observed=history,
        expected=history,
        options={"key": ["id"]},
    )
    found.write(path)
    as_schema_1(path)
    return found


def test_a_file_of_the_first_schema_reads_as_one_of_today(tmp_path):
    """Its names have changed, and nothing else; its digest is of the old names."""
    path = tmp_path / "old.json"
    written = of_schema_1(path)

    assert '"fared"' in path.read_text()
    assert read(path) == written


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"faults": 2}, "its digest does not match"),
        ({"digest": None, "options": {}}, "there is no 'options' in schema 1"),
        ({"asked": {"key": "id"}}, "its digest does not match"),
    ],
)
def test_a_damaged_file_of_the_first_schema_is_refused(tmp_path, damage, message):
    path = tmp_path / "old.json"
    of_schema_1(path)
    data = {**json.loads(path.read_text()), **damage}
    path.write_text(json.dumps(data))

    with pytest.raises(UsageError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"interleaving": 999}, "no interleaving 999 any more"),
        ({"steps": []}, "the model has changed"),
        (
            {"parameters": {"BATCH": 1, "PARTITION": 2, "ATTEMPT": 2}},
            "the model's parameters have changed",
        ),
    ],
)
def test_a_file_of_another_model_is_an_error(written, no_spark, damage, message):
    """The answer is ERROR, with the reason, and exit status 2."""
    path = written(**damage)

    output = refused(path)

    assert output.startswith("ERROR foreach-batch-append: ")
    assert message in output


@pytest.mark.spark
@pytest.mark.ci
def test_a_counterexample_that_is_still_there_is_told_in_json(written):
    """--json is heeded for a file: FAILED, with what it is about, and status 1."""
    path = written()

    result = CliRunner().invoke(main, ["replay", str(path), "--json"])

    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert data == {
        "file": str(path),
        "sink": "foreach-batch-append",
        "property": "atomic-visibility",
        "answer": "FAILED",
        "reason": "",
        "folder": "",
        "note": "",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--events", "10", "--batches", "8"), "too few for 8 batches of 2 files"),
        (("--events", "999999"), "there are 336,776 flights, not 999,999"),
    ],
)
def test_events_that_there_are_not_are_refused(no_spark, words, message):
    """Too few for the batches, or more than there are: before Spark is started."""
    result = CliRunner().invoke(main, ["replay", SINK.name, *words])

    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1
    assert message in result.output


def test_a_number_of_no_interleaving_is_refused(no_spark):
    """--only 9999: one sentence that says which there are, and exit status 2."""
    words = ["replay", SINK.name, "--batches", "1", "--only", "9999"]

    result = CliRunner().invoke(main, words)

    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1
    assert "there is no interleaving 9999; help: foreach-batch-append has 1 to " in (
        result.output
    )
