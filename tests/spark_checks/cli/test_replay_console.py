"""What a replay says to people: sentences that are true, and colour where asked for."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import pytest
from click.testing import CliRunner

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.guarantees import AT_MOST_ONCE, guarantees_of
from onceproof.properties.judges.by_search import check
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.cli.output.replay_console import replay_data, show_replay
from onceproof.spark_checks.cli.output.replay_progress import file_view, replay_view
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
from onceproof.spark_checks.replay.events import SinkBegun, SinkJudged, Started
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.sink_report import SinkReport, status
from onceproof.spark_checks.report.drift import drift_data, parting
from tests.spark_checks.steering import SINKS, SMALL

SINK = SINKS["foreach-batch-append"]
GIVEN = flights_input(SMALL)
PROTOCOL = protocol_of(SINK, SMALL)
CLASSES = interleavings(PROTOCOL)
MOMENTS = ("after crash()", "after crash(), time 2", "at rest")


def history(*seen: int, events: int = 2, rested: bool = True) -> History:
    outcomes = tuple(EventOutcome(i == 2, n) for i, n in enumerate(seen))
    row = Row(0, accepted=True, outcomes=outcomes, events=events)
    return History(MOMENTS, (row,), (0, 0, 0), rested)


@pytest.fixture
def report():
    def make(*outcomes: Outcome, **rest) -> SinkReport:
        judged = check(PROTOCOL, guarantees_of(PROTOCOL))
        return SinkReport(SINK, PROTOCOL, CLASSES, judged, GIVEN, outcomes, **rest)

    return make


def outcome(model, spark, **rest) -> Outcome:
    return Outcome(CLASSES.classes[0], model, spark, ("a failpoint",), 0.1, **rest)


def shown(report, capsys) -> str:
    show_replay([report], {SINK.name: {}})
    return capsys.readouterr().out


def paragraphs(text: str) -> list[str]:
    """Join what was wrapped: each line that begins as the last one went on."""
    found: list[str] = []
    begins = (
        f"{SINK.name}: ",
        f"{SINK.name} is",
        '"held"',
        "Each ",
        "Not ",
        "onceproof",
    )
    for line in text.splitlines():
        if found and line and not line.startswith(begins):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
    return found


def test_where_nothing_was_replayed_nothing_is_said_of_the_model(report, capsys):
    """Not a word of what the model refutes: nothing is judged."""
    found = report(outcome(None, None, not_replayed="the query did not end"))

    text = shown(found, capsys)

    assert "nothing is judged, because nothing was replayed" in text
    assert "the model" not in text


def test_what_a_part_of_the_replays_left_open_is_said_so(report, capsys):
    """One of many interleavings was replayed: its number is told."""
    found = report(outcome(history(0, 0, 1), history(0, 0, 1, events=842)))

    text = shown(found, capsys)

    many = len(CLASSES.classes)
    [line] = [one for one in paragraphs(text) if " undecided: " in one]
    assert line.startswith(f"{SINK.name}: at-most-once, effectively-once")
    assert line.endswith(
        f"refuted in the model, but in no replay: 1 of {many} interleavings were "
        "replayed."
    )
    assert "durable" not in line


def test_what_held_names_its_bounds(report, capsys):
    """Sizes, faults and the version, in the table's footnote and as data."""
    found = report(outcome(history(0, 1, 1), history(0, 1, 1)))
    nothing = report(outcome(None, None, not_replayed="the query did not end"))

    text = shown(found, capsys)
    data = replay_data([found], {SINK.name: {}})["sinks"][0]["bounds"]

    words = [
        f"{SMALL.batches} batch",
        f"{SMALL.partitions} partitions each",
        f"{GIVEN.events} events; at most 1 fault in a run",
        f"Spark {metadata.version('pyspark')}",
    ]
    [line] = [one for one in paragraphs(text) if one.startswith('"held" covers')]
    assert all(word in line and word in data for word in words)
    assert '"held" covers' not in shown(nothing, capsys)


def test_a_sink_of_which_nothing_was_replayed_makes_the_whole_undecided(report):
    """Another that was replayed does not hide it; and no sink at all is no answer."""
    good = history(0, 1, 1)
    judged = replace(report(outcome(good, good)), sink=replace(SINK, refuted=set()))
    nothing = report(outcome(None, None, not_replayed="why", known=True))

    assert status([judged], whole=False) == 0
    assert status([judged, nothing], whole=False) == 2
    assert status([], whole=False) == 2


