"""What is said of a place that a sink may not write to: who does, where, what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.sinks import allowed_places
from onceproof.spark_checks.sinks.code_points import place_of

if TYPE_CHECKING:
    from types import FrameType

    from onceproof.spark_checks.inject.tracing.followed_code import Code


def refusal(sink: str, place: str, *, where: str = "", file: bool = False) -> str:
    """Describe a refused place, and the text for ``allow=``, without any password.

    ``where`` is the line that asks for the place, and ``file`` says that it is a file:
    the folder around it is what may be allowed.
    """
    shown = allowed_places.path_of(place) if allowed_places.is_path(place) else place
    who = sink.rpartition("::")[2] or "the sink"
    at = f" in {where}" if where else ""
    return (
        f"{who} writes to {redacted(shown)}{at}, which is none of the sink's own "
        f"places; help: if it may, give allow={_allowing(place, file=file)}, in the "
        "marker or in the call of the fixture"
    )


def suggested(place: str, *, file: bool = False) -> tuple[str, ...]:
    """Return what ``allow=`` must name for a place to be allowed, and no more."""
    if allowed_places.is_path(place):
        names = (allowed_places.path_of(place, encoded=how) for how in (False, True))
        paths = (Path(name) for name in dict.fromkeys(names))
        return tuple(str(p.parent if file and not p.is_dir() else p) for p in paths)
    found = allowed_places.address_of(place)
    return (redacted(place),) if found is None else allowed_places.names_of(found)


def _allowing(place: str, *, file: bool) -> str:
    """Write the places as Python: a text, or several in brackets."""
    quoted = [f'"{one}"' for one in suggested(place, file=file)]
    return quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"


def line_of_user(code: Code) -> str:
    """Name the line of the user's own code that runs now in this thread.

    Where none of it runs, it is the line of a package that the user's code calls.
    """
    besides = ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        own = frame.f_code
        judged = code.judge(own.co_filename, str(frame.f_globals.get("__name__", "")))
        if judged.follows:
            at = place_of(frame.f_lineno, judged.shown, installed=judged.installed)
            line = f"{at}{own.co_name}()"
            if not judged.installed:
                return line
            besides = besides or line
        frame = frame.f_back
    return besides
