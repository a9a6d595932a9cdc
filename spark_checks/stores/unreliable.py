"""A store whose connections break: requests and replies are lost on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.interface import SinkStore, StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.spark_checks.stores.interface import BreakablePlace, RunningStore
    from onceproof.spark_checks.stores.spark_needs import SparkNeeds


@dataclass(frozen=True)
class Unreliable:
    """A store to which connections break, such as ``Unreliable(Postgres())``.

    A replay then also breaks each connection before a request reaches the store, or
    after the store has replied and before the client gets the reply, or delivers the
    request only after the retry.
    """

    store: SinkStore
    """The store itself, which never fails."""

    def __post_init__(self) -> None:
        """Refuse what is no store."""
        __tracebackhide__ = True
        known = hasattr(self.store, "missing") and not isinstance(self.store, type)
        if not known or isinstance(self.store, Unreliable):
            message = "Unreliable() takes a store, as in Unreliable(Postgres())"
            raise StoreError(message)
        if self.store.unbreakable:
            message = (
                f"Unreliable({self.store!r}) is refused: {self.store.unbreakable}; "
                f"help: test the sink on {self.store!r}, whose faults are crashes"
            )
            raise StoreError(message)

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return self.store.name

    @property
    def unbreakable(self) -> str:
        """Connections to it can be broken."""
        return ""

    @property
    def itself(self) -> SinkStore:
        """The store, which other sinks write to as well."""
        return self.store

    @property
    def breaks(self) -> bool:
        """Connections to it break."""
        return True

    @property
    def one_at_a_time(self) -> bool:
        """Whether runs share the way to the store, so that one goes at a time."""
        return bool(getattr(self.store, "one_at_a_time", False))

    def breakable(self, place: BreakablePlace) -> BreakablePlace:
        """All connections to a place break."""
        return place

    def moved(self, place: BreakablePlace, port: int) -> BreakablePlace:
        """Return the same place, reached through a port."""
        return place.through(port)

    def missing(self) -> tuple[str, ...]:
        """Say what to install for the store itself."""
        return self.store.missing()

    def version(self) -> str:
        """Name the version of the store itself."""
        return self.store.version()

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Say what the store itself needs of Spark's session."""
        return self.store.needs(settings, folder)

    def start(self, folder: Path) -> RunningStore:
        """Start the store itself: it is the same one that other sinks write to."""
        return self.store.start(folder)
