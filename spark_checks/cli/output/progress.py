"""How far long work is: a line that changes on a terminal, else one now and then."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape

from onceproof.spark_checks.cli.output.console import stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

SECONDS = 30
"""How long nothing is said where stderr is no terminal."""


@contextmanager
def progress(
    what: str, there: Console | None = None
) -> Iterator[Callable[[str], None]]:
    """Say on stderr how far some work is; what is yielded takes the news.

    What else is printed meanwhile goes to the console that is given, if one is.
    """
    there = there or stderr()
    if there.is_terminal:
        with there.status(escape(what)) as status:
            yield lambda text: status.update(escape(text))
    else:
        yield _Now(there).say


@contextmanager
def search_progress() -> Iterator[Callable[[int, int, int], None]]:
    """Say on stderr how far a search is."""
    with progress("searching") as say:

        def reached(distinct: int, generated: int, depth: int) -> None:
            say(f"{distinct:,} states, {generated:,} generated, depth {depth}")

        yield reached


class _Now:
    """Prints news, but not more often than every ``SECONDS``."""

    def __init__(self, there: Console) -> None:
        self._there = there
        self._said = time.monotonic()

    def say(self, text: str) -> None:
        """Print a text, unless another one was printed a moment ago."""
        now = time.monotonic()
        if now - self._said >= SECONDS:
            self._said = now
            self._there.print(text, markup=False, highlight=False, soft_wrap=True)
