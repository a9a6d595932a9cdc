"""Work in several processes, which begins nothing once a time is over."""

from __future__ import annotations

import math
import multiprocessing
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future

Key = TypeVar("Key")
Result = TypeVar("Result")


def done_in_time(
    function: Callable[..., Result],
    calls: Mapping[Key, tuple[object, ...]],
    jobs: int,
    ends: float,
) -> Iterator[tuple[Key, Result]]:
    """Yield the result of each call as it comes; begin none after ``ends``.

    ``ends`` is a moment of ``time.monotonic()``; if it is infinite, all calls are made.
    If an error or a signal ends the work, what has begun is ended, too.
    """
    if not calls:
        return
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    waiting = iter(calls.items())
    running: dict[Future[Result], Key] = {}
    with ProcessPoolExecutor(min(jobs, len(calls)), mp_context=context) as pool:
        try:
            while True:
                # A pool cannot take back what waits in it, and begins it late.
                while len(running) < jobs and time.monotonic() < ends:
                    call = next(waiting, None)
                    if call is None:
                        break
                    key, arguments = call
                    running[pool.submit(function, *arguments)] = key
                if not running:
                    return
                seconds = None if ends == math.inf else max(0, ends - time.monotonic())
                finished, _ = wait(running, seconds, FIRST_COMPLETED)
                if not finished:
                    _give_up(running)
                for future in finished:
                    yield running.pop(future), future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Whoever ended the command does not wait for what has begun.
            begun = set(multiprocessing.active_children()) - before
            for process in begun:
                process.terminate()
            for process in begun:
                process.join()
            raise


def _give_up(running: dict[Future[Result], Key]) -> None:
    """Wait for what has begun, and for nothing else."""
    for future in list(running):
        if future.cancel():
            del running[future]
    wait(running)
