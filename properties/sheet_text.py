"""A guarantee sheet as Markdown, and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from onceproof.properties.evidence import ASSUMPTIONS
from onceproof.properties.sheet import UNSUPPORTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onceproof.properties.evidence import Evidence, Shown
    from onceproof.properties.sheet import Claim, Row, Sheet

SCHEMA = 1
FORMAT = "onceproof guarantee sheet"
HEAD = (
    "A row is a claim. Delivery, effect and visibility are claimed apart. A verdict is "
    "proved (all sizes), exhausted (every state of this size), bounded (to a depth), "
    "held (in every run made), refuted, undecided, vacuous, or unsupported: claimed, "
    "and without live evidence. What holds, holds within its scope, under its faults "
    "and its assumptions. User code may run more than once."
)
_COLUMNS = ("of", "claim", "faults", "verdict", "evidence", "what breaks it")


def as_data(sheet: Sheet) -> dict[str, Any]:
    """Give a sheet as plain data, with its format and schema."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "rows": [_row_data(row) for row in sheet.rows],
        "unclaimed": [
            {
                "file": name,
                "subject": record.subject,
                "guarantee": record.guarantee,
                "verdict": str(record.verdict),
                "stale": list(sheet.stale[name].why) if name in sheet.stale else [],
            }
            for name, record in sheet.unclaimed.items()
        ],
    }


def _row_data(row: Row) -> dict[str, Any]:
    claim = row.claim
    return {
        "subject": claim.subject,
        "guarantee": claim.guarantee,
        "aspect": claim.aspect,
        "claim": sentence(claim),
        "faults": claim.faults,
        "fault_set": list(faults_of(row)),
        "expected": claim.expected,
        "verdict": str(row.verdict or UNSUPPORTED),
        "assumptions": [asdict(one) for one in row.assumptions],
        "duties": list(row.duties),
        "evidence": [
            {"file": name, **record.to_json()} for name, record in row.live.items()
        ],
        "stale": [
            {"file": name, "why": list(one.why)} for name, one in row.stale.items()
        ],
        "beyond": sorted(row.beyond),
    }


def as_markdown(sheet: Sheet) -> str:
    """Give a sheet as a Markdown page: a table for each subject, and what goes along.

    What several rows share, such as their scope, is said once, with the rows' names
    where it is not of all.
    """
    lines = ["# Guarantees", "", HEAD]
    for subject, rows in sheet.subjects.items():
        lines += ["", f"## {subject}", "", _cells(_COLUMNS)]
        lines.append("|" + " --- |" * len(_COLUMNS))
        lines += [_cells(cells(row)) for row in rows]
        for title, told in paragraphs(rows):
            lines += ["", f"{title}:", "", *(f"- {escaped(one)}" for one in told)]
    if sheet.unclaimed:
        lines += ["", "## Evidence for which nothing is claimed", ""]
        lines += [f"- {escaped(told)}" for told in unclaimed(sheet)]
    return "\n".join(lines) + "\n"


def sentence(claim: Claim) -> str:
    """Say what is claimed, as a sentence."""
    return claim.text[:1].upper() + claim.text[1:]


def cells(row: Row) -> tuple[str, ...]:
    """Give the cells of a row, in plain words."""
    claim = row.claim
    verdict = str(row.verdict or UNSUPPORTED)
    if row.verdict is not None and not row.as_expected:
        verdict += f" (stated: {claim.expected})"
    records = [told_of(record) for record in row.live.values()]
    stale = [f"stale: {', '.join(one.why)}" for one in row.outdated.values()]
    broken = [f"trace {shown.name}" for shown in traces_of(row)]
    broken += [
        f"with more faults, {len(r.trace.strikes)}: trace {r.trace.name}"
        for r in row.beyond.values()
        if r.trace is not None
    ]
    return (
        claim.aspect,
        f"{claim.guarantee}: {sentence(claim)}",
        f"at most {claim.faults}" if claim.faults else "none",
        verdict,
        "; ".join([*records, *stale]) or "none",
        "; ".join(dict.fromkeys(broken)) or "-",
    )


