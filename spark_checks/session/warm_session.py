"""The Spark session of a replay: one warm JVM, everything inside a scratch folder."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.spark_checks.inputs.sizes import DEFAULT
from onceproof.spark_checks.session.java import class_archive, jvm
from onceproof.spark_checks.session.java.agent.agent import Agent
from onceproof.spark_checks.session.process_globals import SparkGlobals, Swapped
from onceproof.spark_checks.session.processes.host_processes import ForkServer
from onceproof.spark_checks.session.processes.wire import PLANS_VARIABLE
from onceproof.spark_checks.session.scratch import started
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS, with_needs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    from onceproof.spark_checks.session.cluster import Cluster
    from onceproof.spark_checks.session.java.agent.agent import AgentJar
    from onceproof.spark_checks.session.processes.entry_points import EntryPoints
    from onceproof.spark_checks.stores.spark_needs import SparkNeeds

_REMEMBERED = {
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "50",
}
"""What Spark remembers of what is done, in memory that many replays share."""
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""To compile a plan takes longer than to interpret it for the few rows of a replay."""
_FILE_MANAGER = "FileSystemBasedCheckpointFileManager"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"


class WarmSession:
    """A local Spark session with failpoints in its Python workers.

    While it is not paused, it has the process's environment, py4j's log and PySpark's
    own globals to itself. What was there before comes back with every pause.
    """

    def __init__(
        self,
        folder: Path,
        scratch: Path,
        entry_points: EntryPoints,
        *,
        attempts: int = DEFAULT.attempts,
        tasks: int = 2 * DEFAULT.partitions,
        settings: Mapping[str, str] | None = None,
        defaults: Mapping[str, str] | None = None,
        needs: SparkNeeds = NO_NEEDS,
        agent: AgentJar | None = None,
        together: bool = False,
        cluster: Cluster | None = None,
    ) -> None:
        """Start the JVM, with a ``folder`` of its own inside ``scratch``.

        ``entry_points`` are what its hosts and its Python workers run.
        ``attempts`` is how often Spark tries a task, and ``tasks`` how many it runs at
        once: all that may wait for each other must be among them. ``settings`` go over
        those of the replays, and these over ``defaults``. ``needs`` are those of the
        store that sinks write to. With an ``agent``, faults are injected inside Spark.
        ``together`` keeps the JVM and the hosts in this process's own group. Tasks run
        on the executors of a ``cluster``, if there is one, and else in the JVM.
        """
        self._java = jvm.java_version()
        folder.mkdir()
        self.plans = folder / "plans"
        self.plans.mkdir()
        self._log = folder / "spark.log"
        self._settings = dict(settings or {})
        self._defaults = dict(defaults or {})
        self.needs = needs
        self.agent: Agent | None = None
        self.cluster = cluster
        own = {
            "PYSPARK_PYTHON": str(_worker_python(folder, entry_points.worker)),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            PLANS_VARIABLE: str(self.plans),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self.environment = own
        self._together = together
        self._environment = Swapped(os.environ)
        self._environment.enter(own)
        self._globals = SparkGlobals()
        self._globals.enter({})
        self._silence()
        self._paused = False
        self.hosts = ForkServer(entry_points, together=together)
        try:
            self.spark = self._start(scratch, folder, attempts, tasks, agent)
        except BaseException:
            self.hosts.close()
            self._give_back()
            raise

    @property
    def alive(self) -> bool:
        """Return whether the session can still be used."""
        from onceproof.spark_checks.session import spark_internals  # noqa: PLC0415

        context = spark_internals.java_context(self.spark.sparkContext)
        runs = context is not None and self._process.poll() is None
        return runs and (self.cluster is None or self.cluster.alive)

    def pause(self) -> None:
        """Restore what belongs to the process, and keep the JVM."""
        if not self._paused:
            self._paused = True
            self._give_back()

    def resume(self) -> None:
        """Take again what ``pause`` gave back."""
        if self._paused:
            self._paused = False
            self._environment.enter_again()
            self._globals.enter_again()
            self._silence()

    def _silence(self) -> None:
        """Drop what py4j logs; it logs an interrupted call to the root logger."""
        self._loudness = logging.getLogger("py4j").level
        logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
        logging.getLogger().addFilter(_not_of_py4j)

    def _give_back(self) -> None:
        self._environment.leave()
        self._globals.leave()
        logging.getLogger("py4j").setLevel(self._loudness)
        logging.getLogger().removeFilter(_not_of_py4j)

    def _start(
        self,
        scratch: Path,
        folder: Path,
        attempts: int,
        tasks: int,
        agent: AgentJar | None,
    ) -> SparkSession:
        from pyspark import SparkConf  # noqa: PLC0415

        from onceproof.spark_checks.session import spark_internals  # noqa: PLC0415
        from onceproof.spark_checks.session.java import (  # noqa: PLC0415
            hadoop_savings,
            java_names,
        )
        from onceproof.spark_checks.session.java.java_objects import (  # noqa: PLC0415
            JavaObjects,
        )
        from onceproof.spark_checks.session.java.java_threads import (  # noqa: PLC0415
            JavaThreads,
        )

        java = jvm.options(self._java, folder, scratch)
        plain = self._defaults | _settings(folder, java) | self._settings
        settings = with_needs(plain, self.needs)
        if agent is not None:
            settings[_JAVA_OPTIONS] += f" {agent.option(folder)}"
        conf = SparkConf().setMaster(f"local[{tasks},{attempts}]")
        if self.cluster is not None:
            conf.setMaster(self.cluster.url)
            settings["spark.task.maxFailures"] = str(attempts)
            settings |= self.cluster.settings({PLANS_VARIABLE: str(self.plans)}, java)
        conf.setAppName("onceproof")
        for key, value in settings.items():
            conf.set(key, value)
        found = self._launched(conf, settings[_JAVA_OPTIONS])
        self._gateway = spark_internals.gateway()
        self._process = spark_internals.launched_process()
        self._objects = JavaObjects(self._gateway)
        self.threads = JavaThreads(self._gateway.jvm, self._process.pid)
        java_names.use(
            java_names.answers_of(self._gateway),
            spark_internals.client_of(self._gateway),
        )
        started(scratch, self._process.pid)
        if not self._together:
            # To compile this takes longer than a driver that one run kills would save.
            configuration = spark_internals.hadoop_configuration(found)
            hadoop_savings.save_work(self._gateway.jvm, configuration)
        if agent is not None:
            context = spark_internals.java_context(found.sparkContext).sc()
            self.agent = Agent(self._gateway.jvm, context, agent)
        return found

    def _launched(self, conf: SparkConf, options: str) -> SparkSession:
        """Start the JVM with these options of Java; its output goes to a log."""
        from pyspark import SparkContext  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415

        own = [os.dup(1), os.dup(2)]
        sys.stdout.flush()
        try:
            with self._log.open("ab") as log:
                # The JVM keeps these two: nothing it says may end up in our output.
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                with jvm.none_left(together=self._together):
                    with jvm.interrupts_as_before():
                        SparkContext.getOrCreate(conf)
                    found = SparkSession.builder.config(conf=conf).getOrCreate()
                    found.sparkContext.setLogLevel("OFF")
                    if self.cluster is not None:
                        # What readers saw must not be lost with an executor.
                        looks = self.cluster.folder / "looks"
                        found.sparkContext.setCheckpointDir(str(looks))
        except Exception as error:
            why = jvm.why_not(error, options)
            message = f"{why}; its output is in {self._log}"
            raise jvm.EnvironmentError_(message) from error
        finally:
            for number, saved in enumerate(own, 1):
                os.dup2(saved, number)
                os.close(saved)
        return found

    @property
    def workers(self) -> tuple[int, ...]:
        """The processes of the cluster's workers; none without a cluster."""
        return () if self.cluster is None else self.cluster.workers

    def settle(self) -> None:
        """Wait until all executors of the cluster are there, with Python processes.

        Raises ``ClusterError`` where one does not come. Without a cluster, do nothing.
        """
        if self.cluster is not None:
            self.cluster.settle(self.spark)

    def copy_slow_tasks(self, *, on: bool) -> None:
        """Let Spark run copies of slow tasks from now on, or no more."""
        if self.cluster is not None:
            self.cluster.copy_slow_tasks(self.spark, on=on)

    def release(self) -> None:
        """Let Java forget what dead processes asked for; no replay may be running."""
        self._objects.release()

    def fork(self) -> SparkSession:
        """Return a session of its own for the calling thread, in the same JVM."""
        from onceproof.spark_checks.session.java.jvm_link import activate  # noqa: PLC0415

        mine = self.spark.newSession()
        activate(mine)
        return mine

    def stop(self) -> None:
        """End the session, its workers and its JVM."""
        self.resume()
        self.hosts.close()
        self.threads.close()
        try:
            with suppress(Exception):
                self.spark.stop()
                self._gateway.shutdown()
                self._process.stdin.close()
                self._process.wait(class_archive.patience())
        finally:
            jvm.end(self._process)
            self.pause()


def _settings(folder: Path, java: str) -> dict[str, str]:
    """Return the settings of a session in a ``folder``, with these options of Java."""
    from pyspark import __version__  # noqa: PLC0415

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **_REMEMBERED,
        **_INTERPRETED,
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        _JAVA_OPTIONS: java,
    }
    if not __version__.startswith(("3.", "4.0")):
        settings["spark.sql.streaming.checkpointFileManagerClass"] = (
            f"org.apache.spark.sql.execution.streaming.checkpointing.{_FILE_MANAGER}"
        )
    return settings


def _worker_python(scratch: Path, worker: str) -> Path:
    """Write what Spark starts as Python: our daemon in the place of its own.

    The archives that Spark puts on the path are left out, for looking into them
    costs each task more than its work does; the packages are installed anyway.
    """
    path = scratch / "python"
    mine = shlex.quote(sys.executable)
    before = shlex.quote(os.environ.get("PYTHONPATH", ""))
    path.write_text(
        "#!/bin/sh\n"
        f"exec 2>>{shlex.quote(str(scratch / 'workers.log'))}\n"
        f"PYTHONPATH={before}; export PYTHONPATH\n"
        'case "$1 $2" in "-m pyspark.daemon") shift 2; '
        f'exec {mine} -m {worker} "$@";; esac\n'
        f'exec {mine} "$@"\n'
    )
    path.chmod(0o755)
    return path


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"
