"""A user's own sink: nothing is known of it but where its code lies."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.library import load
from onceproof.spark_checks.sinks.interface import Reference
from onceproof.spark_checks.sinks.user_code import UserCode

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Build


def own_sink(build: Build, code: Path) -> Reference:
    """Describe a sink of which nothing is known but where its code lies.

    Its name is the file and the function that builds it, by which it can be found
    again; or that of the function alone, where that is made inside another.
    """
    name = build.__qualname__
    if "<" not in name:
        source = Path(inspect.getsourcefile(build) or name)
        name = f"{os.path.relpath(source)}::{name}"
    return Reference(name, build, UserCode, frozenset(), code=str(code.resolve()))


def find_sink(name: str, code: Path) -> Reference:
    """Find a sink by its name again: a file and a function of it.

    Raises ``UsageError`` where there is none.
    """
    path, _, function = name.partition("::")
    build = getattr(load(Path(path)), function, None)
    if not callable(build):
        message = f"{path} has no function {function!r} any more"
        raise UsageError(message)
    return Reference(name, build, UserCode, frozenset(), code=str(code.resolve()))
