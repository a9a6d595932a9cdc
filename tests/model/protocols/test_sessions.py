"""A session goes on with the next batch, and a window of its own does not."""

from __future__ import annotations

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make


def shown_by_data(output: str) -> dict[int, set[int]]:
    """Run three batches without a fault; say which batches each of them has shown."""
    interpreter = Interpreter(
        make("micro-batch-stateful", {"output": output, "BATCH": "3", "faults": "0"})
    )
    state = next(interpreter.initial_states())
    found: dict[int, set[int]] = {}
    while True:
        moves = interpreter.moves(state)
        event = next((e for e in moves if "without_data" not in e.name), None)
        if event is None:
            return found
        before, state = interpreter.look(state), moves[event]
        after = interpreter.look(state)
        if event.name == "commit_results":
            found[event.members[0]] = {
                e for e in range(3) if after.visible(e, 0) and not before.visible(e, 0)
            }


def test_windows_close_one_batch_after_the_other():
    assert shown_by_data("closed-windows") == {0: set(), 1: {0}, 2: {1}}


def test_a_session_of_two_batches_is_shown_once_both_are_passed():
    """The last batch, which nothing follows, is a session of its own."""
    assert shown_by_data("paired-windows") == {0: set(), 1: set(), 2: {0, 1}}
