"""The errors that Onceproof raises on purpose: a small tree, each with a fix."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class OnceproofError(Exception):
    """The base class of every error that Onceproof raises on purpose."""


class UsageError(OnceproofError):
    """A request names something unknown or out of range."""


class TooLargeError(UsageError):
    """A state is larger than the search can hold."""


class Disagreement(OnceproofError):  # noqa: N818 - it names what happened
    """Two judges contradict each other, so no verdict is given.

    One of them is wrong: a defect of Onceproof, and never one of the model.
    """

    def __init__(self, what: str) -> None:
        """Take who disagrees, and about what."""
        super().__init__(
            f"internal error: {what}; one of them is wrong, so no verdict is given. "
            "help: report this with the model; until then trust neither"
        )


class ModelError(OnceproofError):
    """A model is wrong; the message says what is wrong, and on which line.

    The message reads ``FILE:LINE: what is wrong; the fix``.
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        """Keep the place apart from the message, for editors and tests."""
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        noted = _noted.get()
        if noted is not None:
            noted.append(self)


_noted: ContextVar[list[ModelError] | None] = ContextVar("noted", default=None)


@contextmanager
def noting_errors() -> Iterator[list[ModelError]]:
    """List the model's errors that are made inside, those that are caught as well."""
    noted: list[ModelError] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
