"""The matrix as a page to put on the wall: one file, which works offline.

A sign and a word say how a composition came out, so that nothing rests on colour. The
only scripts that may run are the page's own, and those of the explorer's pages that are
packed into it; no connection may be opened.
"""

from __future__ import annotations

from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING

from onceproof.model.export.javascript import literal
from onceproof.properties.evidence.sheet_text import as_html
from onceproof.properties.explorer.page.page import digest_of, shell
from onceproof.properties.matrix.compositions import BUILT_IN
from onceproof.properties.matrix.judging import ALL
from onceproof.properties.matrix.matrix import (
    BOTH,
    LOSES,
    ONCE,
    OPEN,
    REPEATS,
    explore_command,
)
from onceproof.properties.matrix.tables import WORDS, Grid, anchor, run_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.properties.matrix.compositions import LeftOut
    from onceproof.properties.matrix.matrix import Matrix, MatrixRow
    from onceproof.properties.matrix.opened import PackedPages
    from onceproof.properties.matrix.tables import Cell

_MEANS = {
    ONCE: "each event counts once, whatever fails",
    REPEATS: "an event can count twice",
    LOSES: "an event can be lost",
    BOTH: "either can happen",
    OPEN: "a limit stopped the search, or there was no time",
}


def page(matrix: Matrix, opened: Mapping[str, PackedPages]) -> str:
    """Write the matrix as a page.

    ``opened`` has the explorer's pages of refuted compositions, by name. If those of
    one are not there, its cells open the steps.
    """
    style, script = _text("matrix.css"), _text("matrix.js")
    whole = shell()
    # The explorer's pages inherit the policy of the page that opens them.
    known = {digest_of(script): None}
    known |= {one: None for made in opened.values() for one in made.scripts.split()}
    inner = whole.partition("<style>")[2].partition("</style>")[0]
    styles = f"{digest_of(style)} {digest_of(inner)}"
    policy = (
        f"default-src 'none'; script-src {' '.join(known)}; style-src {styles}; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    data = {
        "shell": whole,
        "runs": {run_name(name): made.data for name, made in opened.items()},
    }
    lines = [
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Guarantee matrix</title><style>{style}</style></head>\n<body>",
        *_body(matrix),
        *(
            f'<script type="application/json" id="{name}">{literal(one)}</script>'
            for name, one in data.items()
        ),
        f"<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "\n".join(lines)


def refuted(matrix: Matrix) -> list[MatrixRow]:
    """List the compositions that have runs to open: they break a guarantee."""
    return [row for row in matrix.rows if row.judged.refuted[ALL]]


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _body(matrix: Matrix) -> Iterator[str]:
    count = len(matrix.rows) + len(matrix.not_judged)
    once = sum(row.outcome() == ONCE for row in matrix.rows)
    yield "<h1>Does each event count once, whatever fails?</h1>"
    yield (
        f'<p class="lead"><strong>{once} of {count} compositions</strong> of source, '
        "engine and sink are effectively-once under every fault of their model. Every "
        "reachable state was searched; a heading says how many faults a run has.</p>"
    )
    yield from _legend(matrix)
    grids = _grids(matrix)
    links = (f'<a href="#{g.anchor}">{as_html(g.title)}</a>' for g in grids)
    yield f'<nav aria-label="Tables">{"".join(links)}</nav>'
    for grid in grids:
        yield from grid.lines()
    yield from _stories(refuted(matrix))
    yield from _left_out(matrix.left_out, "Left out, and why")
    yield from _left_out(matrix.same, "The same under another name")
    yield from _left_out(matrix.elsewhere, "Replays that stand beside no cell")


def _legend(matrix: Matrix) -> Iterator[str]:
    counts = [row.outcome() for row in matrix.rows] + [OPEN] * len(matrix.not_judged)
    yield '<ul class="legend">'
    for outcome, (sign, word, kind) in WORDS.items():
        number = counts.count(outcome)
        if outcome == OPEN and not number:
            continue
        yield f'<li class="{kind}"><b>{sign} {number}</b>{word}'
        yield f'<span class="why">{_MEANS[outcome]}</span></li>'
    yield "</ul>"
    yield (
        '<p class="lead quiet">A refuted cell opens its shortest counterexample. '
        "“by” names the faults that suffice, each alone, and opens a run without any "
        "other. “also not” and “but not” name further guarantees that break; each "
        "opens its own. “Spark” is what replays on real Spark showed of the same "
        "model.</p>"
    )


def _grids(matrix: Matrix) -> list[Grid]:
    """Make a table for each kind of sink, those with the most cells first."""
    cells: list[Cell] = [(row.composition, row) for row in matrix.rows]
    cells += [(one, None) for one in matrix.not_judged]
    cells.sort(key=lambda cell: cell[0].family)
    grids = [
        Grid(family, list(members), matrix.twins)
        for family, members in groupby(cells, key=lambda cell: cell[0].family)
    ]
    return sorted(grids, key=lambda g: (g.family == BUILT_IN, -len(g.cells)))


def _stories(rows: Sequence[MatrixRow]) -> Iterator[str]:
    yield '<details class="stories"><summary><strong>How each breaks</strong>: '
    count = sum(len(row.runs) for row in rows)
    yield f"{count} shortest runs, step by step</summary>"
    for row in rows:
        for claim in row.runs:
            yield from _story(row, claim)
    yield "</details>"


def _story(row: MatrixRow, claim: str) -> Iterator[str]:
    found = row.runs[claim]
    name, _, alone = claim.partition(" ")
    broken = ", ".join(n for n, by in row.shown_by.items() if by == claim) or name
    yield f'<details id="{anchor(row.composition, claim)}"><summary>'
    yield f"<code>{as_html(str(row.composition))}</code> is not {as_html(broken)}"
    yield f" by {as_html(alone)} alone" if alone else ""
    yield f". Not so: {as_html(found.clause)}</summary><ol>"
    for step in found.steps:
        text = f"<code>{as_html(step.removesuffix('!'))}</code>"
        fault = step.endswith("!")
        yield f'<li class="fault">fault {text}</li>' if fault else f"<li>{text}</li>"
    command = as_html(explore_command(row.composition, name, alone))
    yield f"</ol><p>To open it in a terminal: <code>{command}</code></p></details>"


def _left_out(entries: Sequence[LeftOut], title: str) -> Iterator[str]:
    if not entries:
        return
    yield f'<details class="left"><summary><strong>{title}</strong>: '
    yield f"{len(entries)} entries</summary><ul>"
    for one in entries:
        yield f"<li><code>{as_html(one.what)}</code>: {as_html(one.why)}</li>"
    yield "</ul></details>"
