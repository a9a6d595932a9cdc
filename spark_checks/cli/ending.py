"""How a command ends: every failure is one clear sentence, and its exit status says so.

0 and 1 are answers, 2 is none. A signal ends with 128 and its number, a reader of the
output that is gone with 141, as SIGPIPE does.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path

import click

from onceproof.model.errors import OnceproofError
from onceproof.model.extras import DISTRIBUTION, extra_of, what_to_install
from onceproof.model.language.source_location import left_open
from onceproof.model.text import printable

NO_ANSWER = 2
READER_GONE = 128 + 13
TRACEBACK = "ONCEPROOF_TRACEBACK"
_HERE = Path(__file__).parents[2]
_MOST = 2_000


class NoAnswer(click.ClickException):
    """Ends a command in one sentence, with exit status 2."""

    exit_code = NO_ANSWER

    def format_message(self) -> str:
        """Return the sentence on one line, of what prints alone."""
        return sentence(self.message)


def sentence(text: str) -> str:
    """Return a text as one line, of what prints alone, and not at any length."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _MOST else f"{line[:_MOST]}... (cut)"


def no_answer(error: BaseException) -> NoAnswer:
    """Turn whatever ended a command into one sentence."""
    if os.environ.get(TRACEBACK) and not isinstance(error, OnceproofError):
        traceback.print_exception(error)
    return NoAnswer(error_text(error))


def error_text(error: BaseException) -> str:
    """Describe in a sentence what ended a command that did not end itself."""
    where = _where(error)
    if isinstance(error, OnceproofError):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None and not where:
        return _of_the_system(error)
    if isinstance(error, ModuleNotFoundError) and _is_to_install(error, where):
        return f"{where}{what_to_install(error)}"
    if isinstance(error, SystemExit | click.exceptions.Exit):
        code = getattr(error, "code", getattr(error, "exit_code", None))
        what = f"the user's code ended the program ({code!r})"
    elif isinstance(error, MemoryError):
        what = "there is not enough memory"
    elif isinstance(error, RecursionError):
        what = "it is nested too deeply"
    elif isinstance(error, NotImplementedError) and not str(error):
        what, place = left_open(error)
        where = f"{place}: " if place else where
    else:
        text = _words_of(error)
        what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{where}{what}; nothing is judged ({TRACEBACK}=1 shows more)"


def _words_of(error: BaseException) -> str:
    """Return the words of an error, or those that PySpark keeps once Java has ended."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - Spark's errors ask Java, which may have ended
        from onceproof.spark_checks.session.spark_internals import (  # noqa: PLC0415
            description_of,
        )

        return description_of(error)


def _is_to_install(error: ModuleNotFoundError, where: str) -> bool:
    """Return whether a package is missing that a command needs, and no module of ours.

    What the user's own code imports is its own matter, unless an extra installs it.
    """
    package = (error.name or "").partition(".")[0]
    if package in ("", DISTRIBUTION) or package in sys.stdlib_module_names:
        return False
    return not where or extra_of(package) != ""


def _of_the_system(error: OSError) -> str:
    why = error.strerror or str(error)
    if error.errno == errno.ENOSPC:
        why = f"{why}; make room, or set TMPDIR to a disk that has"
    return f"{error.filename}: {why}" if error.filename else why


def _where(error: BaseException) -> str:
    """Name the last line of the user's own code that had a part in an error."""
    libraries = (_HERE, Path(os.__file__).parent, Path(sys.prefix))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        installed = "site-packages" in path.parts
        inside = installed or any(map(path.is_relative_to, libraries))
        if path.is_file() and not inside:
            return f"{frame.filename}:{frame.lineno}: "
    return ""
