"""Which exchanges of a sink with its store were cut in a replay, and which were not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import LATE_REQUEST, LOSE_REPLY, LOSE_REQUEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.spark_checks.replay.sink_report import SinkReport

_MOST_SHOWN = 8
_UNSEEN = (
    "not looked for: connections past target.store to another port, through a Unix "
    "socket, from another machine, or after a fault"
)
_HOW = {
    LOSE_REQUEST: "before the store was reached",
    LOSE_REPLY: "after it had answered",
    LATE_REQUEST: "while the request reached it later",
}


def exchanges_of(report: SinkReport) -> list[str]:
    """Say, a line each, which exchanges were cut, which were not, and why."""
    seen = report.sink.exchanges
    if seen is None:
        return []
    cut = {(hit.do, hit.line) for o in report.replayed for hit in o.hits}
    places = sorted(seen.places)
    done = {how: [p for p in places if (do, p) in cut] for do, how in _HOW.items()}
    if all(some == places for some in done.values()):
        done = {" and ".join(_HOW.values()): places}
    found = [
        f"cut {how}, {len(some)} of {len(places)} exchanges: {_listed(some)}"
        for how, some in done.items()
    ]
    if never := report.never_cut:
        found.append(f"never cut, {len(never)}: {'; '.join(never[:_MOST_SHOWN])}")
    found += [
        f"not cut, {number} requests {why}" for why, number in seen.not_cut.items()
    ]
    found.append(_UNSEEN)
    return found


def _listed(places: Sequence[str]) -> str:
    """List exchanges, those at one point together."""
    at: dict[str, list[str]] = {}
    for place in places:
        number, _, text = place.partition(" at ")
        at.setdefault(text, []).append(number.rpartition(" ")[2])
    found = [
        f"request {numbers[0]} at {text}"
        if len(numbers) == 1
        else f"requests {', '.join(numbers)} at {text}"
        for text, numbers in at.items()
    ]
    more = len(found) - _MOST_SHOWN
    ends = f" and at {more} more lines" if more > 0 else ""
    return ("; ".join(found[:_MOST_SHOWN]) or "none") + ends
