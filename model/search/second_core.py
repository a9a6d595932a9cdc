"""A thread for work that runs beside one's own, on the second core."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")


class SecondCore:
    """Does work that leaves the interpreter free, as native code does, in turn."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], R]) -> Future[R]:
        """Have it done after all that was submitted before."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "second-core")
        return self._pool.submit(work)
