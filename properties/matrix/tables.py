"""Tables of the matrix: sinks against engines, whichever of them there are more of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from onceproof.model.text import slug
from onceproof.properties.evidence.sheet_text import as_html
from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.matrix.compositions import BUILT_IN, SINK, Composition
from onceproof.properties.matrix.judging import ALL, NONE
from onceproof.properties.matrix.matrix import (
    BOTH,
    LOSES,
    ONCE,
    OPEN,
    REPEATS,
    MatrixRow,
)
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Cell = tuple[Composition, MatrixRow | None]
    Place = tuple[str, "EngineVariant"]

WORDS = {
    ONCE: ("●", "once", "good"),
    REPEATS: ("▲", "repeats", "bad"),
    LOSES: ("▼", "loses", "bad"),
    BOTH: ("✖", "repeats, loses", "bad"),
    OPEN: ("?", "not settled", "open"),
}
"""The sign, the word and the kind of each outcome."""

_NAME = EFFECTIVELY_ONCE.name
_OUTCOMES = ("at-most-once", "at-least-once", _NAME)
_MOST_NAMED, _MOST_FAULTS = 3, 3


@dataclass(frozen=True)
class EngineVariant:
    """An engine with its parts, and the source that it reads."""

    engine: str
    """The protocol."""
    changes: tuple[str, ...]
    """The parts of the engine that are not the protocol's own."""
    source: str
    """The source, if it is not the protocol's own."""

    @property
    def text(self) -> str:
        """What is special about it, as HTML."""
        words = [as_html(one) for one in self.changes]
        words += [f"from {as_html(self.source)}"] if self.source else []
        return "<br>".join(words) or '<span class="none">as it is</span>'


class Grid:
    """A table of all compositions whose sinks are of one kind."""

    def __init__(
        self, family: str, cells: Sequence[Cell], twins: Sequence[Cell]
    ) -> None:
        """Take the compositions, with what was found of them if anything was.

        Of ``twins``, which are the same as others, those are shown that are in a row
        and in a column of one that is not.
        """
        self.family = family
        self.cells = {_place(one): (one, row) for one, row in cells}
        variants = {variant for _, variant in self.cells}
        self._twins = {
            place: row
            for one, row in twins
            if (place := _place(one))[1] in variants and one.family == family
        }

    @property
    def anchor(self) -> str:
        """The name under which the page finds the table."""
        return f"table-{self.family.replace(' ', '-')}"

    @property
    def title(self) -> str:
        """Name the engines: the protocols, as far as there is room."""
        names = list(dict.fromkeys(variant.engine for _, variant in self.cells))
        if self.family == BUILT_IN:
            return f"{len(names)} engines with a sink of their own"
        named = ", ".join(names[:_MOST_NAMED])
        more = len(names) - _MOST_NAMED
        return f"{named} and {more} more" if more > 0 else named

    @cached_property
    def _sinks(self) -> list[str]:
        """The sinks, those first that count once with the most engines."""
        found = {sink: 0 for sink, _ in (*self.cells, *self._twins)}
        for (sink, _), (_, row) in self.cells.items():
            found[sink] += row is not None and row.outcome() == ONCE
        for (sink, _), row in self._twins.items():
            found[sink] += row is not None and row.outcome() == ONCE
        return sorted(found, key=lambda sink: (-found[sink], sink))

    @cached_property
    def _variants(self) -> list[EngineVariant]:
        """The engines, each with its variants: first itself, last several changes."""
        found = dict.fromkeys(variant for _, variant in self.cells)
        order = list(dict.fromkeys(variant.engine for variant in found))
        return sorted(
            found,
            key=lambda v: (order.index(v.engine), len(v.changes), bool(v.source)),
        )

    def lines(self) -> Iterator[str]:
        """Yield the heading, and the table."""
        sinks = "" if self.family == BUILT_IN else f", {len(self._sinks)} sinks"
        yield f'<h2 id="{self.anchor}">{as_html(self.title)}</h2>'
        yield f'<p class="quiet">{len(self.cells)} compositions{sinks}'
        yield "</p>" if self.family == BUILT_IN else f" of the kind {self.family}</p>"
        plain = [v for v in self._variants if len(v.changes) <= 1]
        if len(self._sinks) >= len(plain):
            yield from self._sinks_down(plain)
        else:
            yield from self._engines_down(plain)
        if several := [v for v in self._variants if len(v.changes) > 1]:
            yield "<details><summary>Several parts of the engine changed at once: "
            yield f"{len(several)} more</summary>"
            yield from self._engines_down(several)
            yield "</details>"

    def _sinks_down(self, variants: list[EngineVariant]) -> Iterator[str]:
        yield '<table class="grid"><thead><tr><th class="corner" rowspan="2">sink</th>'
        for engine, group in groupby(variants, key=lambda v: v.engine):
            mine = list(group)
            yield f'<th scope="colgroup" colspan="{len(mine)}"><span>{as_html(engine)}'
            yield f" {self._faults(mine[0])}</span></th>"
        yield "</tr><tr>"
        for variant in variants:
            yield f'<th scope="col">{variant.text}</th>'
        yield "</tr></thead><tbody>"
        for sink in self._sinks:
            yield f'<tr><th scope="row">{as_html(sink)}</th>'
            yield from (self._cell(sink, variant) for variant in variants)
            yield "</tr>"
        yield "</tbody></table>"

    def _engines_down(self, variants: list[EngineVariant]) -> Iterator[str]:
        yield '<table class="grid"><thead><tr><th class="corner">engine</th>'
        yield from (f'<th scope="col">{as_html(sink)}</th>' for sink in self._sinks)
        yield "</tr></thead><tbody>"
        width = 1 + len(self._sinks)
        for engine, group in groupby(variants, key=lambda v: v.engine):
            mine = list(group)
            yield f'<tr class="group"><th colspan="{width}" scope="rowgroup">'
            yield f"<span>{as_html(engine)} {self._faults(mine[0])}</span></th></tr>"
            for variant in mine:
                yield f'<tr><th scope="row">{variant.text}</th>'
                yield from (self._cell(sink, variant) for sink in self._sinks)
                yield "</tr>"
        yield "</tbody></table>"

    def _faults(self, variant: EngineVariant) -> str:
        budgets = {
            row.judged.budget
            for (_, one), (_, row) in self.cells.items()
            if row is not None and one.engine == variant.engine
        }
        if not budgets:
            return ""
        count = max(budgets)
        plural = "" if count == 1 else "s"
        return f'<span class="quiet">· {count} fault{plural}</span>'

    def _cell(self, sink: str, variant: EngineVariant) -> str:
        one, row = self.cells.get((sink, variant), (None, None))
        if (twin := self._twins.get((sink, variant))) is not None:
            return _judged(twin.composition, twin, _as(sink, variant, twin.composition))
        if one is None:
            return '<td class="none"></td>'
        if row is None:
            title = as_html(f"onceproof check {one}")
            sign = '<span class="sign">? no time</span>'
            return f'<td class="open" title="{title}">{sign}</td>'
        return _judged(one, row)


