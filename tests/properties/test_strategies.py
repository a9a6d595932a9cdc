"""Strategies draw what they say, and shrink to the simplest of it."""

from __future__ import annotations

import functools
import itertools
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from onceproof.model.errors import UsageError
from onceproof.model.interleavings import interleavings as enumerated
from onceproof.model.language import Protocol, action, fault, not_, state, when
from onceproof.model.language.plain import Reference
from onceproof.model.library import make
from onceproof.model.traces import follow
from onceproof.properties import walks
from onceproof.properties.event_batches import KINDS
from onceproof.properties.ledger import of_protocol
from onceproof.properties.strategies import _walks, event_batches, interleavings

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
)
ROWS = st.fixed_dictionaries(
    {
        "id": st.integers(0, 10_000),
        "at": st.integers(0, 9),
        "amount": st.integers(),
        "name": st.sampled_from(["", "a", "b"]),
    }
)
FEW = st.fixed_dictionaries({"id": st.integers(0, 99), "name": st.sampled_from("ab")})


class Lamp(Protocol):
    """Is switched on and off for ever, until it breaks."""

    on = state(False)
    broken = state(False)
    seen = state(False)

    @action
    def switch(self) -> None:
        """Change."""
        when(not_(self.broken))
        self.on = not_(self.on)

    @action
    def look(self) -> None:
        """Find it broken."""
        when(self.broken)
        self.seen = True

    @fault
    def crack(self) -> None:
        """Break while it is on."""
        when(self.on)
        self.broken = True


class Sound(Protocol):
    """Nothing can strike."""

    on = state(False)

    @action
    def switch(self) -> None:
        """Change."""
        self.on = not_(self.on)


class Spared(Sound):
    """Something could strike in a state that is never met."""

    never = state(False)

    @action
    def switch(self) -> None:
        """Switch on, for good."""
        when(not_(self.on))
        self.on = True

    @fault
    def strike(self) -> None:
        """Strike."""
        when(self.never)
        self.on = False


@functools.cache
def micro_batch(faults: int):
    return make("micro-batch", {"sink": "append", "faults": str(faults)})


@functools.cache
def failing(faults: int):
    return interleavings(micro_batch(faults))


@functools.cache
def listed(faults: int):
    return [one.trace for one in enumerated(micro_batch(faults)).classes]


def simplest(strategy, claim=lambda _: True, *, seed=0):
    """Shrink to the simplest that is found."""
    return find(
        strategy,
        claim,
        settings=settings(FIXED, max_examples=100, derandomize=False),
        random=random.Random(seed),
    )


def faults_of(run) -> list[str]:
    return [event.name for event in run.events if event.fault]


# Interleavings --------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2])
def test_what_is_drawn_is_a_failing_behaviour_that_comes_to_rest(most):
    """Followed in plain Python it is the same run, and ends where nothing moves."""
    protocol = micro_batch(2)
    reference = Reference(protocol)

    @settings(FIXED, max_examples=60)
    @given(interleavings(protocol, faults=most))
    def judge(run):
        assert follow(reference, run.start, run.events) == run
        assert reference.resting(run.states[-1])
        assert 1 <= len(faults_of(run)) <= most

    judge()


def test_every_class_is_drawn_and_none_twice():
    """One fault makes few classes; as many examples draw each of them once."""
    drawn = Counter()

    @settings(FIXED, max_examples=100)
    @given(failing(1))
    def draw(run):
        drawn[run] += 1

    draw()

    assert set(drawn) == set(listed(1))
    assert set(drawn.values()) == {1}


@pytest.mark.parametrize("seed", range(3))
def test_an_interleaving_shrinks_to_the_fewest_faults_steps_and_switches(seed):
    """What one fault breaks is not shown by two, nor by longer or restless runs."""
    protocol = micro_batch(2)
    reference = Reference(protocol)

    def repeated(run):
        ledger = of_protocol(reference.look(run.states[-1]))
        return any(ledger.visible(event) > 1 for event in ledger.events())

    found = simplest(failing(2), repeated, seed=seed)

    sizes = [walks.size(reference, one) for one in listed(2) if repeated(one)]
    assert len(faults_of(found)) == 1
    assert walks.size(reference, found) == min(sizes)
    assert max(sizes)[0] == 2


