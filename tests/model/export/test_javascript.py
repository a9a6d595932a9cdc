"""JavaScript and plain Python agree on what a model means."""

from __future__ import annotations

import itertools
import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from onceproof.model.export.javascript import coded, literal, source
from onceproof.model.language import Protocol, Sort, action, one_of, state
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import member
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import variants
from onceproof.properties.judges.by_search import claims_of
from tests.examples import drawn_from
from tests.model.random_protocols import protocols
from tests.node import Node
from tests.spread import spread

if TYPE_CHECKING:
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.property import Property

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
)
STARTS = 40

# Half of the states are the first of a breadth-first search, the others on a walk.
WALK = """({ source, states, starts }) => {
  const model = eval(source);
  const first = [];
  for (const state of model.initial()) {
    if (first.length === starts) break;
    first.push(state);
  }
  const seen = new Map(first.map(state => [JSON.stringify(state), state]));
  const told = [];
  const tell = state => {
    const next = model.enabled(state);
    told.push({
      state,
      next: next.map(e => [model.events[e.event].name, e.members, e.state]),
      rests: model.rests(state),
      holds: model.questions.map(q => !q.holds ? null
        : q.ofSteps ? next.map(e => q.holds(state, e.state))
        : q.holds(state)),
    });
    return next.map(e => e.state);
  };
  const todo = [...first];
  while (todo.length && told.length * 2 < states) {
    for (const state of tell(todo.shift())) {
      if (seen.has(JSON.stringify(state))) continue;
      seen.set(JSON.stringify(state), state);
      todo.push(state);
    }
  }
  let chance = 1, here = first[0];
  while (told.length < states) {
    const next = tell(here);
    chance = (chance * 48271) % 2147483647;
    here = next.length ? next[chance % next.length] : first[chance % first.length];
  }
  const { names, fields, events } = model;
  return { first, told, names, fields, events };
}"""


@pytest.fixture(scope="module")
def node():
    """Give a process of Node for all examples."""
    running = Node()
    yield running
    running.close()


def as_code(reference: Interpreter, plain: Any) -> list[bool | int]:
    """Code a plain state as the JavaScript does."""
    pairs = zip(reference.places, plain, strict=True)
    return [coded(field.type, value) for (field, _), value in pairs]


def as_plain(reference: Interpreter, code: list[bool | int]) -> Any:
    """Give the plain state that the JavaScript means."""
    found: list[Any] = []
    for (field, _), value in zip(reference.places, code, strict=True):
        kind, sort = (getattr(field.type, name, None) for name in ("enum", "sort"))
        shown = value if sort is None else member(int(value), sort)
        found.append(shown if kind is None else list(kind)[value])
    return tuple(found)


def questions_of(system: System) -> list[tuple[Property, int, Any]]:
    """List what is asked of a system, with the clause that asks."""
    return [
        (prop, number, question)
        for prop in claims_of(system.protocol)
        for number, question in enumerate(prop.questions(system))
    ]


def compare(node: Node, protocol: Protocol, states: int, *, claims: bool = True) -> int:
    """Compare what both say of some states; give how many differ from the first."""
    reference, system = Interpreter(protocol), trace(protocol)
    asked = questions_of(system) if claims else []
    text = source(system, [question for *_, question in asked])
    result = node(WALK, {"source": text, "states": states, "starts": STARTS})
    starts = itertools.islice(reference.initial_states(), STARTS)
    assert result["first"] == [as_code(reference, s) for s in starts]
    known: dict[Any, Any] = {}
    for one in result["told"]:
        plain = as_plain(reference, one["state"])
        if plain not in known:
            known[plain] = list(reference.successors(plain))
        after = known[plain]
        wanted = [[e.name, list(e.members), as_code(reference, s)] for e, s in after]
        assert one["next"] == wanted
        assert one["rests"] == all(e.fault or s == plain for e, s in after)
        for (prop, number, question), message in zip(asked, one["holds"], strict=True):
            clause = prop.clauses[number]
            if question.when in ("eventually", "leads_to"):
                assert message is None
                continue
            claim = lambda *seen, p=prop, c=clause: c.holds(*map(p.view, seen))  # noqa: E731
            if question.when == "step":
                pairs = [reference.evaluate(claim, plain, s) for _, s in after]
                assert message == list(map(bool, pairs))
            else:
                assert message == bool(reference.evaluate(claim, plain))
    return len(known)


