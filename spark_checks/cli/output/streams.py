"""Stdout and stderr of a command: nothing in what is printed can do anything to them.

What is printed may hold text of a file, of a model, or of an error. What does not print
is spelled out, what an encoding lacks too, and a reader that is gone ends the command.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from onceproof.model.errors import OnceproofError
from onceproof.model.text import printable
from onceproof.spark_checks.session.interruption import ReaderGoneError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_FREE = 3


class StreamError(OnceproofError):
    """The output cannot be written; the message says why."""


class Stream:
    """A stream of text that spells out what does not print, or writes it as it is.

    It has no buffer of bytes, by which writers would pass it by.
    """

    def __init__(self, raw: Any, *, spell: bool = True) -> None:
        """Write to a stream."""
        self._raw, self._spell = raw, spell

    def __getattr__(self, name: str) -> Any:
        """Be what the stream is otherwise."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self._raw, name)

    def write(self, text: str) -> int:
        """Write a text. Raises ``ReaderGoneError`` where nobody reads it."""
        if not isinstance(text, str):
            message = f"a text is written here, not {type(text).__name__}"
            raise TypeError(message)
        with self._heard():
            self._raw.write(printable(text, keep="\n") if self._spell else text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what is held back. Raises ``ReaderGoneError`` where nobody reads it."""
        with self._heard():
            self._raw.flush()

    @contextmanager
    def _heard(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            name = str(getattr(self._raw, "name", "")).strip("<>") or "the output"
            message = f"{name} cannot be written: {error.strerror or error}"
            raise StreamError(message) from None

    def plain(self) -> TextIO:
        """Return the stream that writes texts unchanged, for drawing on a terminal."""
        return cast("TextIO", Stream(self._raw, spell=False))


def drawn_on(stream: TextIO) -> TextIO:
    """Return a stream for colours and movements, whose texts are made safe before."""
    return stream.plain() if isinstance(stream, Stream) else stream


@contextmanager
def safe_streams() -> Iterator[None]:
    """Let stdout and stderr spell out what does not print, while a command runs.

    Raises ``StreamError`` where there is no stdout, or where it cannot be written.
    """
    before = sys.stdout, sys.stderr
    _occupy()
    if sys.stdout is None:
        message = "stdout is closed"
        raise StreamError(message)
    for stream in before:
        with suppress(AttributeError, ValueError, OSError):
            cast("Any", stream).reconfigure(errors="backslashreplace")
    sys.stdout = cast("TextIO", Stream(sys.stdout))
    if sys.stderr is not None:
        sys.stderr = cast("TextIO", Stream(sys.stderr))
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout, sys.stderr = before


def _occupy() -> None:
    """Open the standard streams that are closed, or another file would take them."""
    while (number := os.open(os.devnull, os.O_RDWR)) < _FIRST_FREE:
        pass
    os.close(number)


def drop() -> None:
    """Drop what could not be written, so that Python does not try once more."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            number = stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


def drop_after(last: str) -> None:
    """Drop what could not be written, and say why on stderr, if that can be written."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(last and f"{last}\n")
        sys.stderr.flush()
    drop()
