"""What a protocol asks of the place where its state lives.

The same method runs over a plain store (values: the reference semantics) or a
symbolic one (terms: the trace). A protocol only ever speaks to its store.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar

from onceproof.model.errors import ModelError
from onceproof.model.language.active_store import asking
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort

    Rule = Callable[..., object]
    Ranged = Sequence[tuple[Sort, int]]

T = TypeVar("T")
_active: ContextVar[StateStore | None] = ContextVar("active", default=None)


class Disabled(Exception):  # noqa: N818 - it is no error: the action cannot happen
    """Ends a plain run of an action whose guard does not hold."""


class StateStore(Protocol):
    """What a protocol asks of the place where its state lives."""

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value of one element of a field."""
        ...

    def read_old(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value that one element had before the step."""
        ...

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Change one element of a field."""
        ...

    def write_all(self, *changes: tuple[Field, Rule]) -> None:
        """Change every element of some fields at once, each to what its rule says."""
        ...

    def indexed(
        self, path: str, sorts: Sequence[Sort], indices: tuple[object, ...]
    ) -> tuple[object, ...]:
        """Return an index. Refuse what may be no member of its sort."""
        ...

    def is_somebody(self, value: object) -> bool:
        """Return whether a value that may be nobody is known to be a member."""
        ...

    def fit(self, field: Field, value: object) -> object:
        """Check that a value is one that a field can hold, and give it."""
        ...

    def require(self, condition: object, *, late: bool = False) -> None:
        """Let the action happen only where the condition holds.

        ``late`` is for what the language itself asks for: an action's effects may
        come first.
        """
        ...

    def loop(
        self, ranges: Ranged, give: Callable[..., T], frame: FrameType
    ) -> Iterator[T]:
        """Go through the members of sorts for ``frame``; ``give`` shapes each tuple."""
        ...

    def uses_size(self, sort: Sort) -> None:
        """Note that the model depends on the number of a sort's members."""
        ...


@contextmanager
def running(store: StateStore) -> Iterator[None]:
    """Let ``when`` speak to ``store``."""
    token = _active.set(store)
    try:
        with asking(store):
            yield
    finally:
        _active.reset(token)


def when(*conditions: bool) -> None:
    """Let an action happen only in states where every condition holds."""
    store = _active.get()
    if not conditions:
        message = "when() needs a condition; leave it out where there is none"
        raise ModelError(message, where=here())
    if store is None:
        message = "when(...) is the guard of an action or fault; use it only there"
        raise ModelError(message, where=here())
    for condition in conditions:
        store.require(condition)


def checked_index(field: Field, indices: tuple[object, ...]) -> None:
    """Refuse an index list of the wrong length."""
    if len(indices) != len(field.sorts):
        wanted = ", ".join(s.name for s in field.sorts) or "no index"
        message = f"{field.path} is indexed by {wanted}, not by {len(indices)} values"
        raise ModelError(message, where=here())


def refuse_old(field: Field, *, frozen: bool) -> None:
    """Refuse to read what was before a step, where there is none."""
    if frozen:
        message = (
            f"old(...) reads {field.path} as it was before an action; a claim of a "
            "step, @step, is given the states before and after"
        )
        raise ModelError(message, where=here())


def refuse_change(field: Field, *, frozen: bool) -> None:
    """Refuse to change a state that is only looked at."""
    if frozen:
        message = f"a claim only looks at a state; it cannot change {field.path}"
        raise ModelError(message, where=here())
