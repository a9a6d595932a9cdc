"""Rules: what is to happen to a process at a place in its code, and plans of them.

A rule waits for marks that other processes leave, leaves a mark of its own, and then
lets the process die, take the driver with it, live on as a zombie, raise, or go on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from onceproof.model.files import replace_with
from onceproof.spark_checks.sinks.code_points import ABORT, DRIVER, TASK

if TYPE_CHECKING:
    from pathlib import Path

RUN_PROPERTY = "onceproof.run"
BATCH_PROPERTY = "streaming.sql.batchId"
EXIT_CODE = 73
PATIENCE = 45.0
UNMET = "unmet"
RELEASED = "released"
BEAT = "beat"
REFUSED = "refused"
CALLED_BACK = "called-back"
LINES = f"a line of the {DRIVER}"
WORK = f"a line of a {TASK}"
UNDO = f"a line of an {ABORT}"
"""Each stands in a rule for points of the user's own code, instead of a function."""
CALLBACK = "the callback of foreachBatch"
"""Stands for the function that foreachBatch is given, whatever it is called."""
OWN_CODE = (LINES, WORK, UNDO)
OUTSIDE = "code that is not followed"
"""Stands for code that the user's own calls and that no fault is injected into."""
ENDS = "the end of a task"
"""Stands for the end of a process's task, if it came to points of the user's code."""


@dataclass(frozen=True)
class Rule:
    """At ``event`` (call or return) of ``function``, for a batch, do something.

    ``function`` is a qualified name, or stands for points of the user's own code:
    then ``line`` says which, or is empty for any. None matches any partition, attempt
    or call. ``nth`` counts from 1, within one process and batch, the calls, or the
    times that it came to the line. ``do`` is one of die, raise, zombie, pass, note,
    first. It
    first waits for the marks of ``await_`` and then leaves its own; a zombie leaves its
    own as it is given up, waits in its later life, and leaves ``landed`` when that is
    over. With ``once`` it does nothing where its mark is there already, and with
    ``after`` nothing where that mark is not. ``note`` writes down the point, into the
    file of its mark; ``first`` does so at the first time only. The event ``exception``
    is one that passes through own code.
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
    line: str = ""
    once: bool = False
    after: str = ""
    landed: str = ""


@dataclass(frozen=True)
class RuleSet:
    """The rules of one query run, and the folder where marks are left.

    ``run`` tells runs apart that go on side by side. The user's own code is what lies
    below the folders ``code``, and packages that it calls. Who waits for a mark for
    more than ``patience`` seconds gives up: it leaves a mark that says so, and dies.
    ``allowed`` are the places that the user's code may write to; None is any.
    ``path`` is where Python looks for modules in the process that made the plan.
    ``named`` are the words of ``code=``: see ``followed.Code``.
    """

    rules: tuple[Rule, ...]
    marks: str
    run: str = ""
    patience: float = PATIENCE
    code: tuple[str, ...] = ()
    allowed: tuple[str, ...] | None = None
    path: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        """Put the plan where workers look for it, all at once; give its place."""
        path = folder / f"{self.run}.json"
        replace_with(path, json.dumps(asdict(self)).encode(), lasting=False)
        return path

    @classmethod
    def read(cls, path: Path) -> RuleSet | None:
        """Read a plan, if it is still there."""
        try:
            data = json.loads(path.read_text())
        except (OSError, ValueError):
            return None
        rules = [Rule(**{**r, "await_": tuple(r["await_"])}) for r in data["rules"]]
        allowed = data["allowed"]
        return cls(
            tuple(rules),
            data["marks"],
            data["run"],
            data["patience"],
            tuple(data["code"]),
            None if allowed is None else tuple(allowed),
            tuple(data["path"]),
            tuple(data["named"]),
        )


@dataclass(frozen=True)
class Place:
    """Where a process is: the batch it works on, and the task if it runs one.

    ``aborts`` says that it takes back a batch on the driver.
    """

    batch: int | None
    partition: int | None = None
    attempt: int | None = None
    run: str | None = ""
    aborts: bool = False

    @property
    def code(self) -> str:
        """Say what points of the user's code here are called in rules."""
        if self.partition is not None:
            return WORK
        return UNDO if self.aborts else LINES