def test_the_simplest_interleaving_of_all_comes_first():
    """Fewest faults, then fewest steps, then fewest changes of process."""
    protocol = micro_batch(2)
    reference = Reference(protocol)

    found = simplest(failing(2))

    assert walks.size(reference, found) == min(
        walks.size(reference, one) for one in listed(2)
    )


def test_a_switch_is_counted_where_the_process_changes():
    """A task's steps are one process's, however many members each names."""
    reference = Reference(micro_batch(1))
    events = {str(event): event for event in reference.events()}

    def switches(*names):
        return walks.context_switches(reference, [events[name] for name in names])

    tasks = ["start_task(0, 0)", "write(0, 0, 0)", "start_task(1, 0)", "write(0, 1, 0)"]
    assert switches(*tasks) == 1
    assert switches(tasks[0], tasks[2], tasks[1], tasks[3]) == 3
    assert switches("crash()", "restart()") == 0
    assert switches("restart()", "log_offsets(0)") == 1


@pytest.mark.parametrize(
    "protocol",
    [
        Lamp(),
        make("micro-batch", {"BATCH": "3", "PARTITION": "3", "faults": "3"}),
        make("two-phase-commit-log", {}),
        make("two-phase-commit-sink", {}),
    ],
    ids=["round for ever", "too large", "a log", "too many runs"],
)
def test_what_cannot_be_listed_is_walked(protocol):
    """Each walk is a behaviour with a fault, within the bound on steps."""
    reference = Reference(protocol)
    seen, places = Counter(), set()

    @settings(FIXED, max_examples=40)
    @given(interleavings(protocol))
    def judge(run):
        assert follow(reference, run.start, run.events) == run
        assert 1 <= len(faults_of(run)) <= protocol.argument(Protocol.faults)
        assert len(run.steps) <= walks.MOST_STEPS
        assert all(a != b for a, b in itertools.pairwise(run.states))
        seen.update(faults_of(run))
        places.add(next(i for i, event in enumerate(run.events) if event.fault) // 5)

    judge()

    assert len(places) > 1
    assert set(seen) <= {s.name for s in reference.steps.values() if s.fault}


def test_a_walk_shrinks_to_few_faults_and_steps():
    """What needs one fault and one batch is shown by no more."""
    protocol = make("micro-batch", {"BATCH": "2", "PARTITION": "1", "faults": "2"})
    reference = Reference(protocol)

    def repeated(run):
        ledger = of_protocol(reference.look(run.states[-1]))
        return any(ledger.visible(event) > 1 for event in ledger.events())

    found = simplest(_walks(reference, 2), repeated)

    names = [event.name for event in found.events]
    assert len(faults_of(found)) == 1
    assert names.count("write") == 2
    assert len(names) <= 10


def test_fewer_faults_than_the_protocol_allows_can_be_asked_for():
    """With one there is none that holds two; without a bound there is."""
    protocol = micro_batch(2)

    def twice(run):
        return len(faults_of(run)) == 2

    simplest(failing(2), twice)
    with pytest.raises(NoSuchExample):
        simplest(interleavings(protocol, faults=1), twice)


@pytest.mark.parametrize(
    ("protocol", "faults", "answer"),
    [
        (Sound(), None, "nothing can fail in sound; declare a @fault"),
        (Spared(), None, "no run of spared holds a fault; look at the guards of str"),
        (Lamp(), 2, "faults must be 1 to 1, .*; make it with faults=2"),
        (Lamp(), 0, "make it with faults=1"),
    ],
)
def test_what_holds_no_failure_is_refused(protocol, faults, answer):
    """Up front, with the mend."""
    with pytest.raises(UsageError, match=answer):
        interleavings(protocol, faults=faults)


# Batches of events ----------------------------------------------------------------


def order(row):
    return row["at"], row["id"]


def is_awkward(batches) -> bool:
    """Say whether a delivery is what its kind says."""
    rows, flat = batches.rows, batches.flat()
    keys = [row["id"] for row in flat]
    partitions = [sum(len(batch[p]) for batch in rows) for p in range(len(rows[0]))]
    if batches.kind == "plain":
        return sorted(flat, key=order) == [*flat] and all(any(b) for b in rows)
    if batches.kind == "out of order":
        return sorted(flat, key=order) != [*flat]
    if batches.kind == "duplicated":
        return len(set(keys)) < len(keys)
    if batches.kind == "late":
        return any(
            order(late) < order(row)
            for early, later in itertools.combinations(rows, 2)
            for row in itertools.chain(*early)
            for late in itertools.chain(*later)
        )
    if batches.kind == "empty":
        return not all(any(batch) for batch in rows) or 0 in partitions
    if batches.kind == "null":
        return any(None in row.values() for row in flat)
    return max(partitions) >= len(flat) - 1 > 2


def test_every_kind_is_drawn_and_is_what_it_says():
    """Numbers stay within their bounds, and keys are unique but for repeated rows."""
    drawn = Counter()

    @settings(FIXED, max_examples=300)
    @given(event_batches(ROWS, key="id", time="at", partitions=3, weights="amount"))
    def judge(batches):
        drawn[batches.kind] += 1
        assert is_awkward(batches)
        assert 1 <= len(batches.rows) <= 4
        assert all(len(batch) == 3 for batch in batches.rows)
        assert batches.count == len(batches.flat()) <= 12
        alike = len(batches.distinct()) == batches.count
        assert alike == (batches.kind != "duplicated")
        assert all(row["id"] is not None and row["amount"] for row in batches.flat())

    judge()

    assert set(drawn) == set(KINDS)


def test_a_repeated_row_is_the_very_same_and_never_earlier():
    """It is delivered again in the batch of the first, or in a later one."""

    @settings(FIXED, max_examples=100)
    @given(event_batches(ROWS, key=["id"], kinds=["duplicated"], weights="amount"))
    def judge(batches):
        first = {batches.key_of(row): row for row in batches.distinct()}
        assert all(first[batches.key_of(row)] == row for row in batches.flat())
        once = sorted(first.values(), key=lambda row: row["amount"])
        found = [
            next(
                n
                for n, batch in enumerate(batches.rows)
                if any(row in p for p in batch)
            )
            for row in once
        ]
        assert found == sorted(found)

    judge()


@pytest.mark.parametrize("kind", KINDS)
def test_a_delivery_shrinks_to_the_fewest_batches_and_rows_of_its_kind(kind):
    """No kind keeps more than it takes to be of that kind."""
    least = {"late": (2, 2), "out of order": (1, 2), "duplicated": (1, 2)}
    least |= {"skewed": (1, 4), "empty": (1, 0)}

    found = simplest(event_batches(FEW, key="id", kinds=[kind]))

    assert (len(found.rows), found.count) == least.get(kind, (1, 1))


@pytest.mark.parametrize(
    ("claim", "batches", "rows"),
    [
        (lambda b: b.count >= 4, 1, 4),
        (lambda b: len(b.rows) >= 3, 3, 3),
        (lambda b: any(row["name"] == "b" for row in b.flat()), 1, 1),
    ],
)
def test_a_delivery_shrinks_to_plain_where_nothing_awkward_matters(
    claim, batches, rows
):
    """Then to the fewest batches, and the fewest rows."""
    found = simplest(event_batches(FEW, key="id"), claim)

    assert (found.kind, len(found.rows), found.count) == ("plain", batches, rows)


def test_sums_cannot_cancel_a_loss_against_a_repetition():
    """Whatever events are counted 0 to 7 times, the sum tells how often each was."""

    @settings(FIXED, max_examples=100)
    @given(event_batches(ROWS, key="id", weights="amount"), st.data())
    def judge(batches, data):
        rows = batches.distinct()
        times = [data.draw(st.integers(0, 7)) for _ in rows]
        total = sum(n * row["amount"] for n, row in zip(times, rows, strict=True))
        assert [total // row["amount"] % 8 for row in rows] == times
        assert float(total) == total < 2**53

    judge()


def test_many_rows_have_weights_of_a_smaller_base_that_are_exact():
    """Thirty rows have a base of 3: a sum still tells none, one and two apart."""
    drawn = event_batches(
        ROWS,
        key="id",
        weights="amount",
        batches=(30, 30),
        most_rows=30,
        kinds=KINDS[:1],
    )

    @settings(FIXED, max_examples=5)
    @given(drawn)
    def judge(batches):
        weights = [row["amount"] for row in batches.flat()]
        assert weights == [3**n for n in range(30)]
        assert 2 * sum(weights) < 2**53

    judge()


def test_a_weight_is_of_the_type_of_its_field():
    """A sink that was given floats is not suddenly given integers."""
    rows = st.fixed_dictionaries({"id": st.integers(), "fare": st.floats()})

    found = simplest(event_batches(rows, key="id", weights="fare"))

    assert [type(row["fare"]) for row in found.flat()] == [float]


def test_rows_with_nothing_but_a_key_are_never_called_null():
    """There is nothing to set to None, so the delivery is plain."""
    rows = st.fixed_dictionaries({"id": st.integers()})

    found = simplest(event_batches(rows, key="id", kinds=["null"]))

    assert found.kind == "plain"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"key": ()}, "names no field"),
        ({"batches": (0, 2)}, "let there be one of each or more"),
        ({"batches": (1, 13)}, "no more batches than rows"),
        ({"partitions": 0}, "let there be one"),
        ({"kinds": ["dupplicated"]}, "did you mean 'duplicated'"),
        ({"kinds": ["late"], "batches": (1, 1)}, "'late' takes 2 rows, 2 batches"),
        ({"kinds": ["skewed"], "partitions": 1}, "'skewed' takes .* 2 partitions"),
        ({"most_rows": 40, "weights": "amount"}, "choose 33 or fewer"),
    ],
)
def test_a_delivery_that_cannot_be_is_refused(arguments, answer):
    """Up front, with the mend."""
    with pytest.raises(UsageError, match=answer):
        event_batches(ROWS, **{"key": "id", **arguments})


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"key": "ident"}, "no field 'ident'; it has amount, at, id, name"),
        ({"time": "when"}, "no field 'when'"),
        ({"weights": "sum"}, "no field 'sum'"),
        ({"weights": "name"}, "'name' is no number in a row, but ''"),
    ],
)
def test_rows_without_the_fields_that_are_named_are_refused(arguments, answer):
    """The answer says which fields they have."""

    @settings(FIXED, phases=[Phase.generate], max_examples=20)
    @given(event_batches(ROWS, **{"key": "id", **arguments}))
    def draw(batches):
        pass

    with pytest.raises(UsageError, match=answer):
        draw()


def test_kinds_that_the_numbers_do_not_allow_are_left_out_unless_asked_for():
    """One row in one batch and one partition can be plain, null or empty."""
    drawn = set()

    @settings(FIXED, max_examples=100)
    @given(event_batches(ROWS, key="id", batches=(1, 1), partitions=1, most_rows=1))
    def judge(batches):
        assert batches.kind == "empty" or is_awkward(batches)
        drawn.add(batches.kind)

    judge()

    assert drawn == {"plain", "empty", "null"}


def test_only_strategies_and_machines_need_hypothesis():
    """All else of the floor is of use without it."""
    code = (
        "import sys; import onceproof.properties.event_batches, "
        "onceproof.properties.walks, onceproof.properties.check; "
        "sys.exit('hypothesis' in sys.modules)"
    )

    status = subprocess.run([sys.executable, "-c", code], check=False).returncode

    assert status == 0
