"""A file of a trace is read as it is meant, or refused with its line."""

from __future__ import annotations

import json

import pytest

from onceproof.model.conformance.check import Conformer
from onceproof.model.conformance.trace_file import observed, read_trace_file
from onceproof.model.errors import UsageError
from onceproof.model.library import make

HEADER = {"trace": 1, "protocol": "two-phase-commit", "set": {"RM": 2}}


def checked(tmp_path, *events, header=HEADER, silent=()):
    file = read_trace_file(written(tmp_path, *events, header=header))
    protocol = make(file.protocol, file.settings)
    return Conformer(protocol).check(observed(file, protocol, silent))


def written(tmp_path, *events, header=HEADER):
    path = tmp_path / "run.jsonl"
    lines = [header, *events] if header else events
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_whole_trace_with_names_states_and_overlapping_calls(tmp_path):
    """The names of interchangeable members are whatever a log calls them."""
    events = (
        {"call": "a", "step": "rm_prepare", "members": {"rm": "north"}},
        {"call": "b", "step": "rm_prepare", "members": {"rm": "south"}},
        {"return": "b", "state": {"rm[south]": "prepared"}},
        {"step": "tm_rcv_prepared", "members": {"rm": "south"}},
        {"step": "tm_rcv_prepared", "members": ["north"], "note": {"time": 3}},
        {"return": "a"},
        {"step": "tm_commit", "state": {"commit_sent": True}},
    )

    found = checked(tmp_path, *events)

    assert found.conforms is True
    assert [str(event) for event in found.behaviour.trace.events][-1] == "tm_commit()"


def test_the_first_event_that_is_not_explained_has_its_line(tmp_path):
    prepared = {"step": "rm_prepare", "members": {"rm": "north"}}

    found = checked(tmp_path, prepared, {"step": "tm_commit"})

    assert found.divergence.observation.line == 3
    assert found.divergence.observation.text == "tm_commit"
    assert "prepared_seen[0]" in str(found.divergence.nearest[0].failed[0])


def test_a_pattern_stands_for_the_steps_that_it_matches(tmp_path):
    silent = {**HEADER, "silent": ["rm_*"]}

    assert checked(tmp_path, {"step": ["tm_a*", "tm_commit"]}).conforms is True
    learned = {"state": {"rm[0]": "aborted"}}
    assert checked(tmp_path, learned, header=silent).conforms is True
    assert checked(tmp_path, learned).conforms is False
    assert checked(tmp_path, learned, silent=("rm_*",)).conforms is True


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"step": "tm_comit"}, "line 2: two-phase-commit has no step 'tm_comit'; did"),
        ({"step": []}, "takes a name, or a list"),
        ({"step": "tm_commit", "members": {"rm": 0}}, "is for no member 'rm'"),
        ({"step": "rm_prepare", "members": {"rm": 2}}, "2 members of RM.*--set RM=3"),
        ({"step": "rm_prepare", "members": [0, 1]}, "is for 1 members"),
        ({"step": "rm_prepare", "members": 1}, '"members" takes an object'),
        ({"step": "rm_prepare", "members": {"rm": True}}, "a number or a name"),
        ({"step": "tm_commit", "state": {"tmm": 1}}, "no state 'tmm'; did you mean"),
        ({"step": "tm_commit", "state": {"rm": "aborted"}}, r"written as rm\[rm\]"),
        ({"step": "tm_commit", "state": {"tm": "gone"}}, "never 'gone'; it is one of"),
        ({"step": "tm_commit", "state": {"commit_sent": 1}}, "never 1"),
        ({"step": "tm_commit", "state": 1}, '"state" takes an object'),
        ({"stop": "tm_commit"}, "no 'stop'; did you mean 'step'"),
        ({"members": [1], "state": {"tm": "init"}}, "says nothing without a step"),
        ({"note": "nothing"}, "an event has a"),
        ({"return": "a"}, "no call before it is named 'a'"),
        ({"return": "a", "gone": "a"}, "either a return or a gone"),
        ({"call": "a"}, 'a call has a "step"'),
        ({"call": 1, "step": "tm_commit"}, "takes the name of a call"),
        ([], "a line of a trace is a JSON object"),
    ],
)
def test_what_is_no_event_is_refused(tmp_path, event, why):
    with pytest.raises(UsageError, match=why):
        checked(tmp_path, event)


def test_members_are_named_or_numbered_and_no_more_than_there_are(tmp_path):
    def prepared(name):
        return {"step": "rm_prepare", "members": {"rm": name}}

    with pytest.raises(UsageError, match="by number and by name"):
        checked(tmp_path, prepared("north"), prepared(1))
    with pytest.raises(UsageError, match="line 4: there are 2 members of RM"):
        checked(tmp_path, *map(prepared, ("north", "south", "east")))


def test_ordered_members_have_no_names(tmp_path):
    header = {"trace": 1, "protocol": "micro-batch"}
    event = {"step": "log_offsets", "members": {"batch": "first"}}

    with pytest.raises(UsageError, match="by its number, not as 'first'"):
        checked(tmp_path, event, header=header)


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"trace": 2}, "version 1 of traces, not 2"),
        ({"trace": 1, "protocoll": "x"}, "no 'protocoll'; did you mean 'protocol'"),
        ({"trace": 1, "protocol": 3}, "takes a name"),
        ({"trace": 1, "set": {"RM": True}}, '"set" takes'),
        ({"trace": 1, "silent": "rm_*"}, '"silent" takes a list'),
    ],
)
def test_a_wrong_header_is_refused(tmp_path, header, why):
    with pytest.raises(UsageError, match=why):
        read_trace_file(written(tmp_path, {"step": "tm_commit"}, header=header))


def test_a_call_ends_once(tmp_path):
    call = {"call": "a", "step": "tm_abort"}

    with pytest.raises(UsageError, match="has ended before"):
        checked(tmp_path, call, {"return": "a"}, {"gone": "a"})
    with pytest.raises(UsageError, match="another call named"):
        checked(tmp_path, call, call)


def test_a_file_without_events_shows_nothing(tmp_path):
    with pytest.raises(UsageError, match="holds no event"):
        checked(tmp_path)


def test_a_silent_step_that_the_protocol_lacks_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"silent of .*no step 'rn_prepare'"):
        checked(tmp_path, {"step": "tm_abort"}, silent=("rn_prepare",))
