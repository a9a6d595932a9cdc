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
    from multiprocessing.process import BaseProcess

_MOMENT = 10.0
"""How many seconds there are for a process that has ended to be known to have."""

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
                await_end(process)
            raise


def await_end(process: BaseProcess) -> None:
    """Wait until a process that was terminated has ended, and is known to have.

    The pool's own thread waits for it, too. Of the two one is told of the end by the
    system, and the other only by the first, a moment later.
    """
    process.join()
    latest = time.monotonic() + _MOMENT
    while process.exitcode is None and time.monotonic() < latest:
        time.sleep(0.001)


def _give_up(running: dict[Future[Result], Key]) -> None:
    """Wait for what has begun, and for nothing else."""
    for future in list(running):
        if future.cancel():
            del running[future]
    wait(running)
