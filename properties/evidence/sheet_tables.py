"""What a guarantee sheet shows, and in which order; Markdown and HTML only draw it.

First a summary; then for each kind of subject tables with a line for each subject;
then what is folded for each subject: traces, reasons, limits, and evidence. What holds
of a whole table is said once, above it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.properties.evidence import sheet_measurements
from onceproof.properties.evidence import sheet_words as words
from onceproof.properties.evidence.record import ASSUMPTIONS
from onceproof.properties.evidence.sheet import (
    ASPECTS,
    PROTOCOLS,
    SINKS,
    STORES,
    UNSUPPORTED,
)
from onceproof.properties.evidence.sheet_words import Cell, shared
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onceproof.properties.evidence.record import Evidence, TraceEvidence
    from onceproof.properties.evidence.sheet import Sheet, SheetRow

_TITLES = {
    SINKS: "Sinks, on real Spark",
    STORES: "Sinks on stores, on real Spark",
    PROTOCOLS: "Protocols, in their models",
}
_HEAD = (
    "Each cell is one claim, judged on its own. A verdict is worth what is written "
    "beside it: within these limits, under these faults and assumptions, and no "
    "further. User code may run more than once; what counts is what readers see."
)
_NO_EVIDENCE = "is claimed, and has no live evidence"


@dataclass(frozen=True)
class Table:
    """A table, with lines to read before it."""

    head: tuple[str, ...]
    """The titles of its columns."""
    rows: tuple[tuple[Cell, ...], ...]
    """Its rows, each with a cell for each column."""
    notes: tuple[str, ...] = ()
    """The lines to read before it; empty if there are none."""


@dataclass(frozen=True)
class Folded:
    """A line that unfolds into more."""

    summary: str
    """The line that is always shown."""
    lines: tuple[str, ...]
    """The lines that it unfolds into."""


@dataclass(frozen=True)
class Section:
    """A part of the sheet, below a title."""

    title: str
    """The title."""
    notes: tuple[str, ...] = ()
    """The lines below the title; empty if there are none."""
    tables: tuple[Table, ...] = ()
    """The tables, in order."""
    folded: tuple[Folded, ...] = field(default=())
    """What can be unfolded after the tables."""


def laid_out(sheet: Sheet) -> tuple[Section, ...]:
    """Return the sections of a sheet; the first has the title of the page."""
    groups = _groups(sheet)
    sections = [_summary(sheet, groups)]
    sections += [_section(_TITLES[name], found) for name, found in groups.items()]
    if sheet.unclaimed:
        lines = tuple(unclaimed(sheet))
        counted = f"{len(lines)} record{'' if len(lines) == 1 else 's'}"
        title = "Evidence for which nothing is claimed"
        sections.append(Section(title, folded=(Folded(counted, lines),)))
    if sheet.measurements:
        rows = sheet_measurements.lines(sheet)
        table = Table(sheet_measurements.columns(sheet), rows)
        notes = (sheet_measurements.NOTE,)
        sections.append(Section(sheet_measurements.TITLE, notes, (table,)))
    return tuple(sections)


def unclaimed(sheet: Sheet) -> list[str]:
    """Say of each record that nothing rests on it."""
    lines = []
    for address, record in sheet.unclaimed.items():
        line = f"{address}: {record.subject}, {record.guarantee}, {record.verdict}"
        if address in sheet.stale:
            line += f", stale: {', '.join(sheet.stale[address].why)}"
        lines.append(line)
    return lines


Subjects = dict[str, list["SheetRow"]]


def _groups(sheet: Sheet) -> dict[str, Subjects]:
    """Return the subjects by their kind, sinks first."""
    found: dict[str, Subjects] = {name: {} for name in _TITLES}
    for name, rows in sheet.subjects.items():
        found[rows[0].claim.group][name] = rows
    return {name: subjects for name, subjects in found.items() if subjects}


def _summary(sheet: Sheet, groups: dict[str, Subjects]) -> Section:
    records = [one for row in sheet.rows for one in row.live.values()]
    head = ("", "subjects", "claims", *(f"{sign} {name}" for name, sign in _COUNTS))
    lines = [_counted(_TITLES[name], found) for name, found in groups.items()]
    if len(lines) > 1:
        lines.append(_counted("all", sheet.subjects))
    whole = [
        name
        for name, rows in sheet.subjects.items()
        if all(row.verdict is not None and row.verdict.holds for row in rows)
    ]
    odd = sum(not row.as_expected for row in sheet.rows)
    stated = "Every claim came out as it is stated"
    if odd:
        stated = f"**{odd} of {len(sheet.rows)} claims did not come out as stated**"
    outcome = (
        f"Every claim holds for {len(whole)} of {len(sheet.subjects)} "
        f"subjects. {stated}."
    )
    made = (
        f"Made {_made(records)}by `{sheet.command}`. Evidence: `{sheet.folder}`, a "
        "file for each subject. `onceproof guarantees --check` fails if a model, a "
        "property or code has changed since."
    )
    tables = (Table(head, tuple(lines)), _legend(sheet), _glossary(sheet))
    shown = tuple(table for table in tables if table.rows)
    return Section("Guarantees", (_HEAD, outcome, made), shown)


_COUNTS = (
    ("hold", words.HOLDS),
    ("refuted", words.REFUTED),
    ("not settled", words.OPEN),
    ("unsupported", words.NOTHING),
)


def _counted(title: str, subjects: Subjects) -> tuple[Cell, ...]:
    rows = [row for found in subjects.values() for row in found]
    marks = [words.mark(row.verdict) for row in rows]
    counts = [len(subjects), len(rows), *(marks.count(sign) for _, sign in _COUNTS)]
    return (Cell(title), *(Cell(words.number(count)) for count in counts))


def _made(records: Iterable[Evidence]) -> str:
    """Say with which versions, and on which days, evidence was made."""
    versions: dict[str, dict[str, None]] = {}
    days: set[str] = set()
    for record in records:
        days.add(record.date)
        for name, version in record.versions.items():
            versions.setdefault(name, {})[version] = None
    if not days:
        return ""
    tools = ", ".join(f"{name} {' and '.join(v)}" for name, v in versions.items())
    first, last = min(days), max(days)
    when = f"on {first}" if first == last else f"from {first} to {last}"
    return f"with {tools}, from evidence {when}, "


def _legend(sheet: Sheet) -> Table:
    """Return what each verdict that occurs is worth."""
    found = {row.verdict for row in sheet.rows}
    rows = [
        (Cell(f"{words.mark(verdict)} {verdict}"), Cell(verdict.meaning))
        for verdict in Verdict
        if verdict in found
    ]
    if None in found:
        rows.append((Cell(f"{words.NOTHING} {UNSUPPORTED}"), Cell(_NO_EVIDENCE)))
    return Table(("verdict", "the claim"), tuple(rows))


def _glossary(sheet: Sheet) -> Table:
    """Say once what each guarantee is; a protocol's own are said at its table."""
    found: dict[tuple[str, str], str] = {}
    for row in sheet.rows:
        claim = row.claim
        if claim.guarantee in ASPECTS:
            found[claim.guarantee, claim.text] = claim.aspect
    order = {name: place for place, name in enumerate(ASPECTS)}
    return Table(
        ("guarantee", "about", "says"),
        tuple(
            (Cell(name), Cell(aspect), Cell(_sentence(text)))
            for (name, text), aspect in sorted(
                found.items(), key=lambda one: order[one[0][0]]
            )
        ),
    )


