"""Protocols of tables, captures and chained windows lose what reports say they lose."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

DELTA_1410 = (
    "read(0,0) read(1,0) prepare(0,0) put(0,0) log.mark_complete(0,0) log.expire(0) "
    "prepare(1,0) put(1,0)"
)
ICEBERG_UNKNOWN = "read(0,0) prepare(0,0) lose_reply(0,0) give_up(0)"
DELTA_ON_S3 = "read(0,0) read(1,0) prepare(0,0) prepare(1,0) put(0,0) put(1,0)"
FLINK_CDC_2538 = (
    "begin_chunk(0) select(0) put_row(0) begin_chunk(1) select(1) put_row(1) "
    "checkpoint() change(0,0) read_change(0,0) confirm() crash()"
)
STALE_ROW = "begin_chunk(0) select(0) change(0,0) read_change(0,0) put_row(0)"


def play(protocol, story):
    """Play a story from the first state; return what it ends in."""
    reference = Interpreter(protocol)
    events = {str(event): event for event in reference.events()}
    now = next(iter(reference.initial_states()))
    for word in story.split():
        after = reference.after(now, events[word.replace(",", ", ")])
        assert after is not None, word
        now = after
    return reference.look(now)


def test_a_version_is_written_over_once_its_row_has_expired():
    """Delta #1410: the first writer is done, and its version is the other's."""
    lost = play(make("table-commit", {"log": "lock-table-expiring"}), DELTA_1410)
    with pytest.raises(AssertionError, match="prepare"):
        play(make("table-commit", {"log": "lock-table-expiring-looked"}), DELTA_1410)

    assert (lost.promised(0), lost.visible(0), lost.visible(1)) == (True, 0, 1)


def test_two_writers_find_the_same_version_free_without_a_lock():
    """A put that overwrites loses what is there; one that does not is refused."""
    lost = play(make("table-commit", {"log": "check-then-put"}), DELTA_ON_S3)
    with pytest.raises(AssertionError, match="put"):
        play(make("table-commit", {}), DELTA_ON_S3)

    assert (lost.promised(0), lost.visible(0)) == (True, 0)


def test_a_commit_without_a_reply_that_is_cleaned_up_leaves_no_files():
    """The table names them."""
    end = play(make("table-commit", {"reply": "taken-for-failure"}), ICEBERG_UNKNOWN)

    assert bool(end.log.has(0))
    assert end.visible(0) == 0


def test_a_log_that_is_confirmed_too_far_is_gone_at_the_restart():
    """flink-cdc #2538: the change is in neither the checkpoint nor the log."""
    lost = play(make("change-capture", {"slot": "reader-confirms"}), FLINK_CDC_2538)
    kept = play(make("change-capture", {}), FLINK_CDC_2538)

    assert (lost.position, kept.position) == (1, 0)
    assert lost.copy[0] == 1


def test_a_row_that_was_read_before_a_change_does_not_replace_it():
    """The marks around a chunk say that the log has a later row."""
    stale = play(make("change-capture", {"snapshot": "snapshot-unmarked"}), STALE_ROW)
    kept = play(make("change-capture", {}), STALE_ROW)

    assert (stale.copy[0], kept.copy[0]) == (1, 2)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "settings", "property_name", "steps"),
    [
        ("table-commit", {"log": "lock-table-expiring"}, "durable", DELTA_1410),
        ("table-commit", {"log": "check-then-put"}, "durable", DELTA_ON_S3),
        ("table-commit", {"reply": "taken-for-failure"}, "durable", ICEBERG_UNKNOWN),
    ],
)
def test_the_shortest_counterexample_has_the_steps_of_the_report(
    name, settings, property_name, steps
):
    """The search finds no shorter one, and no other kind of step."""
    guarantee = next(g for g in GUARANTEES if g.name == property_name)

    report = check(make(name, settings), [guarantee])

    trace = next(f.trace for f in report.findings if f.trace is not None)
    found = sorted(event.name for event in trace.events)
    assert found == sorted(word.partition("(")[0] for word in steps.split())


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("table-commit", {"log": "lock-table", "faults": "3"}),
        ("table-commit", {"log": "lock-table-expiring-looked", "faults": "3"}),
        ("table-commit", {"WRITER": "3", "VERSION": "4", "faults": "2"}),
        ("change-capture", {"CHANGE": "3", "faults": "2"}),
        ("chained-windows", {"faults": "2"}),
        ("filter-and-join", {"faults": "2"}),
    ],
)
def test_what_holds_does_so_with_more_faults_and_members(name, settings):
    """Nothing is refuted, and nothing is without a witness."""
    verdicts = check(make(name, settings)).verdicts

    assert set(verdicts.values()) == {Verdict.EXHAUSTED}
