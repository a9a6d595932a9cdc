"""A guarantee sheet as Markdown, and as plain data."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from onceproof.model.text import printable
from onceproof.properties.evidence.record import ASSUMPTIONS
from onceproof.properties.evidence.sheet import UNSUPPORTED
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onceproof.properties.evidence.record import Evidence, Shown
    from onceproof.properties.evidence.sheet import Claim, Sheet, SheetRow, Stale

SCHEMA = 1
FORMAT = "onceproof guarantee sheet"
HEAD = (
    "A row is a claim. Delivery, effect and visibility are claimed apart. A verdict is "
    "proved (all sizes), exhausted (every state of this size), bounded (to a depth), "
    "held (in every run made), refuted, undecided, vacuous, or unsupported: claimed, "
    "and without live evidence. What holds, holds within its scope, under its faults "
    "and its assumptions. User code may run more than once."
)
_LINKS = re.compile(r"\]([(\[:])")
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


def _row_data(row: SheetRow) -> dict[str, Any]:
    claim = row.claim
    return {
        "subject": claim.name,
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
            {
                "file": name,
                "why": list(one.why),
                "verdict": str(one.record.verdict),
                "scope": dict(one.record.scope),
                "again": one.record.again,
            }
            for name, one in row.stale.items()
        ],
        "beyond": sorted(row.beyond),
        "fewer": sorted(row.fewer),
    }


def as_markdown(sheet: Sheet) -> str:
    """Give a sheet as a Markdown page: a table for each subject, and what goes along.

    What several rows share, such as their scope, is said once, with the rows' names
    where it is not of all.
    """
    lines = ["# Guarantees", "", HEAD]
    for subject, rows in sheet.subjects.items():
        lines += ["", f"## {escaped(subject)}", "", _cells(_COLUMNS)]
        lines.append("|" + " --- |" * len(_COLUMNS))
        lines += [_cells(cells(row)) for row in rows]
        for title, texts in paragraphs(rows):
            lines += ["", f"{title}:", "", *(f"- {escaped(one)}" for one in texts)]
    if sheet.unclaimed:
        lines += ["", "## Evidence for which nothing is claimed", ""]
        lines += [f"- {escaped(text)}" for text in unclaimed(sheet)]
    return "\n".join(lines) + "\n"


def sentence(claim: Claim) -> str:
    """Say what is claimed, as a sentence."""
    return claim.text[:1].upper() + claim.text[1:]


def cells(row: SheetRow) -> tuple[str, ...]:
    """Give the cells of a row, in plain words."""
    claim = row.claim
    verdict = str(row.verdict or UNSUPPORTED)
    if row.verdict is not None and not row.as_expected:
        verdict += f" (stated: {claim.expected})"
    records = [record_in_words(record) for record in row.live.values()]
    stale = [_stale_in_words(one) for one in row.outdated.values()]
    fewer = [
        f"too few faults, {r.faults}: {record_in_words(r)}" for r in row.fewer.values()
    ]
    lacks = [claim.lacks] if claim.lacks and row.verdict is None else []
    broken = [f"trace {shown.name}" for shown in _traces(row.live)]
    apart = {"before it changed": _refuted(row), "beyond the claim": row.beyond}
    broken += [
        f"{when}, with {_faults(len(shown.strikes))}: trace {shown.name}"
        for when, records in apart.items()
        for shown in _traces(records)
    ]
    return (
        claim.aspect,
        f"{claim.guarantee}: {sentence(claim)}",
        _claimed_faults(row),
        verdict,
        "; ".join([*records, *stale, *fewer, *lacks]) or "none",
        "; ".join(dict.fromkeys(broken)) or "-",
    )


def _claimed_faults(row: SheetRow) -> str:
    if row.claim.faults:
        return f"at most {row.claim.faults}"
    return "none modelled" if row.live and not faults_of(row) else "none"


def _stale_in_words(stale: Stale) -> str:
    """Say what moved; of what refuted, that it did, and where."""
    why = f"stale: {', '.join(stale.why)}"
    if stale.record.verdict is not Verdict.REFUTED:
        return why
    return f"{why} since it was refuted with {scope_of(stale.record)}"


def _refuted(row: SheetRow) -> dict[str, Evidence]:
    """Give the stale records that refute."""
    found = {name: one.record for name, one in row.outdated.items()}
    return {n: r for n, r in found.items() if r.verdict is Verdict.REFUTED}


def _faults(number: int) -> str:
    return f"{number} fault{'' if number == 1 else 's'}"


def record_in_words(record: Evidence) -> str:
    """Say in a line what a record rests on: how much was looked at, and when."""
    looked = [f"{name} {_number(value)}" for name, value in record.coverage.items()]
    parts = [f"{record.kind} of {record.date}", *looked]
    parts += [f"claim {record.hashes.property[:8]}"]
    parts += [f"with the lemmas {' and '.join(record.lemmas)}"] if record.lemmas else []
    parts += [record.note] if record.note else []
    return ", ".join(parts)


def hashes_of(record: Evidence) -> str:
    """Name the model, and the files of a sink's code, by the beginnings of hashes."""
    files = sorted(record.hashes.sources.items())
    hashes = [("model", record.hashes.model), *files]
    return ", ".join(f"{name} {value[:8]}" for name, value in hashes)


