"""How far a replay is: bars on a terminal, a line for each sink elsewhere."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from onceproof.model.text import printable
from onceproof.spark_checks.cli.output.console import console_to, stderr
from onceproof.spark_checks.replay import events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

_STDERR = 2
_SAID = (events.AgentLooked, events.JournalRead, events.JournalsKept)


@contextmanager
def replay_view() -> Iterator[Callable[[events.Event], None]]:
    """Show on stderr how many sinks, and interleavings of the present one, are done."""
    there = stderr()
    if not there.is_terminal:
        yield _Lines(there).listen
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=there,
        transient=True,
    ) as progress:
        yield _Bars(progress, there).listen


class _Bars:
    """Two bars: for all sinks, and for the interleavings of the one under test."""

    def __init__(self, progress: Progress, there: Console) -> None:
        self._progress = progress
        self._there = there
        self._sinks = progress.add_task("Spark starts", total=None)
        self._one = progress.add_task("interleavings", total=None, visible=False)

    def listen(self, event: events.Event) -> None:
        """Move the bars on."""
        show = self._progress
        if isinstance(event, events.Started):
            show.update(self._sinks, description="sinks", total=len(event.sinks))
        elif isinstance(event, events.SinkBegun):
            self._begin(event.sink, event.interleavings)
        elif isinstance(event, events.RecoveryBegun):
            self._begin(f"{event.sink}, after one fault", event.interleavings)
        elif isinstance(event, events.Replayed | events.RecoveryRun):
            show.advance(self._one)
        elif isinstance(event, events.SinkJudged):
            show.advance(self._sinks)
        elif isinstance(event, events.ScratchKept):
            self._there.print(_kept(event))
        elif isinstance(event, _SAID) and str(event):
            self._there.print(escape(str(event)), soft_wrap=True)

    def _begin(self, what: str, interleavings: int) -> None:
        """Show the lower bar from its start."""
        described = f"  {escape(printable(what))}"
        self._progress.reset(
            self._one, description=described, total=interleavings, visible=True
        )


class _Lines:
    """A line for each sink that is done, with its number among all."""

    def __init__(self, there: Console) -> None:
        self._there = there
        self._sinks = self._done = 0

    def listen(self, event: events.Event) -> None:
        """Print a line for an event, if it is worth one."""
        if isinstance(event, events.Started):
            self._sinks = len(event.sinks)
            sinks = "1 sink" if self._sinks == 1 else f"{self._sinks} sinks"
            self._say(f"replaying {sinks} in {escape(event.scratch)}")
        elif isinstance(event, events.ScratchKept):
            self._say(_kept(event))
        elif isinstance(event, _SAID) and str(event):
            self._say(escape(str(event)))
        elif isinstance(event, events.RecoveryBegun):
            self._say(
                f"{escape(event.sink)}: {event.interleavings} interleavings of one "
                "fault are run first, to see which lines run after a fault"
            )
        elif isinstance(event, events.SinkJudged):
            self._done += 1
            report = event.report
            self._say(
                f"sink {self._done} of {self._sinks}, {escape(report.sink.name)}: "
                f"{len(report.replayed)} of {len(report.outcomes)} interleavings in "
                f"{report.seconds:.1f} s"
            )

    def _say(self, text: str) -> None:
        self._there.print(text, soft_wrap=True)


def _kept(event: events.ScratchKept) -> str:
    return f"the scratch folder is kept: {escape(event.scratch)}"


@contextmanager
def file_view() -> Iterator[Callable[[events.Event], None]]:
    """Say on stderr where a file's sink has changed, and many failures are replayed.

    What is said goes past a test's capture of all that is printed.
    """
    with os.fdopen(os.dup(_STDERR), "w") as past:
        there = console_to(past)

        def listen(event: events.Event) -> None:
            if isinstance(event, events.SinkBegun) and event.interleavings > 1:
                there.print(
                    f"{escape(event.sink)} runs other lines than the file tells of: "
                    f"{event.interleavings} failures stand for that of the file"
                )

        yield listen
