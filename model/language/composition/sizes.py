"""Sizes of sorts, and parts by name: read by anyone, changed by no one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn, TypeVar

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import Sort
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from onceproof.model.language.stores.store import StateStore

K = TypeVar("K")
V = TypeVar("V")


class Fixed(dict[K, V]):
    """A dictionary that refuses to be changed once it is made."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        message = (
            "sizes and parts are fixed when a protocol is made; "
            "make another one, as in TwoPhaseCommit(RM=3)"
        )
        raise ModelError(message, where=here())

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[Fixed[K, V]], tuple[dict[K, V]]]:
        """Be copied as a whole."""
        return type(self), (dict(self),)


class Watched(Mapping[Sort, int]):
    """Sizes as a method of a model reads them: the store is notified of each."""

    def __init__(self, sizes: Mapping[Sort, int], store: StateStore) -> None:
        """Read ``sizes`` on behalf of a method that runs over ``store``."""
        self._sizes = sizes
        self._store = store

    def __getitem__(self, sort: Sort) -> int:
        """Return the size of a sort."""
        self._store.uses_size(sort)
        return self._sizes[sort]

    def __iter__(self) -> Iterator[Sort]:
        """Yield the sorts; how many there are depends on no size."""
        return iter(self._sizes)

    def __len__(self) -> int:
        """Count the sorts."""
        return len(self._sizes)
