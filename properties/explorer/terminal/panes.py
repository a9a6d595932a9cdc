"""A view drawn in cells of a fixed width: lanes, a step, alternatives, properties.

Marks differ by shape and kinds by a word; colour adds nothing.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from onceproof.model.text import safe
from onceproof.properties.counterexample.step_kinds import ACTION, CRASH, RESTART
from onceproof.properties.explorer.phrases import CELLS, folded, say, sent, taken, word

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onceproof.properties.counterexample.routine import Fold
    from onceproof.properties.explorer.view import Observation, Option, StepView, View

MARKS = {ACTION: "●", RESTART: "▲"}
FAULT, CAN_GO, LOOK, UP, DOWN = "X", "○", "=", "│", "┊"
LEGEND = "● step  ○ can be left out  X fault  ▲ restart  = readers look  ┊ lane is down"
_NARROW, _HEAD, _INDENT, _BEFORE = 3, 7, 3, 7


@dataclass(frozen=True)
class RowPane:
    """A row of the lanes: the start, a step, or what readers saw after it.

    A step is ``own`` where the reader took it, off the trace. ``folded`` says up to
    which step a row stands for routine steps.
    """

    number: int
    """The number of the step, from 1; 0 for the start."""
    lane: int | None
    """The position of the lane; None for a row that is in no lane."""
    mark: str
    """The sign of the row's kind."""
    words: str
    """What is written beside the lanes."""
    weak: bool = False
    """Whether it is drawn weakly, as what the failure does not need."""
    breaks: bool = False
    """Whether the property first fails here."""
    look: bool = False
    """Whether it shows what readers saw."""
    own: bool = False
    folded: int | None = None


def rows_of(
    view: View, left: int | None, folds: Collection[Fold] = ()
) -> list[RowPane]:
    """List the rows of a view; ``left`` says after which step it is off the trace.

    Each of ``folds`` is one row.
    """
    rows = [RowPane(0, None, "", "start", breaks=view.fails_at == 0 and not view.looks)]
    last = dict(folds)
    hidden = 0
    for step in view.steps:
        looks = [look for look in view.looks if look.after == step.number]
        if step.number in last:
            hidden = last[step.number]
            sentence = folded(view.steps[step.number - 1 : hidden])
            rows.append(
                RowPane(step.number, None, "", sentence, weak=True, folded=hidden)
            )
        if step.number > hidden:
            rows.append(_row_of(view, step, left, looks))
        if step.number >= hidden:
            rows += _look_rows(view, looks)
    return rows


def _row_of(
    view: View, step: StepView, left: int | None, looks: Sequence[Observation]
) -> RowPane:
    here = step.breaks and not any(look.breaks for look in looks)
    weak = step.matters is False
    # What is first is not cut off where there is little room.
    words = [say("breaks-here") if here else "", safe(step.text), word(step.kind)]
    for message in view.messages:
        if message.sent == step.number:
            end = "⇢ ?" if message.taken is None else f"→ {message.taken}"
            words.append(f"{end} lost" if message.delivery == "lost" else end)
    mark = MARKS.get(step.kind, FAULT)
    mark = CAN_GO if weak and step.kind == ACTION else mark
    text = "  ".join(filter(None, words))
    own = left is not None and step.number > left
    return RowPane(step.number, step.lane, mark, text, weak, here, own=own)


def _look_rows(view: View, looks: Sequence[Observation]) -> list[RowPane]:
    last = len(view.lanes) - 1
    found = []
    for look in looks:
        end = f"  {say('breaks-here')}" if look.breaks else ""
        seen = f"{say('readers-see', text=safe(look.text))}{end}"
        row = RowPane(look.after, last, LOOK, seen, breaks=look.breaks, look=True)
        found.append(row)
    return found


