"""Real, documented violations are rediscovered, and their fixes hold."""

from __future__ import annotations

import inspect

import pytest

from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.zoo.causes import CAUSES
from tests.model.zoo.collected import CONTROLS, ENTRIES, REPORTED
from tests.model.zoo.entry import STEP, steps

MOST_LINES = 40
FIXES = {
    f"{entry.name}: {fix.made.words()}": fix for entry in ENTRIES for fix in entry.fixes
}


def named(entries):
    """Name entries by their tickets."""
    return [pytest.param(entry, id=entry.name) for entry in entries]


def test_every_report_is_in_the_zoo():
    """Each of the list has an entry, and no entry is of another one."""
    found = {entry.tickets[0] for entry in ENTRIES}

    assert found == set(REPORTED)
    assert len(REPORTED) == len(set(REPORTED)) == 21
    assert len({entry.file_name for entry in ENTRIES}) == len(ENTRIES)


def test_every_cause_has_an_entry():
    """No heading of the page is without one, and none is left out."""
    found = {entry.cause.title for entry in ENTRIES}

    assert found == {cause.title for cause in CAUSES}


def test_a_run_is_read_step_by_step():
    """Members and faults are kept, and nothing of the text is left over."""
    text = "start()  sink.put(0, 1)  crash()!"

    read = steps(text)

    assert [(e.name, e.members, e.fault) for e in read] == [
        ("start", (), False),
        ("sink.put", (0, 1), False),
        ("crash", (), True),
    ]
    assert STEP.sub("", text).strip() == ""


@pytest.mark.parametrize("entry", named(ENTRIES))
def test_its_run_breaks_the_claim_at_its_last_step(entry):
    """Step by step in plain Python, and not before the last one."""
    for run in filter(None, (entry.run, entry.reported)):
        found = entry.followed(run)
        reference, states = found.reference, found.trace.states

        assert breaks(reference, found.claim, states)
        assert not breaks(reference, found.claim, states[:-1])
        assert all(reference.steps[e.name].fault == e.fault for e in run)


def breaks(reference, claim, states) -> bool:
    """Say whether a property is broken by the last state, or step, of a run."""
    views = [claim.view(reference.look(state)) for state in states]
    shown = []
    for clause in claim.clauses:
        if clause.when == "always":
            shown.append(not clause.holds(views[-1]))
        elif clause.when == "step":
            shown.append(not clause.holds(*views[-2:]))
        elif clause.when == "at_rest":
            shown.append(reference.resting(states[-1]) and not clause.holds(views[-1]))
        elif clause.when == "recoverable":
            shown.append(not recovers(reference, states[-1], clause.holds, claim))
    return any(shown)


def recovers(reference, state, holds, claim) -> bool:
    """Search in plain Python, without faults, for rest where the claim is true."""
    seen, todo = {state}, [state]
    for now in todo:
        if reference.resting(now) and holds(claim.view(reference.look(now))):
            return True
        for event, after in reference.successors(now):
            if not event.fault and after not in seen:
                seen.add(after)
                todo.append(after)
    return False


@pytest.mark.parametrize("entry", named(ENTRIES))
def test_an_entry_is_a_few_lines_over_the_library(entry):
    """What is new in it, with its parts."""
    lines = sum(
        len(inspect.getsource(kind).splitlines()) for kind in entry.made.own_classes()
    )

    assert lines <= MOST_LINES


@pytest.mark.ci
@pytest.mark.parametrize("entry", named(ENTRIES))
def test_the_search_refutes_what_the_entry_states_and_nothing_else(entry):
    """No shorter run breaks the claim that is shown; the report's is longer."""
    report = check(entry.made.instance())

    refuted = {n for n, v in report.verdicts.items() if v is Verdict.REFUTED}
    others = {n for n, v in report.verdicts.items() if not v.holds} - refuted
    found = next(f for f in report.findings if f.property.name == entry.shows)
    assert refuted == entry.breaks
    assert others == entry.unmet
    assert found.trace is not None
    assert len(found.trace.events) == len(entry.run) or entry.same_faults
    assert not entry.reported or len(entry.reported) > len(entry.run)


@pytest.mark.grid
@pytest.mark.parametrize("entry", named(e for e in ENTRIES if e.same_faults))
def test_a_run_is_a_shortest_one_with_the_faults_of_the_report(entry):
    """Plain Python follows every shorter run whose faults are these, in this order."""
    found = entry.followed(entry.run)
    reference, faults = found.reference, [e.name for e in entry.run if e.fault]
    level = {(found.trace.states[0], 0)}

    for _ in entry.run[1:]:
        following = set()
        for before, met in level:
            for event, after in reference.successors(before):
                if event.fault and faults[met : met + 1] != [event.name]:
                    continue
                now = met + event.fault
                following.add((after, now))
                assert now < len(faults) or not breaks(
                    reference, found.claim, (before, after)
                )
        level = following

    assert any(met == len(faults) for _, met in level)


@pytest.mark.grid
@pytest.mark.parametrize("fix", FIXES.values(), ids=list(FIXES))
def test_its_fix_holds(fix):
    """Every claim does, and none vacuously."""
    found = check(fix.made.instance()).verdicts

    assert set(found.values()) == {Verdict.EXHAUSTED}


@pytest.mark.grid
@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_is_not_reported(name):
    """What was reported and is no violation holds."""
    found = check(CONTROLS[name].made.instance()).verdicts

    assert set(found.values()) == {Verdict.EXHAUSTED}
