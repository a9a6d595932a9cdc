"""Watches a process for the places that rules name, and does there what they say.

The same tracer runs in the host of the driver and in Spark's Python workers. A process
dies as in a crash: no ``finally``, no flush, no rollback of its own.
"""

from __future__ import annotations

import dis
import inspect
import itertools
import linecache
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.inject.tracing import zombie
from onceproof.spark_checks.inject.tracing.durable_effects import DurableEffects
from onceproof.spark_checks.inject.tracing.early_release import released_by
from onceproof.spark_checks.inject.tracing.executors import executor_above
from onceproof.spark_checks.inject.tracing.followed_code import (
    Code,
    called_of,
    is_ours,
    outside,
)
from onceproof.spark_checks.inject.tracing.line_trace import Notes
from onceproof.spark_checks.inject.tracing.raised_error import error_at
from onceproof.spark_checks.inject.tracing.source_blocks import leaves_block
from onceproof.spark_checks.inject.tracing.whereabouts import OwnWhereabouts
from onceproof.spark_checks.plan.rules import (
    BEAT,
    EFFECTS,
    ENDS,
    EXIT_CODE,
    LIVES_ON,
    OUTSIDE,
    OWN_CODE,
    UNMET,
    Place,
    Rule,
    RuleSet,
)
from onceproof.spark_checks.sinks.code_points import place_of, point_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    from onceproof.spark_checks.inject.tracing.followed_code import Judgement

_MOST_LOOKED = 3
_BEATS = 0.05
_MOST_SHOWN = 48
_IMPORT = "<frozen importlib"


