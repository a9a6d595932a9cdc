"""The state that an action is run over, for whoever asks while it runs."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Knowing(Protocol):
    """What knows which values are members: the state that an action is run over."""

    def is_somebody(self, value: object) -> bool:
        """Return whether a value that may be nobody is known to be a member."""
        ...


_active: ContextVar[Knowing | None] = ContextVar("active", default=None)


@contextmanager
def asking(store: Knowing) -> Iterator[None]:
    """Let ``known_somebody`` ask ``store``."""
    token = _active.set(store)
    try:
        yield
    finally:
        _active.reset(token)


def known_somebody(value: object) -> bool:
    """Return whether the guard of an action that runs says it is a member."""
    store = _active.get()
    return store is not None and store.is_somebody(value)
