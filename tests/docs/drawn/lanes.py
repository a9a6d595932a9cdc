"""A run as lanes: a column for each that acts, and a row for each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.properties.counterexample.step_kinds import ACTION, CRASH, RESTART
from onceproof.properties.words.messages import RECEIVED

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import StepView
    from onceproof.properties.words.messages import SentMessage
    from tests.docs.drawn.canvas import Canvas

EDGE, ROW, GAP = 20, 40, 86
FIRST_LANE, BEFORE_TEXT = 84, 30
ABOVE, LINE = 22, 15
LONGEST_NAME = 12


@dataclass(frozen=True)
class DrawnLanes:
    """Where the lanes of a run are drawn."""

    names: tuple[str, ...]
    """The name of each lane."""
    steps: tuple[StepView, ...]
    """The steps, in order."""
    top: float
    """Where the first row begins."""
    width: float
    """The width of the picture."""
    gap: float = GAP
    """The distance between two lanes."""

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + ROW * len(self.steps)

    messages: tuple[SentMessage, ...] = ()
    """The messages between lanes that are drawn."""

    def draw(self, picture: Canvas) -> None:
        """Draw all of it, from the back to the front."""
        for step in self.steps:
            if step.breaks:
                at = (EDGE, self._down(step.number) - ROW / 2)
                picture.box(at, (self.width - 2 * EDGE, ROW), "ground")
        for lane, name in enumerate(self.names):
            self._name(picture, lane, name)
            self._lifeline(picture, lane)
        for message in self.messages:
            self._message(picture, message)
        for step in self.steps:
            self._row(picture, step)

    def _name(self, picture: Canvas, lane: int, name: str) -> None:
        """Write the name of a lane, in two lines if it is long."""
        lines = name.rsplit(" ", 1) if len(name) > LONGEST_NAME else [name]
        for above, line in enumerate(reversed(lines)):
            at = (self._across(lane), self.top - ABOVE - LINE * above)
            picture.words(at, line, "strong", anchor="middle")

    def _lifeline(self, picture: Canvas, lane: int) -> None:
        """Draw the line of one that acts, dashed while it is down."""
        x, top, kind = self._across(lane), self.top - 12.0, "lane"
        for step in self.steps:
            if step.lane == lane and step.kind in {CRASH, RESTART}:
                picture.path(f"M{x} {top}V{self._down(step.number)}", kind)
                top, kind = self._down(step.number), "lane"
                kind += " down" if step.kind == CRASH else ""
        end = self._down(len(self.steps)) + ROW / 2
        picture.path(f"M{x} {top}V{end}", kind)

    def _message(self, picture: Canvas, message: SentMessage) -> None:
        """Draw a line from the step that sends a message to the one that takes it."""
        if message.taken is None:
            return
        sent, taken = (self.steps[n - 1] for n in (message.sent, message.taken))
        if sent.lane == taken.lane:
            return
        ends = [(self._across(s.lane), self._down(s.number)) for s in (sent, taken)]
        (x, y), (to_x, to_y) = ends
        kind = "edge" if message.delivery == RECEIVED else "lane down"
        picture.path(f"M{x} {y}L{to_x} {to_y}", kind, hint=message.text)

    def _row(self, picture: Canvas, step: StepView) -> None:
        """Draw a step, and what it is, beside the lanes."""
        y = self._down(step.number)
        text = self._across(len(self.names)) - BEFORE_TEXT
        number = str(step.number)
        picture.words((EDGE + 24, y + 4), number, "small quiet", anchor="end")
        _mark(picture, step, (self._across(step.lane), y))
        picture.words((text, y - 2), step.text, "code")
        picture.words((text, y + 14), step.doc, "small quiet")
        found = (
            "breaks here" if step.breaks else "" if step.kind == ACTION else step.kind
        )
        kind = "small strong" if step.kind == RESTART else "small strong bad"
        picture.words((self.width - EDGE - 10, y - 2), found, kind, anchor="end")

    def _across(self, lane: int) -> float:
        return FIRST_LANE + self.gap * lane

    def _down(self, number: int) -> float:
        return self.top + ROW * (number - 0.5)


def _mark(picture: Canvas, step: StepView, at: tuple[float, float]) -> None:
    """Draw a step by its kind, in the shapes of the explorer's page."""
    x, y = at
    weak = " weak" if step.matters is False else ""
    if step.breaks:
        picture.dot(at, 13, "ring")
    if step.kind == CRASH:
        picture.box((x - 8, y - 8), (16, 16), "cross", round_=0)
        picture.path(f"M{x - 5} {y - 5}l10 10m0 -10l-10 10", "cross")
    elif step.kind == RESTART:
        picture.path(f"M{x} {y - 9}l9 15h-18z", f"mark{weak}")
    elif step.kind == ACTION:
        picture.dot(at, 6, f"mark{weak}")
    else:
        picture.path(f"M{x} {y - 9}l9 9l-9 9l-9 -9z", "cross")
