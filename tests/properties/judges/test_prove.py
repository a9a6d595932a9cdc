"""Claims about the second judge, z3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    count,
    implies,
    not_,
    one_of,
    part,
    recoverable,
    sometimes,
    state,
    step,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.model.protocols.parts.sinks.partition_ledger import PartitionLedger
from onceproof.model.protocols.parts.sinks.upsert import Upsert
from onceproof.model.protocols.simple_broadcast_commit import SimpleBroadcastCommit
from onceproof.model.protocols.two_phase_commit import Tm, TwoPhaseCommit
from onceproof.model.traces import follow
from onceproof.properties.guarantees import AGREEMENT, AT_MOST_ONCE
from onceproof.properties.judges.by_proof import confirm, prove
from onceproof.properties.judges.by_proof.bounded import check_bounded
from onceproof.properties.judges.by_proof.claims import ask
from onceproof.properties.judges.by_proof.fragment import fragment, open_sorts
from onceproof.properties.judges.by_proof.induction import Induction
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from onceproof.properties.judges.by_proof.induction import Inductive
    from onceproof.properties.judges.by_search import Finding

LEMMAS = tuple(p.name for p in own_properties(TwoPhaseCommit()) if p.lemma)


class Hasty(TwoPhaseCommit):
    """Two-phase commit whose manager does not wait for the votes."""

    @action
    def tm_commit(self) -> None:
        """The manager decides at once."""
        when(self.tm == Tm.INIT)
        self.tm = Tm.COMMITTED
        self.commit_sent = True


class Ballot(Protocol):
    """Voters of whom a number is counted."""

    VOTER = Sort("voter", size=3)

    voted = state(False, per=VOTER)
    passed = state(False)

    @action(per=VOTER)
    def vote(self, v: Member) -> None:
        """A voter votes."""
        when(not_(self.voted[v]))
        self.voted[v] = True

    @action
    def close(self) -> None:
        """Two votes are enough."""
        when(count(self.voted[v] for v in self.VOTER) >= 2)
        self.passed = True

    @always
    def someone_voted(self) -> bool:
        """Nothing passes without a vote."""
        return implies(self.passed, count(self.voted[v] for v in self.VOTER) >= 2)


class SizedBallot(Ballot):
    """A ballot that asks how many voters there are, in a claim."""

    @action
    def close(self) -> None:
        """Every vote is needed."""
        when(all_of(self.voted[v] for v in self.VOTER))
        self.passed = True

    @always
    def someone_voted(self) -> bool:
        """A claim that is only false where there are more than three voters."""
        return all_of(len(self.VOTER) <= 3, self.passed == self.passed)


class Table(Part):
    """Where guests are fed."""

    PERSON = Sort("guest", size=2)

    fed = state(False, per=PERSON)


class Hosts(Protocol):
    """Guests of as many kinds as hosts, for now: two sorts that share a name."""

    PERSON = Sort("host", size=2)

    table = part(Table)
    seen = state(False, per=PERSON)

    @action(per=Table.PERSON)
    def feed(self, g: Member) -> None:
        """A guest is fed, once a host has seen to it."""
        when(any_of(self.seen[h] for h in self.PERSON))
        self.table.fed[g] = True

    @action(per=PERSON)
    def see(self, h: Member) -> None:
        """A host looks round."""
        self.seen[h] = True

    @always
    def fed_by_someone(self) -> bool:
        """A guest is fed only if a host has seen to it."""
        return all_of(
            implies(self.table.fed[g], any_of(self.seen[h] for h in self.PERSON))
            for g in self.table.PERSON
        )


class Courier(Protocol):
    """A token handed round, to try every kind of clause."""

    PLACE = Sort("place", size=3, ordered=True)

    at = state(0, high=3)
    start = state(one_of(False, True))

    @action
    def move(self) -> None:
        """The token goes on."""
        when(self.at < 3, self.start)
        self.at = self.at + 1

    @step
    def never_back(self, after: Courier) -> bool:
        """The token never goes back."""
        return self.at <= after.at

    @step
    def never_past_two(self, after: Courier) -> bool:
        """The token does not leave the second place, which is false."""
        return implies(self.at == 2, after.at == 2)

    @at_rest
    def ends_at_an_end(self) -> bool:
        """The token rests at either end."""
        return any_of(self.at == 0, self.at == 3)

    @at_rest
    def ends_at_the_end(self) -> bool:
        """The token rests at the end, which is false where it never starts."""
        return self.at == 3

    @sometimes
    def arrives(self) -> bool:
        """The token can arrive."""
        return self.at == 3

    @sometimes
    def flies(self) -> bool:
        """The token can arrive without a start, which is false."""
        return all_of(self.at == 3, not_(self.start))

    @recoverable
    def gets_there(self) -> bool:
        """The token can still arrive."""
        return self.at == 3


class Friends(Protocol):
    """A claim that asks for each member another of the same sort."""

    ONE = Sort("one", size=2)

    likes = state(True, per=(ONE, ONE))

    @action(per=ONE)
    def greet(self, a: Member) -> None:
        """Someone likes himself."""
        self.likes[a, a] = True

    @always
    def nobody_is_alone(self) -> bool:
        """Everyone likes someone."""
        return all_of(any_of(self.likes[a, b] for b in self.ONE) for a in self.ONE)


def only(protocol: Protocol, name: str, **options: float) -> Finding:
    """Judge the one property of that name."""
    props = [p for p in claims_of(protocol) if p.name == name]
    return prove(protocol, props, **options).findings[0]  # type: ignore[arg-type]


def induct(
    protocol: Protocol, *, without: str = "", every_size: bool = False
) -> Inductive:
    """Prove agreement by induction, without one of the lemmas."""
    system = trace(protocol)
    lemmas = [
        asked
        for prop in own_properties(protocol)
        if prop.lemma and prop.name != without
        for asked in ask(prop, system)
    ]
    sorts = open_sorts(system) if every_size else frozenset()
    induction = Induction(system, open_sorts=sorts)
    return induction.prove(ask(AGREEMENT, system), lemmas, timeout_seconds=600)


def test_agreement_is_proved_for_every_number_of_participants() -> None:
    """Agreement is proved from all lemmas,, for every size."""
    protocol = TwoPhaseCommit()

    finding = prove(protocol, [AGREEMENT]).findings[0]

    assert finding.verdict is Verdict.PROVED
    assert finding.lemmas == LEMMAS
    assert finding.trace is None
    assert "every number of members of RM" in finding.note


def test_every_lemma_is_proved() -> None:
    """Each lemma of two-phase commit is itself proved for every size."""
    protocol = TwoPhaseCommit()

    verdicts = prove(protocol).verdicts

    assert {verdicts[name] for name in LEMMAS} == {Verdict.PROVED}
    assert verdicts["all-commit"] is Verdict.BOUNDED


def test_a_broken_protocol_is_refuted_with_a_trace() -> None:
    """Without the votes agreement falls, as the search finds, by as short a trace."""
    protocol = Hasty()
    reference = Interpreter(protocol)

    finding = prove(protocol, [AGREEMENT]).findings[0]

    assert finding.verdict is Verdict.REFUTED
    assert finding.trace is not None
    replayed = follow(reference, finding.trace.start, finding.trace.events)
    assert replayed == finding.trace
    last = AGREEMENT.view(reference.look(replayed.states[-1]))
    assert not AGREEMENT.clauses[0].holds(last)
    searched = check(protocol, [AGREEMENT]).findings[0].trace
    assert searched is not None
    assert len(searched.steps) == len(replayed.steps)


@pytest.mark.parametrize("every_size", [True, False])
def test_the_lemmas_suffice(every_size: bool) -> None:
    """The induction holds for every size, and for the given ones."""
    protocol = TwoPhaseCommit()

    result = induct(protocol, every_size=every_size)

    assert result.holds
    assert set(result.lemmas) <= set(LEMMAS)


@pytest.mark.parametrize("lemma", LEMMAS)
def test_dropping_a_lemma_breaks_the_induction(lemma: str) -> None:
    """No lemma can be spared, and the failure is a step that plain Python takes."""
    protocol = TwoPhaseCommit()
    reference = Interpreter(protocol)

    result = induct(protocol, without=lemma)
    general = induct(protocol, without=lemma, every_size=True)

    assert result.holds is False
    assert general.holds is False
    assert result.cti is not None
    assert result.cti.before is not None
    assert result.cti.event is not None
    assert reference.after(result.cti.before, result.cti.event) == result.cti.after
    assert result.broken == result.cti.name != lemma
    sentence = result.cti.describe(reference)
    assert sentence.startswith(("from a first state but for ", "from the start: "))
    assert Labels(reference).event(result.cti.event, result.cti.before) in sentence


def test_a_dropped_lemma_leaves_a_bounded_verdict_with_the_failed_step() -> None:
    """A claim that is true but not inductive is bounded; the note shows why."""

    class Forgetful(TwoPhaseCommit):
        seen_was_sent = None

    finding = prove(Forgetful(), [AGREEMENT], depth=6).findings[0]

    assert finding.verdict is Verdict.BOUNDED
    assert "at most 6 steps" in finding.note
    assert "breaks commit-needs-all-votes" in finding.note
    assert "from a first state but for rm[resource manager " in finding.note


def test_append_is_refuted_in_eight_steps() -> None:
    """A batch that runs again appends its rows twice."""
    protocol = MicroBatch(sink=Append)

    finding = prove(protocol, [AT_MOST_ONCE], depth=8).findings[0]

    assert finding.verdict is Verdict.REFUTED
    assert finding.trace is not None
    assert len(finding.trace.steps) == 8


def test_append_is_not_refuted_in_seven_steps() -> None:
    """A trace that is too long for the depth is not found by z3."""
    system = trace(MicroBatch(sink=Append))

    found = check_bounded(
        system, ask(AT_MOST_ONCE, system), depth=7, timeout_seconds=600
    )

    assert [b.verdict for b in found] == [Verdict.BOUNDED]
    assert "at most 7 steps" in found[0].note


def test_what_the_search_refutes_beyond_the_depth_is_not_held() -> None:
    """Within seven steps nothing is wrong; the search knows better, and is believed."""
    protocol = MicroBatch(sink=Append)

    finding = prove(protocol, [AT_MOST_ONCE], depth=7).findings[0]

    assert finding.verdict is Verdict.REFUTED
    assert finding.trace is not None
    assert len(finding.trace.steps) == 8
    assert finding.note == "refuted by search, beyond the depth of 7 steps"


def test_upsert_is_bounded() -> None:
    """No interleaving of eight steps shows an upserted row twice."""
    system = trace(MicroBatch(sink=Upsert))

    found = check_bounded(
        system, ask(AT_MOST_ONCE, system), depth=8, timeout_seconds=600
    )

    assert [b.verdict for b in found] == [Verdict.BOUNDED]


def test_upsert_holds_by_induction() -> None:
    """Ordered sorts keep their size, so that the proof is of the given sizes."""
    protocol = MicroBatch(sink=Upsert)

    finding = prove(protocol, [AT_MOST_ONCE], depth=8).findings[0]

    assert finding.verdict is Verdict.EXHAUSTED
    assert "every number of members of PARTITION" in finding.note
    assert "BATCH=2" in finding.note


@pytest.mark.parametrize(
    "sink", [pytest.param(Append, marks=pytest.mark.grid), Upsert, PartitionLedger]
)
def test_z3_agrees_with_the_search(
    sink: type[Append | Upsert | PartitionLedger],
) -> None:
    """What either refutes the other refutes, in as many steps, or is too deep."""
    depth = 9
    protocol = MicroBatch(sink=sink)

    proved, searched = prove(protocol, depth=depth), check(protocol)

    for one, other in zip(proved.findings, searched.findings, strict=True):
        if one.trace is not None:
            assert other.trace is not None
            assert len(one.trace.steps) == len(other.trace.steps)
        elif other.trace is not None and "recoverable" not in one.property.name:
            assert len(other.trace.steps) > depth
        if one.verdict in (Verdict.PROVED, Verdict.EXHAUSTED):
            assert other.verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize(
    ("name", "verdict", "steps"),
    [
        ("never-back", Verdict.EXHAUSTED, None),
        ("never-past-two", Verdict.REFUTED, 3),
        ("ends-at-an-end", Verdict.EXHAUSTED, None),
        ("ends-at-the-end", Verdict.REFUTED, 0),
        ("arrives", Verdict.BOUNDED, 3),
        ("flies", Verdict.UNDECIDED, None),
        ("gets-there", Verdict.UNDECIDED, None),
    ],
)
def test_each_kind_of_clause_is_judged(
    name: str, verdict: Verdict, steps: int | None
) -> None:
    """Steps, rest and witnesses are sought from each initial state."""
    protocol = Courier()

    finding = only(protocol, name, depth=5)

    assert finding.verdict is verdict
    assert (None if finding.trace is None else len(finding.trace.steps)) == steps


class Started(Courier):
    """A courier whose token is under way, so that it comes to rest at the end."""

    start = state(True)


def test_rest_that_is_too_far_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim about rest is not held where neither z3 nor the search saw rest."""
    monkeypatch.setattr(confirm, "MOST_STATES", 2)

    finding = only(Started(), "ends-at-the-end", depth=2)

    assert finding.verdict is Verdict.UNDECIDED
    assert "no state of rest within 2 steps" in finding.note


