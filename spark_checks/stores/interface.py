"""What a store is: how it starts, and a fresh place in it for each interleaving."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from onceproof.model.errors import OnceproofError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.spark_checks.stores.links import Asker, Framing
    from onceproof.spark_checks.stores.spark_needs import SparkNeeds


class StoreError(OnceproofError):
    """A store cannot be started, reached or cleaned up."""


class StorePlace(Protocol):
    """A place in a store that one interleaving has to itself; it can be pickled."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """The addresses that Spark may write to for the sink."""


@dataclass(frozen=True)
class HadoopRoute:
    """How a file system of Hadoop's reaches a place."""

    roots: tuple[str, ...]
    """The roots of the file system, such as ``s3a://bucket``, by any of its schemes."""
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    """The settings of Hadoop for it alone; among them may be keys."""
    shared: bool = False
    """Whether other places have the same roots, to which others go by another way."""


class BreakablePlace(StorePlace, Protocol):
    """A place in a store to which connections can be broken."""

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """The hosts and ports of the store; clients use the first that answers."""

    @property
    def framing(self) -> Framing | None:
        """How messages are framed, where clients do not wait for each reply.

        None where they do: bytes are then passed on as they are, TLS included.
        Where messages are read, the proxy speaks TLS in place of the client.
        """

    @property
    def hadoop(self) -> HadoopRoute | None:
        """How a file system of Hadoop's in Spark reaches this very place.

        None where Spark reaches it by options, or only as its session says.
        """

    def sent_for(self, request: bytes) -> Asker | None:
        """Return for which thread of Spark's a request that begins so is sent.

        None where the client does not say it: then it is the thread that sends it.
        """

    def through(self, port: int) -> BreakablePlace:
        """Return the same place, reached through a port of 127.0.0.1."""


class RunningStore(Protocol):
    """A store that serves. Several threads may call its methods at once."""

    @property
    def process(self) -> int | None:
        """The id of the process that was started, if one was."""

    def place(self, name: str) -> StorePlace:
        """Make a fresh and empty place of that name, which is an identifier."""

    def drop(self, place: Any) -> None:
        """Remove a place with all that is in it, and nothing else.

        What a run has left at work in it is ended first. Raises ``StoreError``.
        """

    def stop(self) -> None:
        """End what was started. A store that was only connected to goes on."""


class SinkStore(Protocol):
    """A description of a store. It can be hashed; two that are equal are one store."""

    @property
    def name(self) -> str:
        """The name of the kind of store, such as ``postgres``."""

    @property
    def unbreakable(self) -> str:
        """Why connections to it cannot be broken; empty where they can.

        Where they can, each of its places is a ``BreakablePlace``.
        """

    def missing(self) -> tuple[str, ...]:
        """Say, a sentence each, what this machine lacks, and what to install."""

    def version(self) -> str:
        """Name the version of what is started here; empty where it is not known."""

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Say what Spark's session needs to read and write it; fetch the jars.

        The ``settings`` are the user's own: a jar that they name is theirs to choose,
        and the store adds no other version of it. The ``folder`` is the one that it was
        started in. Raises ``StoreError`` where a jar cannot be had.
        """

    def start(self, folder: Path) -> RunningStore:
        """Start it, or connect to it. The ``folder`` is empty, and for it alone.

        Raises ``StoreError`` where it cannot be had.
        """


def started(store: SinkStore, folder: Path) -> RunningStore:
    """Start a store, if this machine has all that it needs.

    Raises ``StoreError``, with what to install, where something is missing.
    """
    refuse_missing(store)
    return store.start(folder)


def missing_client(package: str, extra: str) -> tuple[str, ...]:
    """Say what to install if a Python package is missing that an extra brings."""
    if importlib.util.find_spec(package) is not None:
        return ()
    return (f"{package} is missing: pip install 'onceproof[{extra}]'",)


def refuse_missing(store: SinkStore) -> None:
    """Raise ``StoreError`` if this machine lacks something that a store needs."""
    missing = store.missing()
    if missing:
        message = f"the store {store.name} cannot be started: {'; '.join(missing)}"
        raise StoreError(message)
