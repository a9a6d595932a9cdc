"""What the TLA+ module of a protocol says is what the brute force finds."""

from __future__ import annotations

import os
from collections import Counter
from enum import Enum

import pytest

from onceproof.model.export.tla import module
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_search import claims_of
from tests import tlc
from tests.soundness.cases import draws
from tests.soundness.compare import Compared
from tests.soundness.independent.tla_text import Module

NUMBER = int(os.environ.get("SOUNDNESS_PROTOCOLS", "24"))
SEED = int(os.environ.get("SOUNDNESS_SEED", "0"))
STATES = 25


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    drawn = draws(SEED + 2, NUMBER, folder)
    return [case for case in drawn if not case.trap]


def written(case):
    """Write the module of a case: what it is called in there, and what it says."""
    system = trace(case.kind())
    questions = [q for p in claims_of(system.protocol) for q in p.questions(system)]
    made = module(system, questions)
    fields = {f.path: f for f in system.fields}
    return made, Module(made.text), fields, system


def state_of(brute, number, fields, variables):
    """Give a state of the brute force as the module has it."""
    found = {name: {} for name in variables}
    names = dict(zip(fields, variables, strict=True))
    for (path, at), value in zip(brute.keys, brute.states[number], strict=True):
        shown = value.name if isinstance(value, Enum) else value
        if fields[path].sorts:
            found[names[path]][at] = shown
        else:
            found[names[path]] = shown
    return found


def frozen(state):
    return tuple(
        (name, tuple(sorted(value.items())) if isinstance(value, dict) else value)
        for name, value in sorted(state.items())
    )


@pytest.mark.grid
def test_a_module_takes_the_steps_of_its_protocol(cases):
    """First states, steps, rest, fairness and claims are the same."""
    judged = Counter()
    for case in cases:
        seen = Compared(case, Counter())
        brute = seen.brute
        made, text, fields, system = written(case)
        assert len(text.variables) == len(fields), case.name
        states = {
            frozen(state_of(brute, i, fields, text.variables)): i
            for i in range(len(brute.states))
        }
        starts = {states.get(frozen(s)) for s in text.starts()}
        assert starts == set(range(brute.starts)), case.name
        fair = {a.name for a in system.actions if a.fair}
        assert len(text.fair()) == len(fair), case.name
        for i in range(min(STATES, len(brute.states))):
            state = state_of(brute, i, fields, text.variables)
            steps = Counter(
                (members, states.get(frozen(after)))
                for _, members, after in text.steps(state)
            )
            mine = [(brute.events[e].members, to) for e, to in brute.steps[i]]
            mine += [(brute.events[e].members, i) for e in brute.stutters[i]]
            assert steps == Counter(mine), (case.name, i)
            for claim in made.claims:
                name, _, number = claim.question.name.partition("#")
                clause = seen.by_property[name][int(number)]
                judged[clause.when] += 1
                if clause.when == "step":
                    for _, _, after in text.steps(state):
                        to = states[frozen(after)]
                        found = text.says(claim.name, state, after)
                        assert found == brute.ask(clause, i, to), (case.name, name)
                    continue
                wanted = brute.ask(clause, i)
                if clause.when == "sometimes":
                    wanted = not wanted
                elif clause.when == "at_rest":
                    wanted = wanted or not brute.rests[i]
                assert text.says(claim.name, state) == wanted, (case.name, name, i)

    assert set(judged) >= {"always", "step", "at_rest", "sometimes", "leads_to"}


@pytest.mark.grid
@pytest.mark.tlc
def test_tlc_finds_what_the_brute_force_finds(cases, tmp_path):
    """The real TLC takes every module, and refutes what the brute force refutes."""
    compared = Counter()
    for case in cases:
        seen = Compared(case, Counter())
        made, *_ = written(case)
        (tmp_path / f"{made.name}.tla").write_text(made.text, encoding="utf-8")
        for number, claim in enumerate(made.claims[:6]):
            name, _, clause = claim.question.name.partition("#")
            settled = seen.settled[seen.by_property[name][int(clause)]]
            text = made.configuration([claim])
            (tmp_path / f"C{number}.cfg").write_text(text, encoding="utf-8")
            answered = tlc.run(tmp_path, made.name, f"C{number}")
            broken = settled.verdict == "refuted"
            if claim.witness:
                broken = settled.verdict == "exhausted"
            wanted = "violated" if broken else "holds"
            assert answered.answer == wanted, (case.name, name, answered.output[-2000:])
            if not broken:
                assert answered.distinct == len(seen.brute.states), case.name
            compared[claim.question.when, wanted] += 1

    assert len(compared) >= 6, compared
