"""Words for the cells and lines of a guarantee sheet: one row, record or trace each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onceproof.properties.evidence.contradictions import part
from onceproof.properties.evidence.sheet import UNSUPPORTED
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onceproof.properties.evidence.record import Evidence, TraceEvidence
    from onceproof.properties.evidence.sheet import SheetRow

HOLDS, REFUTED, OPEN, NOTHING = "✓", "✗", "?", "\N{EN DASH}"
_MARKS = {Verdict.REFUTED: REFUTED, Verdict.UNDECIDED: OPEN, Verdict.VACUOUS: OPEN}
CLASSES = {HOLDS: "holds", REFUTED: "refuted", OPEN: "open", NOTHING: "unsupported"}
INTERLEAVINGS, DURABLE = "interleavings", "durable states hit"
_COUNTED = (INTERLEAVINGS, DURABLE, "states", "walks")
_VERSION = "Spark"


class Cell(NamedTuple):
    """A text in a table, and what kind of verdict it shows, if any."""

    text: str
    """The text."""
    kind: str = ""
    """The kind of verdict that it shows; empty for any other text."""


def mark(verdict: Verdict | None) -> str:
    """Return the mark of a verdict: the one for what holds belongs to no other."""
    if verdict is None:
        return NOTHING
    return HOLDS if verdict.holds else _MARKS[verdict]


def verdict_cell(row: SheetRow | None) -> Cell:
    """Show how a claim came out, and what a reader would be misled without."""
    if row is None:
        return Cell("")
    verdict, sign = row.verdict, mark(row.verdict)
    text = f"{sign} {verdict or UNSUPPORTED}"
    if sign != HOLDS:
        text = f"**{text}**"
    if counted := _incomplete(row):
        text += f" in {counted}"
    if verdict is not None and not row.as_expected:
        text += f" (stated: {row.claim.expected})"
    if refuted(row):
        text += f"; **{REFUTED} stale refutation**"
    if row.beyond:
        least = min(len(shown.fault_steps) for shown in traces(row.beyond))
        text += f"; **{REFUTED} with {faults(least)}**"
    return Cell(text, CLASSES[sign])


def _incomplete(row: SheetRow) -> str:
    """Say in how many interleavings a claim held, where these are not all."""
    if row.verdict is not Verdict.HELD:
        return ""
    counted = [record.coverage.get(INTERLEAVINGS) for record in row.live.values()]
    found = [(c, part(c)) for c in counted]
    if any(p is None or p[0] == p[1] for _, p in found):
        return ""
    return str(next(c for c, _ in found))


def refuted(row: SheetRow) -> dict[str, Evidence]:
    """Return the stale records that refute, and that no live one replaces."""
    found = {name: one.record for name, one in row.outdated.items()}
    return {n: r for n, r in found.items() if r.verdict is Verdict.REFUTED}


def traces(records: Mapping[str, Evidence]) -> list[TraceEvidence]:
    """List the traces of records."""
    return [one.trace for one in records.values() if one.trace is not None]


def faults(number: int) -> str:
    """Count faults."""
    return f"{number} fault{'' if number == 1 else 's'}"


def fault_set(row: SheetRow) -> tuple[str, ...]:
    """Name the faults that the evidence of a row allows."""
    found = (name for record in row.live.values() for name in record.fault_set)
    return tuple(dict.fromkeys(found))


def limits(row: SheetRow) -> list[str]:
    """Say within which limits a claim is judged: faults, sizes, version of Spark."""
    most = row.claim.faults
    found = [f"at most {faults(most)}" if most else "no faults modelled"]
    if not most and (not row.live or fault_set(row)):
        found = ["no faults"]
    sizes: dict[str, dict[str, None]] = {}
    for record in _basis(row):
        if record.verdict is Verdict.PROVED:
            found.append(record.note or "every size")
            continue
        for name, value in record.scope.items():
            if name == _VERSION or (type(value) is int and name != "faults"):
                sizes.setdefault(name, {})[number(value)] = None
    return [*found, *(f"{name} {' and '.join(v)}" for name, v in sizes.items())]


def settings(row: SheetRow) -> list[str]:
    """Return what else was set: the words of a scope that are no sizes."""
    return [
        f"{name}: {value}"
        for record in _basis(row)
        for name, value in record.scope.items()
        if name != _VERSION and type(value) is not int
    ]


def looked_at(row: SheetRow) -> list[str]:
    """Return how much the judges looked at."""
    found = []
    for record in _basis(row):
        counts = {n: v for n, v in record.coverage.items() if n in _COUNTED}
        words = [f"{number(value)} {name}" for name, value in counts.items()]
        found.append(", ".join(words) or record.judge)
    return found


def more(row: SheetRow) -> list[str]:
    """Return what else the judges counted, such as what could not be steered."""
    return [
        f"{name}: {number(value)}"
        for record in _basis(row)
        for name, value in record.coverage.items()
        if name not in _COUNTED
    ]


def _basis(row: SheetRow) -> list[Evidence]:
    """List the live records that a verdict is read from."""
    return [one for one in row.live.values() if one.verdict is row.verdict]


def open_points(row: SheetRow) -> list[str]:
    """Return why a claim is not settled, what is stale, and what says too little."""
    claim, found = row.claim, []
    if row.verdict is None and claim.missing:
        found.append(f"unsupported: {claim.missing}")
    elif row.verdict is None:
        found.append(f"unsupported: {row.why_unsupported}; run `{claim.command}`")
    elif not row.verdict.holds and row.verdict is not Verdict.REFUTED:
        notes = dict.fromkeys(one.note or one.verdict.meaning for one in _basis(row))
        found.append(f"{row.verdict}: {'; '.join(notes)}")
    for one in row.outdated.values():
        since = f" since it was refuted with {listed(one.record.scope)}"
        before = since if one.record.verdict is Verdict.REFUTED else ""
        found.append(f"stale: {', '.join(one.why)}{before}; `{one.record.command}`")
    found += [
        f"{record.verdict} with {faults(record.faults)} alone, which is too few"
        for record in row.fewer.values()
    ]
    return found


def headline(trace: TraceEvidence) -> str:
    """Say in a clause how a trace breaks a claim."""
    where = "; ".join(trace.failpoints)
    if where and trace.outcome:
        return f"{where}; {trace.outcome}"
    named = [trace.steps[n - 1] for n in trace.fault_steps]
    how = f"after {' and '.join(named)}" if named else "without any fault"
    ends = f", {trace.outcome}" if trace.outcome else ""
    return f"{how}, in {len(trace.steps)} steps{ends}"


def trace_line(traces: Sequence[tuple[str, TraceEvidence]], when: str = "") -> str:
    """Return a trace step by step, its faults in bold, with the command to see it.

    It is given for each guarantee that it breaks: what readers see may differ.
    """
    broken: dict[str, list[str]] = {}
    for guarantee, one in traces:
        why = f"{one.clause}: {one.outcome}" if one.outcome else one.clause
        broken.setdefault(why, []).append(guarantee)
    trace = traces[0][1]
    steps = ", ".join(
        f"**{step}**" if n in trace.fault_steps else step
        for n, step in enumerate(trace.steps, 1)
    )
    parts = [f"Injected: {'; '.join(trace.failpoints)}"] if trace.failpoints else []
    parts += [f"Steps: {steps}", f"See it: `{trace.command}`"]
    parts += [f"File: {one.file}" for _, one in traces if one.file][:1]
    breaks = "; ".join(f"{', '.join(names)} ({why})" for why, names in broken.items())
    return f"Trace {trace.name}{when} breaks {breaks}. {'. '.join(parts)}"


def fingerprints(record: Evidence) -> str:
    """Name the model, and the files of a sink's code, by the beginnings of hashes."""
    files = sorted(record.fingerprints.sources.items())
    hashes = [("model", record.fingerprints.model), *files]
    return ", ".join(f"{name} {value[:8]}" for name, value in hashes)


def shared(
    rows: Sequence[SheetRow], what: Callable[[SheetRow], Iterable[str]]
) -> list[str]:
    """List what rows say, each once, with the rows' names where not all say it."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for text in dict.fromkeys(filter(None, what(row))):
            found.setdefault(text, []).append(row.claim.guarantee)
    return [
        text if len(names) == len(rows) else f"{text} ({', '.join(names)})"
        for text, names in found.items()
    ]


def listed(data: Mapping[str, Any]) -> str:
    """Write names with their values."""
    return ", ".join(f"{name} {number(value)}" for name, value in data.items())


def number(value: Any) -> str:
    """Write a number with its thousands apart, and anything else as it is."""
    return f"{value:,}" if type(value) is int else str(value)