def told_of(record: Evidence) -> str:
    """Say in a line what a record rests on: how much was looked at, and when."""
    looked = [f"{name} {_number(value)}" for name, value in record.coverage.items()]
    told = [f"{record.kind} of {record.date}", *looked]
    told += [f"claim {record.hashes.property[:8]}"]
    told += [f"with the lemmas {' and '.join(record.lemmas)}"] if record.lemmas else []
    told += [record.note] if record.note else []
    return ", ".join(told)


def hashes_of(record: Evidence) -> str:
    """Name the model, and the files of a sink's code, by the beginnings of hashes."""
    files = sorted(record.hashes.sources.items())
    told = [("model", record.hashes.model), *files]
    return ", ".join(f"{name} {value[:8]}" for name, value in told)


def faults_of(row: Row) -> tuple[str, ...]:
    """Name the faults that the evidence of a row let strike."""
    return tuple(
        dict.fromkeys(name for record in row.live.values() for name in record.fault_set)
    )


def traces_of(row: Row) -> tuple[Shown, ...]:
    """Give the traces that break a claim, within its faults and beyond."""
    records = [*row.live.values(), *row.beyond.values()]
    return tuple(record.trace for record in records if record.trace is not None)


def paragraphs(rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """Say what goes along with the rows of a subject, under a title each."""
    scopes = _shared(rows, lambda row: map(scope_of, row.live.values()))
    faults = _shared(rows, lambda row: [", ".join(faults_of(row))])
    versions = _shared(
        rows, lambda row: [_listed(r.versions) for r in row.live.values()]
    )
    hashes = _shared(rows, lambda row: map(hashes_of, row.live.values()))
    found = [("Scope", scopes), ("Fault set", faults), ("Versions", versions)]
    found.append(("Hashes", hashes))
    for kind in ASSUMPTIONS:
        told = _shared(
            rows, lambda row, k=kind: [a.text for a in row.assumptions if a.kind == k]
        )
        found.append((f"Assumptions, {kind}", told))
    found.append(("Duties of the reader", _shared(rows, lambda row: row.duties)))
    found.append(("What breaks it", _traces(rows)))
    return [(title, told) for title, told in found if told]


def unclaimed(sheet: Sheet) -> list[str]:
    """Say of each record that nothing rests on what it tells."""
    told = []
    for name, record in sheet.unclaimed.items():
        line = f"{name}: {record.subject}, {record.guarantee}, {record.verdict}"
        if name in sheet.stale:
            line += f", stale: {', '.join(sheet.stale[name].why)}"
        told.append(line)
    return told


def scope_of(record: Evidence) -> str:
    """Say what was run, and at what sizes."""
    return _listed(record.scope)


def trace_in_words(shown: Shown) -> str:
    """Tell a trace step by step, with its faults in bold, and how to see it again."""
    steps = [
        f"**{step}**" if number in shown.strikes else step
        for number, step in enumerate(shown.steps, 1)
    ]
    told = [f"trace {shown.name} breaks that {shown.clause}: {', '.join(steps)}"]
    told += [f"failpoints: {'; '.join(shown.failpoints)}"] if shown.failpoints else []
    told += [shown.seen] if shown.seen else []
    told += [f"file {shown.file}"] if shown.file else []
    return f"{'. '.join(told)}. Again: `{shown.again}`"


def _traces(rows: Sequence[Row]) -> list[str]:
    found: dict[str, str] = {}
    for row in rows:
        for shown in traces_of(row):
            found.setdefault(shown.name, trace_in_words(shown))
    return list(found.values())


def _shared(rows: Sequence[Row], what: Any) -> list[str]:
    """List what rows say, each once, with the rows' names where not all say it."""
    said: dict[str, list[str]] = {}
    for row in rows:
        for text in dict.fromkeys(filter(None, what(row))):
            said.setdefault(text, []).append(row.claim.guarantee)
    return [
        text if len(names) == len(rows) else f"{text} ({', '.join(names)})"
        for text, names in said.items()
    ]


def _listed(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {_number(value)}" for name, value in data.items())


def _number(value: Any) -> str:
    return f"{value:,}" if type(value) is int else str(value)


def _cells(told: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(one).replace("|", "\\|") for one in told) + " |"


def escaped(text: str) -> str:
    """Give text as it may stand in Markdown: on one line, and no markup of its own."""
    return " ".join(text.replace("<", "&lt;").split())
