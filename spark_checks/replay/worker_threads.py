"""Threads that replay interleavings side by side, some of them twice."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.spark_checks.replay.run_evidence import RunEvidence


_BETWEEN_RELEASES = 96


class Replays(Protocol):
    """Replays an interleaving; ``again`` says that it was replayed before."""

    def __call__(self, one: Interleaving, *, again: bool) -> RunEvidence:
        """Replay it."""


class WorkerThreads:
    """As many threads as interleavings may run side by side."""

    def __init__(
        self, go: Replays, threads: int, stop: Callable[[], None] | None = None
    ) -> None:
        """Let each thread ``go`` through one interleaving after the other.

        ``stop`` cuts short what is under way, where nobody waits for it any more.
        """
        self._stop = stop
        self._go = go
        self._pool = ThreadPoolExecutor(threads)
        self._waiting: deque[tuple[Interleaving, bool, Future[RunEvidence]]] = deque()
        self._lock = threading.Lock()

    def ask(self, one: Interleaving, *, again: bool = False) -> Future[RunEvidence]:
        """Have an interleaving replayed after all others; or once more, as the next."""
        promised: Future[RunEvidence] = Future()
        with self._lock:
            put = self._waiting.appendleft if again else self._waiting.append
            put((one, again, promised))
        self._pool.submit(self._take)
        return promised

    def all_of(
        self, ones: Sequence[Interleaving], most: int
    ) -> Iterator[list[RunEvidence]]:
        """Replay interleavings; yield what they left, so many at once."""
        futures = [self.ask(one) for one in ones]
        for begin in range(0, len(futures), most):
            yield [future.result() for future in futures[begin : begin + most]]

    def forget(self) -> None:
        """Begin none of those that wait."""
        with self._lock:
            self._waiting.clear()

    def _take(self) -> None:
        with self._lock:
            if not self._waiting:
                return
            one, again, promised = self._waiting.popleft()
        try:
            promised.set_result(self._go(one, again=again))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
            promised.set_exception(error)

    def __enter__(self) -> Self:
        """Let the threads work."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Begin nothing more, and wait for what is under way."""
        self.forget()
        if kind is not None and self._stop is not None:
            self._stop()
        self._pool.shutdown(cancel_futures=True)


def parts_of(chosen: Sequence[Interleaving]) -> list[Sequence[Interleaving]]:
    """Split interleavings: after each part no process is at work on the session."""
    begins = range(0, len(chosen), _BETWEEN_RELEASES)
    return [chosen[begin : begin + _BETWEEN_RELEASES] for begin in begins]
