"""Stores that are described by others: one whose connections break, or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from onceproof.spark_checks.stores.interface import BreakablePlace, SinkStore


@runtime_checkable
class LayeredStore(Protocol):
    """A store that adds something to other stores, and knows them."""

    @property
    def itself(self) -> SinkStore:
        """The store without what breaks its connections."""

    @property
    def breaks(self) -> bool:
        """Whether connections to it break."""

    @property
    def one_at_a_time(self) -> bool:
        """Whether runs share the way to what breaks, so that one goes at a time."""

    def breakable(self, place: Any) -> BreakablePlace:
        """Return what of a place has the connections that break."""

    def moved(self, place: Any, port: int) -> Any:
        """Return a place whose connections that break go through a port."""


def itself(store: SinkStore) -> SinkStore:
    """Return the store without what breaks its connections."""
    return store.itself if isinstance(store, LayeredStore) else store


def breaks(store: SinkStore | None) -> bool:
    """Return whether connections to a store break."""
    return isinstance(store, LayeredStore) and store.breaks


def one_at_a_time(store: SinkStore | None) -> bool:
    """Return whether runs on a store share the way to it, where connections break."""
    return isinstance(store, LayeredStore) and store.breaks and store.one_at_a_time