class Tracer:
    """Watches a process for the functions and lines that rules name."""

    def __init__(
        self,
        rule_set: RuleSet,
        where: Callable[[FrameType], Place],
        begins: Callable[[], None] | None = None,
    ) -> None:
        """Follow ``plan``; ``where`` returns the place of a frame.

        ``begins`` is called in each other thread as it first does anything for a batch.
        """
        self._plan = rule_set
        self._where = where
        self._begins = begins
        self._begun = threading.local()
        self._names = {rule.function for rule in rule_set.rules}
        self._lines = not self._names.isdisjoint(OWN_CODE)
        self._calls: dict[tuple[str, str, int | None], int] = {}
        # By identity: functions of two files are equal if they read alike. What is
        # judged is kept, so that no other takes its number.
        self._known: dict[int, tuple[CodeType, Judgement]] = {}
        beat = Path(rule_set.marks, BEAT)
        self._beat = beat if beat.exists() else None
        self._beaten = 0.0
        self._code = Code(rule_set.code, rule_set.named)
        marks = (rule.mark for rule in rule_set.rules if rule.function == OUTSIDE)
        self._outside = next(marks, "")
        self._reported: set[object] = set()
        self._looked: dict[int, int] = {}
        self._notes = Notes()
        marks_folder = Path(rule_set.marks)
        self._effects: DurableEffects | None = None
        self._here = OwnWhereabouts(marks_folder) if rule_set.watched else None
        self._last: Place | None = None
        self._one_by_one = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether there is anything to watch for."""
        return bool(self._names)

    def watches(self, frame: FrameType) -> bool:
        """Return whether something may happen in a frame."""
        return frame.f_code.co_qualname in self._names or self._follows(frame)

    @property
    def begins(self) -> bool:
        """Whether threads that are not the main one are got ready."""
        return self._begins is not None

    def passes_over(self, frame: FrameType) -> bool:
        """Return whether nothing can ever happen in a frame of this code."""
        if self.watches(frame):
            return False
        function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        return not (self._outside and function and self._judged(frame).why)

    def install(self) -> None:
        """Watch from now on, in this thread and in those that it starts."""
        trace_all([self])

    def enter(self, frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG002
        """Fire the rules of a call, and give what follows the frame to its return."""
        name = frame.f_code.co_qualname
        if event != "call" or not self.watches(frame):
            return None
        mine = frame.f_trace_lines = self._follows(frame)
        place = self._where(frame)
        if place.run != self._plan.run:
            return None
        outermost = False
        if mine:
            outer = list(_outer(frame))
            if any(f.f_code.co_filename.startswith(_IMPORT) for f in outer):
                return None
            outermost = not any(map(self._follows, _below_us(outer)))
        number = self._count(name, "", place)
        came_from = self._here.here if self._here else b""
        if self._here and not mine:
            self._here.reach(place, f"{name}()", number)
        self.fire(name, "call", place, number)
        # A generator that goes on does so at its yield, which may end a block.
        before = frame.f_lineno

        def leave(frame: FrameType, event: str, arg: object) -> Any:
            nonlocal before
            if event == "return":
                if outermost:
                    self._notes.flush()
                    if arg is not None or _returns(frame):
                        self._reach(place, self._text(frame, returns=True))
                        self._notes.flush()
                if mine and self._outside:
                    self._look_around(frame)
                self.fire(name, "return", place, number)
                if self._here:
                    self._here.back(came_from)
            if event == "exception" and mine:
                self.fire(place.code, "exception", place)
            if event == "line":
                file, here = frame.f_code.co_filename, frame.f_lineno
                ends = leaves_block(file, here, before)
                if not ends:
                    before = here
                self._reach(place, self._text(frame, ends=ends), frame)
            return leave

        return leave

    def begin(self, frame: FrameType) -> None:
        """Get a thread ready that is not the main one."""
        main = threading.current_thread() is threading.main_thread()
        if self._begins is None or main:
            return
        batch = self._where(frame).batch
        if getattr(self._begun, "batch", None) != batch:
            self._begun.batch = batch
            self._begins()

    def fire(
        self,
        name: str,
        event: str,
        place: Place,
        number: int = 1,
        line: str = "",
        frame: FrameType | None = None,
    ) -> None:
        """Do what the rules of a place say, in a ``frame`` of the user's code."""
        for rule in self._plan.rules:
            if (
                (rule.function, rule.event, rule.batch) == (name, event, place.batch)
                and rule.partition in (None, place.partition)
                and rule.attempt in (None, place.attempt)
                and rule.line in ("", line)
                and rule.nth in (None, number)
            ):
                if rule.do == "note" or (rule.do == "first" and number == 1):
                    self._note(rule, place, line, number)
                elif rule.do == "first":
                    continue
                elif self._due(rule):
                    self._act(rule, frame)

    def end(self) -> None:
        """End a task; nothing is due if it ran no code of the user's."""
        if self._effects is not None:
            self._effects.close()
            self._effects = None
        if self._last is not None:
            self.fire(ENDS, "return", self._last)

    def _due(self, rule: Rule) -> bool:
        marks = Path(self._plan.marks)
        if rule.once and (marks / rule.mark).exists():
            return False
        return not rule.after or (marks / rule.after).exists()

    def _reach(self, place: Place, line: str, frame: FrameType | None = None) -> None:
        """Handle a point of the user's own code."""
        self._last = place
        if self._beat is not None and time.monotonic() > self._beaten + _BEATS:
            self._beaten = time.monotonic()
            with suppress(OSError):
                os.utime(self._beat)
        times = self._count(place.code, line, place)
        if self._here:
            self._here.reach(place, line, times)
        self.fire(place.code, "call", place, times, line, frame)

    def _text(
        self, frame: FrameType, *, returns: bool = False, ends: bool = False
    ) -> str:
        code, judged = frame.f_code, self._judged(frame)
        name = judged.shown
        if returns:
            return point_text(f"{code.co_name}() of {name}", returns=True)
        shown = linecache.getline(code.co_filename, frame.f_lineno).strip()
        shown = redacted(shown)
        if len(shown) > _MOST_SHOWN:
            shown = f"{shown[: _MOST_SHOWN - 3]}..."
        shown = f": {shown}" if shown else ""
        place = place_of(frame.f_lineno, name, installed=judged.installed)
        return point_text(f"{place}{code.co_name}(){shown}", ends=ends)

    def _follows(self, frame: FrameType) -> bool:
        """Return whether the lines of a frame are followed."""
        function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        return self._lines and bool(function) and self._judged(frame).follows

    def _judged(self, frame: FrameType) -> Judgement:
        """Judge the module that a frame's code is of."""
        code = frame.f_code
        found = self._known.get(id(code))
        if found is None:
            module = str(frame.f_globals.get("__name__", ""))
            found = (code, self._code.judge(code.co_filename, module))
            self._known[id(code)] = found
        return found[1]

    def pass_by(self, frame: FrameType) -> None:
        """Note code that is not followed, if the user's own calls it."""
        if not self._outside or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        judged = self._judged(frame)
        package = (judged.package, judged.why)
        if not judged.why or package in self._reported:
            return
        outer = list(_outer(frame))
        if any(f.f_code.co_filename.startswith(_IMPORT) for f in outer):
            return
        # Python's own may lie in between: a pool of threads, functools, map.
        caller = next((f for f in outer if not self._judged(f).standard), None)
        if caller is None or self._follows(caller):
            self._report_outside(frame, *package)

    def _look_around(self, frame: FrameType) -> None:
        """Note compiled code that a function has at hand: it makes no frames."""
        number = id(frame.f_code)
        looked = self._looked[number] = self._looked.get(number, 0) + 1
        if looked > _MOST_LOOKED:
            return
        for module, file in called_of(frame):
            package, why = outside(module, file, self._code)
            if why:
                self._report_outside(frame, package, why)

    def _report_outside(self, frame: FrameType, package: str, why: str) -> None:
        if (package, why) in self._reported or self._where(frame).run != self._plan.run:
            return
        self._reported.add((package, why))
        with Path(self._plan.marks, self._outside).open("a", encoding="utf-8") as file:
            file.write(f"{package}\t{why}\n")

    def _count(self, name: str, line: str, place: Place) -> int:
        key = (name, line, place.batch)
        with self._one_by_one:
            number = self._calls[key] = self._calls.get(key, 0) + 1
        return number

    def _note(self, rule: Rule, place: Place, line: str, times: int) -> None:
        """Write down that a point of a task, or of the driver, was reached."""
        task = "" if place.partition is None else f"-{place.partition}"
        path = Path(self._plan.marks, f"{rule.mark}{task}")
        main = threading.current_thread() is threading.main_thread()
        if EFFECTS not in self._names or not main:
            self._notes.write(path, line, times)
            return
        if self._effects is None:
            self._effects = DurableEffects(Path(self._plan.marks))
        self._notes.write(path, line, times, self._effects.since())
        self._effects.begin()

    def _act(self, rule: Rule, frame: FrameType | None = None) -> None:
        self._notes.flush()
        marks = Path(self._plan.marks)
        if rule.do == "zombie":
            self._leave_mark(rule.mark)
            zombie.begin(marks, rule.landed or f"{rule.mark}-landed")
        if rule.do == "slow":
            self._leave_mark(rule.mark)
            zombie.take_input(marks)
        for mark in rule.await_:
            self._wait_for(mark, rule)
        if rule.do in LIVES_ON:
            return
        if rule.do in ("kill", "kill_executor"):
            self._kill(rule)
        if rule.mark:
            self._leave_mark(rule.mark)
        if rule.do == "die":
            os._exit(EXIT_CODE)
        if rule.do == "raise":
            sys.settrace(None)
            raise error_at(frame or sys._getframe(), self._follows)

    def _kill(self, rule: Rule) -> NoReturn:
        """Leave the mark; kill this driver's processes, or this task's executor."""
        found: int | None = None
        if rule.do == "kill_executor":
            found = executor_above(self._plan.workers)
        elif self._plan.group > 1:
            found = -self._plan.group
        if found is None:
            text = "no executor or driver that the run began is above this process"
            Path(self._plan.marks, f"{UNMET}-{os.getpid()}").write_text(text)
        else:
            self._leave_mark(rule.mark)
            os.kill(found, signal.SIGKILL)
        os._exit(EXIT_CODE)

    def _leave_mark(self, mark: str) -> None:
        Path(self._plan.marks, mark).touch()

    def _wait_for(self, mark: str, rule: Rule) -> None:
        """Wait for a mark; die if it does not come: the rest would be unplanned."""
        path = Path(mark) if "/" in mark else Path(self._plan.marks, mark)
        marks = Path(self._plan.marks)
        deadline = time.monotonic() + self._plan.patience
        released = marks / released_by(rule)
        while not path.exists():
            if rule.do in LIVES_ON and released.exists():
                return
            if time.monotonic() > deadline or not marks.is_dir():
                if marks.is_dir():
                    spot = (
                        "" if rule.partition is None else f" of task {rule.partition}"
                    )
                    (marks / f"{UNMET}-{os.getpid()}").write_text(
                        f"{rule.line or f'{rule.function}()'}{spot}, batch "
                        f"{rule.batch}, waited in vain for {path.parent.name}/"
                        f"{path.name}"
                    )
                os._exit(EXIT_CODE)
            time.sleep(0.001)