@drawn_from(protocols(), few=20, many=60, like=SETTINGS)
def test_javascript_takes_the_steps_that_python_takes(node, drawn):
    """First states, enabled events, successors, rest and claims are the same."""
    compare(node, drawn(), 40)


@drawn_from(protocols(talks=True), few=12, many=40, like=SETTINGS)
def test_messages_and_crashes_are_what_they_are_in_python(node, drawn):
    """So are they where processes send, receive, lose messages and crash."""
    compare(node, drawn(), 30)


@pytest.mark.parametrize("variant", spread(variants(), 30), ids=str)
def test_each_protocol_of_the_library_is_the_same_in_javascript(node, variant):
    """At its standard size each state that is met has the same successors in both."""
    met = compare(node, variant.protocol, 24)

    assert met > 8


@pytest.mark.grid
@pytest.mark.parametrize("broken", ["less", "sum", "exists"])
def test_a_broken_reader_is_caught(node, monkeypatch, broken):
    """Were the JavaScript wrong about one kind of term, the comparison would fail."""
    from onceproof.model.export import javascript

    writer = javascript._ScriptWriter
    right = writer._term

    def wrong(self, term):
        if broken == "less" and isinstance(term, t.Less):
            return right(self, t.Eq(term.left, term.right))
        if broken == "exists" and isinstance(term, t.Exists):
            return right(self, t.ForAll(term.vars, term.body))
        if broken == "sum" and isinstance(term, t.Sum):
            return f"({right(self, term)} + 1)"
        return right(self, term)

    monkeypatch.setattr(writer, "_term", wrong)

    @settings(
        SETTINGS,
        max_examples=400,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    @given(protocols())
    def compare_some(drawn):
        compare(node, drawn(), 12)

    with pytest.raises(AssertionError):
        compare_some()


class Odd(Enum):
    """Values that would do harm, were they code."""

    END = "</script><img src=x onerror=alert(1)>"
    LINE = "\u2028`${1}`\"'\\"


def test_no_text_of_a_model_becomes_code(node):
    """A field, a value or a step with a hostile name is a string that names it."""

    def act(self):
        """</script> & <!-- a comment"""
        setattr(self, "a`;</script>", Odd.LINE)

    body = {"a`;</script>": state(one_of(*Odd)), "S": Sort("</script>")}
    kind = type("Hostile", (Protocol,), {**body, "x": action(act)})
    for name, what in body.items():
        what.__set_name__(kind, name)

    text = source(trace(kind()))
    data = node(WALK, {"source": text, "states": 3, "starts": 9})

    assert not re.search("[<>\u2028\u2029]", literal(json.loads('["<>&\u2028"]')))
    assert "</script" not in text
    assert "\u2028" not in text
    assert data["names"] == ["a`;</script>"]
    assert data["fields"][0]["values"] == [odd.value for odd in Odd]
    assert data["told"][0]["next"] == [["x", [], [1]]]


def test_what_is_written_is_logged_in_order(node):
    """Each write of an event is told, those that change nothing included."""
    protocol = next(v.protocol for v in variants() if v.name == "chandy-lamport")
    reference = Interpreter(protocol)
    first = next(reference.initial_states())
    again = reference.after(first, Event("start", (0,)))
    code = """({ source, state }) => {
      const model = eval(source), log = [];
      const event = model.events.findIndex(e => e.name === "transfer");
      model.after(state, event, [0, 1], log);
      return log.map(([at, value]) => [model.names[at], value]);
    }"""

    log = node(
        code, {"source": source(trace(protocol)), "state": as_code(reference, again)}
    )

    assert log[0] == ["held[0]", 1]
    assert log[-5][0] == "link.used[0, 1]"
