"""Sheets: what is laid over the terminal view to be read, and closed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from onceproof.properties.explorer.terminal.panes import LEGEND

if TYPE_CHECKING:
    from textual.app import ComposeResult

HELP = f"""\
j k, down up     next step, previous step      Home End   first, last
b                to the step where it breaks
h l, left right  choose among what else could happen; 1 to 9 choose at once
Enter            take it: this leaves the trace, for a run of the model
g                off the trace: continue like the trace
r                continue to rest, with no further fault
Escape           back to the trace, where it was left (Backspace too)
f                begin with the next first state, where there are several
/                find steps: write   by driver   write by partition 1
n N              next match, previous match
p                the nearest run that passes; Enter walks it
w v s            why it breaks; the step and state in full; all properties
u                unfold the routine steps, or fold them again
y Y              copy the run as a pytest test; copy a command
?                this page            q   quit

{LEGEND}
→ 4  its message is received in step 4   ⇢ ?  delivery unknown   9~  off the trace
below: · holds  ✕ fails  ! first  ✓ met  - nothing to say  = seen  ? not judged

Off the trace every step is of the model; onceproof replay runs real Spark.\
"""


class TextDialog(ModalScreen[bool]):
    """A text over the view: closed with True by Enter, with False by other keys."""

    CSS = """
    TextDialog { align: center middle; }
    TextDialog > VerticalScroll { width: 100%; height: 100%; background: $surface; }
    TextDialog #sheet-keys { dock: bottom; height: 1; text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace,q,question_mark,w,v,s,p,y", "close(False)"),
        Binding("enter", "close(True)"),
        Binding("j,down", "move(1)"),
        Binding("k,up", "move(-1)"),
        Binding("space,pagedown", "move(10)"),
        Binding("pageup", "move(-10)"),
    ]

    def __init__(self, text: Text | str, enter: str = "") -> None:
        """Show a text; ``enter`` says what Enter does, if it does more than close."""
        super().__init__()
        self.text = text if isinstance(text, Text) else Text(text)
        self._enter = f"Enter {enter}   " if enter else ""

    def compose(self) -> ComposeResult:
        """Lay out the text and its keys."""
        with VerticalScroll():
            yield Static(self.text, id="sheet-text", markup=False)
        keys = f" {self._enter}Escape closes   j k scroll"
        yield Static(keys, id="sheet-keys", markup=False)

    def action_close(self, answer: bool) -> None:  # noqa: FBT001 - as keys give it
        """Close the sheet."""
        self.dismiss(answer)

    def action_move(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