def faults_of(row: SheetRow) -> tuple[str, ...]:
    """Name the faults that the evidence of a row allows."""
    return tuple(
        dict.fromkeys(name for record in row.live.values() for name in record.fault_set)
    )


def _traces(records: Mapping[str, Evidence]) -> list[Shown]:
    return [one.trace for one in records.values() if one.trace is not None]


def paragraphs(rows: Sequence[SheetRow]) -> list[tuple[str, list[str]]]:
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
        texts = _shared(
            rows, lambda row, k=kind: [a.text for a in row.assumptions if a.kind == k]
        )
        found.append((f"Assumptions, {kind}", texts))
    found.append(("Duties of the reader", _shared(rows, lambda row: row.duties)))
    found.append(("What breaks it", _traces_in_words(rows, lambda row: row.live)))
    before = _traces_in_words(rows, _refuted, count=True)
    found.append(("What broke it before it changed", before))
    beyond = _traces_in_words(rows, lambda row: row.beyond, count=True)
    found.append(("What breaks it under more faults than are claimed", beyond))
    return [(title, texts) for title, texts in found if texts]


def unclaimed(sheet: Sheet) -> list[str]:
    """Say of each record that nothing rests on it."""
    lines = []
    for name, record in sheet.unclaimed.items():
        line = f"{name}: {record.subject}, {record.guarantee}, {record.verdict}"
        if name in sheet.stale:
            line += f", stale: {', '.join(sheet.stale[name].why)}"
        lines.append(line)
    return lines


def scope_of(record: Evidence) -> str:
    """Say what was run, and at what sizes."""
    return _listed(record.scope)


def trace_in_words(shown: Shown) -> str:
    """Tell a trace step by step, with its faults in bold, and how to see it again."""
    steps = [
        f"**{step}**" if number in shown.strikes else step
        for number, step in enumerate(shown.steps, 1)
    ]
    parts = [f"trace {shown.name} breaks that {shown.clause}: {', '.join(steps)}"]
    parts += [f"failpoints: {'; '.join(shown.failpoints)}"] if shown.failpoints else []
    parts += [shown.seen] if shown.seen else []
    parts += [f"file {shown.file}"] if shown.file else []
    return f"{'. '.join(parts)}. Again: `{shown.again}`"


def _traces_in_words(
    rows: Sequence[SheetRow],
    which: Callable[[SheetRow], Mapping[str, Evidence]],
    *,
    count: bool = False,
) -> list[str]:
    """Tell the traces of records, each once; with ``count`` say of how many faults."""
    found: dict[str, str] = {}
    for row in rows:
        for shown in _traces(which(row)):
            text = trace_in_words(shown)
            if count:
                text = f"with {_faults(len(shown.strikes))}, {text}"
            found.setdefault(shown.name, text)
    return list(found.values())


def _shared(rows: Sequence[SheetRow], what: Any) -> list[str]:
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


def _cells(texts: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(one).replace("|", "\\|") for one in texts) + " |"


def escaped(text: str) -> str:
    """Give text as it may stand in Markdown: on one line, with no HTML and no link."""
    line = printable(" ".join(text.split()))
    line = line.replace("\\", "\\\\").replace("<", "&lt;")
    return _LINKS.sub(r"]\\\1", line)
