"""What there is to show of a counterexample is worked out once, as plain data."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.language import (
    Protocol,
    action,
    always,
    eventually,
    not_,
    one_of,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.library import make, variants
from onceproof.model.traces import follow
from onceproof.properties import holds_along
from onceproof.properties.counterexample.explanation.obligations import promises_of
from onceproof.properties.counterexample.file import lane_of, read
from onceproof.properties.counterexample.lanes import lane_rules
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.truncation import MOST_STEPS
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.guarantees import DURABLE
from onceproof.properties.judges.by_search import check, claims_of
from tests.properties.explorer.runs import broken, spark


class Lamps(Protocol):
    """One lamp flickers for ever, and the other is never lit."""

    flickers = state(False)
    lit = state(False)

    @action(fair=True)
    def flicker(self):
        """Turn the first lamp on or off."""
        self.flickers = not_(self.flickers)

    @action()
    def light(self):
        """Light the second lamp, which is not fair: it may wait for ever."""
        self.lit = True

    @eventually()
    def is_lit(self):
        """The second lamp is lit at some time."""
        return self.lit


def test_a_run_of_spark_is_told_as_the_file_tells_it():
    """Its steps are real, its reasons are the file's, and readers are seen to look."""
    counterexample = spark()

    view = explored(counterexample).view

    assert view.source == "real Spark"
    assert {step.source for step in view.steps} == {"real Spark"}
    assert view.because == counterexample.because
    assert view.lanes == ("driver", "partition 0", "partition 1", "readers see")
    assert [look.breaks for look in view.looks] == [True]
    assert view.fails_at == counterexample.looks[counterexample.fails_at]
    assert view.strips[0].first == view.fails_at
    assert view.live


def test_steps_name_their_kind_their_lane_and_what_they_change():
    """A crash is told from an action, and a restart is what comes up after it."""
    view = broken("barrier-snapshot", "at-most-once", alignment="at-least-once").view

    kinds = {step.text: step.kind for step in view.steps}
    assert kinds["fail()"] == "crash"
    assert kinds["restore()"] == "restart"
    assert kinds["trigger()"] == "action"
    first = view.steps[0]
    assert view.lanes[first.lane] == "source 0"
    assert (first.changes[0].name, first.changes[0].after) == (
        "source.offset[source 0]",
        1,
    )
    assert first.doc


def test_a_message_leads_from_its_sending_to_its_receipt():
    """What nothing takes out any more is on its way, and its delivery is unknown."""
    view = broken("two-phase-commit-log-blocked", "is-decided").view

    lines = [(m.channel, m.text, m.sent, m.taken, m.delivery) for m in view.messages]
    assert lines == [
        ("down[participant 0]", "prepare", 2, 4, "received"),
        ("up[participant 0]", "yes", 4, None, "unknown"),
    ]


def test_reasons_lead_to_the_contradiction():
    """They are in order of time, and the last names the claim and what is broken."""
    view = broken("micro-batch", "at-most-once").view

    *steps, state, claim = view.because
    assert all(sentence.startswith("because step") for sentence in steps)
    assert steps[-1].endswith("sink.rows[batch 0, partition 0] from 1 to 2")
    assert state == "so after step 8 sink.rows[batch 0, partition 0] is 2"
    assert claim == (
        "but it is claimed that no effect is ever visible twice: "
        "the weakest guarantee broken is at-most-once"
    )


