"""The interpreter with native moves answers as plain Python does."""

from __future__ import annotations

import random

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.search.native.native_interpreter import NativeInterpreter

STEPS = 40


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("two-phase-commit", {}),
        ("micro-batch", {"sink": "upsert"}),
        ("event-time", {"clock": "processing-clock"}),
        ("event-time", {"faults": "0"}),
        ("approximate-results", {}),
        ("barrier-snapshot", {}),
    ],
)
def test_moves_and_single_events_are_those_of_plain_python(
    name: str, changes: dict[str, str]
) -> None:
    protocol = make(name, changes)
    plain, native = Interpreter(protocol), NativeInterpreter(protocol)
    chance = random.Random(7)
    events = list(plain.events())
    state = next(iter(plain.initial_states()))
    moved = 0
    for _ in range(STEPS):
        moves = plain.moves(state)
        assert native.moves(state) == moves
        assert list(native.moves(state)) == list(moves)
        assert native.resting(state) == plain.resting(state)
        tried = [*moves, *chance.sample(events, min(4, len(events)))]
        for event in tried:
            assert native.after(state, event) == plain.after(state, event)
        moved += len(moves)
        if not moves:
            break
        state = moves[chance.choice(list(moves))]
    assert moved
