"""What barriers overtake, and what of it a checkpoint holds."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check
from tests.model.zoo.entry import steps

SENT = """
    emit(0, 0)  emit(0, 1)  emit(1, 0)  trigger()  send_barrier(0)  send_barrier(1)
"""
OVERTAKING = f"""
    {SENT}  snapshot(0, 0)  process(1, 0)  receive_barrier(1)  store_checkpoint(0)
"""


def saved(alignment: str, run: str) -> set[tuple[int, int]]:
    """Follow a run; name the events that its checkpoint holds as on their way."""
    reference = Interpreter(make("barrier-snapshot", {"alignment": alignment}))
    start = next(iter(reference.initial_states()))
    last = follow(reference, start, steps(run)).states[-1]
    return {
        place
        for (field, place), value in zip(reference.places, last, strict=True)
        if field.path == "saved_flying" and value
    }


def test_a_barrier_overtakes_what_was_sent_before_it():
    """It is taken from behind two events, which the checkpoint then holds."""
    assert saved("unaligned", OVERTAKING) == {(0, 0), (0, 1), (1, 0)}
    assert saved("unaligned-without-channels", OVERTAKING) == set()


def test_a_second_barrier_overtakes_too():
    """What it has overtaken is recorded, though the snapshot was taken before."""
    run = OVERTAKING.replace("process(1, 0)", "")

    assert saved("unaligned", run) == {(0, 0), (0, 1), (1, 0)}


def test_an_event_processed_before_the_snapshot_is_not_on_its_way():
    run = OVERTAKING.replace("snapshot(0, 0)", "process(0, 0)  snapshot(0, 0)")

    assert saved("unaligned", run) == {(0, 1), (1, 0)}


@pytest.mark.parametrize("alignment", ["alignment", "at-least-once"])
def test_an_aligned_barrier_waits_behind_events(alignment):
    with pytest.raises(ValueError, match=r"receive_barrier.* is not enabled"):
        saved(alignment, f"{SENT}  receive_barrier(0)")


@pytest.mark.parametrize(
    ("alignment", "output", "refuted"),
    [
        ("unaligned", "upsert-at-once", set()),
        ("unaligned", "append-at-once", {"at-most-once", "effectively-once"}),
        ("unaligned", "transactional-sink", set()),
        (
            "unaligned-without-channels",
            "upsert-at-once",
            {"at-least-once", "effectively-once", "durable", "recoverable"},
        ),
    ],
)
def test_what_is_on_its_way_is_promised_once_it_is_written(alignment, output, refuted):
    parts = {"alignment": alignment, "output": output}
    found = check(make("barrier-snapshot", parts)).verdicts

    assert {str(verdict) for verdict in found.values()} <= {"exhausted", "refuted"}
    assert {c for c, verdict in found.items() if str(verdict) == "refuted"} == refuted
