"""The explorer in a terminal: the view model drawn by textual, and led by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from onceproof.model.text import safe
from onceproof.properties.explorer.export import as_test, command_of
from onceproof.properties.explorer.phrases import labels, say, title
from onceproof.properties.explorer.position_text import position_text
from onceproof.properties.explorer.terminal import panes
from onceproof.properties.explorer.terminal.dialogs import HELP, TextDialog
from onceproof.properties.explorer.terminal.step_search import (
    in_words,
    matches,
    next_match,
)
from onceproof.properties.explorer.walk import Walk

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from onceproof.properties.explorer.page.page import Origin
    from onceproof.properties.explorer.view_builder import Explored

KEYS = (
    " j k step  u unfold  h l Enter other  Esc back  / find  w why  p passing  ? keys"
)
TALL = 34
_STRIPS, _MORE_STRIPS = 3, 8


class Panel(Static):
    """A part of the view, which is drawn anew when it has another size."""

    def __init__(self, name: str) -> None:
        """Begin empty; no text in it is markup."""
        super().__init__("", id=name, markup=False)

    def on_resize(self) -> None:
        """Draw all anew."""
        if isinstance(self.app, Terminal):
            self.app.draw()


class Terminal(App[None]):
    """Walks in what was explored; ``copied`` holds the texts that were copied."""

    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #title { height: 1; text-style: bold; }
    #position { height: auto; max-height: 2; }
    #lanes { height: 1fr; min-height: 6; }
    #panels { height: 1fr; min-height: 6; max-height: 14; }
    #step { width: 1fr; height: 100%; }
    #options { width: 1fr; height: 100%; border-left: solid $foreground 50%;
      padding-left: 1; }
    #why { height: auto; max-height: 12; display: none; padding-top: 1; }
    .tall #why { display: block; }
    #strips { height: 3; }
    .tall #strips { height: 9; padding-top: 1; }
    #keys { height: 1; text-style: reverse; }
    #find { height: 1; border: none; padding: 0; display: none; }
    .finding #find { display: block; }
    .finding #keys { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "go(1)"),
        Binding("k,up", "go(-1)"),
        Binding("pagedown", "go(10)"),
        Binding("pageup", "go(-10)"),
        Binding("home", "go(-100000)"),
        Binding("end", "go(100000)"),
        Binding("b", "to_break"),
        Binding("l,right", "choose(1)"),
        Binding("h,left", "choose(-1)"),
        *(Binding(str(n), f"pick({n - 1})") for n in range(1, 10)),
        Binding("enter", "take"),
        Binding("escape,backspace", "come_back"),
        Binding("g", "go_on"),
        Binding("r", "to_rest"),
        Binding("slash", "find"),
        Binding("n", "match(1)"),
        Binding("N", "match(-1)"),
        Binding("f", "begin"),
        Binding("p", "passing"),
        Binding("w", "why"),
        Binding("v", "whole"),
        Binding("s", "strips"),
        Binding("u", "unfold"),
        Binding("y", "copy_test"),
        Binding("Y", "copy_command"),
        Binding("question_mark", "keys"),
        Binding("q", "quit"),
        Binding("ctrl+c", "quit", priority=True),
    ]

    def __init__(
        self, found: Explored, origin: Origin, *, unfold: bool = False
    ) -> None:
        """Stand where the trace breaks; ``unfold`` shows each routine step."""
        super().__init__()
        self.walk = Walk(found)
        self.copied: list[str] = []
        self.found: frozenset[int] | None = None
        self.chosen = 0
        self._explored = found
        self._origin = origin
        self._searched = ""
        self._lanes: panes.LanesPane | None = None
        self._open = frozenset(self.walk.view.folds if unfold else ())

    def compose(self) -> ComposeResult:
        """Lay out the parts, from top to bottom."""
        yield Panel("title")
        yield Panel("position")
        yield Panel("lanes")
        yield Panel("why")
        with Horizontal(id="panels"):
            yield Panel("step")
            yield Panel("options")
        yield Panel("strips")
        yield Static(KEYS, id="keys", markup=False)
        yield Input(
            id="find", placeholder="an action, by process, or: write by partition 1"
        )

    def on_mount(self) -> None:
        """Draw all parts for the first time."""
        self.draw()

    def on_resize(self, event: events.Resize) -> None:
        """Show why it breaks where there is room for it."""
        self.set_class(event.size.height >= TALL, "tall")
        self.screen.set_class(event.size.height >= TALL, "tall")

    def draw(self) -> None:
        """Draw all parts as they stand."""
        walk, view = self.walk, self.walk.view
        self._unfold_here()
        if self._lanes is None:
            folds = [f for f in view.folds if f not in self._open]
            self._lanes = panes.LanesPane(view, walk.left, folds)
        whole = walk.trace
        head = f"{title(whole)}  ({labels(whole)})"
        self._put("title", Text(head, no_wrap=True, overflow="ellipsis"))
        matching = "" if self.found is None else in_words(self.found, self._searched)
        text = f"{matching}{position_text(walk)}"
        self._put("position", Text(text, "bold bright_red" * self._bad()))
        lanes = self._panel("lanes").size
        drawn = self._lanes.draw(walk.step, self.found, lanes.width, lanes.height)
        self._put("lanes", drawn)
        story = panes.story_text(whole) if walk.left is None else Text()
        self._put("why", story)
        self._put("step", panes.step_text(view, walk.step))
        options = self._panel("options").content_size
        self._put(
            "options",
            panes.options_text(
                walk.options(),
                self.chosen,
                self._heading(),
                self._outcome(),
                options.width,
                options.height,
            ),
        )
        most = _MORE_STRIPS if self.screen_stack[0].has_class("tall") else _STRIPS
        width = self._panel("strips").size.width
        self._put("strips", panes.strips_text(view, walk.step, width, most))

    def _unfold_here(self) -> None:
        """Unfold the routine steps that the reader is in."""
        here = {f for f in self.walk.view.folds if f[0] <= self.walk.step <= f[1]}
        if not here <= self._open:
            self._open |= here
            self._lanes = None

    def action_unfold(self) -> None:
        """Unfold all routine steps, or fold them again."""
        every = frozenset(self.walk.view.folds)
        self._open = frozenset() if every <= self._open else every
        self._lanes = None
        self.draw()

    def _bad(self) -> bool:
        return self.walk.view.fails_at is not None

    def _outcome(self) -> str:
        """Return what becomes of the claim by what is chosen."""
        options = self.walk.options()
        return self.walk.outcome(options[self.chosen]) if options else ""

    def _heading(self) -> str:
        walk = self.walk
        if not walk.view.live:
            return say("no-other-step")
        if walk.step < walk.last:
            key = "instead-of" if walk.options() else "nothing-else"
            return say(key, step=safe(walk.view.steps[walk.step].text))
        return say("what-next" if walk.options() else "nothing-more")

    def _panel(self, name: str) -> Panel:
        return self.screen_stack[0].query_one(f"#{name}", Panel)

    def _put(self, name: str, text: Text) -> None:
        self._panel(name).update(text)

    # Stepping -------------------------------------------------------------------

    def _moved(self) -> None:
        """Draw another run, or another place in it."""
        self._lanes = None
        self._open = frozenset()
        self.chosen = 0
        self.found = self._matches()
        self.draw()

    def action_go(self, steps: int) -> None:
        """Go so many steps on, or back."""
        self.walk.go(self.walk.step + steps)
        self.chosen = 0
        self.draw()

    def action_to_break(self) -> None:
        """Go to where the run first breaks the property."""
        if self.walk.view.fails_at is not None:
            self.action_go(self.walk.view.fails_at - self.walk.step)

    def action_choose(self, many: int) -> None:
        """Choose another of what could happen."""
        options = len(self.walk.options())
        self.chosen = max(0, min(self.chosen + many, options - 1))
        self.draw()

    def action_pick(self, number: int) -> None:
        """Choose by number."""
        self.action_choose(number - self.chosen)

    def action_take(self) -> None:
        """Take what is chosen."""
        options = self.walk.options()
        if self.chosen < len(options):
            self.walk.take(options[self.chosen])
            self._moved()

    def action_come_back(self) -> None:
        """Leave off searching, or come back to the trace."""
        if self._finding():
            self._find(on=False)
        elif self.walk.left is None and self._searched:
            self._searched = ""
            self._moved()
        else:
            self.walk.back()
            self._moved()

    def action_begin(self) -> None:
        """Begin with the next of several first states."""
        self.walk.begin(self.walk.begun + 1)
        self._moved()

    def action_go_on(self) -> None:
        """Continue like the trace."""
        self.walk.go_on()
        self._moved()

    def action_to_rest(self) -> None:
        """Continue to rest."""
        self.walk.to_rest()
        self._moved()

    # Searching ------------------------------------------------------------------

    def _finding(self) -> bool:
        return self.screen_stack[0].has_class("finding")

    def _find(self, *, on: bool) -> None:
        self.screen_stack[0].set_class(on, "finding")
        self.set_focus(self.query_one(Input) if on else None)

    def action_find(self) -> None:
        """Ask what to look for."""
        self.query_one(Input).value = ""
        self._find(on=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search, and go to the first match from here on."""
        self._searched = event.value.strip()
        self._find(on=False)
        self.found = self._matches()
        if self.found and self.walk.step not in self.found:
            self.action_match(1)
        self.draw()

    def _matches(self) -> frozenset[int] | None:
        """Find steps by action and kind, and by who acts."""
        return matches(self.walk.view, self._searched) if self._searched else None

    def action_match(self, way: int) -> None:
        """Go to the next match, or the previous one; after the last comes the first."""
        if self.found:
            self.action_go(next_match(self.found, self.walk.step, way) - self.walk.step)

    # Sheets ---------------------------------------------------------------------

    def action_keys(self) -> None:
        """Show the keys, and what the marks mean."""
        self.push_screen(TextDialog(HELP))

    def action_why(self) -> None:
        """Show why the trace breaks, with its notes."""
        view = self.walk.trace
        text = panes.story_text(view)
        text.append("\n\n" if view.story else "")
        text.append_text(panes.why_text(view))
        for note in view.notes:
            text.append(f"\n\nnote: {safe(note)}")
        self.push_screen(TextDialog(text))

    def action_whole(self) -> None:
        """Show the step, and the state after it, in full."""
        text = panes.step_text(self.walk.view, self.walk.step, whole=True)
        self.push_screen(TextDialog(text))

    def action_strips(self) -> None:
        """Show how all properties stand."""
        view = self.walk.view
        text = panes.strips_text(view, self.walk.step, self.size.width - 2, 10_000)
        for strip in view.strips:
            text.append(f"\n\n{safe(strip.property)}: {safe(strip.text)}")
        self.push_screen(TextDialog(text))

    def action_passing(self) -> None:
        """Show the nearest passing run beside the trace; Enter walks it."""
        there = self.walk.trace.passing is not None and self.walk.view.live
        sheet = TextDialog(
            panes.passing_text(self.walk.trace), "walks it" if there else ""
        )
        self.push_screen(sheet, self._walk_passing)

    def _walk_passing(self, walks: bool | None) -> None:  # noqa: FBT001 - a callback
        if walks:
            self.walk.take_passing()
            self._moved()

    def action_copy_test(self) -> None:
        """Copy the run as a test."""
        text = as_test(self._explored, self._origin, self.walk.view)
        self._copy("pytest test", text)

    def action_copy_command(self) -> None:
        """Copy the command that shows the same once more."""
        self._copy("command", command_of(self._explored, self._origin))

    def _copy(self, what: str, text: str) -> None:
        """Hand a text to the terminal, show it, and keep it to be printed."""
        if not text:
            self.push_screen(
                TextDialog(f"There is no {what} of this: no model, no file.")
            )
            return
        shown = "\n".join(map(safe, text.rstrip("\n").split("\n")))
        self.copied.append(shown)
        self.copy_to_clipboard(shown)
        heading = (
            f"The {what} is sent to the terminal's clipboard, and printed at the end:"
        )
        self.push_screen(TextDialog(f"{heading}\n\n{shown}"))

    # The mouse ------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Go to a step that is clicked on."""
        widget, at = event.widget, event.y - 1
        if isinstance(widget, Panel) and widget.id == "lanes" and self._lanes:
            window = self._lanes.window(self.walk.step, max(1, widget.size.height - 1))
            if 0 <= at < len(window):
                self.action_go(self._lanes.rows[window[at]].number - self.walk.step)
