"""Names of Java's classes that PySpark asks for, looked up once for a session.

For a name that is no class Java searches all of its jars, and each process that works
on a session asks for the same few names: that was a seventh of what a replay costs.
Only names of Java's, of Spark's and of Py4J's own are kept. A user's class can come
later, with a jar; and any name that is no class yet may become one with an import.
"""

from __future__ import annotations

from typing import Any

from py4j import protocol

from onceproof.spark_checks.session import spark_internals

_SQL = "org.apache.spark.sql"
NAMES = (
    "PythonAccumulatorV2",
    "PythonErrorUtils",
    "PythonRDD",
    "PythonSQLUtils",
    "PythonUtils",
    "SerDeUtil",
    "SimplePythonFunction",
    "functions",
    "java.lang.Object",
    "java.lang.System",
    "org.apache.spark.SparkFiles",
    "org.apache.spark.util.Utils",
    "py4j.reflection.TypeUtil",
    f"{_SQL}.SparkSession",
    f"{_SQL}.catalyst.trees.PySparkCurrentOrigin",
    f"{_SQL}.classic.SparkSession",
    f"{_SQL}.classic.SparkSession$",
    f"{_SQL}.execution.python.UserDefinedPythonFunction",
    f"{_SQL}.functions",
    f"{_SQL}.internal.SQLConf",
    f"{_SQL}.streaming.Trigger",
)
"""The classes that a process asks for as it connects, runs a query, or reads."""
PACKAGES = ("py4j", "py4j.reflection")
"""The packages that it asks for on the way to a class."""

Answers = dict[str, str]
"""What Java answered, by the command that was sent."""


def answers_of(connection: Any) -> Answers:
    """Ask Java for all names; leave out those that are none now.

    Java takes any name for a package that is no class, as long as it is none.
    """
    found = {}
    client = spark_internals.client_of(connection)
    for name in (*NAMES, *PACKAGES):
        command = _lookup(name, spark_internals.view_of(connection))
        answer = client.send_command(command)
        known = protocol.SUCCESS_PACKAGE if name in PACKAGES else protocol.SUCCESS_CLASS
        if answer.startswith(known):
            found[command] = answer
    return found


def use(answers: Answers, client: Any) -> None:
    """Let a connection of this process give these answers without asking Java."""
    ask = client.send_command

    def send(command: str, *more: Any, **words: Any) -> Any:
        known = answers.get(command)
        return ask(command, *more, **words) if known is None else known

    client.send_command = send


def _lookup(name: str, view: str) -> str:
    return (
        f"{protocol.REFLECTION_COMMAND_NAME}"
        f"{protocol.REFL_GET_UNKNOWN_SUB_COMMAND_NAME}"
        f"{name}\n{view}\n{protocol.END_COMMAND_PART}"
    )
