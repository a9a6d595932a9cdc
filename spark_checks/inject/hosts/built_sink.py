"""A sink that is built once, in a host; other hosts then run it and read it."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.hosts import user_modules
from onceproof.spark_checks.inject.hosts.made_by_build import differing
from onceproof.spark_checks.inject.hosts.pickling import pack, pack_build
from onceproof.spark_checks.inject.sink_description import described, elsewhere
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.java import jvm_link
from onceproof.spark_checks.session.processes.host_processes import (
    HostError,
    UserCodeError,
)
from onceproof.spark_checks.sinks.readers import readers_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.inject.connections import Connections
    from onceproof.spark_checks.session.led_hadoop import LedHadoop
    from onceproof.spark_checks.session.processes.host_processes import ForkServer, Host
    from onceproof.spark_checks.session.processes.wire import Message
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.sinks.interface import ModelledSink, Read, Target
    from onceproof.spark_checks.stores.interface import HadoopRoute


_CLEANING = 60.0


class OtherImports:
    """What the modules of sinks make as they are imported again, once for each start.

    The interleavings of a replay share it: each of their runs has another than the runs
    before it.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._made: dict[str, list[str]] = {}
        self._one_by_one = threading.Lock()

    def import_of(self, built: BuiltSink, number: int) -> str:
        """Return what the import before a run makes; that of the first has number 0."""
        with self._one_by_one:
            made = self._made.setdefault(built.imports_as, [])
            while len(made) < number:
                made.append(built.imports_again())
            return made[number - 1]


class Builds:
    """What the builds of one sink have made, each in a place of its own."""

    def __init__(self) -> None:
        """Know of none."""
        self._lock = threading.Lock()
        self._first: dict[bool, dict[str, str]] = {}
        self._differing: set[str] = set()

    def note(self, made: dict[str, str], *, breaks: bool = False) -> None:
        """Take note of what a build has made.

        Places whose connections break are described in other words, so a build is
        compared with those of its kind.
        """
        with self._lock:
            first = self._first.setdefault(breaks, made)
            self._differing.update(differing(first, made))

    @property
    def differing(self) -> tuple[str, ...]:
        """What differs from build to build, and the sink's code keeps."""
        with self._lock:
            return tuple(sorted(self._differing))


