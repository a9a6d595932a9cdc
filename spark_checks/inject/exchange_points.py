"""Exchanges of a sink's code with its store, found by running it without a fault."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, TypeAlias

from onceproof.spark_checks.plan.rules import LINES
from onceproof.spark_checks.sinks.exchanges import (
    BEYOND,
    UNSTEADY,
    Exchange,
    SeenExchanges,
    is_kind,
    tasks_like,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onceproof.spark_checks.inject.connections import SeenRequest
    from onceproof.spark_checks.stores.links import Link

_ENDS = 4
_STEPS = 32
REPEATED = "repetitions of exchanges that are cut at their first and last times"
ALIKE = "of Spark's tasks, like those of another task of the same line"
_Key: TypeAlias = "tuple[str, int, int | None]"
_Group: TypeAlias = "tuple[_Key, str, int, str]"


def exchanges_in(
    requests: Iterable[SeenRequest],
    others: Mapping[str, int],
    again: Iterable[SeenRequest],
) -> SeenExchanges:
    """Describe the exchanges of a run without a fault.

    ``others`` are requests that the user's code has not sent, by reason. Where
    ``again``, another such run, has a different number of them since a point, none is
    cut there: it would not be known which one was.
    """
    first, second = list(requests), list(again)
    numbers, then = _numbers(first), _numbers(second)
    unsteady = {group for group in numbers | then if numbers[group] != then[group]}
    kept: dict[_Key, list[tuple[Exchange, str]]] = defaultdict(list)
    not_cut = Counter(others)
    not_cut[UNSTEADY] = sum(max(numbers[g], then[g]) for g in unsteady)
    for one, made in _described(first):
        if _group(one) not in unsteady:
            kept[_key(one)].append((made, one.reached))
    driver: dict[int, tuple[Exchange, ...]] = {}
    tasks: dict[tuple[int, int], tuple[Exchange, ...]] = {}
    for (function, batch, partition), every in kept.items():
        unlike = _of_one_task(every)
        some, beyond = _ends(unlike)
        not_cut[ALIKE] += len(every) - len(unlike)
        not_cut[REPEATED] += len(unlike) - len(some) - beyond
        not_cut[BEYOND] += beyond
        if function == LINES:
            driver[batch] = some
        elif partition is not None:
            tasks[batch, partition] = some
    known = {why: n for why, n in not_cut.items() if n}
    sent: dict[tuple[int, int | None], dict[str, int]] = defaultdict(dict)
    for one, made in (*_described(first), *_described(second)):
        times = sent[one.where.batch, one.where.partition]
        times[made.alike] = max(made.time, times.get(made.alike, 0))
    return SeenExchanges(driver, tasks, known, sent=sent)


def exchanges_of(
    requests: Iterable[SeenRequest],
) -> dict[tuple[int, int | None], tuple[Exchange, ...]]:
    """List all exchanges of a run, by batch, and by partition for those of a task."""
    found: dict[tuple[int, int | None], list[Exchange]] = defaultdict(list)
    for one, made in _described(requests):
        found[one.where.batch, one.where.partition].append(made)
    return {place: tuple(some) for place, some in found.items()}


def worth_cutting(every: Iterable[Exchange]) -> tuple[tuple[Exchange, ...], int]:
    """Leave out exchanges that only repeat others: see ``exchanges_in``.

    Also return how many are left out that repeat none.
    """
    return _ends(_of_one_task([(one, "") for one in every]))


def _described(
    requests: Iterable[SeenRequest],
) -> Iterator[tuple[SeenRequest, Exchange]]:
    """Number the requests of the driver, and of each task, by their connections."""
    links: dict[tuple[_Key, str, Link], int] = {}
    used: Counter[tuple[_Key, str]] = Counter()
    requests_on: Counter[tuple[_Key, str, Link]] = Counter()
    for one in requests:
        key = _key(one)
        place = (key, one.sender, one.link)
        if place not in links:
            used[key, one.sender] += 1
            links[place] = used[key, one.sender]
        requests_on[place] += 1
        point = (one.where.line, one.where.time, one.number)
        yield one, Exchange(*point, links[place], requests_on[place], one.sender)


def _of_one_task(
    every: Sequence[tuple[Exchange, str]],
) -> list[tuple[Exchange, str]]:
    """Leave out what tasks of Spark's send at a point, but of the one that sends most.

    They run the same code of Spark's on rows of their own.
    """
    sent: dict[tuple[str, int, str], Counter[str]] = defaultdict(Counter)
    for one, _ in every:
        sent[_tasks(one)][one.sender] += 1
    most = {
        tasks: max(sorted(counts), key=counts.__getitem__)
        for tasks, counts in sent.items()
    }
    return [
        (one, reached)
        for one, reached in every
        if not tasks_like(one.sender) or most[_tasks(one)] == one.sender
    ]


def _tasks(one: Exchange) -> tuple[str, int, str]:
    return one.point, one.time, tasks_like(one.sender)


def _ends(
    every: Sequence[tuple[Exchange, str]],
) -> tuple[tuple[Exchange, ...], int]:
    """Leave out repetitions; return the others, and how many are neither.

    What is sent at a point is one step after the other of one call: each is cut, at the
    first and the last times of the point. One of a kind repeats those of its kind, and
    they are told apart by the line that was reached.
    """
    at: dict[tuple[str, str, str, int], list[int]] = defaultdict(list)
    last: dict[tuple[str, int, str], int] = {}
    for number, (one, reached) in enumerate(every):
        step = 1 if is_kind(one.point) else one.number
        at[one.point, reached, one.sender, step].append(number)
        last[one.point, one.time, one.sender] = one.number
    kept, beyond = set[int](), 0
    for (point, _, sender, step), some in at.items():
        ends = _ENDS if step == 1 else 1
        for n in {*some[:ends], *some[-ends:]}:
            left = last[point, every[n][0].time, sender] - step
            if is_kind(point) or step <= _STEPS or left < _STEPS:
                kept.add(n)
            else:
                beyond += 1
    return tuple(every[n][0] for n in sorted(kept)), beyond


def _numbers(requests: Iterable[SeenRequest]) -> Counter[_Group]:
    return Counter(map(_group, requests))


def _group(one: SeenRequest) -> _Group:
    return _key(one), one.where.line, one.where.time, one.sender


def _key(one: SeenRequest) -> _Key:
    return one.where.function, one.where.batch, one.where.partition
