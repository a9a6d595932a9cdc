"""An option that takes a time, such as 90s, 5m or 1h."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onceproof.model.text import seconds_in

if TYPE_CHECKING:
    from typing import Any

    _ParamType = click.ParamType[float]
else:
    _ParamType = click.ParamType


class _Duration(_ParamType):
    """Seconds, from a number with a unit; a number alone is in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds. Fails for anything but a positive number and a unit."""
        if isinstance(value, float):
            return value
        seconds = seconds_in(str(value))
        if not seconds:
            self.fail(f"{value!r} is no time; write 90s, 5m or 1h", param, ctx)
        return seconds


DURATION = _Duration()
