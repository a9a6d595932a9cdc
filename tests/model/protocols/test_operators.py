"""Two operators with state in a row, and batches that run before they are logged."""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict


def shown(operators, output, batches=4):
    """Run batches without a fault; say which events each step shows."""
    settings = {"operators": operators, "output": output, "faults": "0"}
    settings["BATCH"] = str(batches)
    interpreter = Interpreter(make("micro-batch-stateful", settings))
    state = next(interpreter.initial_states())
    found = {}
    while True:
        moves = interpreter.moves(state)
        event = next((e for e in moves if "without_data" not in e.name), None)
        event = event or next(iter(moves), None)
        if event is None:
            return found
        before, state = interpreter.look(state), moves[event]
        after = interpreter.look(state)
        new = {e for e in range(batches) if after.visible(e, 0) > before.visible(e, 0)}
        if new:
            assert all(after.visible(e, 0) == 1 for e in new)
            found[event.name, event.members[0]] = new


def test_windows_of_windows_are_shown_once_the_longer_one_is_passed():
    """What the first operator has passed on is in the second one's state till then."""
    assert shown("windows-first", "paired-windows") == {
        ("commit_results", 2): {0, 1},
        ("run_without_data", 3): {2, 3},
    }


def test_what_the_first_operator_passes_at_the_end_goes_through_the_second_one():
    """A batch without data closes windows of both."""
    assert shown("windows-first", "closed-windows") == {
        ("commit_results", 1): {0},
        ("commit_results", 2): {1},
        ("commit_results", 3): {2},
        ("run_without_data", 3): {3},
    }
    assert shown("duplicates-first", "closed-windows") == (
        shown("one-operator", "closed-windows")
    )


def test_events_without_a_partner_are_shown_when_the_watermark_passes_them():
    """A pair is shown in its batch."""
    assert shown("one-operator", "outer-joined-rows") == {
        ("commit_results", 1): {0, 1},
        ("commit_results", 3): {2, 3},
    }
    assert shown("one-operator", "outer-joined-rows", 3) == {
        ("commit_results", 1): {0, 1},
        ("run_without_data", 2): {2},
    }


@pytest.mark.parametrize("operators", ["duplicates-first", "windows-first"])
@pytest.mark.parametrize(
    ("slot", "part"),
    [
        ("versions", "state-in-place"),
        ("output", "changed-rows"),
        ("output", "outer-joined-rows"),
        ("output", "new-rows"),
        ("output", "all-rows"),
    ],
)
def test_a_second_operator_goes_with_versions_and_with_windows_that_close(
    operators, slot, part
):
    """What its rows would be beside another part, the model does not say."""
    with pytest.raises(ModelError, match=f"{operators} does not go with {part}"):
        make("micro-batch-stateful", {"operators": operators, slot: part})


@pytest.mark.parametrize("operators", ["duplicates-first", "windows-first"])
@pytest.mark.parametrize("actions", ["one-action", "two-actions"])
@pytest.mark.parametrize("output", ["closed-windows", "paired-windows"])
def test_two_operators_count_each_event_once(operators, actions, output):
    parts = {"operators": operators, "actions": actions, "output": output}

    found = check(make("micro-batch-stateful", parts))

    assert {f.verdict for f in found.findings} == {Verdict.EXHAUSTED}


def test_a_batch_may_be_done_before_it_is_logged():
    """The logs follow what the driver does, in the order of its batches."""
    found = check(make("micro-batch-logged-later", {"BATCH": "3"}))

    verdicts = {f.property.name: f.verdict for f in found.findings}
    assert verdicts["done-before-it-is-logged"].holds
    assert verdicts["runs-a-logged-batch"].holds
    assert verdicts["logs-one-batch-ahead"].holds
    assert verdicts["at-least-once"].holds
    assert verdicts["at-most-once"] is Verdict.REFUTED