class BuiltSink:
    """A sink in a fresh place; none of its code has run in this process.

    Where the host that built it can be forked, others are forked from that: they have
    all that is in its memory. Where it cannot, for threads or connections that would be
    lost, they start with nothing and are given what was built.
    """

    def __init__(
        self,
        fork_server: ForkServer,
        spark: SparkSession,
        sink: ModelledSink,
        target: Target,
        seconds: float,
        connections: Connections | None = None,
        *,
        hadoop: HadoopRoute | None = None,
        led: LedHadoop | None = None,
        imports: OtherImports | None = None,
        builds: Builds | None = None,
        alone: bool = False,
    ) -> None:
        """Build it; its ``connections`` to a store may break.

        Where Spark is to reach the store through them by a file system of Hadoop's,
        ``hadoop`` says how; it is ``led`` so until the sink is closed, if others share
        it.

        ``imports`` are those that other interleavings have made, and ``builds`` takes
        note of what this build makes.

        ``alone`` says that drivers with a JVM of their own are to run it: they start
        with nothing, and are given what was built.

        Raises ``UsageError`` where that fails.
        """
        self.connections = connections
        self.hadoop = hadoop
        self._led = led
        self._seconds = seconds
        self._place = target.store
        self.allowed: tuple[str, ...] = getattr(target.store, "allowed", ())
        self._reader: Host | None = None
        self._packed: str | None = None
        self.cleanups = 0
        self._cleaning: str | None = None
        places = user_modules.user_modules()
        self._here: Message = {
            "environment": dict(os.environ),
            "folder": str(Path.cwd()),
            "path": list(sys.path),
            "modules": places,
            "link": jvm_link.address(spark),
            "called": sink.name,
            "code": list(sink.code),
        }
        order: Message = {
            "op": "build",
            **self._here,
            "build": pack_build(sink.build, sink.name),
            "path_of": str(target.path),
            "name": target.name,
            "store": None if target.store is None else pack(target.store),
            "alone": alone,
        }
        self._imported = _imported(sink.build, places)
        self._build = order["build"]
        self._runs = 0
        self._imports = imports or OtherImports()
        self._template = fork_server.template(self._imported)
        self._builder: Host | None = self._template.fork()
        try:
            reply = self._builder.ask(order, seconds)
        except UserCodeError as error:
            self.close()
            message = f"{sink.name} fails as it is built: {error}\n{error.trace}"
            raise UsageError(message) from None
        except BaseException:
            self.close()
            raise
        self._description = reply
        self.under_test = described(reply)
        self.code = tuple(reply["code"])
        if builds is not None:
            builds.note(dict(reply["made"]), breaks=connections is not None)
        self.cleanups = int(reply["cleanups"])
        self._cleaning = reply.get("cleaning")
        self._packed = reply["packed_sink"]
        if self._packed is not None:
            self._end_builder()

    def host(self) -> Host:
        """Return a process that has the sink, and has only built it."""
        if self._builder is not None:
            return self._builder.fork()
        made = self._template.fork()
        made.orders.send({"op": "unpack", **self._here, "packed_sink": self._packed})
        return made

    def next_run(self) -> Host:
        """Return a process for another run of the sink's query.

        A driver that starts again imports its modules again: an id, say, that they
        make as they are imported is another one in each run.
        """
        host = self.host()
        if self._runs and self._builder is not None:
            values = self._imports.import_of(self, self._runs)
            host.orders.send({"op": "renew", "values": values})
        self._runs += 1
        return host

    def imports_again(self) -> str:
        """Import the modules in a process of their own; return what they made."""
        host = self._template.fork()
        try:
            order = {"op": "import", **self._here, "build": self._build}
            used = self._description["imported"]
            return str(host.ask({**order, "imported": used}, self._seconds)["values"])
        finally:
            host.close()

    @property
    def imports_as(self) -> str:
        """All that the import of its modules depends on, as a text."""
        here = {key: self._here[key] for key in self._here if key != "link"}
        every = [here, self._build, self._description["imported"]]
        return json.dumps(every, sort_keys=True)

    def travels(self) -> Message:
        """Return what another process makes a ``PackedSink`` of."""
        return {
            "here": {key: self._here[key] for key in self._here if key != "link"},
            "packed_sink": self._packed,
            "description": self._description,
            "hadoop": pack(self.hadoop),
            "modules": sorted(self._imported),
        }

    @property
    def readers(self) -> dict[str, Read]:
        """Return the readers, by name, as functions of a session of this process."""
        known = readers_of(self.under_test, self._place)
        return {
            name: self._reading(name) if read is elsewhere else read
            for name, read in known.items()
        }

    def _reading(self, name: str) -> Read:
        return lambda spark: self._ask(spark, {"op": "look", "reader": name})

    def result(self, events: DataFrame) -> DataFrame:
        """Return what readers should see of some events."""
        frame = spark_internals.target(spark_internals.java_frame(events))
        order = {"op": "result", "frame": frame}
        try:
            return self._ask(events.sparkSession, order)
        except UserCodeError as error:
            message = f"result= fails: {error}\n{error.trace}"
            raise UsageError(message) from None

    def close(self) -> None:
        """End the processes that hold the sink; those that run it end by themselves.

        Where there is something to clean up, the one stays that others are forked from.
        """
        try:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
            if not self.cleanups:
                self._end_builder()
        finally:
            if self._led is not None and self._led.shared:
                self._led.restore()

    def clean(self) -> list[str]:
        """Clean up after the sink, once, in a process that has only built it.

        Returns what went wrong.
        """
        problems: list[str] = []
        if self.cleanups:
            self.cleanups = 0
            try:
                host = self.host()
                try:
                    order = {"op": "clean", "cleaning": self._cleaning}
                    reply = host.ask({**order, "link": self._here["link"]}, _CLEANING)
                    problems = list(reply["problems"])
                finally:
                    host.close()
            except (UserCodeError, HostError, OSError) as error:
                problems = [str(error)]
        self.drop()
        return problems

    def drop(self) -> None:
        """Leave what there is to clean up as it is."""
        self.cleanups = 0
        self.close()

    def _end_builder(self) -> None:
        if self._builder is not None:
            self._builder.close()
            self._builder = None

    def _ask(self, spark: SparkSession, order: Message) -> DataFrame:
        """Let the reader do something that gives a DataFrame."""
        if self._reader is None:
            self._reader = self.host()
        linked = {**order, "link": jvm_link.address(spark)}
        try:
            reply = self._reader.ask(linked, self._seconds)
        except HostError as error:
            self._reader.close()
            self._reader = None
            message = f"the process that reads the sink: {error}"
            raise HostError(message) from None
        return spark_internals.frame_of(reply["frame"], spark)


class PackedSink:
    """A sink that another process has built, for hosts of this one."""

    def __init__(
        self, session: WarmSession, spark: SparkSession, travelled: Message
    ) -> None:
        """Take over what ``BuiltSink.travels`` gave; hosts use this ``session``."""
        here = travelled["here"]
        self.under_test = described(travelled["description"])
        self._order = {
            "op": "unpack",
            **here,
            "environment": {**here["environment"], **session.environment},
            "link": jvm_link.address(spark),
            "packed_sink": travelled["packed_sink"],
        }
        self._template = session.hosts.template(travelled["modules"])

    def next_run(self) -> Host:
        """Return a process that has the sink, and has run nothing else.

        It has imported the modules itself.
        """
        made = self._template.fork()
        made.orders.send(self._order)
        return made


def _imported(build: Any, places: dict[str, str]) -> frozenset[str]:
    """Name what the module of a function imports that is no user's."""
    while not isinstance(getattr(build, "__module__", None), str) or hasattr(
        build, "func"
    ):
        build = getattr(build, "func", None)
        if build is None:
            return frozenset()
    module = build.__module__
    if module.partition(".")[0] == "onceproof":
        return frozenset({module})
    return user_modules.third_party(module, places)
