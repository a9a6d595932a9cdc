"""How many steps the protocols themselves take, for each record and each checkpoint.

A run without faults is walked by the protocol's own methods. Its steps are counted at
several sizes, and each count is split into what each record, each input of a
checkpoint, and each checkpoint adds. A count that is no such sum is refused.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.deduplication_log import DeduplicationLog

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol

UNITS = ("record", "input of a checkpoint", "checkpoint")
LAST = ("send",)
"""Steps that wait for all others: a sender that waits for a reply sends once."""


def walked(protocol: Protocol, seed: int) -> Counter[str]:
    """Walk from the start to the end without faults; count the steps by name."""
    reference = Interpreter(protocol)
    draw = random.Random(seed)
    (state,) = reference.initial_states()
    counts: Counter[str] = Counter()
    while True:
        enabled = [
            (event.name in LAST, draw.random(), event.name, after)
            for event, after in reference.successors(state)
            if not event.fault and after != state
        ]
        if not enabled:
            return counts
        *_, name, state = min(enabled)
        counts[name] += 1


def of_barriers() -> dict[str, dict[str, int]]:
    """Split the steps of ``barrier-snapshot``, at one operator with its inputs."""
    runs = [
        (
            (s * e, s * c, c),
            walked(BarrierSnapshot(S=s, E=e, C=c, length=e + c), seed=seed),
        )
        for seed, (s, e, c) in enumerate(itertools.product((1, 2), (1, 2), (1, 2, 3)))
    ]
    return split(runs)


def of_logs() -> dict[str, dict[str, int]]:
    """Split the steps of ``deduplication-log``, on one link."""
    runs = [((e, 0, 0), walked(DeduplicationLog(E=e, NUMBER=1), e)) for e in (1, 2, 3)]
    return split(runs)


def split(
    runs: list[tuple[tuple[int, int, int], Counter[str]]],
) -> dict[str, dict[str, int]]:
    """Find what each unit adds to each count; refuse what is not such a sum."""
    sizes = np.array([size for size, _ in runs], dtype=float)
    found = {}
    for name in sorted({name for _, counts in runs for name in counts}):
        counts = np.array([counts[name] for _, counts in runs], dtype=float)
        adds, *_ = np.linalg.lstsq(sizes, counts, rcond=None)
        whole = np.rint(adds)
        if not np.array_equal(sizes @ whole, counts):
            message = f"{name}: {counts} is no sum of {UNITS} over {sizes.tolist()}"
            raise ValueError(message)
        found[name] = {
            unit: int(more) for unit, more in zip(UNITS, whole, strict=True) if more
        }
    return found
