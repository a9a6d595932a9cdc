"""The tables of the page on cost, each made from the stored figures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MILLION = 1e6
WORDS = {
    "log_bytes": "bytes logged for a record",
    "state_bytes": "state of an operator",
    "bandwidth": "bandwidth of an operator, a second",
    "store_bandwidth": "bandwidth of the store, a second",
    "events_in_a_record": "events in a record",
    "work": "work on a record",
    "message": "a message on its way",
    "log_write": "write of a record's numbers and productions to the log",
    "look_up": "finding a repeated record in the log",
    "pause": "an operator stops for its snapshot",
    "interval": "from a checkpoint to the next",
    "pointer_write": "storing the pointer to a checkpoint",
    "acknowledge": "the coordinator takes one acknowledgement",
    "deploy": "the coordinator starts one operator again",
    "detect": "until a failure is noticed",
    "start": "a process starts",
    "room": "records in a channel, or not acknowledged",
}
BYTES = ("log_bytes", "state_bytes", "bandwidth", "store_bandwidth")
NUMBERS = ("events_in_a_record", "room")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def sinks(found: dict[str, Any]) -> str:
    """Compare the sinks on each store with the append to the same store."""
    rows = found["sinks"]["rows"]
    sizes = sorted({row["rows_in_a_batch"] for row in rows})
    lines = []
    for row in rows:
        if row["rows_in_a_batch"] != sizes[0]:
            continue
        of_size = [
            next(
                r
                for r in rows
                if (r["sink"], r["rows_in_a_batch"]) == (row["sink"], size)
            )
            for size in sizes
        ]
        lines.append(
            [
                row["store"],
                row["way"],
                f"`{row['sink']}`",
                *(f"{one['latency']:.2f} s" for one in of_size),
                *(spread(one, "latency") for one in of_size),
                *(f"{one['rows_per_second_ratio']:.2f}" for one in of_size),
                ", ".join(f"`{name}`" for name in row["refuted"]) or "none",
            ]
        )
    heads = [f"latency, {size:,} rows" for size in sizes]
    heads += [f"its ratio, {size:,} rows" for size in sizes]
    heads += [f"throughput, ratio, {size:,} rows" for size in sizes]
    return table(["store", "way", "sink", *heads, "refuted guarantees"], lines)


def spread(row: dict[str, Any], what: str) -> str:
    """Write a ratio with the least and the most of the rounds."""
    ratio, least, most = (row[f"{what}_{one}"] for one in ("ratio", "least", "most"))
    return f"{ratio:.2f} ({least:.2f} to {most:.2f})"


def recovery(found: dict[str, Any]) -> str:
    """Say how long a stateful query takes to recover."""
    lines = [
        [
            f"{row['keys']:,}",
            f"{row['rows']:,}",
            f"{row['state_bytes'] / MILLION:.1f} MB",
            f"{row['recovery']:.2f} s",
            spread(row, "first_row"),
            spread(row, "next_batch"),
        ]
        for row in found["recovery"]["rows"]
    ]
    return table(
        [
            "keys in the state",
            "rows in a batch",
            "files of the state",
            "recovery",
            "recovery, to that of the first row",
            "recovery, to the next batch",
        ],
        lines,
    )


def growth(found: dict[str, Any]) -> str:
    """Say what each way costs while nothing fails."""
    lines = []
    for row in found["simulated"]["growth"]:
        alone = row["none"]["seconds"]
        snapshot, log = row["snapshot"]["calm"], row["log"]["calm"]
        dear = row["log, dear writes"]["calm"]
        lines.append(
            [
                f"{row['operators']:,}",
                *(f"{one['seconds'] / alone:.2f}" for one in (snapshot, log, dear)),
                f"{snapshot['processed_after'] / row['none']['processed_after']:.2f}",
                f"{snapshot['visible_later']:.1f} s",
                f"{snapshot['steps']['snapshot']:,}",
                f"{snapshot['steps']['send_barrier']:,}",
                f"{log['steps']['apply']:,}",
                f"{snapshot['bytes_written'] / MILLION:,.0f} MB",
                f"{log['bytes_written'] / MILLION:,.0f} MB",
            ]
        )
    return table(
        [
            "operators",
            "time, snapshots",
            "time, log",
            "time, log with dear writes",
            "processed after, snapshots",
            "visible later, snapshots",
            "snapshots",
            "barriers",
            "log writes",
            "bytes of snapshots",
            "bytes of logs",
        ],
        lines,
    )


def one_failure(found: dict[str, Any]) -> str:
    """Say what one failure of one operator costs."""
    state = found["simulated"]["prices"]["state_bytes"]
    lines = []
    for row in found["simulated"]["growth"]:
        for label in ("snapshot", "snapshot, free coordinator", "log"):
            calm, once = row[label]["calm"], row[label]["one_failure"]
            delay = once["processed_after"] - calm["processed_after"]
            lines.append(
                [
                    f"{row['operators']:,}",
                    label,
                    f"{once['recovery']:.2f} s",
                    f"{once['bytes_restored'] // state:,}",
                    f"{once['processed_again']:,}",
                    f"{delay:.4f} s",
                ]
            )
    return table(
        [
            "operators",
            "way",
            "until it works again",
            "operators restored",
            "records worked on again",
            "mean delay of a record",
        ],
        lines,
    )


def ratio(found: dict[str, Any]) -> str:
    """Write a ratio to a run without protection, or how many runs did not end."""
    if found["ratio"] is not None:
        return f"{found['ratio']:.2f}"
    open_ = found["runs"] - found["ended"]
    return f"{open_} of {found['runs']} do not end"


def frequency(found: dict[str, Any]) -> str:
    """Say what failures cost as they become frequent."""
    prices = found["simulated"]["prices"]
    often = found["simulated"]["often"]
    lines = [
        [
            f"{row['seconds_between_failures']:g} s",
            *(ratio(row[kind]) for kind in ("snapshot", "snapshot, often", "log")),
            *(f"{row[kind]['processed_again']:,.0f}" for kind in ("snapshot", "log")),
        ]
        for row in found["simulated"]["frequency"]["rows"]
    ]
    return table(
        [
            "between failures of the job",
            f"time, snapshots {prices['interval']:g} s apart",
            f"time, snapshots {often:g} s apart",
            "time, log",
            "records worked on again, snapshots",
            "records found in the log",
        ],
        lines,
    )


def grid(found: dict[str, Any]) -> str:
    """Say which way is faster, by size and by how often an operator fails."""
    lines = [
        [
            f"{row['operators']:,}",
            f"{row['seconds_between_failures_of_an_operator']:,.0f} s",
            f"{row['snapshot']['failures']:g}",
            f"{row['log']['failures']:g}",
            ratio(row["snapshot"]),
            ratio(row["log"]),
        ]
        for row in found["simulated"]["grid"]
    ]
    return table(
        [
            "operators",
            "between failures of an operator",
            "failures, snapshots",
            "failures, log",
            "time, snapshots",
            "time, log",
        ],
        lines,
    )


def counts(found: dict[str, Any]) -> str:
    """List the steps of the protocols, as they were counted."""
    lines = [
        [
            f"`{protocol}`",
            f"`{step}`",
            ", ".join(
                f"{more:+d} for each {unit}" if more != 1 else f"1 for each {unit}"
                for unit, more in adds.items()
            ),
        ]
        for protocol, steps in found["simulated"]["own_counts"].items()
        for step, adds in steps.items()
    ]
    return table(["protocol", "step", "how often"], lines)


def prices(found: dict[str, Any]) -> str:
    """List the parameters of the simulation."""
    lines = [
        [f"`{name}`", WORDS[name], amount(name, value)]
        for name, value in found["simulated"]["prices"].items()
    ]
    return table(["parameter", "what it is", "value"], lines)


def amount(name: str, value: float) -> str:
    """Write the value of a parameter with its unit."""
    if name in BYTES:
        return f"{value / MILLION:,g} MB"
    return f"{value:,}" if name in NUMBERS else f"{value:g} s"


def settings(found: dict[str, Any]) -> str:
    """Say when, on what and for how long each part was measured."""
    lines = [
        [
            name,
            part["measured"]["date"],
            f"{part['measured']['seconds']:,} s",
            f"{part['measured']['cores']} cores, load {part['measured']['load']}",
            _versions(name, part),
        ]
        for name, part in sorted(found.items())
    ]
    return table(["part", "date", "took", "machine", "versions and sizes"], lines)


def _versions(name: str, part: dict[str, Any]) -> str:
    python = f"Python {part['measured']['python']}"
    if name == "simulated":
        followed = " and ".join(
            f"{part['validated'][kind]['steps']:,} steps of {kind}s"
            for kind in ("snapshot", "log")
        )
        return f"{python}; {followed} followed through the protocols"
    if name == "recovery":
        return f"{python}; {part['rounds']} rounds"
    stores = ", ".join(filter(None, part["versions"].values()))
    missing = "".join(f"; without {store}" for store in part["missing"])
    return (
        f"{python}, PySpark {part['spark']}, {stores}; {part['rounds']} rounds of "
        f"{part['batches']} batches{missing}"
    )
