"""What is asked: pairs of expressions, places of tables, and what goes together."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.guarantees import DURABLE, GUARANTEES
from onceproof.spark_checks.cli.commands import reconcile as command
from onceproof.spark_checks.reconcile.request import (
    JUDGED,
    Pair,
    ReconcileRequest,
    pair_of,
)
from onceproof.spark_checks.reconcile.tables import place_of

KEY = (Pair("id", "id"),)


@pytest.mark.parametrize(
    ("text", "source", "sink"),
    [
        ("id", "id", "id"),
        ("id=payment_id", "id", "payment_id"),
        (" a + b = c ", "a + b", "c"),
        ("cast(id as string)=id", "cast(id as string)", "id"),
        ("(a = b)=c", "(a = b)", "c"),
        ("if(a=1, 2, 3)=c", "if(a=1, 2, 3)", "c"),
        ("concat(a, '=')=b", "concat(a, '=')", "b"),
        ("a <= b", "a <= b", "a <= b"),
        ("a == b", "a == b", "a == b"),
        ("`a=b`=c", "`a=b`", "c"),
    ],
)
def test_a_pair_is_split_where_its_sides_meet(text, source, sink):
    """Not inside brackets, quotes, or a comparison."""
    assert pair_of(text, "--key") == Pair(source, sink)


@pytest.mark.parametrize("text", ["=a", "a=", "a=b=c", "="])
def test_what_is_no_pair_is_refused(text):
    """It says which option it was."""
    with pytest.raises(UsageError, match="--key"):
        pair_of(text, "--key")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"key": ()}, "nothing identifies an event"),
        ({"time": Pair("at", "at")}, "time says nothing without until"),
        ({"until": "2026-01-01"}, "until says nothing without time"),
        ({"claims": (DURABLE,)}, "durable"),
        ({"claims": ()}, "one look"),
    ],
)
def test_what_does_not_go_together_is_refused(more, words):
    """Before Spark is started."""
    with pytest.raises(UsageError, match=words):
        ReconcileRequest(**{"key": KEY, **more})


def test_what_one_look_judges_are_guarantees():
    """They are those of models and replays."""
    assert set(JUDGED) <= set(GUARANTEES)


@pytest.mark.parametrize(
    ("text", "options", "kind", "where"),
    [
        ("parquet:/data/x", {}, "parquet", "/data/x"),
        ("/data/x.parquet", {}, "parquet", "/data/x.parquet"),
        ("x.JSONL", {}, "json", "x.JSONL"),
        ("table:prod.payments", {}, "table", "prod.payments"),
        ("delta:s3a://bucket/x", {}, "delta", "s3a://bucket/x"),
        (
            "jdbc:postgresql://host/db",
            {"dbtable": "t"},
            "jdbc",
            "jdbc:postgresql://host/db",
        ),
        ("kafka:host:9092/topic", {}, "kafka", "host:9092/topic"),
    ],
)
def test_a_place_is_read(text, options, kind, where):
    """A format and what follows, or an ending that tells."""
    place = place_of("source", text, options)

    assert (place.format, place.where) == (kind, where)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("payments", "the format of the sink payments is not known"),
        ("s3a://user:secret@bucket/x", "the format of the sink"),
        ("jdbc:postgresql://host/db", "--sink-option dbtable=NAME"),
        ("kafka:host:9092", "which topic"),
    ],
)
def test_what_is_no_place_is_refused_with_help(text, words):
    """Nothing is guessed, and no password is printed."""
    with pytest.raises(UsageError) as caught:
        place_of("sink", text)

    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_place_is_shown_without_its_password():
    """It goes into reports."""
    url = "jdbc:postgresql://me:secret@host/db?password=secret"

    assert "secret" not in str(place_of("sink", url, {"dbtable": "t"}))


@pytest.mark.parametrize(
    "name",
    [
        *("password", "sfPassword", "gcpAccessToken", "pem_private_key", "pw"),
        *("kafka.ssl.keystore.key", "kafka.sasl.jaas.config", "authorization"),
    ],
)
def test_an_option_with_a_secret_is_shown_without_its_value(name):
    """Reports are kept and committed; blanks do not end a value."""
    given = {"dbtable": "payments", name: "hush a b"}

    shown = place_of("sink", "jdbc:postgresql://host/db", given).described

    assert "dbtable=payments" in shown
    assert f"{name}=***" in shown
    assert "hush" not in shown
    assert " b" not in shown


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mode", "DROPMALFORMED"),
        ("ignoreCorruptFiles", "true"),
        ("failOnDataLoss", "False"),
    ],
)
def test_options_that_leave_rows_out_are_refused(option, value):
    """What is left out is not judged."""
    with pytest.raises(UsageError, match=f"--sink-option {option}={value} leaves out"):
        place_of("sink", "x.csv", {option: value})


def test_the_command_names_the_guarantees_that_are_judged():
    """It lists them before Spark is imported."""
    assert {prop.name for prop in JUDGED} == set(command._CLAIMS)
