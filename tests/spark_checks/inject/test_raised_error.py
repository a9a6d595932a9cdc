"""An error that is raised in a user's code is one that the code reckons with."""

from __future__ import annotations

import contextlib
import sqlite3
import sys

import pytest

from onceproof.spark_checks.inject.tracing.raised_error import error_at
from onceproof.spark_checks.inject.tracing.source_blocks import leaves_block


def raised():
    """Make the error of the line of the caller."""
    return error_at(sys._getframe(1), lambda f: f.f_code.co_filename == __file__)


def caught_by_a_driver():
    try:
        return raised()
    except sqlite3.Error:
        pass


def caught_as_one_of_several():
    try:
        return raised()
    except (KeyError, OSError):
        pass


def caught_by_the_caller():
    try:
        return next(iter([raised() for _ in "1"]))
    except ConnectionError:
        pass


def caught_further_out():
    try:
        try:
            return raised()
        except sqlite3.IntegrityError:
            pass
    except sqlite3.DatabaseError:
        pass


def suppressed():
    with contextlib.suppress(TimeoutError):
        return raised()


def caught_where_it_is_there_already():
    try:
        return raised()
    except (FileExistsError, sqlite3.IntegrityError):
        pass


def caught_in_another_function():
    def inner():
        try:
            return
        except OSError:
            return

    inner()
    return raised()


def caught_whatever_it_is():
    try:
        return raised()
    except Exception:  # noqa: BLE001 - as people do
        pass


RETRYABLE = (KeyError, (sqlite3.OperationalError, TimeoutError))


def caught_by_a_name_for_several():
    try:
        return raised()
    except RETRYABLE:
        pass


def suppressed_by_a_name_for_several():
    with contextlib.suppress(*RETRYABLE):
        return raised()


class Held:
    """Holds errors, as drivers' connections do; one cannot be asked for."""

    Error = sqlite3.Error

    @property
    def failing(self):
        raise ValueError


def caught_by_what_a_connection_holds():
    held = Held()
    try:
        return raised()
    except held.Error:
        pass


def caught_by_what_cannot_be_asked_for():
    held = Held()
    try:
        return raised()
    except held.failing:
        pass


class OperationalError(Exception):
    """Is made as some libraries make theirs: of what went wrong, not of a text."""

    def __init__(self, statement, orig):
        self.message = f"{statement}: {orig}"

    def __str__(self):
        return self.message


def caught_by_a_library():
    try:
        return raised()
    except OperationalError:
        pass


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (caught_by_a_driver, sqlite3.OperationalError),
        (caught_as_one_of_several, OSError),
        (caught_by_the_caller, ConnectionError),
        (caught_further_out, sqlite3.OperationalError),
        (suppressed, TimeoutError),
        (caught_by_a_name_for_several, sqlite3.OperationalError),
        (suppressed_by_a_name_for_several, sqlite3.OperationalError),
        (caught_by_what_a_connection_holds, sqlite3.OperationalError),
        (caught_by_what_cannot_be_asked_for, Exception),
        (caught_by_a_library, OperationalError),
    ],
)
def test_it_is_of_a_kind_that_is_caught(code, kind):
    error = code()

    assert isinstance(error, kind)
    assert str(error) == "the sink failed here"


@pytest.mark.parametrize(
    "code",
    [
        caught_where_it_is_there_already,
        caught_in_another_function,
        caught_whatever_it_is,
    ],
)
def test_it_says_nothing_of_what_the_code_finds(code):
    """A row that is there, a missing file: those come of the data, not of a fault."""
    assert not isinstance(code(), OSError | sqlite3.Error)


def test_the_end_of_a_block_is_told_from_its_beginning():
    """Python comes to the line of a ``with`` for both."""
    first = suppressed.__code__.co_firstlineno + 1

    assert leaves_block(__file__, first, first + 1)
    assert not leaves_block(__file__, first, first - 1)
