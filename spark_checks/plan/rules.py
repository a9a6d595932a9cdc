"""Rules: what happens to a process at a place in its code, and sets of rules.

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
EXTRA = "extra"
RELEASED = "released"
BEAT = "beat"
REFUSED = "refused"
CALLED_BACK = "called-back"
LINES = f"a line of the {DRIVER}"
WORK = f"a line of a {TASK}"
UNDO = f"a line of an {ABORT}"
"""The ``function`` of rules for points of the user's own code, by where they run."""
DRIVER_EXCHANGE = f"an exchange of the {DRIVER}"
TASK_EXCHANGE = f"an exchange of a {TASK}"
"""The ``function`` of rules for exchanges with a store, by where the code runs."""
CALLBACK = "the callback of foreachBatch"
"""The ``function`` of rules for the function that foreachBatch is given."""
OWN_CODE = (LINES, WORK, UNDO)
EXCHANGE_OF = {LINES: DRIVER_EXCHANGE, WORK: TASK_EXCHANGE}
LOSE_REQUEST, LOSE_REPLY = "lose_request", "lose_reply"
LATE_REQUEST = "late_request"
LIVES_ON = ("zombie", "slow")
"""What rules do to tasks that Spark replaces while they go on."""
CUTS = (LOSE_REQUEST, LOSE_REPLY, LATE_REQUEST)
"""What rules for exchanges do."""
OUTSIDE = "code that is not followed"
"""The ``function`` of rules for code that is called, and not followed."""
EFFECTS = "what code leaves between two points"
"""The ``function`` of a rule to note which points a crash cannot tell apart."""
ENDS = "the end of a task"
"""The ``function`` of rules for the end of a task that reached any point."""


@dataclass(frozen=True)
class Rule:
    """What happens to a process at a place in its code.

    A rule first waits for other marks, then leaves its own mark, and then acts.
    """

    function: str
    """The qualified name of the function, or one of the constants above for points of
    the user's own code."""
    event: str
    """``call``, ``return``, or ``exception`` for one that passes through own code."""
    batch: int
    """The batch it applies to."""
    do: str
    """One of die, kill, kill_executor, raise, zombie, slow, pass, note, first, or of
    ``CUTS``; at a step of Spark's also halt, which ends the JVM. ``kill`` ends all
    processes of the driver, ``slow`` holds a task up and leaves it to Spark, ``note``
    writes each point into the file of its mark, ``first`` only the first
    time."""
    partition: int | None = None
    """The partition it applies to; None for any."""
    attempt: int | None = None
    """The attempt it applies to; None for any."""
    nth: int | None = None
    """The call, or the time the line is reached, within one process and batch, from 1;
    None for any."""
    await_: tuple[str, ...] = ()
    """The marks to wait for first."""
    mark: str = ""
    """The mark to leave."""
    line: str = ""
    """The point of the user's own code; empty for any."""
    once: bool = False
    """Whether it does nothing if its mark exists already."""
    after: str = ""
    """It does nothing until this mark exists."""
    landed: str = ""
    """The mark of when a zombie's work is done, or a late request has been answered."""
    exchange: int | None = None
    """Which exchange since the point, from 1."""
    request: str = ""
    """What reports call the exchange."""
    sender: str = ""
    """The part of Spark that sends it for the code; empty for the code itself."""
    before_next: bool = False
    """Whether it is late until the next batch sends a request, which waits for it."""


@dataclass(frozen=True)
class RuleSet:
    """The rules of one query run, and the settings of its processes."""

    rules: tuple[Rule, ...]
    """The rules."""
    marks: str
    """The folder where marks are left."""
    run: str = ""
    """Identifies the run among those that go on side by side."""
    patience: float = PATIENCE
    """After waiting for a mark for so many seconds, a process leaves a mark that
    reports it, and dies."""
    code: tuple[str, ...] = ()
    """The folders and files of the user's own code."""
    allowed: tuple[str, ...] | None = None
    """The places that the user's code may write to; None for any."""
    path: tuple[str, ...] = ()
    """``sys.path`` of the process that made the plan."""
    named: tuple[str, ...] = ()
    """The words of ``code=``: see ``Code``."""
    sink: str = ""
    """The name of the sink."""
    watched: bool = False
    """Whether processes say where their code is, for its exchanges with a store."""
    group: int = 0
    """The process group of a driver with a JVM of its own; 0 where it shares one."""
    workers: tuple[int, ...] = ()
    """The processes of a cluster's workers, whose children are its executors."""
    start: int = 0
    """The number of the start of the query: another one has another driver."""

    def write(self, folder: Path) -> Path:
        """Write the plan atomically to where workers look for it; return its path."""
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
            data["sink"],
            data["watched"],
            data["group"],
            tuple(data["workers"]),
            data["start"],
        )


@dataclass(frozen=True)
class Place:
    """Where a process is: the batch it works on, and the task if it runs one."""

    batch: int | None
    """The batch; None outside of all batches."""
    partition: int | None = None
    """The partition; None on the driver."""
    attempt: int | None = None
    """The attempt; None on the driver."""
    run: str | None = ""
    """The run that the process belongs to."""
    aborts: bool = False
    """Whether it aborts a batch on the driver."""

    @property
    def code(self) -> str:
        """Return the ``function`` of rules for points of the user's code here."""
        if self.partition is not None:
            return WORK
        return UNDO if self.aborts else LINES
