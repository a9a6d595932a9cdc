"""The simulated topologies take the steps of the library's protocols, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.model.language.steps import steps_of
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from tests.benchmarks.cost import own_counts
from tests.benchmarks.cost.barriers import BarrierTopology
from tests.benchmarks.cost.following import follow_barriers, follow_logs
from tests.benchmarks.cost.kernel import Layers
from tests.benchmarks.cost.logs import LogTopology, RecordsOfLink
from tests.benchmarks.cost.simulated import PRICES, layers_of, made, measured, small

FOLLOWED = {"snapshot": follow_barriers, "log": follow_logs}


@pytest.mark.parametrize("kind", FOLLOWED)
@pytest.mark.parametrize("seed", [1, 2, 7])
def test_each_step_is_enabled_in_the_protocol(kind, seed):
    """At every operator and on every link, with failures, to a record visible once."""
    run = small(kind, seed)

    followed = FOLLOWED[kind](run)

    assert followed["steps"] > followed["runs"] > 0


class WithoutAlignment(BarrierTopology):
    """Reads an input on though its barrier has come, and another has not."""

    def _send_barriers(self, operator: int) -> None:
        if operator == 0 and not self._taken[operator]:
            self._taken = [True] * self.layers.operators
            self._later(3 * self.prices.work, self._send_barriers, operator)
        else:
            super()._send_barriers(operator)


class ForgetsOffsets(BarrierTopology):
    """Takes operators back, but not what they have sent."""

    def _store(self) -> None:
        super()._store()
        self._saved_sent = [list(sent) for sent in self._sent]


class Forgetful(LogTopology):
    """Applies what its log has."""

    def _apply(self, operator: int, link: RecordsOfLink, record: int) -> None:
        super()._apply(operator, link, record)
        link.logged.discard(record)


@pytest.mark.parametrize("broken", [WithoutAlignment, ForgetsOffsets])
def test_snapshots_that_are_none_of_the_protocol_are_found(broken):
    """The step that the protocol does not allow is named."""
    prices = replace(PRICES, interval=0.3)
    run = broken(Layers(3, 3, 2), prices, 12, kept=True)
    run.fail_at(1.2, 4)
    run.run(limit=6)

    with pytest.raises(AssertionError, match=r"is not enabled|visible"):
        follow_barriers(run)


def test_a_log_that_forgets_is_found():
    """A record that is applied and not in the log can not be collected."""
    run = Forgetful(Layers(2, 2, 2), PRICES, 4, kept=True)
    run.fail_at(0.25, 0)
    run.run(limit=100)
    run.settle(limit=100)

    with pytest.raises(AssertionError, match=r"is not enabled|visible"):
        follow_logs(run)


def test_counts_at_100_operators_are_those_of_the_protocol():
    """What records, inputs and checkpoints add to the protocol's counts, they add."""
    run = made("snapshot", 100, PRICES, 30)
    counts = measured(run, limit=1e9)["steps"]
    layers, checkpoints = layers_of(100), run.complete
    units = {
        "record": 30 * (layers.operators - layers.width),
        "input of a checkpoint": layers.links * checkpoints,
        "checkpoint": (layers.operators - layers.width) * checkpoints,
    }
    by = {step.name: step.by for step in steps_of(BarrierSnapshot())}

    own = own_counts.of_barriers()

    for name, adds in own.items():
        shared = set(adds) == {"checkpoint"} and not by[name]
        expected = sum(more * units[unit] for unit, more in adds.items())
        assert counts[name] == (checkpoints if shared else expected), name
    assert set(counts) == set(own)


def test_records_on_100_operators_cost_the_steps_of_the_protocol():
    """Each record on a link is produced, sent, applied, heard of and collected once."""
    run = made("log", 100, PRICES, 30)
    measured(run, limit=1e9)
    run.settle(limit=1e9)
    records = 30 * (run.layers.operators - run.layers.width)

    own = own_counts.of_logs()

    for name in own.keys() - {"collect"}:
        assert run.steps.counts[name] == own[name]["record"] * records, name


def test_a_count_that_is_no_sum_is_refused():
    """A protocol whose steps do not grow with its sizes gives no prices."""
    runs = [((e, 0, 0), {"apply": e * e}) for e in (1, 2, 3)]

    with pytest.raises(ValueError, match="apply"):
        own_counts.split(runs)


def test_a_failure_takes_back_all_operators_or_one():
    """With snapshots every operator works again on records; with logs few are."""
    again = {}
    for kind in ("snapshot", "log"):
        run = made(kind, 100, PRICES, 30)
        run.fail_at(2.0, 50)
        again[kind] = measured(run, limit=1e9)

    assert again["snapshot"]["processed_again"] > 100
    assert again["log"]["processed_again"] <= 2 * PRICES.room
    assert again["snapshot"]["bytes_restored"] == 100 * PRICES.state_bytes
    assert again["log"]["bytes_restored"] == PRICES.state_bytes
