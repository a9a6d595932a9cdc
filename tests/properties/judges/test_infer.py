"""Claims about inferred lemmas."""

from __future__ import annotations

import itertools
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from onceproof.model import language
from onceproof.model.errors import Disagreement
from onceproof.model.language import action, when
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.protocols import two_phase_commit
from onceproof.model.protocols.two_phase_commit import Tm, TwoPhaseCommit
from onceproof.model.search.limits import Limits
from onceproof.properties.guarantees import AGREEMENT
from onceproof.properties.judges.by_proof import judge, prove
from onceproof.properties.judges.by_proof.claims import ask, claimed_always
from onceproof.properties.judges.by_proof.fragment import open_sorts
from onceproof.properties.judges.by_proof.induction import Induction
from onceproof.properties.judges.by_proof.inference.infer import Inference
from onceproof.properties.judges.by_proof.inference.infer import infer as inferred
from onceproof.properties.judges.by_proof.second_solver import recheck
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.random_protocols import protocols

if TYPE_CHECKING:
    from onceproof.properties.judges.by_proof.inference.infer import InferredLemma


def lemmas_of(protocol: TwoPhaseCommit) -> tuple[InferredLemma, ...]:
    """Infer the lemmas for agreement."""
    system = trace(protocol)
    return inferred(system, ask(AGREEMENT, system), timeout_seconds=600).lemmas


class Hasty(TwoPhaseCommit):
    """Two-phase commit whose manager does not wait for the votes."""

    @action
    def tm_commit(self) -> None:
        """The manager decides at once."""
        when(self.tm == Tm.INIT)
        self.tm = Tm.COMMITTED
        self.commit_sent = True


def test_agreement_is_proved_by_lemmas_that_nobody_wrote():
    report = prove(TwoPhaseCommit(), [AGREEMENT], infer=True)

    (finding,) = report.findings
    assert finding.verdict is Verdict.PROVED
    assert finding.lemmas == tuple(report.inferred)
    assert set(finding.lemmas).isdisjoint(p.name for p in claims_of(TwoPhaseCommit()))
    assert "confirmed by search at RM=1, 2 and 3" in finding.confirmed
    assert "; re-checked by cvc5 " in finding.confirmed


def test_the_proof_fails_without_any_one_of_the_lemmas():
    system = trace(TwoPhaseCommit())
    claims = ask(AGREEMENT, system)
    induction = Induction(system, open_sorts=open_sorts(system))
    lemmas = [lemma.query for lemma in lemmas_of(system.protocol)]

    def proved(some):
        return induction.prove(claims, list(some), timeout_seconds=600).holds

    assert proved(lemmas)
    for fewer in itertools.combinations(lemmas, len(lemmas) - 1):
        assert not proved(fewer)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["kappa-architecture", "transactional-outbox"])
def test_without_one_of_its_inferred_lemmas_some_claim_is_not_proved(name):
    """Each property is proved by itself, with all lemmas that were inferred."""
    system = trace(make(name, {}))
    names = ("at-least-once", "effectively-once", "durable")
    groups = [ask(p, system) for p in claims_of(system.protocol) if p.name in names]
    claims = [claim for group in groups for claim in group]
    induction = Induction(system, open_sorts=open_sorts(system))

    def answers(some):
        lemmas, limit = [lemma.query for lemma in some], {"timeout_seconds": 600}
        return [
            induction.prove(
                [claimed_always(claim, system) for claim in group], lemmas, **limit
            ).holds
            for group in groups
        ]

    found = inferred(system, claims, timeout_seconds=600)

    assert len(groups) == len(names)
    assert found.fewest
    assert len(found.lemmas) > 1
    assert answers(found.lemmas) == [True, True, True]
    for fewer in itertools.combinations(found.lemmas, len(found.lemmas) - 1):
        assert False in answers(fewer)