def _section(title: str, subjects: Subjects) -> Section:
    """Show subjects of one kind."""
    rows = [row for found in subjects.values() for row in found]
    assumed = _common(rows, _assumed)
    notes = [f"{text[:1].upper()}{text[1:]}." for text in assumed]
    tables, folded = [], []
    for part in _apart(subjects):
        alike = [row for found in part.values() for row in found]
        common = {
            *assumed,
            *_common(alike, words.settings),
            *_common(alike, words.more),
        }
        tables.append(_table(part))
        folded += [_folded(name, found, common) for name, found in part.items()]
    return Section(title, tuple(notes), tuple(tables), tuple(folded))


def _apart(subjects: Subjects) -> Iterable[Subjects]:
    """Part subjects by table: those that make the same claims of their own."""

    def own(name: str) -> tuple[str, ...]:
        names = {row.claim.guarantee for row in subjects[name]}
        return () if names <= {*ASPECTS} else tuple(sorted(names))

    ordered = sorted(subjects, key=lambda name: own(name) != ())
    by_claims: dict[tuple[str, ...], Subjects] = {}
    for name in ordered:
        by_claims.setdefault(own(name), {})[name] = subjects[name]
    return by_claims.values()


def _table(subjects: Subjects) -> Table:
    """Return a line to each subject, and a column to each guarantee."""
    rows = [row for found in subjects.values() for row in found]
    claimed = dict.fromkeys(row.claim.guarantee for row in rows)
    columns = [name for name in ASPECTS if name in claimed]
    columns += [name for name in claimed if name not in ASPECTS]
    common = _common(rows, words.limits)
    notes = [f"Limits: {', '.join(common)}."] if common else []
    for title, what in (("Set", words.settings), ("Counted", words.more)):
        if alike := _common(rows, what):
            notes.append(f"{title}: {'; '.join(alike)}.")
    texts = {
        (row.claim.guarantee, row.claim.text): None
        for row in rows
        if row.claim.guarantee not in ASPECTS
    }
    notes += [f"{name}: {_sentence(text)}" for name, text in texts]
    lines = []
    for name, found in subjects.items():
        cells = {row.claim.guarantee: row for row in found}
        judged = [row for row in found if row.live] or found
        limits = [one for one in shared(judged, words.limits) if one not in common]
        lines.append(
            (
                Cell(name),
                *(words.verdict_cell(cells.get(column)) for column in columns),
                Cell("; ".join(shared(judged, words.looked_at)) or words.NOTHING),
                Cell(", ".join(limits)),
            )
        )
    head = ("subject", *columns, "looked at", "limits")
    if not any(line[-1].text for line in lines):
        head, lines = head[:-1], [line[:-1] for line in lines]
    return Table(head, tuple(lines), tuple(notes))


