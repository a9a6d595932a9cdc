"""What a model may not catch: errors that the language raises end its methods.

A method that catches what is refused of a symbol, or a guard that does not hold, does
something else in plain Python than as it is traced, perhaps in one state of thousands
that no sample shows.
"""

from __future__ import annotations

import dis
import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError, noting_errors
from onceproof.model.language.source_location import model_frames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


@contextmanager
def nothing_swallowed() -> Iterator[None]:
    """Run a method of a model on symbols, to its end or to its first error.

    Raises the ``ModelError`` that the method caught.
    """
    with noting_errors() as noted:
        yield
    if noted:
        raise noted[0]


def refuse_caught() -> None:
    """Raise ``ModelError`` for a guard inside of a ``try`` or a ``with``.

    A guard that does not hold ends the action by an exception, in plain Python alone.
    """
    for frame in model_frames():
        guarded = _guarded(frame.f_code)
        if any(start <= frame.f_lasti < end for start, end in guarded):
            message = (
                "a guard inside of `try` or `with` may be caught, and then it guards "
                "nothing; write it outside"
            )
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            raise ModelError(message, where=place)


@functools.lru_cache(maxsize=4096)
def _guarded(code: CodeType) -> tuple[tuple[int, int], ...]:
    """Return the places in some code at which an exception may be caught."""
    bytecode: Any = dis.Bytecode(code)
    handlers = {step.offset for step in bytecode if step.opname == "PUSH_EXC_INFO"}
    return tuple(
        (entry.start, entry.end)
        for entry in bytecode.exception_entries
        if entry.target in handlers
    )
