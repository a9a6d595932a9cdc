"""How far long work is: a line that changes on a terminal, a line now and then else."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onceproof.spark_checks.cli.output.console import stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

SECONDS = 30
"""How long nothing is said where stderr is no terminal."""


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """Say on stderr how far some work is; what is yielded takes the news."""
    there = stderr()
    if there.is_terminal:
        with there.status(what) as status:
            yield status.update
    else:
        yield _Now(there).say


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
