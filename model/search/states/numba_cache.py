"""Compiled kernels are kept as all compiled code is: each entry is checked for itself.

numba's own cache trusts what lies in its folder: damaged bytes there are run. Here its
files are replaced by entries of ours, one for each function and signature.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from onceproof.model.code_cache import identity, keep, load

if TYPE_CHECKING:
    from collections.abc import Callable


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call, or load what an earlier run compiled."""
    compiled: Any = njit(nogil=True)(function)
    try:
        compiled._cache = _Cache(function)  # noqa: SLF001 - numba has no other way in
    except RuntimeError:  # numba finds no folder at all: compiled in each run
        return compiled
    return compiled


class _Cache(FunctionCache):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = self._impl.locator.get_source_stamp()
        base = self._impl.filename_base
        made = _Entries(self._cache_path, base, stamp)  # type: ignore[no-untyped-call]
        self._cache_file = made


class _Entries(IndexDataCacheFile):
    """What was compiled of one function, an entry for each signature."""

    def flush(self) -> None:
        """Do nothing: an entry that is out of date is never read."""

    def save(self, key: object, data: object) -> None:
        """Keep what was compiled for a signature."""
        pickled = self._dump(data)  # type: ignore[no-untyped-call]
        keep(self._entry(key), pickled)

    def load(self, key: object) -> object:
        """Return what was compiled for a signature, or None."""
        found = load(self._entry(key))
        return None if found is None else pickle.loads(found)  # noqa: S301 - checked

    def _entry(self, key: object) -> bytes:
        stamp = repr(self._source_stamp)
        return identity(("kernel", self._version, self._index_name, stamp, repr(key)))
