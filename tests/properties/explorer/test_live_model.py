"""The page shows a run as the view model does."""

from __future__ import annotations

import random
from importlib import resources
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from onceproof.model.errors import ModelError
from onceproof.model.export.javascript import source
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.traces import Trace
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.page import page
from onceproof.properties.explorer.view import code_of
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.judges.by_search import Finding, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.language.parts.test_bags import Desk
from tests.model.library_variants import VARIANTS
from tests.model.random_protocols import protocols
from tests.node import Node
from tests.properties.counterexample.shown_protocols import Lease, Log, Office, Pipe
from tests.spread import spread

STEPS = 25

TELL = """({ source, model, about, steps }) => {
  const made = eval(model);
  const live = eval(source + "; liveModel")(made, about);
  const events = steps.map(([name, members]) => live.event(name, members));
  const first = live.start;
  const states = live.follow(first, events);
  return {
    texts: events.map((one, i) => live.labelOf(one, states[i])),
    codes: events.map(live.codeOf),
    lanes: events.map(live.laneOf),
    kinds: live.kinds(events, states),
    changes: events.map((_, i) => live.changes(states[i], states[i + 1])),
    messages: live.messages(first, events),
    strips: live.strips(states),
    options: events.map((_, i) => live.options(states[i])
      .map(one => [live.codeOf(one), live.labelOf(one, states[i])])),
  };
}"""


@pytest.fixture(scope="module")
def node():
    """Give a process of Node for all examples."""
    running = Node()
    yield running
    running.close()


def walked(reference: Interpreter, seed: int) -> Trace:
    """Walk at random; what changes nothing is not taken."""
    chance = random.Random(seed)
    state = start = next(iter(reference.initial_states()))
    steps = []
    for _ in range(STEPS):
        moves = [(e, s) for e, s in reference.successors(state) if s != state]
        if not moves:
            break
        faults = [move for move in moves if move[0].fault]
        early = len(steps) < STEPS // 3
        event, state = chance.choice(moves if early or not faults else faults)
        steps.append((event, state))
    return Trace(start, tuple(steps))


def compare(node: Node, protocol: Any, seed: int) -> None:
    """Compare the page and the view on a random walk."""
    reference = Interpreter(protocol)
    prop = claims_of(protocol)[0]
    run = walked(reference, seed)
    counterexample = counterexample_of(protocol, Finding(prop, Verdict.REFUTED, run))
    found = explored(counterexample, protocol)
    assert found.model is not None, found.view.notes
    data = found.view.to_json()
    given = {
        "source": resources.files(page.PACKAGE).joinpath("live_model.js").read_text(),
        "model": source(trace(protocol), page.questions_of(found.model)),
        "about": page.about_of(found.model, moments=False),
        "steps": [[e.name, list(e.members)] for e in run.events],
    }

    message = node(TELL, given)

    steps = data["steps"]
    assert message["texts"] == [step["text"] for step in steps]
    assert message["codes"] == [step.code for step in found.view.steps]
    assert message["lanes"] == [data["lanes"][step["lane"]] for step in steps]
    assert message["kinds"] == [step["kind"] for step in steps]
    assert message["changes"] == [step["changes"] for step in steps]
    assert message["messages"] == data["messages"]
    strips = {strip["property"]: strip for strip in message["strips"]}
    assert strips == {strip["property"]: strip for strip in data["strips"]}
    for step, options in zip(steps, message["options"], strict=True):
        known = {option["code"]: option["text"] for option in step["options"]}
        known[code_of(step["event"], step["members"])] = step["text"]
        assert dict(options) == known


@pytest.mark.parametrize("variant", spread(VARIANTS, 20))
def test_the_page_shows_what_the_view_shows(node, variant):
    """Kinds, lanes, changes, messages, strips and options, along a random walk."""
    compare(node, variant.protocol, 3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_so_it_is_for_messages_that_are_sorted(node, seed):
    """Wherever a message is put, it is known by its content."""
    compare(node, Desk(faults=2), seed)


@pytest.mark.parametrize("kind", [Pipe, Log, Lease, Office])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_so_it_is_for_what_channels_and_members_hold(node, kind, seed):
    """A channel is the list of its messages, and a member has a word."""
    compare(node, kind(), seed)


@settings(
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=list(HealthCheck),
)
@given(protocols(talks=True), st.integers(0, 9))
def test_so_it_is_for_random_protocols(node, drawn, seed):
    """Whatever is sent, taken, lost, overtaken, and lost with a crash."""
    protocol = drawn()
    try:
        trace(protocol)
    except ModelError:
        reject()  # a drawn step may restart a process twice, which is refused

    compare(node, protocol, seed)
