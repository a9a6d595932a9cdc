"""A part per member has state, actions, faults and claims of its own for each."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    by_member,
    epochs,
    eventually,
    fault,
    lemma,
    member_of,
    network,
    nobody,
    nobody_of,
    not_,
    observe,
    part,
    processes,
    sometimes,
    state,
    step,
    timers,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.traces import follow
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.messages import messages_of
from tests.model.language.composition.per_member import (
    Clients,
    ClientsByHand,
    OneOfThemStops,
    SharedByHand,
    SharedCheckpoint,
)
from tests.model.test_readers_agree import compare_successors


def counts(protocol: Protocol, *, symmetry: bool) -> tuple[int, int, int]:
    """Return how many states, steps and levels a search finds."""
    found = check(protocol, symmetry=symmetry).exploration
    assert found is not None
    return found.distinct, found.generated, found.depth


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(
    ("parts", "by_hand"),
    [
        (SharedCheckpoint(), SharedByHand()),
        (SharedCheckpoint(D=3, faults=2), SharedByHand(D=3, faults=2)),
        (Clients(), ClientsByHand()),
        (Clients(C=3, faults=2), ClientsByHand(C=3, faults=2)),
    ],
)
def test_the_states_are_those_of_indices_written_by_hand(parts, by_hand, symmetry):
    """A search finds the same number of states and steps, at the same distance."""
    assert counts(parts, symmetry=symmetry) == counts(by_hand, symmetry=symmetry)


@pytest.mark.parametrize("kind", [SharedCheckpoint, Clients])
def test_native_code_takes_the_steps_of_plain_python(kind):
    """Every successor of every state is the same."""
    compare_successors(kind())


def test_two_drivers_on_one_checkpoint_write_rows_twice_unless_one_stops():
    """SPARK-26425 is found, and the fix holds."""
    broken, fixed = check(SharedCheckpoint()), check(OneOfThemStops())

    assert broken.verdicts["effectively-once"] is Verdict.REFUTED
    assert fixed.verdicts["at-most-once"] is Verdict.EXHAUSTED
    assert check(OneOfThemStops(faults=0)).verdicts["effectively-once"] is (
        Verdict.EXHAUSTED
    )
    assert broken.verdicts["drivers.starts-before-its-end"] is Verdict.EXHAUSTED


class Voter(Part):
    """Votes once, and for whom it was given."""

    voted = state(False)
    known = state(False)

    def vote(self) -> None:
        """Vote, and be known to have."""
        self.voted = True
        self.known = True

    @always
    def is_known(self) -> bool:
        """Who voted is known to have."""
        return self.voted == self.known

    @step
    def stays(self, after: Voter) -> bool:
        """Whoever has voted has voted."""
        return any_of(not_(self.voted), after.voted)


class Election(Protocol):
    """Voters, of whom one is chosen once it has voted."""

    V = Sort("voter", size=2)

    voters = part(Voter, per=V)
    chosen = state(nobody_of(V))

    @action(per=V)
    def vote(self, v: Member) -> None:
        """Vote."""
        self.voters[v].vote()

    @action(per=V)
    def choose(self, v: Member) -> None:
        """Choose who has voted."""
        when(self.chosen == nobody, self.voters[v].voted)
        self.chosen = v

    @action
    def call(self) -> None:
        """The one who is chosen votes again: an index that state holds."""
        when(self.chosen != nobody)
        self.voters[self.chosen].vote()

    @lemma(per=V)
    def chosen_have_voted(self, v: Member) -> bool:
        """Who is chosen has voted."""
        return any_of(self.chosen != v, self.voters[v].voted)


def test_claims_of_a_part_per_member_are_proved_for_every_number_of_members():
    """They name no member, nor do the steps."""
    report = prove(Election(), depth=2)

    for name in ("voters.is-known", "voters.stays", "chosen-have-voted"):
        assert report.verdicts[name] is Verdict.PROVED, name


class Task(Part):
    """A task of a worker, with clocks, messages and memory of its own."""

    KEY = Sort("key", size=2, ordered=True)

    runs = state(False, volatile=True)
    held = state(False, per=KEY, volatile=True)
    first = state(by_member(lambda k: k == 0), per=KEY, volatile=True)
    likes = state(member_of(KEY))
    post = network(False, losses=1)

    @action(per=KEY)
    def hold(self, k: Member) -> None:
        """Take a key."""
        when(not_(self.held[k]))
        self.held[k] = True
        self.post.only.send(self.first[k])

    @action
    def drop(self) -> None:
        """Drop every key at once."""
        when(any_of(self.held[k] for k in self.KEY))
        self.held.fill(False)
        self.post.only.receive(True)

    @fault(at_most=1)
    def fail(self) -> None:
        """The task loses its own memory alone."""
        self.lose_volatile()


class Worker(Part):
    """A worker with tasks: parts per member in a part per member."""

    SLOT = Sort("slot", size=2)
    KEY = Task.KEY

    tasks = part(Task, per=SLOT)
    clock = timers(SLOT)
    era = epochs(SLOT, high=1)
    alive = processes(SLOT, crashes=1)
    note = state(False, per=SLOT, volatile=True)

    @action(per=SLOT)
    def begin(self, s: Member) -> None:
        """Begin a task."""
        when(self.alive.up(s))
        self.clock.start(s)
        self.era.next(s)
        self.tasks[s].runs = True
        self.note[s] = True

    @action(per=SLOT)
    def again(self, s: Member) -> None:
        """Begin again after a crash."""
        self.alive.restart(s)

    @eventually
    def some_begin(self) -> bool:
        """Nothing makes them begin."""
        return any_of(self.note[s] for s in self.SLOT)


class Cluster(Protocol):
    """One worker or more, all alike."""

    W = Sort("worker", size=1)
    SLOT = Worker.SLOT
    KEY = Task.KEY

    workers = part(Worker, per=W)

    @sometimes(per=(W, SLOT))
    def can_run(self, w: Member, s: Member) -> bool:
        """Each task can run."""
        return self.workers[w].tasks[s].runs


def test_parts_per_member_hold_parts_per_member():
    """Fields, steps and claims have the members of all parts around, in order."""
    cluster = Cluster(W=2)
    system = trace(cluster)

    sorts = {f.path: [s.name for s in f.sorts] for f in system.fields}
    params = {a.name: [p.type.sort.name for p in a.params] for a in system.actions}

    assert sorts["workers.tasks.held"] == ["W", "SLOT", "KEY"]
    assert sorts["workers.alive.status"] == ["W", "SLOT"]
    assert params["workers.tasks.hold"] == ["W", "SLOT", "KEY"]
    assert params["workers.alive.crash"] == ["W", "SLOT"]
    assert params["workers.tasks.fail"] == ["W", "SLOT"]
    assert len(clauses_of(cluster, "workers.some-begin")) == 2


def clauses_of(protocol: Protocol, name: str) -> tuple[Any, ...]:
    """Return the clauses of a claim."""
    return next(p for p in own_properties(protocol) if p.name == name).clauses


def after(protocol: Protocol, *names: tuple[str, tuple[int, ...]]) -> dict[Any, Any]:
    """Return the state after some events, by element."""
    run = Interpreter(protocol)
    events = {(e.name, e.members): e for e in run.events()}
    now = next(run.initial_states())
    for name in names:
        reached = run.after(now, events[name])
        assert reached is not None, name
        now = reached
    return {(f.path, at): value for (f, at), value in zip(run.places, now, strict=True)}


def test_a_part_loses_its_own_volatile_state_and_a_crash_that_of_its_worker():
    """Nothing of another member changes."""
    cluster = Cluster(W=2, faults=1)
    begun = [("workers.begin", (w, s)) for w in range(2) for s in range(2)]
    held = [("workers.tasks.hold", (w, s, 0)) for w in range(2) for s in range(2)]

    failed = after(cluster, *begun, *held, ("workers.tasks.fail", (1, 0)))
    crashed = after(cluster, *begun, *held, ("workers.alive.crash", (1, 0)))

    def lost(found: dict[Any, Any], path: str) -> set[tuple[int, ...]]:
        return {at[:2] for (p, at), v in found.items() if p == path and not v} - {
            at[:2] for (p, at), v in found.items() if p == path and v
        }

    assert lost(failed, "workers.tasks.runs") == {(1, 0)}
    assert lost(failed, "workers.tasks.held") == {(1, 0)}
    assert lost(failed, "workers.note") == set()
    assert lost(crashed, "workers.tasks.runs") == {(1, 0)}
    assert lost(crashed, "workers.tasks.held") == {(1, 0)}
    assert lost(crashed, "workers.note") == {(1, 0)}
    assert lost(crashed, "workers.clock.runs") == {(1, 0)}


def test_native_code_follows_nested_parts():
    """Every successor of every state is the same, for one worker."""
    compare_successors(Cluster(W=1, SLOT=1, KEY=1))


def of(body: dict[str, Any], **part_body: Any) -> type[Protocol]:
    """Make a protocol with a part per member, and some declarations."""
    kind = type("Inner", (Voter,), {"__module__": __name__, **part_body})
    sort = Sort("voter")
    return type(
        "Outer",
        (Protocol,),
        {"__module__": __name__, "V": sort, "all": part(kind, per=sort), **body},
    )


def one_for_all(self):
    when(self.all.voted)


def changed_for_all(self):
    self.all.voted = True


def another_part(self):
    self.all[self.V] = 1


def through_parts(self):
    when(all_of(v.voted for v in self.all))


def two_members(self):
    self.all[0, 1].vote()


def by_number(self):
    self.all[0].vote()


def held_nobody(self):
    self.all[nobody].vote()


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (one_for_all, r"all is a part for each V; name one, as all\[...\].voted"),
        (changed_for_all, r"name one, as all\[...\].voted = ..."),
        (another_part, "call a method of one, or change its state"),
        (through_parts, "go through the members"),
        (two_members, "it is indexed by V, not by 2 values"),
        (by_number, "all is indexed by V, not by 0..0"),
        (held_nobody, "all is indexed by V, not by nobody"),
    ],
)
def test_what_takes_all_parts_for_one_is_refused_at_its_line(method, message):
    """The error says what to write, and names the line of the model."""
    with pytest.raises(ModelError, match=message) as error:
        trace(of({"act": action(method)})())

    line = method.__code__.co_firstlineno + 1
    assert error.value.where == f"{__file__}:{line}"


def compared_members(self):
    when(self.drivers[self.lead] == self.drivers[self.lead])


class Compared(Protocol):
    """Compares parts."""

    V = Sort("voter")
    drivers = part(Voter, per=V)
    lead = state(member_of(V))
    act = action(compared_members)


def test_parts_are_not_compared():
    """It would be decided as the model is traced, and by identity."""
    with pytest.raises(ModelError, match="parts cannot be compared"):
        trace(Compared())


def test_an_observation_of_a_part_is_refused():
    """It would not count, and a guarantee would seem to hold."""

    class Seen(Part):
        rows = state(0, high=1)

        @observe()
        def visible(self) -> int:
            """Readers see it."""
            return self.rows

    class Outer(Protocol):
        V = Sort("voter")
        inner = part(Seen, per=V)

    with pytest.raises(ModelError, match="only those of the protocol count"):
        check(Outer())


def test_a_part_is_for_a_sort_that_the_protocol_names():
    """Another sort has no size."""

    class Outer(Protocol):
        inner = part(Voter, per=Sort("unnamed"))

    with pytest.raises(ModelError, match="inner is per 'unnamed', a sort that has no"):
        Outer()


def test_channels_of_a_part_are_one_for_each_member():
    """What one receives is what was sent to that one."""
    found = after(Clients(), ("ask", (1,)), ("grant", (1,)), ("clients.take", (1,)))

    assert found["clients.has", (1,)] is True
    assert found["clients.has", (0,)] is False


def test_messages_of_a_part_are_shown_by_their_member_and_content():
    """A channel in the part of each client reads like one per client."""
    reference = Interpreter(Clients())
    events = {str(event): event for event in reference.events()}
    names = ("ask(1)", "grant(1)", "clients.take(1)")
    start = next(reference.initial_states())
    run = follow(reference, start, tuple(events[name] for name in names))

    (message,) = messages_of(reference, run, set())
    lost = Labels(reference).event(events["clients.inbox.lose(1, 0)"], run.states[2])

    assert (message.text, message.sent, message.taken) == ("granted yes, turn 1", 2, 3)
    assert message.channel == "clients.inbox[client 1]"
    assert lost == "clients.inbox.lose(client 1, (granted yes, turn 1))"


def test_another_kind_can_take_the_place_of_all():
    """As of any part, with parameters of its own."""

    class Shy(Voter):
        """Never known."""

        def vote(self) -> None:
            self.voted = True

    report = check(Election(voters=Shy))

    assert report.verdicts["voters.is-known"] is Verdict.REFUTED
