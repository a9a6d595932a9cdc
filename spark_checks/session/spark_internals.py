"""All use of what is private in PySpark and py4j, or is replaced here.

Nothing else in this package reads a private member of PySpark or py4j, or puts anything
in the place of what they define, but ``pickling_internals`` for functions. Of each name
``private_names`` says where it is, and why it is needed.
"""

from __future__ import annotations

import importlib
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from py4j.finalizer import ThreadSafeFinalizer
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark import (
    SparkConf,
    SparkContext,
    find_spark_home,
    java_gateway,
)
from pyspark import __version__ as version
from pyspark.sql import DataFrame, SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SQL = "org.apache.spark.sql"
_PATIENCE, _TURN = 10.0, 0.002


# Where Spark is ----------------------------------------------------------------------


def spark_home() -> str:
    """Give the folder that Spark's own scripts are in, below ``bin``."""
    find: Any = find_spark_home._find_spark_home
    return str(find())


def description_of(error: BaseException) -> str:
    """Return the first line of what Java said of an error, which PySpark keeps."""
    return str(getattr(error, "_desc", None) or "").strip().partition("\n")[0]


# The gateway to Java -----------------------------------------------------------------


def gateway() -> Any:
    """Give this process's connection to Java, or None."""
    found: Any = SparkContext._gateway
    return found


def launched_process() -> Any:
    """Give the process of the JVM that this process has started."""
    return gateway().proc


def address_of(context: Any) -> tuple[int, str]:
    """Give the port and the secret by which a context's JVM is reached."""
    parameters = context._gateway.gateway_parameters
    return parameters.port, parameters.auth_token


def connection_of(context: Any) -> Any:
    """Give the connection to Java that a context has."""
    return context._gateway


def client_of(connection: Any) -> Any:
    """Give what sends the commands of a connection."""
    return connection._gateway_client


def connection_of_this_thread() -> Any:
    """Give the connection over which Java has called this thread, or None.

    None, too, where the threads of Java have no connection each.
    """
    find = getattr(client_of(gateway()), "get_thread_connection", lambda: None)
    found = find()
    return None if found is None or found.initiated_from_client else found


def end_connection(connection: Any) -> None:
    """Have the thread of a connection hear its end, and so close it and end."""
    open_: Any = connection.socket
    if open_ is not None:
        with suppress(OSError):
            open_.shutdown(socket.SHUT_RDWR)


def view_of(connection: Any) -> str:
    """Give Java's name of what the classes of a connection are found in."""
    return str(connection.jvm._id)


def held_here(connection: Any) -> frozenset[str]:
    """Give Java's names of the objects that this process has by a connection."""
    client = client_of(connection)
    where = f"{client.address}{client.port}"
    return frozenset(
        key.removeprefix(where)
        for key in list(ThreadSafeFinalizer.finalizers)
        if key.startswith(where)
    )


def launcher() -> Any:
    """Give the module that starts the JVM, by its own ``Popen``."""
    return java_gateway


def connect_to_launched() -> Any:
    """Connect to the JVM that the environment names; give the connection."""
    launch: Any = java_gateway.launch_gateway
    found = launch()
    SparkContext._gateway, SparkContext._jvm = found, found.jvm
    return found


def target(java: Any) -> str:
    """Give Java's name of an object, by which any process can use it."""
    return str(java._target_id)


def object_of(name: str) -> Any:
    """Give the object that Java calls so."""
    return JavaObject(name, gateway()._gateway_client)


# Contexts, sessions, frames, queries -------------------------------------------------


def active_context() -> Any:
    """Give the context of this process, or None."""
    found: Any = SparkContext._active_spark_context
    return found


def same_gateway(context: Any) -> bool:
    """Say whether a context has the connection that this process has now."""
    mine = active_context()
    return mine is not None and context._gateway is mine._gateway


def java_context(context: Any) -> Any:
    """Give Java's side of a context; None where it has been stopped."""
    return context._jsc


