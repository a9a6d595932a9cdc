"""Failpoints in Python code: what happens as a named function is entered or left.

The same tracer runs in the child that stands for the driver and in Spark's Python
workers. A rule waits for marks that other processes leave, leaves a mark of its own,
and then lets the process die, fork into a zombie, raise, or go on. A process dies as
in a crash: no ``finally``, no flush, no rollback by its own hand.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PLANS_VARIABLE = "ONCEPROOF_PLANS"
RUN_PROPERTY = "onceproof.run"
EXIT_CODE = 73
_PACKAGES = ("/site-packages/", "/dist-packages/", "/lib/python")
PATIENCE = 45.0
UNMET = "unmet"
LINES = "a line"
"""Stands in a rule for each line of the user's own code, instead of a function."""


@dataclass(frozen=True)
class Rule:
    """At ``event`` (call or return) of ``function``, for a batch, do something.

    ``function`` is a qualified name. None matches any partition, attempt or call.
    ``nth`` counts calls from 1 within one process and batch. ``do`` is one of die,
    raise, zombie, pass. It first waits for the marks of ``await_`` and then leaves its
    own; a zombie leaves its own as it is given up, and waits in its later life. Of a
    line, ``note`` writes down which it is, into the file of its mark.
    """

    function: str
    event: str
    batch: int
    do: str
    partition: int | None = None
    attempt: int | None = None
    nth: int | None = None
    await_: tuple[str, ...] = ()
    mark: str = ""


@dataclass(frozen=True)
class Plan:
    """The rules of one query run, and the folder where marks are left.

    ``run`` tells runs apart that go on side by side. The user's own code is what lies
    below the folder ``code``, installed packages apart. Who waits for a mark for longer
    than ``patience`` seconds gives up: it leaves a mark that says so, and dies.
    """

    rules: tuple[Rule, ...]
    marks: str
    run: str = ""
    patience: float = PATIENCE
    code: str = ""

    def write(self, folder: Path) -> Path:
        """Put the plan where workers look for it, all at once; give its place."""
        path = folder / f"{self.run}.json"
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(path)
        return path

    @classmethod
    def read(cls, path: Path) -> Plan | None:
        """Read a plan, if it is still there."""
        try:
            data = json.loads(path.read_text())
        except (OSError, ValueError):
            return None
        rules = [Rule(**{**r, "await_": tuple(r["await_"])}) for r in data["rules"]]
        told = (data[name] for name in ("marks", "run", "patience", "code"))
        return cls(tuple(rules), *told)


@dataclass(frozen=True)
class Place:
    """Where a process is: the batch it works on, and the task if it runs one."""

    batch: int | None
    partition: int | None = None
    attempt: int | None = None
    run: str | None = ""


class FailedHere(Exception):  # noqa: N818 - it stands for whatever a sink may raise
    """Is raised inside a sink's own code by a rule."""


class Tracer:
    """Watches a process for the functions that rules name."""

    def __init__(self, plan: Plan, where: Callable[[FrameType], Place]) -> None:
        """Follow ``plan``; ``where`` tells the place of a frame."""
        self._plan = plan
        self._where = where
        self._names = {rule.function for rule in plan.rules}
        self._calls: dict[tuple[str, int | None], int] = {}

    @property
    def busy(self) -> bool:
        """Whether there is anything to watch for."""
        return bool(self._names)

    def watches(self, frame: FrameType) -> bool:
        """Say whether something may happen in a frame."""
        return frame.f_code.co_qualname in self._names or self._follows(frame)

    def _follows(self, frame: FrameType) -> bool:
        """Say whether the lines of a frame are to be followed."""
        name = frame.f_code.co_filename
        mine = LINES in self._names and name.startswith(self._plan.code)
        return mine and not any(part in name for part in _PACKAGES)

    def install(self) -> None:
        """Watch from now on, in this thread."""
        trace_all([self])

    def enter(self, frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG002
        """Fire the rules of a call, and give what follows the frame to its return."""
        name = frame.f_code.co_qualname
        if event != "call" or not self.watches(frame):
            return None
        frame.f_trace_lines = self._follows(frame)
        place = self._where(frame)
        if place.run != self._plan.run:
            return None
        number = self._count(name, place)
        self._fire(name, "call", place, number)

        def leave(frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG001
            if event == "return":
                self._fire(name, "return", place, number)
            if event == "line" and place.partition is None:
                nth = self._count(LINES, place)
                self._fire(LINES, "call", place, nth, frame)
            return leave

        return leave

    def _count(self, name: str, place: Place) -> int:
        key = (name, place.batch)
        number = self._calls[key] = self._calls.get(key, 0) + 1
        return number

    def _fire(
        self,
        name: str,
        event: str,
        place: Place,
        number: int,
        frame: FrameType | None = None,
    ) -> None:
        for rule in self._plan.rules:
            if (
                (rule.function, rule.event, rule.batch) == (name, event, place.batch)
                and rule.partition in (None, place.partition)
                and rule.attempt in (None, place.attempt)
                and rule.nth in (None, number)
            ):
                if rule.do == "note" and frame is not None:
                    self._note(rule.mark, frame)
                else:
                    self._act(rule)

    def _note(self, mark: str, frame: FrameType) -> None:
        with Path(self._plan.marks, mark).open("a") as notes:
            code = frame.f_code
            name = os.path.relpath(code.co_filename, self._plan.code)
            notes.write(f"line {frame.f_lineno} of {name}, {code.co_name}()\n")

    def _act(self, rule: Rule) -> None:
        if rule.do == "zombie":
            self._leave_mark(rule.mark)
            if os.fork():
                os._exit(EXIT_CODE)
            _let_go_of_sockets()
        for mark in rule.await_:
            self._wait_for(mark, rule)
        if rule.do == "zombie":
            return
        if rule.mark:
            self._leave_mark(rule.mark)
        if rule.do == "die":
            os._exit(EXIT_CODE)
        if rule.do == "raise":
            sys.settrace(None)
            message = "the sink failed here"
            raise FailedHere(message)

    def _leave_mark(self, mark: str) -> None:
        Path(self._plan.marks, mark).touch()

    def _wait_for(self, mark: str, rule: Rule) -> None:
        """Wait for a mark; die where it does not come, for all else is off the plan."""
        path = Path(mark) if "/" in mark else Path(self._plan.marks, mark)
        marks = Path(self._plan.marks)
        deadline = time.monotonic() + self._plan.patience
        while not path.exists():
            if time.monotonic() > deadline or not marks.is_dir():
                if marks.is_dir():
                    spot = (
                        "" if rule.partition is None else f" of task {rule.partition}"
                    )
                    (marks / f"{UNMET}-{os.getpid()}").write_text(
                        f"{rule.function}(){spot}, batch {rule.batch}, waited in vain "
                        f"for {path.parent.name}/{path.name}"
                    )
                os._exit(EXIT_CODE)
            time.sleep(0.001)


def trace_all(tracers: list[Tracer]) -> None:
    """Let several tracers watch this thread; at most one of them follows a frame."""

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        if event != "call":
            return None
        followers = (t.enter(frame, event, arg) for t in tracers if t.watches(frame))
        return next((f for f in followers if f is not None), None)

    if any(tracer.busy for tracer in tracers):
        sys.settrace(enter)


def _let_go_of_sockets() -> None:
    """Close what ties a forked process to Spark, which then believes it dead."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        number = int(entry.name)
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.close(number)
        except OSError:
            continue
