"""Java lets go of what dead processes asked for, and is asked once for a name."""

from __future__ import annotations

import gc

import pytest
from py4j import protocol
from py4j.java_gateway import JavaObject, java_import
from py4j.protocol import Py4JError

from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.java import java_names
from tests.spark_checks.steering import SINKS, SMALL

pytestmark = pytest.mark.spark


@pytest.fixture
def session(pool):
    with pool.session(attempts=2, partitions=2) as found:
        yield found


def asked_for_by_nobody(connection):
    """Make an object as a process does that is killed: its name is forgotten here."""
    client = spark_internals.client_of(connection)
    answer = client.send_command(
        f"{protocol.CONSTRUCTOR_COMMAND_NAME}java.lang.Object\n"
        f"{protocol.END_COMMAND_PART}"
    )
    return answer.removeprefix(f"{protocol.SUCCESS}{protocol.REFERENCE_TYPE}")


def test_what_no_process_holds_is_let_go(session):
    """And what this one holds is not."""
    connection = spark_internals.gateway()
    session.release()
    held = connection.jvm.java.util.ArrayList()
    held.add("kept")
    lost = asked_for_by_nobody(connection)
    client = spark_internals.client_of(connection)
    assert JavaObject(lost, client).hashCode()
    gc.collect()
    lost_again = asked_for_by_nobody(connection)

    session.release()

    assert held.get(0) == "kept"
    with pytest.raises(Py4JError, match="does not exist"):
        JavaObject(lost_again, client).hashCode()


def test_names_that_are_known_are_not_asked_for(session):
    """Java's answer is the same; any other command goes to Java."""
    connection = spark_internals.gateway()
    answers = java_names.answers_of(connection)
    asked = []

    class Client:
        def send_command(self, command):
            asked.append(command)
            return "Java's answer"

    client = Client()
    java_names.use(answers, client)
    found = {command: client.send_command(command) for command in answers}

    assert found == answers
    assert asked == []
    assert client.send_command("another") == "Java's answer"
    assert len(answers) == len(java_names.NAMES) + len(java_names.PACKAGES)


def test_a_name_that_is_no_class_yet_is_asked_for_again(session, monkeypatch):
    """It is one once its package is imported: PySpark does so as a query starts."""
    connection = spark_internals.gateway()
    short = "SimpleFunctionRegistry"
    monkeypatch.setattr(java_names, "NAMES", (short,))
    before = java_names.answers_of(connection)

    java_import(connection.jvm, f"org.apache.spark.sql.catalyst.analysis.{short}")
    after = java_names.answers_of(connection)

    assert len(before) == len(java_names.PACKAGES)
    assert len(after) == len(before) + 1


def test_each_replay_lets_go_of_what_its_processes_asked_for(pool, session):
    """A session that many tests share would fill otherwise."""
    connection = spark_internals.gateway()
    client = spark_internals.client_of(connection)
    lost = asked_for_by_nobody(connection)
    request = ReplayRequest(sizes=SMALL, choice=Choice(only=frozenset({1})))

    replay([SINKS["foreach-batch-append"]], lambda _: None, request, pool=pool)

    with pytest.raises(Py4JError, match="does not exist"):
        JavaObject(lost, client).hashCode()