def test_steps_matter_without_which_nothing_breaks():
    """Steps that others do not need can be left out, and it breaks all the same."""
    protocol = make("micro-batch", {})
    found = counterexample_of(protocol, None)
    names = ["restart()", "log_offsets(0)", "start_batch(0)", "start_task(1, 0)"]
    names += ["start_task(0, 0)", "write(0, 0, 0)", "fail_task(0, 0, 0)"]
    names += ["start_task(0, 1)", "write(0, 1, 0)", "write(0, 0, 1)"]
    reference = Interpreter(protocol)
    events = []
    for text in names:
        name, _, members = text[:-1].partition("(")
        event = Event(name, tuple(int(m) for m in members.split(",") if m))
        events.append(replace(event, fault=reference.steps[name].fault))
    run = follow(reference, next(iter(reference.initial_states())), tuple(events))
    from onceproof.properties.judges.by_search import Finding, claims_of
    from onceproof.properties.verdicts import Verdict

    prop = next(p for p in claims_of(protocol) if p.name == "at-most-once")
    found = counterexample_of(protocol, Finding(prop, Verdict.REFUTED, run))

    view = explored(found, protocol).view

    assert [s.code for s in view.steps if not s.matters] == [
        "start_task(1, 0)",
        "write(0, 1, 0)",
    ]
    assert view.fails_at == len(names)
    assert not any(
        "write(batch 0, partition 1, attempt 0)" in sentence
        for sentence in view.because
    )


def test_the_nearest_passing_run_shares_the_longest_prefix():
    """It is a run of the model, comes to rest, and breaks nothing."""
    found = broken("micro-batch", "at-most-once")
    view, model = found.view, found.model
    assert view.passing is not None
    assert model is not None

    events = tuple(Event(name, members) for name, members in view.passing.steps)
    run = follow(model.interpreter, model.run.start, events)

    shared = view.passing.shared
    assert run.events[:shared] == model.run.events[:shared]
    assert run.events[shared] != model.run.events[shared]
    assert model.interpreter.resting(run.states[-1])
    steps = [str(event) for event in run.events]
    assert holds_along(model.protocol, "at-most-once", steps)


def test_each_step_tells_what_could_have_been_done_instead():
    """And whether that would have broken the property at once."""
    view = broken("micro-batch", "at-most-once").view

    options = {option.code: option for option in view.steps[4].options}
    assert view.steps[4].text == "write(batch 0, partition 0, attempt 0)"
    assert options["crash()"].text == "crash()"
    assert "write(0, 0, 0)" not in options
    assert not options["start_task(1, 0)"].breaks
    assert options["crash()"].kind == "crash"


def test_strips_mark_the_first_violation():
    """The property that is told of comes first; what no state can tell is said."""
    view = broken("two-phase-commit-log-blocked", "is-decided").view

    assert view.strips[0].property == "is-decided"
    assert set(view.strips[0].cells) == {"not judged here"}
    other = broken("micro-batch", "at-most-once").view.strips[0]
    assert (other.property, other.first, other.cells[-1]) == (
        "at-most-once",
        8,
        "fails",
    )


def test_a_file_whose_model_is_not_known_is_shown_as_it_is():
    """No other step can be taken then, and the reason is said."""
    counterexample = replace(spark(), protocol="elsewhere")

    found = explored(counterexample)

    assert found.model is None
    assert not found.view.live
    assert len(found.view.steps) == len(counterexample.steps)
    assert "unknown protocol 'elsewhere'" in found.view.notes[0]
    assert found.view.steps[3].changes[0].after == "running"


def test_a_file_that_the_model_no_longer_follows_is_not_stepped():
    """What it says would be another run than the one that was seen."""
    counterexample = spark()
    steps = (
        replace(counterexample.steps[0], changes={"driver": "down"}),
        *counterexample.steps[1:],
    )

    found = explored(replace(counterexample, steps=steps))

    assert found.model is None
    assert "step 1 does not do what it did" in found.view.notes[0]


