"""A scratch folder and a warm session in it, which several replays may share."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.session.cluster import Cluster
from onceproof.spark_checks.session.java.agent.agent import agent_jar
from onceproof.spark_checks.session.java.jvm import java_version
from onceproof.spark_checks.session.scratch import Scratch, sweep
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.session.warm_session import WarmSession
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.layered import itself
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from onceproof.spark_checks.session.java.agent.agent import AgentJar
    from onceproof.spark_checks.session.processes.entry_points import EntryPoints
    from onceproof.spark_checks.stores.interface import SinkStore
    from onceproof.spark_checks.stores.spark_needs import SparkNeeds


THREADS = 3
"""How many interleavings run side by side.

A third of the time each waits for a process or a file, so with two of them a machine of
two cores would be idle now and then.
"""

_WITH_LOST_TASKS = 2
"""With an agent, a task that is given up keeps its place beside the next attempt's."""
_SPARE_CORES = 1
"""On each worker of a cluster, the room for tasks that are slow or given up."""
_IN_USE = (
    "the store needs a Spark session with jars or settings of its own, and the session "
    "in use has others; help: make the events in the replay's session, as "
    "events=lambda spark: spark.createDataFrame(...), and not in onceproof_spark"
)


class SessionPool:
    """Keeps a session warm from one replay to the next.

    ``entry_points`` are what its processes run. ``settings`` are Spark's, and go over
    those of the replays, which go over ``defaults``. Between replays a session of the
    user's own, if there is one, is as it was. With ``agent``, faults are injected
    inside Spark; where no agent can be had, ``no_agent`` says why, and it is done
    without. With ``cluster``, tasks run on a cluster of two workers on this machine.
    """

    def __init__(
        self,
        entry_points: EntryPoints,
        settings: Mapping[str, str] | None = None,
        defaults: Mapping[str, str] | None = None,
        *,
        agent: bool = False,
        cluster: bool = False,
    ) -> None:
        """Start nothing yet."""
        self._agent = agent
        self._on_cluster = cluster
        self._cluster: Cluster | None = None
        self.no_agent = ""
        self._entry_points = entry_points
        self._settings = dict(settings or {})
        self._defaults = dict(defaults or {})
        self._scratch: Scratch | None = None
        self._warm: WarmSession | None = None
        self._sizes = (0, 0)
        self._needs = NO_NEEDS
        self._inside = False
        self._numbers = itertools.count(1)
        self.stores = StorePool()

    @property
    def scratch(self) -> Path:
        """Return the folder that all of it lies in."""
        if self._scratch is None:
            sweep()
            self._scratch = Scratch()
        return self._scratch.path

    def keep(self) -> None:
        """Let no later run remove the scratch folder, whatever ends this one."""
        if self._scratch is not None:
            self._scratch.keep()

    def folder(self, name: str) -> Path:
        """Name a folder that is not there yet."""
        return self.scratch / f"{name}-{next(self._numbers)}"

    def needs_of(self, store: SinkStore | None) -> SparkNeeds:
        """Return what a store needs of the session, besides the user's own settings.

        It is started, and its jars are fetched. Raises ``StoreError`` where something
        cannot be had.
        """
        if store is None:
            return NO_NEEDS
        return self.stores.needs(itself(store), self._defaults | self._settings)

    @contextmanager
    def session(
        self, *, attempts: int, partitions: int, needs: SparkNeeds = NO_NEEDS
    ) -> Iterator[WarmSession]:
        """Return a session with these attempts of a task, and room for all partitions.

        It has what a store ``needs``, and nothing that another one does. It is started
        if there is none that will do, and stays when this is over. Raises
        ``UsageError`` where the one in use lacks what is needed.
        """
        java_version()
        if self._inside and self._warm is not None:
            if needs != self._needs:
                raise UsageError(_IN_USE)
            yield self._warm
            return
        tasks = THREADS * partitions * (_WITH_LOST_TASKS if self._agent else 1)
        old, room = self._sizes
        if self._warm is not None and (
            old != attempts or room < tasks or needs != self._needs
        ):
            self.stop()
        if self._warm is not None and not self._warm.alive:
            self.stop()
        if self._warm is None:
            self._warm = WarmSession(
                self.folder("session"),
                self.scratch,
                self._entry_points,
                **self._given(attempts, tasks, needs),
                cluster=self._new_cluster(partitions),
            )
            self._sizes, self._needs = (attempts, tasks), needs
        else:
            self._warm.resume()
        self._inside = True
        try:
            yield self._warm
        finally:
            self._inside = False
            if self._warm is not None:
                self._warm.pause()

    def _new_cluster(self, partitions: int) -> Cluster | None:
        """Start a cluster, if one is wanted; it has room for tasks that live on."""
        if self._on_cluster:
            if self._cluster is not None:
                self._cluster.stop()
            cores = partitions + _SPARE_CORES
            folder = self.folder("cluster")
            self._cluster = Cluster(folder, self.scratch, cores=cores)
        return self._cluster

    def of_driver(
        self, *, attempts: int, partitions: int, needs: SparkNeeds = NO_NEEDS
    ) -> dict[str, Any]:
        """Return what a driver with a JVM of its own starts its session with.

        It runs one query, and nothing beside it.
        """
        tasks = partitions * (_WITH_LOST_TASKS if self._agent else 1)
        return self._given(attempts, tasks, needs)

    def _given(self, attempts: int, tasks: int, needs: SparkNeeds) -> dict[str, Any]:
        """Return what a session is started with, by the names of ``WarmSession``."""
        return {
            "attempts": attempts,
            "tasks": tasks,
            "settings": self._settings,
            "defaults": self._defaults,
            "needs": needs,
            "agent": self._agent_jar(),
        }

    def _agent_jar(self) -> AgentJar | None:
        """Return the agent's jar, if an agent is wanted and the jar can be had."""
        if not self._agent:
            return None
        try:
            return agent_jar()
        except StoreError as error:
            self.no_agent = str(error)
            return None

    def stop(self) -> None:
        """End the session, if there is one."""
        warm, self._warm = self._warm, None
        cluster, self._cluster = self._cluster, None
        try:
            if warm is not None:
                warm.stop()
        finally:
            if cluster is not None:
                cluster.stop()

    def close(self, *, keeping: Iterable[Path] = (), keep: bool = False) -> None:
        """End the session and remove the folder, or all but some of what it holds."""
        try:
            self.stop()
            self.stores.close()
        finally:
            if self._scratch is not None and keep:
                self._scratch.keep()
                self._scratch.leave()
            elif self._scratch is not None:
                self._scratch.remove(keeping=keeping)
            self._scratch = None
