"""Routine steps are folded, and unfolded on request; nothing else ever is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from onceproof.properties.counterexample.lanes import as_text, lanes_of
from onceproof.properties.counterexample.routine import FEWEST, SHORT, folds_of
from onceproof.spark_checks.cli import main
from tests.properties.explorer.runs import SPARK, broken, spark


@given(st.integers(0, 60), st.sets(st.integers(1, 60)))
def test_folds_hold_all_that_is_routine_and_nothing_else(steps, kept):
    """They are apart, in order, long enough, and leave out what is kept."""
    folds = folds_of(steps, kept)

    inside = {n for first, last in folds for n in range(first, last + 1)}
    assert not inside & kept
    assert all(last - first + 1 >= FEWEST for first, last in folds)
    assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(folds))
    if steps <= SHORT:
        assert not folds
        return
    for first in range(1, steps - FEWEST + 2):
        row = set(range(first, first + FEWEST))
        assert row & kept or row <= inside


def test_a_report_folds_routine_and_shows_faults():
    """Each fault, what readers saw and where it breaks have lines of their own."""
    counterexample = spark()

    folded = as_text(lanes_of(counterexample))
    whole = as_text(lanes_of(counterexample), unfold=True)

    assert len(folded) < len(whole)
    assert any("routine steps, 1 to" in line for line in folded)
    assert not any("routine" in line for line in whole)
    for text in (folded, whole):
        assert sum("X fail_task(" in line for line in text) == 1
        assert sum("breaks here" in line for line in text) == 1


@pytest.mark.parametrize("fault", [1, 5, 12, 20])
def test_a_fault_is_never_folded(fault):
    """Wherever it is, with the step before it and the step after."""
    counterexample = spark()
    steps = [replace(step, fault=False) for step in counterexample.steps]
    steps[fault - 1] = replace(steps[fault - 1], fault=True)

    folds = lanes_of(replace(counterexample, steps=tuple(steps))).folds

    inside = {n for first, last in folds for n in range(first, last + 1)}
    assert not inside & {fault - 1, fault, fault + 1}
    assert inside


def test_what_is_done_again_with_another_effect_is_shown():
    """The second write of a row is the point of the story, and so is the first."""
    counterexample = replace(spark(), loop=None)
    again = replace(counterexample.steps[4], changes={"sink.rows[0, 0]": 2})
    steps = tuple(replace(step, fault=False) for step in counterexample.steps)
    steps = (*steps[:12], again, *steps[13:])

    folds = lanes_of(replace(counterexample, steps=steps)).folds

    inside = {n for first, last in folds for n in range(first, last + 1)}
    assert counterexample.steps[4].event == "write"
    assert not inside & {5, 13}


def test_plain_text_unfolds_by_an_option():
    """Without it the option is named."""
    folded = CliRunner().invoke(main, ["explore", str(SPARK)])
    whole = CliRunner().invoke(main, ["explore", str(SPARK), "--unfold"])

    assert folded.exit_code == whole.exit_code == 0
    assert "--unfold shows" in folded.stdout
    assert "routine steps" not in whole.stdout
    assert "start_batch(batch 0)" in whole.stdout


def test_a_story_has_three_to_five_steps_that_end_where_it_breaks():
    """It says what is wrong, which claim that breaks, and who did what."""
    for view in (
        broken("micro-batch", "at-most-once").view,
        broken("micro-batch", "at-least-once", sink="ledger-before").view,
        broken("idempotent-producer-restarting", "at-most-once").view,
        broken("two-phase-commit-log-blocked", "is-decided").view,
    ):
        story = view.story
        assert story is not None
        assert 3 <= len(story.steps) <= 5
        numbers = [step.step for step in story.steps]
        assert numbers == sorted(set(numbers))
        assert max(numbers) == view.fails_at
        faults = [s.number for s in view.steps if s.kind not in ("action", "restart")]
        assert set(faults) <= set(numbers)
        folded = {n for a, b in view.folds for n in range(a, b + 1)}
        assert not folded & set(numbers)
        assert story.saw.endswith(".")
        assert view.clause in story.why


def test_a_story_of_spark_says_what_readers_saw():
    """In the words of the report, by number and total."""
    from onceproof.properties.explorer.view_builder import explored

    story = explored(spark()).view.story

    assert story is not None
    assert story.saw == (
        "After the query finished, readers see 210 of 842 events twice."
    )
    assert [step.who for step in story.steps] == ["partition 0"] * 3


def test_a_story_of_a_repeated_step_says_what_began_again():
    """The crash by itself does not say why the batch is written a second time."""
    view = broken("micro-batch", "at-most-once", sink="prepared-undecided").view

    assert view.story is not None
    steps = [step.text for step in view.story.steps]
    first, fault, again, last = steps[-4:]
    assert first == last
    assert fault == "crash()"
    assert again == "start_batch(batch 0)"
    assert [s.text for s in view.steps].count(again) == 2
