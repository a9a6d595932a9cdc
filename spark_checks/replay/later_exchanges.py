"""The exchanges that a sink's code has only after a fault: another may cut them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.exchange_points import worth_cutting
from onceproof.spark_checks.replay.recovery import faults_in, resumed_after
from onceproof.spark_checks.sinks.exchanges import BEYOND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.run_evidence import RunRecord
    from onceproof.spark_checks.sinks.exchanges import Exchange, SeenExchanges


def with_later_exchanges(
    seen: SeenExchanges, outcomes: Iterable[Outcome]
) -> SeenExchanges:
    """Add the exchanges that code had after a fault only.

    Each of ``outcomes`` has one fault. Code that catches the error of a broken
    connection, and tries again, has them; so has a restarted run that repairs what a
    dead one has left. A second fault may cut each of them.
    """
    outcomes = tuple(outcomes)
    found = _Later(seen)
    caught: dict[str, set[str]] = {}
    for name, number, one in resumed_after(outcomes):
        partition = one.partition if one.partition >= 0 else None
        known = seen.driver.get(one.batch, ())
        if partition is not None:
            known = seen.tasks.get((one.batch, partition), ())
        every = {exchange.key for exchange in known}
        new = [e for e in one.exchanges if e.key not in every]
        found.add(one.batch, partition, new)
        before = _up_to(seen, one.batch, partition, number)
        after = {e.key for e in one.exchanges} - before
        caught.setdefault(name, set()).update(after)
    for outcome in outcomes:
        for run in outcome.runs:
            found.add_restart(run, faults_in(outcome))
    return replace(
        seen,
        not_cut=found.not_cut,
        leads={lead: frozenset(faults) for lead, faults in found.leads.items()},
        later={place: tuple(e.values()) for place, e in found.later.items() if e},
        caught={fault: frozenset(keys) for fault, keys in caught.items()},
    )


class _Later:
    """Gathers exchanges that runs without a fault do not have."""

    def __init__(self, seen: SeenExchanges) -> None:
        self.later: dict[tuple[int, int | None], dict[str, Exchange]] = {}
        self.leads: dict[tuple[int, int | None, str], set[str]] = {}
        self._seen = seen
        self._uncut: Counter[str] = Counter()
        self._beyond: Counter[tuple[int, int | None]] = Counter()

    def add(
        self, batch: int, partition: int | None, new: Iterable[Exchange]
    ) -> tuple[Exchange, ...]:
        """Add those of some exchanges that do not only repeat others; return them."""
        place = batch, partition
        kept, beyond = worth_cutting(new)
        self.later.setdefault(place, {}).update({one.key: one for one in kept})
        self._beyond[place] = max(self._beyond[place], beyond)
        return kept

    def add_restart(self, run: RunRecord, faults: set[str]) -> None:
        """Add what a restarted run has only after some faults."""
        for sent in run.sent:
            partition = sent.partition if sent.partition >= 0 else None
            has = partial(self._seen.has, batch=sent.batch, in_task=sent.partition >= 0)
            new = [one for one in sent.exchanges if not has(one)]
            for one in self.add(sent.batch, partition, new):
                lead = sent.batch, partition, one.key
                self.leads.setdefault(lead, set()).update(faults)
        for why, number in run.uncut.items():
            if why not in self._seen.not_cut:
                self._uncut[why] = max(self._uncut[why], number)

    @property
    def not_cut(self) -> dict[str, int]:
        """How many exchanges are not cut, by the reason."""
        found = Counter(self._seen.not_cut) + self._uncut
        found[BEYOND] += self._beyond.total()
        return {why: number for why, number in found.items() if number}


def _up_to(
    seen: SeenExchanges, batch: int, partition: int | None, number: int
) -> set[str]:
    """Name the exchanges up to one of a number, which counts from 1."""
    some = seen.driver.get(batch, ())
    last = some[number - 1] if partition is None else None
    if partition is not None:
        some = seen.tasks.get((batch, partition), ())
        last = seen.of_tasks(batch)[number - 1][1]
    known = [one.key for one in some]
    return set(known[: known.index(last.key) + 1]) if last and last in some else set()
