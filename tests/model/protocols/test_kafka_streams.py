"""Offsets, changelog and output are one transaction, and a store waits for its end."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.zoo.entry import steps

TAKEN_OVER = "start()  restore()  process(0)  crash()!  start()"
MARKED = "mark_changelog mark_output mark_offsets end"
FIRST = "start restore process commit"
BETWEEN = "crash start restore mark_changelog end"
AGAIN = "process commit mark_output"


def restored(settings):
    """Take a task over while the dead instance's transaction is open."""
    reference = Interpreter(make("kafka-streams", settings))
    start = next(iter(reference.initial_states()))
    now = follow(reference, start, steps(TAKEN_OVER)).states[-1]
    (restore,) = steps("restore()")
    return reference, reference.after(now, restore)


def test_a_store_waits_for_the_end_of_an_open_transaction():
    """It is not known yet whether its records count."""
    _, waits = restored({})
    reference, beyond = restored({"restoring": "restore-to-log-end"})

    assert waits is None
    assert beyond is not None
    assert reference.look(beyond).counted[0] == 1


@pytest.mark.ci
@pytest.mark.parametrize(
    ("slot", "choice", "breaks", "names"),
    [
        (
            "changelog",
            "changelog-apart",
            "at-most-once",
            f"start restore process crash start abort restore {AGAIN}",
        ),
        (
            "restoring",
            "restore-to-log-end",
            "at-most-once",
            f"start restore process crash start restore abort {AGAIN}",
        ),
        (
            "restoring",
            "restore-to-stable-end",
            "durable",
            f"{FIRST} mark_output mark_offsets {BETWEEN} {AGAIN}",
        ),
        (
            "offsets",
            "offsets-apart",
            "at-most-once",
            f"{FIRST} {MARKED} crash start restore {AGAIN}",
        ),
    ],
)
def test_what_is_outside_the_transaction_is_lost_or_counted_twice(
    slot, choice, breaks, names
):
    """The shortest counterexample has these steps, whose order may differ."""
    report = check(make("kafka-streams", {slot: choice}))

    found = next(f.trace for f in report.findings if f.property.name == breaks)

    assert found is not None
    assert sorted(event.name for event in found.events) == sorted(names.split())


@pytest.mark.ci
def test_all_holds_with_more_events_and_failures():
    """Three events, and three instances that die."""
    verdicts = check(make("kafka-streams", {"E": "3", "faults": "3"})).verdicts

    assert set(verdicts.values()) == {Verdict.EXHAUSTED}
