"""Which of the three claims on cost the figures support, and how far."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.cost.tables import table

LITTLE = 1.1
"""A cost is little where a run takes at most so many times as long."""


def claims(found: dict[str, Any]) -> str:
    """Put each claim beside what was measured."""
    rows = [
        ["A snapshot costs little while nothing fails", *snapshot_is_cheap(found)],
        ["Its recovery grows with the topology", *recovery_grows(found)],
        ["Deduplication costs every event at every operator", *log_costs_all(found)],
        ["Its recovery stays local", *recovery_is_local(found)],
        ["Both reduce to at-least-once plus idempotence", *both_reduce(found)],
    ]
    return table(["claim", "measured", "holds"], rows)


def snapshot_is_cheap(found: dict[str, Any]) -> tuple[str, str]:
    """Compare runs with snapshots and without, while nothing fails."""
    ratios = {
        row["operators"]: row["snapshot"]["calm"]["seconds"] / row["none"]["seconds"]
        for row in found["simulated"]["growth"]
    }
    cheap = [n for n, ratio in ratios.items() if ratio <= LITTLE]
    dear = [n for n, ratio in ratios.items() if ratio > LITTLE]
    measured = "; ".join(f"{ratio:.2f} at {n:,}" for n, ratio in ratios.items())
    later = max(
        row["snapshot"]["calm"]["processed_after"] / row["none"]["processed_after"]
        for row in found["simulated"]["growth"]
    )
    holds = "yes" if not dear else f"up to {max(cheap):,} operators" if cheap else "no"
    return (
        f"time to the last checkpoint, to a run without protection: {measured} "
        f"operators; a record is processed at most {later:.2f} times as late"
    ), holds


def recovery_grows(found: dict[str, Any]) -> tuple[str, str]:
    """Compare the recovery of the largest topology with that of the smallest."""
    first, *_, last = found["simulated"]["growth"]
    times, again = (
        last["snapshot"]["one_failure"][what] / first["snapshot"]["one_failure"][what]
        for what in ("recovery", "processed_again")
    )
    free = "snapshot, free coordinator"
    without = last[free]["one_failure"]["recovery"]
    without /= first[free]["one_failure"]["recovery"]
    sizes = f"from {first['operators']:,} to {last['operators']:,} operators"
    measured = (
        f"{sizes}, recovery takes {times:.1f} times as long, and {again:,.0f} times as "
        f"many records are worked on again; with a free coordinator and store, "
        f"recovery takes {without:.1f} times as long"
    )
    work = "the repeated work" if again > LITTLE else ""
    time = "the time" if times > LITTLE else ""
    grows = " and ".join(filter(None, (work, time)))
    if time and without <= LITTLE:
        grows += " (the time by what coordinator and store cost)"
    return measured, f"yes: {grows}" if grows else "no"


def log_costs_all(found: dict[str, Any]) -> tuple[str, str]:
    """Look whether each record has its writes at each operator, and what they cost."""
    simulated = found["simulated"]
    records = simulated["records"]
    each = set()
    times, dear = [], []
    for row in simulated["growth"]:
        inner = row["operators"] * (simulated["depth"] - 1) // simulated["depth"]
        each.add(row["log"]["calm"]["steps"]["apply"] / (inner * records))
        alone = row["none"]["seconds"]
        times.append(row["log"]["calm"]["seconds"] / alone)
        dear.append(row["log, dear writes"]["calm"]["seconds"] / alone)
    writes = ", ".join(f"{one:g}" for one in sorted(each))
    measured = (
        f"log writes for a record at an operator: {writes}; time, to a run without "
        f"protection: {min(times):.2f} to {max(times):.2f} at every size, and "
        f"{min(dear):.2f} to {max(dear):.2f} if a write costs as much as the work"
    )
    return measured, "yes" if each == {1.0} else "no"


def recovery_is_local(found: dict[str, Any]) -> tuple[str, str]:
    """Compare what one failure restores and delays at the smallest and largest."""
    growth = found["simulated"]["growth"]
    state = found["simulated"]["prices"]["state_bytes"]
    restored = {row["log"]["one_failure"]["bytes_restored"] // state for row in growth}
    first, *_, last = growth

    def delay(row: dict[str, Any], kind: str) -> float:
        once, calm = row[kind]["one_failure"], row[kind]["calm"]
        return once["processed_after"] - calm["processed_after"]

    longest = max(row["log"]["one_failure"]["recovery"] for row in growth)
    shortest = min(row["log"]["one_failure"]["recovery"] for row in growth)
    measured = (
        f"operators restored: {', '.join(map(str, sorted(restored)))}; until it works "
        f"again: {shortest:.2f} to {longest:.2f} s at every size; mean delay of a "
        f"record: {delay(first, 'log'):.4f} s at {first['operators']:,} operators, "
        f"{delay(last, 'log'):.4f} s at {last['operators']:,} (snapshots: "
        f"{delay(first, 'snapshot'):.1f} and {delay(last, 'snapshot'):.1f} s)"
    )
    local = restored == {1} and longest <= LITTLE * shortest
    return measured, "yes" if local else "no"


def both_reduce(found: dict[str, Any]) -> tuple[str, str]:
    """Look whether both repeat, and whether what repeats takes effect once."""
    again = {
        kind: sum(
            row[kind]["processed_again"]
            for row in found["simulated"]["frequency"]["rows"]
        )
        for kind in ("snapshot", "log")
    }
    followed = found["simulated"]["validated"]
    measured = (
        f"with failures, records come again: {again['snapshot']:,.0f} with snapshots, "
        f"{again['log']:,.0f} with logs; in {followed['failures']} failures followed "
        f"through the protocols, each record is visible once"
    )
    plain = [
        f"`{row['sink']}`"
        for row in found.get("sinks", {"rows": []})["rows"]
        if "at-most-once" in row["refuted"]
    ]
    if plain:
        names = ", ".join(dict.fromkeys(plain))
        measured += f". On Spark, sinks whose writes are not idempotent repeat: {names}"
    shown = min(again.values()) > 0
    return measured, "as far as measurements show" if shown else "no"
