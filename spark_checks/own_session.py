"""A Spark session for a command's own jobs: of this machine, a cluster, Spark Connect.

Replays have sessions of another kind (``session/``), in which faults are injected.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.session.java.jvm import (
    interrupts_as_before,
    java_version,
    none_left,
)
from onceproof.spark_checks.session.private_names import ERRORS_LOG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CONNECT = "sc://"
_HERE = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# A database's times without a zone are read in that of Java, not in the session's.
_UTC_IN_JAVA = "-Duser.timezone=UTC"
_OF_JAVA = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
_OF_INTERRUPTS = (
    "KeyboardInterrupt while sending command",
    "Exception occurred while shutting down connection",
)
_UTC = {"spark.sql.session.timeZone": "UTC"}


@contextmanager
def session(
    master: str, settings: Mapping[str, str], *, name: str
) -> Iterator[SparkSession]:
    """Start a session, and stop it at the end.

    ``master`` is that of a cluster, an address of Spark Connect, which begins with
    ``sc://``, or empty for this machine. Times without a zone are those of UTC unless
    ``settings`` differ. ``name`` is the command's. Raises ``UsageError``
    where it does not start.
    """
    connect = master.startswith(CONNECT)
    if not connect:
        java_version()
    builder: Any = SparkSession.builder
    builder = (
        builder.remote(master) if connect else builder.master(master or "local[*]")
    )
    called = {"spark.app.name": f"onceproof {name}"}
    given = {**({} if connect else {**called, **_HERE}), **_UTC, **settings}
    for key in () if connect else _OF_JAVA:
        given[key] = f"{_UTC_IN_JAVA} {given.get(key, '')}".strip()
    for key, value in given.items():
        builder = builder.config(key, value)
    with tempfile.TemporaryDirectory(prefix=f"onceproof-{name}-") as folder:
        log = Path(folder) / "spark.log"
        try:
            with _printed_into(log), none_left(), interrupts_as_before():
                spark: SparkSession = builder.getOrCreate()
        except (PySparkException, Py4JError, RuntimeError, OSError) as error:
            last_line = log.read_text(errors="replace").strip().splitlines()[-1:]
            first = str(error).strip().partition("\n")[0]
            message = f"Spark did not start: {redacted('; '.join([first, *last_line]))}"
            raise UsageError(message) from None
        try:
            with _interrupts_unreported():
                yield spark
        finally:
            spark.stop()


@contextmanager
def _interrupts_unreported() -> Iterator[None]:
    """Leave out what py4j prints as Ctrl-C comes while Java works: it is no error."""

    def other(record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith(_OF_INTERRUPTS)

    logs = [logging.getLogger(), logging.getLogger("py4j.clientserver")]
    for log in logs:
        log.addFilter(other)
    try:
        yield
    finally:
        for log in logs:
            log.removeFilter(other)


@contextmanager
def sentences(what: str = "") -> Iterator[None]:
    """Turn what Spark says at length into a ``UsageError`` of one sentence.

    ``what`` begins the sentence, such as "the source x cannot be read".
    """
    log = logging.getLogger(ERRORS_LOG)
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    except (PySparkException, Py4JError) as error:
        # Of a class that PySpark has no error for, Java alone has the words.
        java = getattr(error, "java_exception", None)
        words = str(error) if java is None else str(java.toString())
        first = words.strip().partition("\n")[0]
        first = first.removeprefix("org.apache.spark.SparkException: ")
        reason = redacted(first.partition("; line 1 pos")[0])
        if "ClassNotFoundException" in reason:
            reason += (
                "; help: give Spark the jar that has it, as in "
                "--conf spark.jars.packages=GROUP:NAME:VERSION"
            )
        message = f"{what}: {reason}" if what else reason
        raise UsageError(message) from None
    finally:
        log.setLevel(before)


@contextmanager
def _printed_into(log: Path) -> Iterator[None]:
    """Let the JVM that is started meanwhile print into a file, now and later."""
    own = [os.dup(1), os.dup(2)]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        with log.open("ab") as kept:
            os.dup2(kept.fileno(), 1)
            os.dup2(kept.fileno(), 2)
            yield
    finally:
        for number, saved in enumerate(own, 1):
            os.dup2(saved, number)
            os.close(saved)