def test_drift_shows_both_histories_up_to_where_they_part(report, capsys):
    """The moments before agree, the first that differs is marked, none follows."""
    found = report(
        outcome(history(0, 1, 1), history(0, 2, 1, events=842)), kept={1: "/kept/here"}
    )

    text = shown(found, capsys)

    lines = [line.strip() for line in text.splitlines()]
    start = lines.index("after crash(): they agree")
    assert lines[start : start + 7] == [
        "after crash(): they agree",
        "model  batch 0: 2 of 2 seen not at all",
        "Spark  batch 0: 842 of 842 seen not at all",
        "after crash(), time 2: here they part",
        "model  batch 0: 2 of 2 seen once",
        "Spark  batch 0: 842 of 842 seen twice",
        "left behind: /kept/here",
    ]


def test_the_difference_is_found_in_what_was_seen_before():
    """Events that stand alike now, and not before, part at the earlier moment."""
    lines = parting(history(1, 1, 1), history(0, 1, 1))

    assert [moment.differs for moment in lines] == [True]


def test_histories_that_are_alike_do_not_part(report):
    """A restart too many drifts, though all that is seen is as in the model."""
    drifting = outcome(history(0, 1, 1), history(0, 1, 1), unplanned=("locked",))

    data = drift_data(report(drifting), drifting)

    assert drifting.drift
    assert data["moments"] == []
    assert data["restarts"] == ["locked"]


@pytest.mark.parametrize(("number", "reported"), [(1, False), (7, True)])
def test_a_file_for_which_many_failures_stand_says_so(capfd, number, reported):
    """On stderr, past what a test captures; one failure is that of the file."""
    with file_view() as view:
        view(SinkBegun("test_sinks.py::mine", number))

    out, err = capfd.readouterr()
    assert out == ""
    assert (
        "7 failures stand for that of the file" in " ".join(err.split())
    ) == reported


def test_json_names_the_folder_and_whether_there_is_a_failpoint(report):
    """What was missed is distinct from what no failpoint reaches."""
    out_of_reach = outcome(None, None, not_replayed="no failpoint", known=True)
    found = report(
        outcome(None, None, not_replayed="never injected"),
        replace(out_of_reach, interleaving=CLASSES.classes[1]),
        kept={1: "/kept/here"},
    )

    data = replay_data([found], {SINK.name: {}})["sinks"][0]["not_replayed"]

    assert [(one["no_failpoint"], one["folder"]) for one in data] == [
        (False, "/kept/here"),
        (True, ""),
    ]


TWICE = history(0, 1, 2)
ONCE = history(0, 1, 1)


@pytest.mark.parametrize(
    ("outcomes", "refuted", "expected"),
    [
        ([outcome(ONCE, ONCE)], SINK.refuted, 0),
        ([outcome(TWICE, TWICE)], SINK.refuted, 0),
        ([outcome(TWICE, TWICE)], frozenset(), 1),
        ([outcome(ONCE, TWICE)], SINK.refuted, 1),
        ([outcome(ONCE, ONCE), outcome(None, None, not_replayed="x")], SINK.refuted, 2),
        (
            [outcome(ONCE, ONCE), outcome(None, None, not_replayed="x", known=True)],
            SINK.refuted,
            0,
        ),
        ([outcome(None, None, not_replayed="x", known=True)], SINK.refuted, 2),
    ],
)
def test_the_exit_status_of_a_part(report, outcomes, refuted, expected):
    """1 unexpected or drift, 2 missed, 0 where all that was run is as stated."""
    found = replace(report(*outcomes), sink=replace(SINK, refuted=refuted))

    assert status([found], whole=False) == expected


