"""``onceproof new``: a commented starting point for a protocol of one's own."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

import click

from onceproof.model import language
from onceproof.model.errors import UsageError
from onceproof.model.files import write_whole
from onceproof.model.language.declarations.decorators import kebab
from onceproof.model.library import protocols
from onceproof.model.text import shell_word
from onceproof.spark_checks.cli.command import Command

_TEMPLATE = '''\
"""{title}, as a model."""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    fault,
    if_else,
    not_,
    observe,
    sometimes,
    state,
    when,
)


class {name}(Protocol):
    """Each event is written to a table, then acknowledged. Cite your source here.

    The first line says what the protocol is; the rest, what it assumes and leaves out.
    """

    # What the protocol ranges over. The default is two of them: --set EVENT=3.
    EVENT = Sort("event")

    # State that outlives a crash: one element for each event. Integers need a bound.
    rows = state(0, per=EVENT, high=2)
    acknowledged = state(False, per=EVENT)

    # State that a crash loses: self.lose_volatile() puts it back to where it began.
    written = state(False, per=EVENT, volatile=True)

    # An action is an atomic step: when(...) says where it can happen, then come its
    # effects. There is no if, and, or, not on state: use when, if_else, all_of, any_of
    # and not_. A loop over a sort goes inside all_of, any_of, count or total.
    @action(per=EVENT)
    def write(self, e: Member) -> None:
        """Insert a row."""
        when(not_(self.acknowledged[e]), not_(self.written[e]))
        self.rows[e] = if_else(self.rows[e] < 2, self.rows[e] + 1, 2)
        self.written[e] = True

    @action(per=EVENT)
    def acknowledge(self, e: Member) -> None:
        """Acknowledge the event to the source."""
        when(self.written[e])
        self.acknowledged[e] = True
        self.written[e] = False

    # A fault is a step that does harm. The default is one fault in all: --set faults=2.
    @fault
    def crash(self) -> None:
        """The process dies, and restarts with what endures."""
        self.lose_volatile()

    # What the outside sees, in the ledger's words: visible, accepted, promised,
    # rejected, unit. The guarantees that need no more are then judged by themselves.
    @observe(per=EVENT)
    def visible(self, e: Member) -> int:
        """Readers of the table see so many rows."""
        return self.rows[e]

    @observe(per=EVENT)
    def accepted(self, e: Member) -> bool:
        """The source owes every event."""
        return True

    # Claims of the protocol's own: @always, @step (before, after), @at_rest,
    # @eventually, @leads_to, @lemma; and witnesses, so that nothing holds in vain.
    @sometimes
    def finishes(self) -> bool:
        """Every event can be acknowledged."""
        return all_of(self.acknowledged[e] for e in self.EVENT)
'''


@click.command(cls=Command)
@click.argument("name")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="The folder to write to (default: the current one).",
)
def new(name: str, output: Path) -> int:
    """Write NAME.py: a small protocol with comments, to begin from.

    It has a bug on purpose: "onceproof check NAME.py" shows the counterexample.

    Example: onceproof new order-intake
    """
    words = re.findall(r"[A-Za-z][a-z0-9]*|[0-9]+", name)
    if not words or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        message = f"{name!r} is no name; take letters, digits and -, as in order-intake"
        raise UsageError(message)
    title = "".join(word.capitalize() for word in words)
    module = kebab(title).replace("-", "_")
    _refuse_taken(name, title, module)
    path = output / f"{module}.py"
    if path.exists():
        message = f"{path} is there already, and is not overwritten"
        raise UsageError(message)
    text = _TEMPLATE.format(name=title, title=" ".join(words).capitalize())
    write_whole(path, text)
    click.echo(f"wrote {path}")
    click.echo(f"next: onceproof check {shell_word(path)}")
    return 0


def _refuse_taken(name: str, title: str, module: str) -> None:
    """Refuse a name that means something else in Python, here or in the library."""
    if keyword.iskeyword(module) or keyword.iskeyword(title):
        taken = "a word of Python"
    elif module in sys.stdlib_module_names:
        taken = "a module of Python's own"
    elif title in language.__all__:
        taken = f"a name of the language, {title}"
    elif kebab(title) in protocols():
        taken = "a protocol of the library"
    else:
        return
    message = f"{name!r} is {taken}; choose another name, as in my-{kebab(title)}"
    raise UsageError(message)
