"""Work in several processes: whoever ends it waits for nothing."""

from __future__ import annotations

import math
import multiprocessing
import time

from onceproof.spark_checks.cli.processes import await_end, done_in_time


def test_what_has_begun_is_ended_with_the_command():
    before = set(multiprocessing.active_children())
    work = done_in_time(time.sleep, {"short": (0.0,), "long": (600.0,)}, 2, math.inf)
    first, _ = next(work)

    work.close()

    assert first == "short"
    assert set(multiprocessing.active_children()) <= before


def test_an_end_that_another_thread_was_told_of_is_waited_for():
    """The system tells one of two that wait; the other learns of it a moment later."""
    asked = []

    class ToldLater:
        def join(self) -> None:
            """Return at once, as it does for whoever comes second."""

        @property
        def exitcode(self) -> int | None:
            asked.append(1)
            return -15 if len(asked) > 3 else None

    await_end(ToldLater())

    assert len(asked) > 3
