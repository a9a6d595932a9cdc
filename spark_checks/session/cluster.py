"""A standalone cluster of Spark's on this machine: a master and two workers.

They are started by the scripts of the PySpark that is installed, on loopback addresses
of their own and on free ports. Spark takes each address for a host, so that it may run
a copy of a slow task on another one.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from onceproof.model.errors import OnceproofError
from onceproof.spark_checks.inputs.pass_through import passed
from onceproof.spark_checks.session import scratch as scratch_folders
from onceproof.spark_checks.session.java import jvm
from onceproof.spark_checks.session.processes.process_sessions import end_leader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

MASTER_HOST = "127.0.0.1"
WORKER_HOSTS = ("127.0.0.2", "127.0.0.3")
SPECULATE_AFTER = "spark.speculation.task.duration.threshold"
"""The setting after which a slow task gets a copy; without it, none does here."""
_ROOT = "org.apache.spark.deploy"
_STARTS_WITHIN = 90.0
_MEMORY = "768m"
_DAEMON = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.deploy.maxExecutorRetries=-1"
)
_SLOW = "2s"
_URL = re.compile(rf"spark://{re.escape(MASTER_HOST)}:\d+")
_REGISTERED = "Successfully registered with master"


class ClusterError(OnceproofError):
    """A cluster did not start, or has lost a part."""


class Cluster:
    """A master and two workers, which end with the session."""

    def __init__(self, folder: Path, scratch: Path, *, cores: int) -> None:
        """Start it in a new ``folder`` below ``scratch``.

        Each worker has room for so many tasks at once. Raises ``ClusterError``.
        """
        folder.mkdir()
        self.folder = folder
        self.cores = cores
        self._scratch = scratch
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start("master", "master.Master", MASTER_HOST)
            self.url = self._told("master", _URL)
            for host in WORKER_HOSTS:
                room = ("--cores", str(cores), "--memory", _MEMORY)
                place = ("--work-dir", str(folder / host), self.url)
                self._start(host, "worker.Worker", host, *room, *place)
            for host in WORKER_HOSTS:
                self._told(host, re.compile(_REGISTERED))
        except BaseException:
            self.stop()
            raise
        self.workers = tuple(one.pid for one in self._processes[1:])

    @property
    def alive(self) -> bool:
        """Whether its master and its workers run."""
        return all(process.poll() is None for process in self._processes)

    def settings(self, environment: Mapping[str, str], java: str) -> dict[str, str]:
        """Return the settings of a session that runs on it.

        Executors get the ``environment``, and the options of ``java``. Tasks are copied
        only while ``SPECULATE_AFTER`` is set.
        """
        return {
            "spark.executor.memory": "640m",
            # Without it Spark does not know how many tasks fit, and copies none.
            "spark.executor.cores": str(self.cores),
            "spark.executor.extraJavaOptions": java,
            "spark.speculation": "true",
            "spark.speculation.quantile": "1.0",
            "spark.speculation.interval": "100ms",
            **{f"spark.executorEnv.{name}": v for name, v in environment.items()},
        }

    def settle(self, spark: SparkSession) -> None:
        """Wait for all executors, and have each start its Python processes.

        A copy is then made of no task but those that are held up. Raises
        ``ClusterError`` where an executor does not come.
        """
        from onceproof.spark_checks.session import spark_internals  # noqa: PLC0415

        deadline = time.monotonic() + _STARTS_WITHIN
        while spark_internals.executors(spark) < len(WORKER_HOSTS):
            if not self.alive or time.monotonic() > deadline:
                message = "the cluster has lost an executor, and started no other"
                raise ClusterError(message)
            time.sleep(0.02)
        tasks = self.cores * len(WORKER_HOSTS)
        rows = passed(spark.range(0, tasks, 1, tasks))
        rows.write.format("noop").mode("overwrite").save()

    def copy_slow_tasks(self, spark: SparkSession, *, on: bool) -> None:
        """Let Spark run copies of slow tasks from now on, or no more."""
        from onceproof.spark_checks.session import spark_internals  # noqa: PLC0415

        after = _SLOW if on else None
        spark_internals.set_live(spark, SPECULATE_AFTER, after)

    def stop(self) -> None:
        """End all of its processes, executors too."""
        for process in reversed(self._processes):
            end_leader(process)

    def _start(self, name: str, kind: str, host: str, *given: str) -> None:
        from onceproof.spark_checks.session import spark_internals  # noqa: PLC0415

        home = spark_internals.spark_home()
        command = [f"{home}/bin/spark-class", f"{_ROOT}.{kind}", "--host", host]
        ports = ("--port", "0", "--webui-port", "0")
        environment = {
            **os.environ,
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _DAEMON,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
        }
        with self._log(name).open("wb") as log, jvm.interrupts_held():
            process = subprocess.Popen(  # noqa: S603 - Spark's own script
                [*command, *ports, *given],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment,
                start_new_session=True,
            )
            self._processes.append(process)
            scratch_folders.started(self._scratch, process.pid)

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _told(self, name: str, what: re.Pattern[str]) -> str:
        """Wait until a process logs something. Raises ``ClusterError``."""
        deadline = time.monotonic() + _STARTS_WITHIN
        while self.alive and time.monotonic() < deadline:
            text = ""
            with suppress(OSError):
                text = self._log(name).read_text(errors="replace")
            found = what.search(text)
            if found is not None:
                return found.group()
            time.sleep(0.02)
        lines = self._log(name).read_text(errors="replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        message = f"the {name} of a Spark cluster on this machine did not start{last}"
        raise ClusterError(message)
