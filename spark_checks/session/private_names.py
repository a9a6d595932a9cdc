"""The names of PySpark and py4j that a version may move: where they are, and why.

``spark_internals`` and ``pickling_internals`` use them. A test holds the installed
version to ``NAMES``.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Name:
    """A name that a version of PySpark may move.

    ``owners`` are where it may be, of which one suffices: a module, or a class as
    ``module:Class``. ``local`` is for a local variable of the function that owns it.
    """

    name: str
    """The name."""
    owners: tuple[str, ...]
    why: str
    """What it is needed for."""
    local: bool = False

    @property
    def found(self) -> bool:
        """Whether the installed version has it."""
        return any(self._is_in(owner) for owner in self.owners)

    def _is_in(self, owner: str) -> bool:
        module, _, path = owner.partition(":")
        try:
            there: Any = importlib.import_module(module)
            for part in filter(None, path.split(".")):
                there = getattr(there, part)
        except (ImportError, AttributeError):
            return False
        if self.local:
            return self.name in inspect.unwrap(there).__code__.co_varnames
        if hasattr(there, self.name):
            return True
        # Of each object, and not of the class: what makes the objects names it.
        return inspect.isclass(there) and f"self.{self.name}" in inspect.getsource(
            there
        )


_CONTEXT = ("pyspark.core.context:SparkContext", "pyspark.context:SparkContext")
_SESSION = ("pyspark.sql.session:SparkSession",)
_FRAME = (
    "pyspark.sql.classic.dataframe:DataFrame",
    "pyspark.sql.dataframe:DataFrame",
)
_STREAM_WRITER = ("pyspark.sql.streaming.readwriter:DataStreamWriter",)
_WRITER = ("pyspark.sql.readwriter:DataFrameWriter",)
_FAST = "pyspark.cloudpickle.cloudpickle_fast"
_PICKLER = ("pyspark.cloudpickle.cloudpickle:Pickler", f"{_FAST}:CloudPickler")
_MAKING = ("pyspark.cloudpickle.cloudpickle", _FAST)
_PICKLING = ("pyspark.cloudpickle.cloudpickle",)
_CAPTURED = ("pyspark.errors.exceptions.captured:CapturedException",)
_CLIENT = "py4j.clientserver"
_RUNNER = "pyspark.sql.worker.python_streaming_sink_runner"
_COMMITS = (f"{_RUNNER}:main", f"{_RUNNER}:_main")

KEPT = (
    ("SparkContext", "_gateway"),
    ("SparkContext", "_jvm"),
    ("SparkContext", "_active_spark_context"),
    ("SparkSession", "_instantiatedSession"),
    ("SparkSession", "_activeSession"),
)
"""What PySpark keeps one of in a process, by class and name."""

ASKED = {
    SparkSession: ("getActiveSession", "active"),
    SparkSession.Builder: ("getOrCreate",),
    SparkContext: ("getOrCreate",),
}
"""The functions by which a program asks for the session that there is."""

STARTS = ("foreachBatch", "option", "options", "start", "toTable")
"""The methods of a streaming writer by which a query is described and started."""

SAVES = ("save", "parquet", "json", "csv", "orc", "text")
"""The methods of a writer that write to a path."""

STREAM_THREAD = "stream execution thread for "
"""What the name of the thread begins with that runs a streaming query."""
COMMIT_DENIED = "Commit denied for partition"
"""How Spark says that an attempt of a task may not commit, as another one may.

A failed attempt frees its place only once Spark's scheduler has heard of its failure.
On a busy machine the next attempt may ask before that, and is denied.
"""

ERRORS_LOG = "SQLQueryContextLogger"
"""The log that PySpark 4 prints each error to, with the stacks of Java and Python.

