"""A reconciliation as a page: one file, for an incident or the closing of a month."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from onceproof.model.text import printable
from onceproof.properties.evidence.sheet_page import document
from onceproof.properties.evidence.sheet_words import CLASSES, mark
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.reconcile.headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.spark_checks.reconcile.circumstances import Circumstances
    from onceproof.spark_checks.reconcile.group_counts import GroupCounts
    from onceproof.spark_checks.reconcile.reconciliation import Reconciliation

MOST_GROUPS = 500
"""How many groups of a kind are listed."""
_WORDS = ("events", "owed", "once", "missing", "duplicated", "unexplained")
_WRONG = ("missing", "duplicated", "unexplained", "changed")
_SUMS_AGREE = (
    "Over the events that are owed, both tables have the same sums, and no event is "
    "changed."
)
_FAULTS = {
    "missing": "owed, and not in the sink",
    "duplicated": "in the sink more than once",
    "unexplained": "in the sink, without an event of the source",
    "changed": "in the sink once, but a number differs from the source",
    "repeated": "several rows of the source have this key",
    "unidentified": "a row of the source has null in its key",
}
_STYLE = """
pre { padding: .6rem .8rem; border: 1px solid #bbb; border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.key { font-family: ui-monospace, monospace; white-space: pre-wrap; }
.quiet { color: #5d6670; } .wrong { color: #b3261e; font-weight: 600; }
.wide { overflow-x: auto; } h1 { line-height: 1.25; }
@media (prefers-color-scheme: dark) { .quiet { color: #a0a8b1; }
  .wrong { color: #ff8a80; } pre { border-color: #555; } }
@media print { body { max-width: none; margin: 0; } }
"""
_MEANS = (
    "This page says what was in two tables when they were read, and no more: rows that "
    "came later, or that were changed and changed back, are not in it. The two tables "
    "were read at slightly different moments."
)


def page_of(found: Reconciliation, circumstances: Circumstances) -> str:
    """Return a reconciliation as HTML that needs no network and no other file."""
    title = headline(found)
    kind = CLASSES[mark(_worst(found))]
    body = [
        f'<p class="quiet">onceproof reconcile, {_text(circumstances.between)}</p>',
        f'<h1 class="{kind}">{_text(title)}</h1>',
        f"<p>{_text(circumstances.source)} &rarr; {_text(circumstances.sink)}</p>",
        f"<p>Owed: {_text(found.owed)}</p>",
        *(f"<p>Nothing is decided: {_text(one)}.</p>" for one in found.problems),
        *_verdicts(found),
        *_counts(found),
        *_examples(found),
        *_groups(found),
        *_what_was_read(found, circumstances),
        f'<p class="quiet">{_text(_MEANS)}</p>',
    ]
    return document(f"{title}: {circumstances.sink}", body, style=_STYLE)


def _worst(found: Reconciliation) -> Verdict:
    """Return a verdict that has the colour of the page."""
    verdicts = list(found.verdicts.values())
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.HELD if found.holds else Verdict.UNDECIDED


def _verdicts(found: Reconciliation) -> Iterator[str]:
    texts = {prop.name: prop.text for prop in found.request.claims}
    rows = [
        [
            _cell(name),
            _cell(f"{mark(verdict)} {verdict}", CLASSES[mark(verdict)]),
            _cell(texts.get(name, _SUMS_AGREE)),
        ]
        for name, verdict in found.verdicts.items()
    ]
    yield "<h2>Verdicts</h2>"
    yield from _table(("claim", "verdict", "what it says"), rows)


def _counts(found: Reconciliation) -> Iterator[str]:
    yield "<h2>Counts</h2>"
    yield from _table(_heads(found, grouped=False), [_numbers(found.total)])


def _groups(found: Reconciliation) -> Iterator[str]:
    """List the groups, those with something wrong first; the others are folded."""
    if not found.request.by:
        return
    heads = _heads(found, grouped=True)
    wrong = [one for one in found.groups if one.wrong]
    well = [one for one in found.groups if not one.wrong]
    yield f"<h2>By {_text(found.request.by)}</h2>"
    many = f"{len(wrong):,} of {len(found.groups):,} groups"
    yield f"<p>Something is wrong in {many}.</p>"
    if wrong:
        yield from _listed(heads, wrong)
    if well:
        yield f"<details><summary>The {len(well):,} groups without a fault</summary>"
        yield from _listed(heads, well)
        yield "</details>"


def _listed(heads: tuple[str, ...], groups: list[GroupCounts]) -> Iterator[str]:
    rows = [[_value(one.by), *_numbers(one)] for one in groups[:MOST_GROUPS]]
    yield from _table(heads, rows)
    if (more := len(groups) - MOST_GROUPS) > 0:
        yield f"<p>{more:,} more are not on this page; --json has all.</p>"


def _heads(found: Reconciliation, *, grouped: bool) -> tuple[str, ...]:
    sums = [
        head
        for pair in found.request.sums
        for head in (f"sum of {pair}, source", f"sum of {pair}, sink")
    ]
    changed = ("changed",) if found.request.sums else ()
    by = (found.request.by,) if grouped else ()
    return (*by, *_WORDS, *changed, *sums)


def _numbers(one: GroupCounts) -> list[str]:
    words = (*_WORDS, *(("changed",) if one.sums else ()))
    cells = []
    for word in words:
        number = getattr(one, word)
        bad = " wrong" if word in _WRONG and number else ""
        cells.append(_cell(f"{number:,}", f"number{bad}"))
    for ours, theirs in one.sums:
        bad = "" if (ours or 0) == (theirs or 0) else " wrong"
        for value in (ours, theirs):
            text = "-" if value is None else f"{value:,f}"
            cells.append(_cell(text, f"number{bad}"))
    return cells


def _examples(found: Reconciliation) -> Iterator[str]:
    """List a few events of each fault, with all of their keys."""
    if not found.counted.examples:
        return
    names = [pair.source for pair in found.request.key]
    rows = [
        [_cell(fault), *(_value(event[name]) for name in names), _cell(_FAULTS[fault])]
        for fault, events in found.counted.examples.items()
        for event in events
    ]
    yield "<h2>Examples</h2>"
    yield from _table(("fault", *names, "meaning"), rows)


def _what_was_read(
    found: Reconciliation, circumstances: Circumstances
) -> Iterator[str]:
    asked = found.request
    facts = {
        "source": circumstances.source,
        "sink": circumstances.sink,
        "key": ", ".join(map(str, asked.key)),
        "events owed": found.owed,
        "sums compared": ", ".join(map(str, asked.sums)),
        "the source may repeat rows": "yes" if asked.repeats else "",
        "read": circumstances.between,
        "Spark ran on": circumstances.master,
        "versions": ", ".join(f"{n} {v}" for n, v in circumstances.versions.items()),
    }
    yield "<h2>What was read</h2>"
    rows = [[_cell(name), _cell(text, "key")] for name, text in facts.items() if text]
    yield from _table((), rows)
    if circumstances.command:
        yield "<h2>How to repeat it</h2>"
        yield f"<pre>{_text(circumstances.command)}</pre>"
        if "***" in circumstances.command:
            yield "<p>*** replaces what looks like a password or a secret key.</p>"


def _table(heads: Iterable[str], rows: Iterable[list[str]]) -> Iterator[str]:
    shown = "".join(f'<th scope="col">{_text(head)}</th>' for head in heads)
    head = f"<thead><tr>{shown}</tr></thead>" if shown else ""
    yield f'<div class="wide"><table>{head}<tbody>'
    yield from (f"<tr>{''.join(cells)}</tr>" for cells in rows)
    yield "</tbody></table></div>"


def _cell(text: str, kind: str = "") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f"<td{shown}>{_text(text)}</td>"


def _value(value: str | None) -> str:
    """Show a value as it is; none, and an empty text, are no value's own letters."""
    if value:
        return _cell(value, "key")
    return (
        f"<td><em class='quiet'>{'null' if value is None else 'empty text'}</em></td>"
    )


def _text(text: str) -> str:
    return html.escape(printable(text))