@pytest.mark.parametrize(
    ("option", "environment", "colored"),
    [
        ([], {}, False),
        (["--color"], {}, True),
        (["--no-color"], {"FORCE_COLOR": "1"}, False),
        (["--color"], {"NO_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "0"}, False),
    ],
)
def test_colour_is_an_option_and_heeds_the_environment(option, environment, colored):
    """The option goes first, then NO_COLOR, then FORCE_COLOR; a pipe has none."""
    cleared = {"NO_COLOR": None, "FORCE_COLOR": None}

    result = CliRunner(env=cleared | environment).invoke(main, [*option, "doctor"])

    assert ("\x1b[" in result.stdout) is colored


def test_guarantees_that_one_failure_breaks_are_one_story(report, capsys):
    """What is done and seen is told once, with all that it breaks, and one command."""
    found = report(outcome(TWICE, TWICE))
    refuted = [p.name for p in found.properties if found.first_break(p)]
    assert len(refuted) > 1
    files = {name: f".onceproof/{SINK.name}--{name}.json" for name in refuted}

    show_replay([found], {SINK.name: files})
    text = capsys.readouterr().out
    causes = replay_data([found], {SINK.name: files})["sinks"][0]["causes"]

    assert text.count("a failpoint;") == 1
    assert text.count("onceproof explore .onceproof/") == 1
    output = " ".join(text.split())
    assert all(name in output for name in refuted)
    [cause] = causes
    assert cause["guarantees"] == refuted
    assert cause["counterexample"] == files["effectively-once"]


def test_a_result_fits_eighty_columns(report, capsys):
    """All but the commands, which are to be copied whole."""
    longest = max(SINKS, key=len)
    found = report(outcome(TWICE, TWICE), outcome(ONCE, TWICE), kept={1: "/kept"})
    found = replace(found, sink=replace(SINK, name=longest))

    show_replay([found], {longest: {}})

    lines = capsys.readouterr().out.splitlines()
    assert any(longest in line for line in lines)
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)


def test_the_failure_that_is_shown_is_the_smallest(report):
    """Of those that break a claim: the driver dies, early, after the fewest steps."""
    two = replace(SMALL, batches=2)
    protocol = protocol_of(SINK, two)
    classes = interleavings(protocol)
    looked = Interpreter(protocol)

    def batch(one):
        return looked.look(one.trace.states[one.faults[0]]).commits

    every = [
        replace(outcome(TWICE, TWICE), interleaving=one) for one in classes.classes
    ]
    found = replace(report(*every), protocol=protocol, classes=classes)

    shown_first = found.first_break(AT_MOST_ONCE).interleaving

    def dies(one):
        return {one.trace.events[at].name for at in one.faults} == {"crash"}

    alike = [one for one in classes.classes if dies(one) and batch(one) == 0]
    assert 0 < len(alike) < len(classes.classes)
    assert shown_first in alike
    assert len(shown_first.trace.steps) == min(len(one.trace.steps) for one in alike)


def test_how_far_a_replay_is_names_sinks_and_interleavings(report, capfd):
    """Where nobody watches a terminal, a line for each sink says which of how many."""
    found = report(outcome(ONCE, ONCE))

    with replay_view() as view:
        view(Started((SINK.name, "other"), "/scratch"))
        view(SinkBegun(SINK.name, 1))
        view(SinkJudged(found))

    err = capfd.readouterr().err
    assert "replaying 2 sinks in /scratch" in err
    assert f"sink 1 of 2, {SINK.name}: 1 of 1 interleavings" in err


def test_a_step_that_no_model_explains_is_drift_and_is_shown(report, capsys):
    """Though readers see what the model says."""
    seen = history(0, 1, 1)
    why = ("no behaviour of the model explains this step", "log_commit(0) needs more")
    strange = outcome(seen, seen, trace=TraceCheck(checked=True, unexplained=why))
    found = report(strange)

    text = shown(found, capsys)
    data = replay_data([found], {SINK.name: {}})["sinks"][0]

    assert "drifts from its model" in text
    assert all(line in text for line in why)
    assert "Each step that the agent reported" not in text
    assert data["drifts"][0]["unexplained"] == list(why)
    assert (data["drift"], data["conforming"]) == (1, 0)
    assert status([found], whole=False) == 1


def test_how_many_runs_conform_and_why_others_were_not_compared(report, capsys):
    seen = history(0, 1, 1)
    edited = "a checkpoint was edited between two runs"
    found = report(
        outcome(seen, seen, trace=TraceCheck(checked=True)),
        outcome(seen, seen, trace=TraceCheck(unchecked=edited)),
    )

    text = " ".join(shown(found, capsys).split())
    data = replay_data([found], {SINK.name: {}})["sinks"][0]

    assert "Each step that the agent reported is a step of the model: in 1 of 2" in text
    assert f"Steps were not compared in 1: {edited}." in text
    assert (data["conforming"], data["steps_not_checked"]) == (1, {edited: 1})
    assert data["drift"] == 0
