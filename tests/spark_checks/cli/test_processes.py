"""Work in several processes: whoever ends it waits for nothing."""

from __future__ import annotations

import math
import multiprocessing
import time

from onceproof.spark_checks.cli.processes import done_in_time


def test_what_has_begun_is_ended_with_the_command():
    before = set(multiprocessing.active_children())
    work = done_in_time(time.sleep, {"short": (0.0,), "long": (600.0,)}, 2, math.inf)
    first, _ = next(work)

    work.close()

    assert first == "short"
    assert set(multiprocessing.active_children()) <= before
