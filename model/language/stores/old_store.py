"""The state as it was before a step, also where the step has changed it since."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

from onceproof.model.errors import ModelError
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.stores.store import Ranged, Rule, StateStore

T = TypeVar("T")


class OldStore:
    """A store that reads what another held before the step, and changes nothing."""

    def __init__(self, store: StateStore) -> None:
        """Read what ``store`` held before the step."""
        self._store = store
        self.places: int = getattr(store, "places", 0)

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value that one element had before the step."""
        return self._store.read_old(field, indices)

    read_old = read

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Refuse to change what is over."""
        del indices, value
        self._refuse(f"cannot change {field.path}")

    def write_all(self, *changes: tuple[Field, Rule]) -> None:
        """Refuse to change what is over."""
        self._refuse(f"cannot change {changes[0][0].path}")

    def require(self, condition: object, *, late: bool = False) -> None:
        """Refuse what an action waits for: it waits for nothing that is over."""
        del condition, late
        self._refuse("has nothing to wait for")

    def _refuse(self, what: str) -> NoReturn:
        message = (
            f"old(...) is only read, and {what}; write to the protocol itself, and "
            "read old(self) for the values before the step"
        )
        raise ModelError(message, where=here())

    def indexed(
        self, path: str, sorts: Sequence[Sort], indices: tuple[object, ...]
    ) -> tuple[object, ...]:
        """Return an index. Refuse what may be no member of its sort."""
        return self._store.indexed(path, sorts, indices)

    def fit(self, field: Field, value: object) -> object:
        """Check that a value is one that a field can hold, and give it."""
        return self._store.fit(field, value)

    def is_somebody(self, value: object) -> bool:
        """Return whether a value that may be nobody is known to be a member."""
        return self._store.is_somebody(value)

    def loop(
        self, ranges: Ranged, give: Callable[..., T], frame: FrameType
    ) -> Iterator[T]:
        """Go through the members of sorts for ``frame``; ``give`` shapes each tuple."""
        return self._store.loop(ranges, give, frame)

    def uses_size(self, sort: Sort) -> None:
        """Note that the model depends on the number of a sort's members."""
        self._store.uses_size(sort)