def test_rest_that_the_search_saw_counts() -> None:
    """Where rest is too far for z3's depth, that the search comes to it is enough."""
    finding = only(Started(), "ends-at-the-end", depth=2)

    assert finding.verdict is Verdict.EXHAUSTED
    assert finding.confirmed == "confirmed by search at PLACE=3 (4 states)"


def test_counting_lies_outside_the_fragment() -> None:
    """A protocol that counts is proved for its size, and the note says why."""
    protocol = Ballot()

    finding = only(protocol, "someone-voted")

    assert finding.verdict is Verdict.EXHAUSTED
    assert "close counts or adds up over VOTER" in finding.note


def test_a_size_in_a_claim_lies_outside_the_fragment() -> None:
    """A claim that uses the number of members is not proved for every number."""
    protocol = SizedBallot()

    finding = only(protocol, "someone-voted")

    assert finding.verdict is Verdict.EXHAUSTED
    assert "uses the number of members of VOTER" in finding.note


def test_a_cycle_of_quantifiers_lies_outside_the_fragment() -> None:
    """For each of a sort one of the same sort: that is named."""
    protocol = Friends()
    system = trace(protocol)
    terms = [a.question.term for p in own_properties(protocol) for a in ask(p, system)]

    sentences = fragment(system, terms)

    assert len(sentences) == 1
    assert "for each ONE a ONE" in sentences[0]
    assert only(protocol, "nobody-is-alone").verdict is Verdict.EXHAUSTED


def test_sorts_of_one_name_stay_apart() -> None:
    """Two sorts are two, whatever they are called."""
    protocol = Hosts()

    finding = only(protocol, "fed-by-someone")

    assert finding.verdict is Verdict.PROVED


def test_no_time_leaves_everything_undecided() -> None:
    """What z3 has no time for is not called held."""
    protocol = TwoPhaseCommit()

    report = prove(protocol, timeout_seconds=0)

    assert set(report.verdicts.values()) == {Verdict.UNDECIDED}
    assert "the steps were not encoded within 0 s" in report.findings[0].note


def test_a_library_protocol_with_lemmas_is_proved_for_every_size():
    """Commitment by a simple broadcast agrees, whatever the number of participants."""
    protocol = SimpleBroadcastCommit()
    names = ("agreement", "is-valid", "keeps-its-decision")
    chosen = [p for p in claims_of(protocol) if p.name in names]

    found = prove(protocol, chosen).findings

    assert [f.verdict for f in found] == [Verdict.PROVED] * 3
    assert ["decides-as-received" in f.lemmas for f in found] == [True, True, False]
    assert all("at most 3 faults" in f.note for f in found)