def _folded(name: str, rows: Sequence[SheetRow], known: set[str]) -> Folded:
    """Return what a subject's line leaves out, and what is not ``said`` above it."""
    lines = [*_traces(rows)]
    for row in rows:
        lines += [f"{row.claim.guarantee} is {t}" for t in words.open_points(row)]
    if duties := shared(rows, lambda row: row.duties):
        lines.append(f"Readers must: {'; '.join(duties)}")
    happens = shared(rows, lambda row: [", ".join(words.fault_set(row))])
    within = [f"faults {'; '.join(happens)}"] if happens else []
    for what in (words.settings, words.more, _assumed):
        within += [text for text in shared(rows, what) if text not in known]
    first, *others = (*_evidence(rows), "")
    limits = f"Within: {'; '.join(within)}. " if within else ""
    texts = (*lines, f"{limits}{first}", *others)
    return Folded(_headline(name, rows), tuple(filter(None, texts)))


def _headline(name: str, rows: Sequence[SheetRow]) -> str:
    """Say in a line how a subject came out."""
    broken = [row for row in rows if row.verdict is Verdict.REFUTED]
    holding = sum(row.verdict is not None and row.verdict.holds for row in rows)
    text = f"**{name}**: {holding} of {len(rows)} hold"
    if broken:
        names = ", ".join(row.claim.guarantee for row in broken)
        how = map(words.headline, words.traces(broken[0].live))
        text = f"**{name}**: not {names}: {next(how, 'no trace')}"
    unsettled = [row for row in rows if words.mark(row.verdict) == words.OPEN]
    lacking = [row for row in rows if row.verdict is None]
    stale = [row for row in rows if row.outdated]
    for found, what in ((unsettled, "not settled"), (lacking, UNSUPPORTED)):
        if found:
            text += f"; {what}: {', '.join(row.claim.guarantee for row in found)}"
    return f"{text}; has stale evidence" if stale else text


def _traces(rows: Sequence[SheetRow]) -> list[str]:
    """Return each trace once, with all that it breaks."""
    kinds = (
        ("", lambda row: row.live),
        (", found before it changed,", words.refuted),
        (", with more faults than are claimed,", lambda row: row.beyond),
    )
    lines = []
    for when, which in kinds:
        traces: dict[str, list[tuple[str, TraceEvidence]]] = {}
        for row in rows:
            for trace in words.traces(which(row)):
                traces.setdefault(trace.name, []).append((row.claim.guarantee, trace))
        for found in traces.values():
            counted = words.faults(len(found[0][1].fault_steps))
            lines.append(
                words.trace_line(found, f"{when} of {counted}" if when else "")
            )
    return lines


def _evidence(rows: Sequence[SheetRow]) -> list[str]:
    """Return where evidence lies, and how it is made again."""
    records = [record for row in rows for record in row.live.values()]
    if not records:
        return []
    files = dict.fromkeys(record.file_name for record in records)
    commands = dict.fromkeys(record.command for record in records)
    hashes = shared(rows, lambda row: map(words.fingerprints, row.live.values()))
    lemmas = shared(rows, lambda row: (x for r in row.live.values() for x in r.lemmas))
    proofs = f". Lemmas: {', '.join(lemmas)}" if lemmas else ""
    again = "; ".join(f"`{command}`" for command in commands)
    found = f"{', '.join(files)}; {'; '.join(hashes)}{proofs}"
    return [f"Evidence: {found}. Again: {again}"]


def _common(
    rows: Sequence[SheetRow], what: Callable[[SheetRow], Iterable[str]]
) -> list[str]:
    """List what every row says; rows without evidence say nothing."""
    each = [list(what(row)) for row in rows if row.live]
    if not each:
        return []
    return [t for t in dict.fromkeys(each[0]) if all(t in one for one in each)]


def _assumed(row: SheetRow) -> list[str]:
    kinds = {kind: place for place, kind in enumerate(ASSUMPTIONS)}
    found = sorted(row.assumptions, key=lambda one: kinds[one.kind])
    return [f"{one.kind}: {one.text}" for one in found]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