def test_what_is_too_long_is_cut_and_that_is_said():
    """A value of ten million characters, and more steps than anyone can read."""
    counterexample = replace(spark(), protocol="elsewhere")
    long = replace(counterexample.steps[0], changes={"driver": "x" * 10_000_000})
    many = replace(
        counterexample, steps=(long, *counterexample.steps * (MOST_STEPS // 20))
    )

    view = explored(many).view
    data = view.to_json()

    assert len(json.dumps(data)) < 1_000_000
    assert len(data["steps"]) == MOST_STEPS
    notes = " ".join(data["notes"])
    assert "steps the first 1,000 are shown" in notes
    assert "texts longer than 2,000 characters are cut: 2" in notes
    assert "10,000,000 characters in all" in data["steps"][0]["changes"][0]["after"]


def test_a_protocol_can_be_walked_in_without_a_trace():
    """It stands at its start, and says what is claimed."""
    view = explored(counterexample_of(make("two-phase-commit", {}))).view

    assert view.steps == ()
    assert view.fails_at is None
    assert view.start["rm[resource manager 0]"] == "working"
    assert view.live


@pytest.mark.parametrize("variant", list(variants()), ids=str)
def test_lanes_of_events_that_never_were_are_named_alike(variant):
    """The rule of an action names the lane that each of its events is told in."""
    reference = Interpreter(variant.protocol)

    rules = lane_rules(reference)

    for event in reference.events():
        assert rules[event.name].lane(event.members) == lane_of(reference, event)


def test_a_copied_run_is_refused_where_it_is_none():
    """A step that cannot be taken, or is none, is named."""
    protocol = make("micro-batch", {})

    with pytest.raises(UsageError, match="is not enabled"):
        holds_along(protocol, "at-most-once", ["crash()"])
    with pytest.raises(UsageError, match="written as"):
        holds_along(protocol, "at-most-once", ["crash"])


def test_a_counterexample_of_a_model_survives_its_file(tmp_path):
    """What is told of a run can be written, read, and explored without the protocol."""
    protocol = make("micro-batch", {})
    from onceproof.properties.judges.by_search import check, claims_of

    prop = next(p for p in claims_of(protocol) if p.name == "durable")
    assert check(protocol, [prop]).findings[0].trace is None
    counterexample = counterexample_of(
        protocol, check(protocol, claims_of(protocol)[:1]).findings[0]
    )
    counterexample.write(tmp_path / "run.json")

    view = explored(read(tmp_path / "run.json")).view

    assert view.live
    assert view.fails_at == len(counterexample.steps)


def test_a_property_that_holds_is_looked_at_from_the_start():
    """Nothing breaks it, so no step is said to."""
    view = broken("micro-batch", "durable").view

    assert (view.property, view.fails_at, view.steps) == ("durable", None, ())
    assert view.strips[0].property == "durable"


def test_the_run_of_a_witness_breaks_nothing():
    """It is shown step by step, and meets the witness at its end."""
    view = broken("two-phase-commit", "all-abort").view

    assert (view.property, view.fails_at) == ("", None)
    assert len(view.steps) > 2
    strips = {strip.property: strip for strip in view.strips}
    assert strips["all-abort"].cells[-1] == "met"


def test_a_run_that_goes_on_for_ever_is_weighed_and_has_a_run_that_passes():
    """What is kept owes for ever what is claimed; the other run owes nothing."""
    found = broken("two-phase-commit-log", "is-decided", stops=1)
    view, model = found.view, found.model
    assert view.passing is not None
    assert model is not None
    assert model.claim is not None
    promise = promises_of(model.claim, model.interpreter)[0]

    ending = follow(
        model.interpreter,
        model.run.start,
        tuple(Event(name, members) for name, members in view.passing.steps),
    )

    assert view.ending == "the run may stay here for ever"
    stop = next(s for s in view.steps if s.event == "stop_coordinator")
    assert stop.matters
    assert promise.pending(model.run.states)
    assert not promise.pending(ending.states)
    assert model.interpreter.resting(ending.states[-1])


def test_a_file_keeps_which_steps_are_repeated_for_ever(tmp_path):
    """A run round and round is told of as such, from a file as from the model."""
    protocol = Lamps()
    finding = check(protocol).findings[0]
    counterexample_of(protocol, finding).write(tmp_path / "lamps.json")
    counterexample = read(tmp_path / "lamps.json")

    view = explored(counterexample, protocol).view

    assert counterexample.loop is not None
    assert counterexample.loop < len(counterexample.steps)
    assert view.ending.endswith("for ever")
    assert [step.event for step in view.steps if step.matters is False] == []


def test_a_run_taken_again_breaks_what_it_owes_for_ever():
    """It is judged as what repeats its last steps; what is not fair breaks nothing."""
    protocol = Lamps()

    flickering = ["flicker()", "flicker()"]
    assert not holds_along(protocol, "is-lit", flickering, loop=0)
    assert holds_along(protocol, "is-lit", ["flicker()"])
    assert holds_along(protocol, "is-lit", ["light()", *flickering], loop=1)
    with pytest.raises(UsageError, match="not where it ends"):
        holds_along(protocol, "is-lit", ["flicker()"], loop=0)


class Mode(Enum):
    """Values that JSON has no word for, and one that is long."""

    OFF = (0, "off")
    ON = (1, "on")
    LONG = "long" * 1_000


class Switch(Protocol):
    """A switch that counts while it is on."""

    mode = state(one_of(Mode.OFF, Mode.ON, Mode.LONG))
    counted = state(0, high=1_300)

    @action()
    def tick(self):
        """Count one more."""
        when(self.mode == Mode.ON, self.counted < 1_300)
        self.counted += 1

    @always
    def few(self):
        return self.counted < 2

    @always
    def not_many(self):
        """It counts less than 1,200."""
        return self.counted < 1_200


def refuted(claim):
    """Give the finding that refutes a claim of the switch."""
    protocol = Switch()
    prop = next(p for p in claims_of(protocol) if p.name == claim)
    return protocol, check(protocol, [prop]).findings[0]


def test_what_json_has_no_word_for_is_spelled_one_way(tmp_path):
    """A file of it is stepped again, and the page begins where the trace does."""
    protocol, finding = refuted("few")
    counterexample_of(protocol, finding).write(tmp_path / "switch.json")

    found = explored(read(tmp_path / "switch.json"), protocol)

    assert found.view.live
    assert found.view.start["mode"] == "(1, 'on')"
    assert found.model.run.start == finding.trace.start
    assert found.view.because[-1].startswith("but it is claimed that few holds")


def test_a_break_that_the_model_has_no_more_is_not_shown_as_one():
    """The run is shown, with a note; of a claim that is gone only the file tells."""
    protocol, finding = refuted("few")
    counterexample = counterexample_of(protocol, finding)
    clause = claims_of(protocol)[1].clauses[0].text

    fixed = explored(
        replace(counterexample, property="not-many", clause=clause), protocol
    ).view
    gone = explored(replace(counterexample, property="other"), protocol).view

    assert fixed.fails_at is None
    assert not fixed.because
    assert any("does not break not-many any more" in note for note in fixed.notes)
    assert gone.fails_at == counterexample.fails_at
    assert any("the model has no property other" in note for note in gone.notes)


def test_a_break_beyond_what_is_shown_is_only_noted():
    """No step that is shown is said to break, and no reason is made up."""
    protocol, finding = refuted("not-many")

    view = explored(counterexample_of(protocol, finding), protocol).view

    assert len(view.steps) == MOST_STEPS
    assert view.fails_at is None
    assert not view.because
    assert not any(step.breaks for step in view.steps)
    assert "it breaks after step 1,200, which is not shown" in view.notes


def test_what_no_run_comes_back_from_breaks_at_its_last_step():
    """No state by itself shows it: the search that found it is named."""
    view = broken("micro-batch-stateful-skipped-ids", "recoverable").view

    assert view.fails_at == len(view.steps) > 2
    assert any("a search of all states found" in note for note in view.notes)
    assert not any("any more" in note for note in view.notes)


def test_what_can_be_come_back_from_is_not_said_to_break():
    """Of a claim that holds no run is known, and no search has refuted it."""
    view = broken("micro-batch-stateful", "recoverable").view

    assert view.fails_at is None
    assert not any("a search of all states found" in note for note in view.notes)


def test_no_run_is_said_to_pass_where_the_model_breaks_nothing():
    """What readers of Spark saw may not be in the model: no run of it passes then."""
    found = spark()
    stays = DURABLE.clauses[0].text
    other = replace(found, property=DURABLE.name, clause=stays)

    view, of_other = explored(found).view, explored(other).view

    assert view.passing is not None
    assert of_other.passing is None
    assert of_other.fails_at == view.fails_at
    note = "no passing run is shown: in the model, this run itself passes"
    assert note in of_other.notes
    assert note not in view.notes