def _below_us(outer: list[FrameType]) -> Iterator[FrameType]:
    """Yield frames up to the one of ours that called what is put under test."""
    return itertools.takewhile(lambda f: not is_ours(f.f_code.co_filename), outer)


def _returns(frame: FrameType) -> bool:
    """Return whether code ends by its own return or yield, and by no error."""
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return operation.startswith(("RETURN_", "YIELD_"))


def _outer(frame: FrameType) -> Iterator[FrameType]:
    """Yield the frames that wait for this one, from the inside out."""
    waiting = frame.f_back
    while waiting is not None:
        yield waiting
        waiting = waiting.f_back


def trace_all(tracers: list[Tracer]) -> None:
    """Let several tracers watch this thread, and threads that it starts from now on.

    At most one of them follows a frame.
    """
    passed_over: dict[int, CodeType] = {}
    begins = any(tracer.begins for tracer in tracers)
    main = threading.main_thread().ident

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        if event != "call":
            return None
        code = frame.f_code
        # Nearly all calls are of Python's and Spark's own code: it is looked at once.
        if id(code) in passed_over and (not begins or threading.get_ident() == main):
            return None
        if all(tracer.passes_over(frame) for tracer in tracers):
            passed_over[id(code)] = code
        for tracer in tracers:
            tracer.begin(frame)
            if not tracer.watches(frame):
                tracer.pass_by(frame)
        followers = (t.enter(frame, event, arg) for t in tracers if t.watches(frame))
        return next((f for f in followers if f is not None), None)

    if any(tracer.busy for tracer in tracers):
        threading.settrace(enter)
        sys.settrace(enter)


def trace_none() -> None:
    """Stop watching this thread, and threads that it starts."""
    threading.settrace(None)
    sys.settrace(None)