def _place(one: Composition) -> Place:
    return one.named(SINK), EngineVariant(one.engine, one.changes, one.source)


def _as(sink: str, variant: EngineVariant, known: Composition) -> str:
    """Say what a cell is the same as, by what the two do not share."""
    other, engine = _place(known)
    if engine == variant:
        return f"the same as {other}"
    return f"the same as {known.column if other == sink else known}"


def run_name(composition: str) -> str:
    """Return the name under which the page finds the runs of a composition."""
    return slug(composition)


def anchor(one: Composition, claim: str) -> str:
    """Return the name under which the page finds how a composition breaks a claim."""
    return slug(f"{one} {claim}")


def _judged(one: Composition, row: MatrixRow, note: str = "") -> str:
    sign, word, kind = WORDS[row.outcome()]
    text = f'<span class="sign">{sign} {word}</span>'
    if _NAME in row.judged.refuted[ALL]:
        text = _link(one, _NAME, text)
        text += f'<span class="why">{_because(one, row)}</span>'
    if note:
        text += f'<span class="why">{as_html(note)}</span>'
    if also := [name for name in sorted(row.shown_by) if _is_more(row, name)]:
        links = (_link(one, row.shown_by[n], as_html(n)) for n in also)
        word = "also" if _NAME in row.judged.refuted[ALL] else "but"
        text += f'<span class="why">{word} not {", ".join(links)}</span>'
    for judged in row.on_spark:
        spark = row.spark[judged]
        names = as_html(", ".join(spark.sinks))
        count = len(spark.sinks)
        plural = "" if count == 1 else "s"
        words = {Verdict.HELD: "✓ held", Verdict.REFUTED: "✗ refuted"}
        word = words.get(spark.verdict, "? undecided")
        text += f'<span class="why spark" title="{names}"><b>Spark</b> {word}, '
        what = "" if judged == _NAME else f", of {judged}"
        text += f"{count} replay{plural}{what}</span>"
    if row.unstated:
        text += '<span class="why alarm">! more than its parts state</span>'
    title = as_html(f"onceproof check {one}")
    return f'<td class="{kind}" title="{title}">{text}</td>'


def _link(one: Composition, claim: str, text: str) -> str:
    """Link to the explorer's page of how a claim breaks, or else to the steps."""
    where = f'href="#{anchor(one, claim)}" data-run="{run_name(str(one))}"'
    return f'<a {where} data-claim="{claim}">{text}</a>'


def _is_more(row: MatrixRow, claim: str) -> bool:
    """Return whether a claim breaks in another way than the sign of a cell says."""
    return claim not in _OUTCOMES or row.shown_by[claim] != _NAME


def _because(one: Composition, row: MatrixRow) -> str:
    """Say what suffices to break effectively-once; each fault opens its run."""
    if not row.breaking:
        return "by several faults together"
    links = [
        _link(one, run, as_html(fault.replace("_", " ")))
        for fault, run in row.run_by.items()
    ]
    if row.breaking == (NONE,):
        return _link(one, row.run_by[NONE], "without any fault")
    if len(links) <= _MOST_FAULTS:
        return f"by {', '.join(links)}"
    every = "any of " if len(links) == len(row.judged.faults) else ""
    return (
        f"<details><summary>by {every}{len(links)} faults</summary>"
        f"{', '.join(links)}</details>"
    )
