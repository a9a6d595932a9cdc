"""Lets a user's function start a query as it likes, and steers what it starts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.plan.rules import RUN_PROPERTY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.spark_checks.inject.start import Start

_CHECKPOINT = "checkpointLocation"


@contextmanager
def steered(start: Start) -> Iterator[None]:
    """While it lasts, queries run to the end of their input, and are called back here.

    A query that is started with another checkpoint than that of ``start``, or into a
    place that is not allowed, raises ``UsageError`` before it begins. This is a host's:
    no other thread of it starts a query meanwhile.
    """
    from pyspark.sql.streaming.readwriter import DataStreamWriter  # noqa: PLC0415

    from onceproof.spark_checks.session.private_names import (  # noqa: PLC0415
        STARTS,
    )

    owner: Any = DataStreamWriter
    plain = {name: getattr(owner, name) for name in STARTS}
    mine = str(start.checkpoint)

    def foreach_batch(self: Any, func: Any) -> Any:
        if start.called_back is None:
            return plain["foreachBatch"](self, func)
        start.called_back(self, func)
        return self

    def option(self: Any, key: str, value: Any) -> Any:
        # Spark takes the names of options in any case.
        if key.lower() == _CHECKPOINT.lower():
            _same_checkpoint(value, mine)
            self._onceproof_checkpoint = True
        else:
            start.check({key: value})
        return plain["option"](self, key, value)

    def options(self: Any, **given: Any) -> Any:
        # Spark's own hands them to Java past option().
        for key, value in given.items():
            self.option(key, value)
        return self

    def begun(name: str) -> Any:
        def begin(self: Any, *args: Any, **rest: Any) -> Any:
            path = args[0] if args else rest.get("path")
            if name == "start" and path is not None:
                start.check({"path": path})
            if not getattr(self, "_onceproof_checkpoint", False):
                self.option(_CHECKPOINT, mine)
            plain["option"](self, RUN_PROPERTY, start.plan.run)
            self.trigger(availableNow=True)
            return plain[name](self, *args, **rest)

        return begin

    changed = {"foreachBatch": foreach_batch, "option": option, "options": options}
    changed |= {name: begun(name) for name in ("start", "toTable")}
    for name, function in changed.items():
        setattr(owner, name, function)
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(owner, name, function)


def _same_checkpoint(value: object, mine: str) -> None:
    if str(value) != mine:
        message = (
            f"start() uses the checkpoint {value}, which this run did not make, so it "
            "is not touched; use the checkpoint that start() is given"
        )
        raise UsageError(message)