The error is raised as well, so who reports it himself turns the log off.
"""

END_OF_STREAM = b"\xff\xff\xff\xfc"
"""The number, as Spark sends it, after which a task gets no more input."""

_ONE_A_PROCESS = "sessions of others live in the process of the tests beside ours"
_BY_NAME = "another process of ours uses the same object of Java"
_NAMED = "classes of Java are looked up once for all processes of ours"
_CLOSED = "a query's thread in Java has a connection that nobody closes"
_UNUSED = "Java lets go of objects that no process uses any more"
_LAZY = "a host connects to Java when the code that it runs asks for a session"
_STEERED = "a query that a user's function starts runs in the steered way"
_GUARD = "the user's code may write to what is its own"
_MODULES = "functions travel with their module by name, and not by value"
_PLACE = "the run, the batch and the end of a DataSource's commit are known by it"

NAMES = (
    Name("_gateway", _CONTEXT, _ONE_A_PROCESS),
    Name("_jvm", _CONTEXT, _ONE_A_PROCESS),
    Name("_active_spark_context", _CONTEXT, _ONE_A_PROCESS),
    Name("_instantiatedSession", _SESSION, _ONE_A_PROCESS),
    Name("_activeSession", _SESSION, _ONE_A_PROCESS),
    Name("_jsc", _CONTEXT, "a host makes a context of that which there is in Java"),
    Name("_jsparkSession", _SESSION, _BY_NAME),
    Name("_jdf", _FRAME, _BY_NAME),
    Name("_jsq", ("pyspark.sql.streaming.query:StreamingQuery",), _BY_NAME),
    Name("_jwrite", _STREAM_WRITER, "Java knows one process to call back: the tests'"),
    Name("_spark", _STREAM_WRITER, "Java knows one process to call back: the tests'"),
    Name("_jconf", ("pyspark.conf:SparkConf",), "a host has the settings of Java's"),
    Name("_target_id", ("py4j.java_gateway:JavaObject",), _BY_NAME),
    Name("_gateway_client", ("py4j.java_gateway:JavaGateway",), _BY_NAME),
    Name("_id", ("py4j.java_gateway:JVMView",), _NAMED),
    Name("get_thread_connection", ("py4j.clientserver:JavaClient",), _CLOSED),
    Name(
        "initiated_from_client", ("py4j.clientserver:ClientServerConnection",), _CLOSED
    ),
    Name("finalizers", ("py4j.finalizer:ThreadSafeFinalizer",), _UNUSED),
    Name("gateway_parameters", ("py4j.java_gateway:JavaGateway",), "a host connects"),
    Name("_find_spark_home", ("pyspark.find_spark_home",), "a cluster is started"),
    Name("launch_gateway", ("pyspark.java_gateway",), "a host connects"),
    Name("Popen", ("pyspark.java_gateway",), "a JVM that is not to be used is ended"),
    Name("main", ("pyspark.worker",), "tasks have failpoints"),
    Name("manager", ("pyspark.daemon",), "our daemon takes the place of Spark's"),
    Name("loads", ("pyspark.serializers:CPickleSerializer",), "see worker_memory.py"),
    Name("END_OF_STREAM", ("pyspark.serializers:SpecialLengths",), "see zombie.py"),
    *(Name(n, _COMMITS, _PLACE, local=True) for n in ("batch_id", "abort")),
    Name("data_source", _COMMITS, _PLACE, local=True),
    *(Name(n, _SESSION, _LAZY) for n in ASKED[SparkSession]),
    Name("getOrCreate", ("pyspark.sql.session:SparkSession.Builder",), _LAZY),
    Name("getOrCreate", _CONTEXT, _LAZY),
    *(Name(n, _STREAM_WRITER, _STEERED) for n in STARTS),
    *(Name(n, _WRITER, _GUARD) for n in (*SAVES, "jdbc", "option", "options")),
    Name("_dynamic_function_reduce", _PICKLER, _MODULES),
    Name("_function_getnewargs", _PICKLER, _MODULES),
    Name("_make_function", _MAKING, _MODULES),
    Name("_function_getstate", _MAKING, _MODULES),
    Name("_function_setstate", _MAKING, _MODULES),
    Name("_PICKLE_BY_VALUE_MODULES", _PICKLING, "Spark's tasks get modules by value"),
    Name("_cause", _CAPTURED, "what a query failed with is often said by a cause"),
    Name("_desc", _CAPTURED, "an error is described after its session has ended"),
)
"""Every such name, where it is, and why it is needed."""


def missing() -> list[str]:
    """List what the installed version has no longer, and what cannot work without."""
    return [
        f"{' or '.join(name.owners)} has no {name.name}, without which this does not "
        f"work: {name.why}"
        for name in NAMES
        if not name.found
    ]
