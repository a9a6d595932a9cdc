"""An option that takes a time, such as 90s, 5m or 1h."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from typing import Any

    _ParamType = click.ParamType[float]
else:
    _ParamType = click.ParamType

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class _Duration(_ParamType):
    """Seconds, from a number with a unit; a number alone is in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds. Fails for anything but a positive number and a unit."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        seconds = float(found.group(1)) * _UNITS[found.group(2)] if found else 0.0
        if seconds <= 0:
            self.fail(f"{value!r} is no time; write 90s, 5m or 1h", param, ctx)
        return seconds


DURATION = _Duration()