class LanesPane:
    """The rows of a view; as many are drawn as there is room for."""

    def __init__(
        self, view: View, left: int | None, folds: Collection[Fold] = ()
    ) -> None:
        """Lay out a view once; what is drawn depends on size and step alone."""
        self._names = [safe(name) for name in view.lanes]
        self._kinds = [step.kind for step in view.steps]
        self.rows = rows_of(view, left, folds)
        self._down = self._dead()

    def _dead(self) -> list[frozenset[int]]:
        """List for each row the lanes that are down after it: from crash to restart."""
        down: frozenset[int] = frozenset()
        found = []
        for row in self.rows:
            if row.lane is not None and row.number and not row.look:
                kind = self._kinds[row.number - 1]
                if kind == CRASH:
                    down |= {row.lane}
                elif kind == RESTART:
                    down -= {row.lane}
            found.append(down)
        return found

    def window(self, step: int, height: int) -> range:
        """Choose which rows are drawn, so that those of a step are among them."""
        here = [i for i, row in enumerate(self.rows) if row.number == step]
        first = max(0, min(here[0] - height // 2, len(self.rows) - height))
        if here[-1] >= first + height:
            first = min(here[-1] - height + 1, here[0])
        return range(first, min(len(self.rows), first + height))

    def draw(
        self, step: int, found: Collection[int] | None, width: int, height: int
    ) -> Text:
        """Draw the names of the lanes, and the rows around a step."""
        room = self._room(width)
        lines = [self._head(room, width)]
        for at in self.window(step, max(1, height - 1)):
            row = self.rows[at]
            line = self._row(row, self._down[at], room, step, found)
            line.truncate(width, overflow="ellipsis", pad=row.number == step)
            if row.number == step:
                line.stylize("reverse")
            lines.append(line)
        return Text("\n").join(lines)

    def _room(self, width: int) -> int:
        """Return the width of a lane; 0 where there are too many to draw.

        Lanes are narrower than their names where what happens needs the room.
        """
        lanes = max(1, len(self._names))
        longest = max((cell_len(name) for name in self._names), default=0) + 2
        words = max(cell_len(row.words) for row in self.rows if not row.folded)
        left = max(_HEAD + 1, (width - _BEFORE - words) // lanes)
        room = min(longest, width // 2 // lanes, left)
        return room if room >= _NARROW - 1 else 0

    def _head(self, room: int, width: int) -> Text:
        """Name the lanes; by numbers where their names have no room."""
        names = self._names
        if room and any(cell_len(name) >= room for name in names):
            if room < _HEAD:
                names = [str(number) for number in range(1, len(names) + 1)]
            else:
                names = [_fit_name(name, room - 1) for name in names]
        cells = "".join(set_cell_size(name, room) for name in names) if room else ""
        head = Text(f"{'':{_BEFORE}}{cells}what happens", "bold")
        head.truncate(width, overflow="ellipsis")
        return head

    def _row(
        self,
        row: RowPane,
        down: frozenset[int],
        room: int,
        step: int,
        found: Collection[int] | None,
    ) -> Text:
        here = ">" if row.number == step and not row.look else " "
        hit = "*" if found and row.number in found and not row.look else " "
        number = "" if row.look or row.folded else str(row.number)
        line = Text(
            f"{here}{hit}{number:>3}{'~' * row.own:2}", "bold" if hit == "*" else ""
        )
        for lane in range(len(self._names) if room else 0):
            mark = row.mark if lane == row.lane else DOWN if lane in down else UP
            style = "bold" if lane == row.lane else "" if here == ">" else "dim"
            line.append(set_cell_size(mark, room), style)
        if not room and row.lane is not None:
            line.append(f"{row.mark} {self._names[row.lane]}: ")
        words = "bold bright_red" if row.breaks else "dim" if row.weak else ""
        return line.append(row.words, words)


def step_text(view: View, step: int, *, whole: bool = False) -> Text:
    """Return what a step does and changes; ``whole`` adds the state after it."""
    lines: list[Text] = []
    if step == 0:
        lines.append(Text("The start", "bold"))
        if not whole:
            lines += _state(view, 0)
    else:
        shown = view.steps[step - 1]
        lines += [Text(f"Step {step}: {safe(shown.text)}", "bold"), _about(view, shown)]
        lines += [Text(sent(view, m)) for m in view.messages if m.sent == step]
        lines += [Text(taken(view, m)) for m in view.messages if m.taken == step]
        lines += [
            Text(f"{safe(c.name)}: {_value(c.before)} -> {_value(c.after)}")
            for c in shown.changes
        ]
        if not shown.changes:
            lines.append(Text(say("no-change"), "dim"))
        if shown.doc:
            lines.append(Text(safe(shown.doc), "italic"))
    if whole:
        lines += [Text(), Text("the state here", "bold"), *_state(view, step)]
    return Text("\n").join(lines)


def _about(view: View, shown: StepView) -> Text:
    words = [f"by {safe(view.lanes[shown.lane])}", word(shown.kind), shown.source]
    if shown.matters is not None:
        words.append(say("matters" if shown.matters else "can-be-left-out"))
    words.append(say("breaks-here") if shown.breaks else "")
    return Text(
        ", ".join(filter(None, words)), "bold bright_red" if shown.breaks else "dim"
    )


def _state(view: View, step: int) -> list[Text]:
    known = dict(view.start)
    for shown in view.steps[:step]:
        known |= {change.name: change.after for change in shown.changes}
    return [Text(f"{safe(name)} = {_value(value)}") for name, value in known.items()]


def _value(value: object) -> str:
    return "?" if value is None else safe(value)


def options_text(
    options: Sequence[Option],
    chosen: int,
    head: str,
    outcome: str,
    width: int,
    height: int,
) -> Text:
    """List what else could happen, with the one that Enter takes marked.

    What becomes of the claim by that one is said below its line.
    """
    lines = [Text(head, "bold")]
    after = outcome if outcome and width > 0 else ""
    below = -(-cell_len(after) // (width - _INDENT)) if after and width > _INDENT else 0
    room = max(1, height - 1 - below)
    first = max(0, min(chosen - room // 2, len(options) - room))
    for at, option in enumerate(options[first : first + room], first):
        words = [safe(option.text), word(option.kind)]
        if option.breaks and at != chosen:
            words.append(say("breaks-at-once"))
        here = ">" if at == chosen else " "
        number = str(at + 1) if at < 9 else " "  # noqa: PLR2004 - keys 1 to 9
        line = Text(f"{here}{number} {'  '.join(filter(None, words))}")
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
        if at == chosen:
            line.stylize("reverse")
            lines += [
                Text(f"{'':{_INDENT}}{part}", "italic")
                for part in textwrap.wrap(after, max(1, width - _INDENT))
            ]
    return Text("\n").join(lines)


def strips_text(view: View, step: int, width: int, most: int) -> Text:
    """Draw the state of each property along the steps, around the selected step.

    The property of the counterexample comes first, then those that fail.
    """
    strips = sorted(
        view.strips,
        key=lambda s: (not s.property.startswith(view.property), s.first is None),
    )
    if not strips:
        return Text("no property is judged here: there is no model", "dim")
    kept = strips if len(strips) <= most else strips[: most - 1]
    names = [safe(strip.property) for strip in kept]
    room = min(max(map(cell_len, names)) + 1, width // 3)
    cells = max(1, (width - room) // 2)
    first = max(0, min(step - cells // 2, len(strips[0].cells) - cells))
    lines = []
    for name, strip in zip(names, kept, strict=True):
        line = Text(set_cell_size(_fit(name, room - 1), room))
        for at, cell in enumerate(strip.cells[first : first + cells], first):
            sign = CELLS.get(cell, "?")
            style = "bold bright_red" if cell == "fails" else ""
            style = f"{style} reverse".strip() if at == step else style
            line.append(sign, style)
            line.append("!" if at == strip.first else " ", style if at == step else "")
        lines.append(line)
    if len(kept) < len(strips):
        lines.append(Text(f"and {len(strips) - len(kept)} more: s shows all", "dim"))
    return Text("\n").join(lines)


def passing_text(view: View) -> Text:
    """Set the nearest passing run beside the trace, from where they differ."""
    passing = view.passing
    if passing is None:
        why = [note for note in view.notes if "passing run" in note]
        return Text(safe(why[0] if why else "there is no passing run to show"))
    shared = passing.shared
    key = "passing-shared" if shared else "passing-from-start"
    lines = [Text(say(key, shared=shared, claim=safe(view.property))), Text()]
    lines.append(Text(f"{'step':>4}  {'this trace':33} passing run", "bold"))
    mine = [safe(step.text) for step in view.steps]
    other = [*map(safe, passing.labels), say("passing-rest")]
    for at in range(shared, max(len(mine), len(other))):
        pair = [run[at] if at < len(run) else "" for run in (mine, other)]
        left, right = (set_cell_size(_fit(text, 32), 34) for text in pair)
        lines.append(Text(f"{at + 1:4}  {left}{right.rstrip()}"))
    return Text("\n").join(lines)


def story_text(view: View) -> Text:
    """Describe what is wrong in few words, and the few steps that led there."""
    story = view.story
    if story is None:
        return Text()
    lines = [Text(safe(story.saw), "bold")]
    lines += [Text(safe(story.why))] if story.why else []
    for step in story.steps:
        text = f"{safe(step.who)}: {safe(step.text)}"
        lines.append(Text(f"{step.step:3} {text}"))
    return Text("\n").join(lines)


def why_text(view: View) -> Text:
    """Describe why it breaks, down to the contradiction."""
    if not view.because:
        return Text("why is not worked out here", "dim")
    lines = [Text(safe(reason)) for reason in view.because]
    lines[-1].stylize("bold")
    return Text("\n").join(lines)


def _fit_name(name: str, room: int) -> str:
    """Shorten the name of a lane, and keep the number that it ends in."""
    text, _, number = name.rpartition(" ")
    if cell_len(name) <= room or not number.isdecimal() or len(number) + 1 >= room:
        return _fit(name, room)
    return f"{_fit(text, room - len(number))}{number}"


def _fit(text: str, room: int) -> str:
    return text if cell_len(text) <= room else f"{set_cell_size(text, room - 1)}…"