class _Settings(SparkConf):
    """Settings of a context that runs: Java need not be asked for each."""

    def __init__(self, java: Any, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__(_jconf=java)
        self.pairs = dict(pairs)

    def contains(self, key: str) -> bool:
        return key in self.pairs or super().contains(key)

    def get(self, key: str, defaultValue: Any = None) -> Any:  # noqa: N803
        if key in self.pairs:
            return self.pairs[key]
        return super().get(key, defaultValue)

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802 - PySpark's names
        return list(self.pairs.items())


def context_of(
    java: Any, connection: Any, settings: Sequence[tuple[str, str]]
) -> SparkContext:
    """Make a context of one that there is in Java, whose ``settings`` are known."""
    conf = _Settings(java.sc().conf(), settings)
    return SparkContext(conf=conf, gateway=connection, jsc=java)


def java_session(spark: Any) -> Any:
    """Give Java's side of a session."""
    return spark._jsparkSession


def instantiated_session() -> Any:
    """Give the session that this process began with, or None."""
    found: Any = SparkSession._instantiatedSession
    return found


def session_without_default(context: SparkContext, java: Any) -> SparkSession:
    """Make a session of one of Java's, and this process's own.

    Java's default session stays what it is: other runs use it meanwhile.
    """
    stub: Any = SimpleNamespace(_sc=SimpleNamespace(_jsc=context._jsc))
    kind: Any = SparkSession
    kind._instantiatedSession = stub
    spark = SparkSession(context, java)
    kind._instantiatedSession = kind._activeSession = spark
    return spark


def set_active(spark: Any, *, here: bool = False) -> None:
    """Make a session the active one of this thread's thread in Java; ``here`` too."""
    java, jvm = spark._jsparkSession, spark._jvm
    try:
        # Whole names: for each part of a dotted one Java searches all of its jars.
        getattr(jvm, f"{_SQL}.classic.SparkSession").setActiveSession(java)
    except TypeError:
        getattr(jvm, f"{_SQL}.SparkSession").setActiveSession(java)
    if here:
        kind: Any = SparkSession
        kind._activeSession = spark


def hadoop_configuration(spark: Any) -> Any:
    """Return Java's object with the settings of Hadoop's."""
    return spark._jsc.hadoopConfiguration()


def hadoop_settings(spark: Any, names: Iterable[str]) -> dict[str, str | None]:
    """Return some settings of Hadoop's; None for each that is not set."""
    conf = hadoop_configuration(spark)
    return {name: conf.get(name) for name in names}


def set_hadoop(spark: Any, settings: Mapping[str, str | None]) -> None:
    """Set some settings of Hadoop's; those that are None are set no longer.

    A file system that is open already stays as it is.
    """
    conf = hadoop_configuration(spark)
    for name, value in settings.items():
        if value is None:
            conf.unset(name)
        else:
            conf.set(name, value)


def close_hadoop(spark: Any, root: str) -> None:
    """Close the file system of a root, so that the next use of it opens it anew.

    Where the session has no jar of it, there is none to close.
    """
    conf = hadoop_configuration(spark)
    uri = getattr(spark._jvm, "java.net.URI").create(root)
    try:
        found = getattr(spark._jvm, "org.apache.hadoop.fs.FileSystem").get(uri, conf)
    except Py4JJavaError as error:
        if "UnsupportedFileSystemException" in str(error):
            return
        raise
    found.close()


def java_frame(frame: Any) -> Any:
    """Give Java's side of a DataFrame; None of anything else."""
    return getattr(frame, "_jdf", None)


def frame_of(name: str, spark: Any) -> DataFrame:
    """Give the DataFrame that Java calls so."""
    return DataFrame(object_of(name), spark)


def java_query(query: Any) -> Any:
    """Give Java's side of a streaming query."""
    return query._jsq


def causes(error: BaseException) -> list[BaseException]:
    """List an error, and the errors of Java below it, the last cause last."""
    found = [error]
    while isinstance(cause := getattr(found[-1], "_cause", None), BaseException):
        found.append(cause)
    return found


def query_of(name: str) -> Any:
    """Give the streaming query that Java calls so."""
    from pyspark.sql.streaming.query import StreamingQuery  # noqa: PLC0415 - slow

    return StreamingQuery(object_of(name))


def java_writer(writer: Any) -> Any:
    """Give Java's side of a streaming writer."""
    return writer._jwrite


def stream_writer_of(name: str, spark: Any) -> Any:
    """Give the streaming writer that Java calls so."""
    from pyspark.sql.streaming.readwriter import DataStreamWriter  # noqa: PLC0415

    writer: Any = object.__new__(DataStreamWriter)
    writer._spark = spark
    writer._jwrite = object_of(name)
    return writer


def executors(spark: Any) -> int:
    """Give how many executors a session has, besides the driver."""
    there = spark.sparkContext._jsc.sc().getExecutorMemoryStatus()
    return int(there.size()) - 1


def set_live(spark: Any, key: str, value: str | None) -> None:
    """Change a setting that Spark reads anew for each set of tasks; None removes it."""
    conf = spark.sparkContext._jsc.sc().conf()
    if value is None:
        conf.remove(key)
    else:
        conf.set(key, value)


# Python workers ----------------------------------------------------------------------


def end_idle_workers(spark: Any) -> None:
    """End the Python workers of a session's JVM, of which none has a task.

    They have the memory of the tasks that they ran. Spark's daemon starts others.
    PySpark 3.5 does not see that a worker has ended: there, from now on, each task has
    a worker of its own. Raises ``TimeoutError`` if one lives on.
    """
    if version.startswith("3."):
        set_live(spark, "spark.python.worker.reuse", "false")
        return
    java = getattr(spark._jvm, "java.lang.ProcessHandle").current()
    workers = [
        worker
        for started in java.children().toArray()
        for worker in started.children().toArray()
    ]
    for worker in workers:
        worker.destroyForcibly()
    ends = time.monotonic() + _PATIENCE
    while any(worker.isAlive() for worker in workers):
        if time.monotonic() > ends:
            message = "a Python worker of Spark's has not ended"
            raise TimeoutError(message)
        time.sleep(_TURN)


def daemon() -> Any:
    """Give the module of Spark's daemon."""
    return importlib.import_module("pyspark.daemon")


def task_runner() -> tuple[Any, str]:
    """Give a module and the name of its function that runs a task in a worker.

    Spark's daemon has imported it, or does so by its name in each worker (from 4.2 on).
    """
    found = daemon()
    if hasattr(found, "worker_main"):
        return found, "worker_main"
    named = sys.argv[1] if len(sys.argv) > 1 else ""
    name = named if named.startswith("pyspark") else "pyspark.worker"
    return importlib.import_module(name), "main"


def commit_in(frame: Any) -> tuple[int, Any, bool] | None:
    """Say which commit or abort of a DataSource a frame runs, if it is one that does.

    Gives the batch, the DataSource, and whether it is an abort.
    """
    runs = frame.f_code.co_name in ("main", "_main")
    if not runs or "batch_id" not in frame.f_locals:
        return None
    held = frame.f_locals
    return int(held["batch_id"]), held.get("data_source"), bool(held.get("abort"))


def command_serializer() -> Any:
    """Give the class whose ``loads`` a worker reads the code of its tasks with."""
    from pyspark.serializers import CPickleSerializer  # noqa: PLC0415

    return CPickleSerializer


def task_property(name: str) -> str | None:
    """Give a property of the task that this process runs; None if it runs none."""
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(name)


def option_of(read: Any, name: str) -> str | None:
    """Give an option of a DataSource that was read; None if it is none."""
    module = sys.modules.get("pyspark.sql.datasource")
    if module is None or not isinstance(read, module.DataSource):
        return None
    options = vars(read).get("options")
    return options.get(name) if isinstance(options, Mapping) else None