def test_lemmas_that_are_put_into_the_protocol_prove_it():
    text = "\n\n".join(lemma.text.method for lemma in lemmas_of(TwoPhaseCommit()))
    # Its own lemmas are no lemmas any more; the inferred ones take their place.
    own = "\n".join(
        f"{p.name.replace('-', '_')} = None"
        for p in claims_of(TwoPhaseCommit())
        if p.lemma
    )
    body = textwrap.indent(own + "\n\n" + text, "    ")
    source = f"class Pasted(TwoPhaseCommit):\n{body}"
    names = {**vars(language), **vars(two_phase_commit)}
    exec(compile(source, "pasted.py", "exec"), names)

    (finding,) = prove(names["Pasted"](), [AGREEMENT]).findings

    assert finding.verdict is Verdict.PROVED
    assert all(name.startswith("inferred-") for name in finding.lemmas)


def test_no_lemmas_are_inferred_for_what_is_false():
    report = prove(Hasty(), [AGREEMENT], infer=True)

    assert report.verdicts == {"agreement": Verdict.REFUTED}
    assert not report.inferred


def test_lemmas_that_are_false_prove_nothing(monkeypatch):
    wrong = lemmas_of(TwoPhaseCommit())
    monkeypatch.setattr(judge, "infer_lemmas", lambda *_, **__: Inference(wrong))

    report = prove(Hasty(), [AGREEMENT], infer=True)

    assert report.verdicts == {"agreement": Verdict.REFUTED}


def test_a_proof_says_that_no_second_solver_checked_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvc5", None)

    (finding,) = prove(TwoPhaseCommit(), [AGREEMENT], infer=True).findings

    assert finding.verdict is Verdict.PROVED
    assert "; not re-checked by a second solver: this needs cvc5" in finding.confirmed


def test_the_second_solver_refuses_what_is_not_inductive():
    system = trace(TwoPhaseCommit())
    lemmas = [lemma.query for lemma in lemmas_of(system.protocol)]
    claims = [*ask(AGREEMENT, system), *lemmas]

    def rechecked(some, of=system):
        return recheck(of, some, open_sorts(of), timeout_seconds=600)

    assert rechecked(claims).startswith("re-checked by cvc5")
    assert not rechecked(claims, trace(Hasty())).startswith("re-checked")
    for fewer in itertools.combinations(claims, len(claims) - 1):
        if fewer[0] is claims[0]:
            assert not rechecked(fewer).startswith("re-checked")


def test_the_second_solver_contradicts_a_proof():
    """At given sizes nothing is open, so that cvc5 finds the step."""
    system = trace(Hasty())
    claims = [*ask(AGREEMENT, system), *[x.query for x in lemmas_of(TwoPhaseCommit())]]

    with pytest.raises(Disagreement, match="cvc5 finds"):
        recheck(system, claims, frozenset(), timeout_seconds=600)


@pytest.mark.grid
@settings(max_examples=12, deadline=None)
@given(protocols())
def test_nothing_is_proved_by_inference_that_the_search_refutes(drawn):
    report = prove(drawn(), infer=True, depth=2, timeout_seconds=2)

    proved = {
        f.property.name for f in report.findings if "inductive for every" in f.note
    }
    for size in (1, 2, 3):
        other = drawn(S=size)
        chosen = [p for p in claims_of(other) if p.name in proved]
        found = check(other, chosen, limits=Limits(states=20_000))
        assert Verdict.REFUTED not in found.verdicts.values()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "settings_", "claim"),
    [
        ("transaction-commit", {}, "agreement"),
        ("simple-broadcast-commit", {}, "agreement"),
        ("kappa-architecture", {}, "effectively-once"),
        ("lambda-architecture", {}, "at-least-once"),
        ("multi-version-store", {}, "effectively-once"),
        pytest.param("output-commit", {}, "effectively-once", marks=pytest.mark.grid),
        ("micro-batch", {"sink": "batch-ledger"}, "effectively-once"),
        ("micro-batch", {"sink": "batch-ledger"}, "durable"),
    ],
)
def test_lemmas_are_inferred_for_protocols_of_the_library(name, settings_, claim):
    model = make(name, settings_)
    wanted = [p for p in claims_of(model) if p.name == claim]

    (finding,) = prove(model, wanted, infer=True, timeout_seconds=600).findings

    assert "inductive for every number of members" in finding.note
    assert finding.verdict in (Verdict.PROVED, Verdict.EXHAUSTED)
