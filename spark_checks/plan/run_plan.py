"""What an interleaving asks of real runs: rules, traps, edits, and expected marks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.plan.rules import OWN_CODE, Rule
from onceproof.spark_checks.sinks.code_points import CodePoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.model.language.steps import Event

BEGIN, END = "begin_task", "end_task"

_HARM = {
    "die": "the process dies",
    "raise": "an error is raised",
    "zombie": "the task is given up but lives on,",
}


_ENGINE = {BEGIN: "the first row", END: "the end"}


NO_SUCH_POINT = "no such point"
OUT_OF_REACH = "out of reach"
NOT_MET = "not reached again"
FAILED = "failed to replay"
"""Why an interleaving is not replayed: the sink has no such point or task; no
failpoint reaches a step of Spark's own; the user's code did not reach the point again;
the replay itself failed."""


class NotReplayable(Exception):  # noqa: N818 - an answer, not an error
    """No failpoint realises an interleaving; ``cause`` is one of the above."""

    def __init__(self, message: str, cause: str = OUT_OF_REACH) -> None:
        """Take the reason in words, and its cause."""
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, order=True)
class InjectionPoint:
    """Where a fault is injected: at a function, or at a point of the user's code."""

    do: str
    """What the fault does there."""
    function: str
    """The qualified name of the function."""
    event: str
    """``call``, ``return`` or ``exception``."""
    line: str = ""
    """The point of the user's own code; empty if the fault is at none."""
    batch: int = 0
    """The batch."""
    partition: int = -1
    """The partition; -1 on the driver."""
    nth: int = 1
    """Which time the point is reached in the batch, from 1."""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The place in the code, in whatever batch, task and repetition."""
        return self.do, self.function, self.event, self.line


@dataclass(frozen=True)
class ExpectedMark:
    """A mark that a run leaves if it realises the interleaving."""

    event: str
    """The event of the model that the mark shows."""
    fault: bool
    """Whether that event is a fault."""
    mark: str
    """The name of the mark."""
    what: str
    """How the event was brought about, in words."""
    late: bool = False
    """Whether the mark is left by a process that outlives the run."""


@dataclass
class RunPlan:
    """One start of the query, up to the fault that ends it or to rest."""

    number: int
    """The number of the run in its interleaving, from 0."""
    offered: int
    """How many batches its input holds."""
    rules: list[Rule] = field(default_factory=list)
    """The rules of the run."""
    trap: int | None = None
    """The batch whose entry in the commit log is blocked, if any."""
    undo: tuple[int, set[int]] | None = None
    """The file sink's commit to undo afterwards: the batch, and the partitions whose
    files stay."""
    merged: bool = False
    """Whether the run has a single partition."""
    fails: bool = False
    """Whether a rule makes the query fail."""
    catchable: bool = False
    """Whether the run ends by an error that the sink's code may catch."""
    how: list[str] = field(default_factory=list)
    """The failpoints, in words."""
    moment: str = ""
    """The name of the moment after the run."""
    state: int = 0
    """The position in the trace of the state after the run."""
    stop: str = ""
    """The fault that ends the run."""
    end_mark: ExpectedMark | None = None
    """The mark of that fault."""
    expected: list[ExpectedMark] = field(default_factory=list)
    """The other marks that the run must leave."""
    begun: dict[int, str] = field(default_factory=dict)
    """For each batch with faults in its tasks, the mark that a task has begun."""
    hits: list[InjectionPoint] = field(default_factory=list)
    """The places that faults are injected into."""

    def mark(self, name: str) -> str:
        """Return a name for a mark of this run: runs of a query share a folder."""
        return f"{self.number}-{name}"

    def rule(self, function: str, event: str, batch: int, do: str, **rest: Any) -> None:
        """Add a rule for a call or a return of a function."""
        self.rules.append(Rule(function, event, batch, do, **rest))

    def begins(self, batch: int) -> None:
        """Let the tasks of a batch leave a mark as they begin."""
        if batch not in self.begun:
            self.begun[batch] = self.mark(f"begun-{batch}")
            self.rules.insert(
                0, Rule(BEGIN, "call", batch, "pass", mark=self.begun[batch])
            )

    def survives(
        self, fault: Event, mark: str, rule: tuple[str, str, int, str], **rest: Any
    ) -> None:
        """Inject a fault that does not end the run."""
        self.rule(*rule, mark=mark, **rest)
        self.hits.append(_hit(*rule, rest))
        what = _in_words(*rule, rest)
        self.how.append(what)
        self.expected.append(ExpectedMark(str(fault), fault=True, mark=mark, what=what))

    def stops(
        self,
        function: str,
        event: str,
        batch: int,
        do: str,
        *,
        report: bool = True,
        catchable: bool = False,
        called: str = "",
        **rest: Any,
    ) -> None:
        """Inject the fault that ends the run; of several rules any one may do so.

        ``how`` reports what is done, unless another rule reports it; there the function
        may be ``called`` by another name.
        """
        mark = self.mark("stopped")
        self.catchable = catchable or do == "raise"
        self.rule(function, event, batch, do, mark=mark, **rest)
        what = _in_words(called or function, event, batch, do, rest)
        if report:
            self.hits.append(_hit(function, event, batch, do, rest))
        if report and what not in self.how:
            self.how.append(what)
        self.end_mark = ExpectedMark(
            self.stop, fault=True, mark=mark, what="; ".join(self.how)
        )
        self.fails = True

    def sets_trap(self, batch: int) -> None:
        """Lay a trap between the sink's commit of a batch and ``commits/N``.

        The batch's tasks wait until it is laid.
        """
        what = f"trap at commits/{batch}"
        self.hits.append(InjectionPoint("trap", "commits", "call", batch=batch))
        self.trap = batch
        self.begins(batch)
        self.rule(BEGIN, "call", batch, "pass", await_=(self.mark("stopped"),))
        self.how.append(what)
        self.end_mark = ExpectedMark(
            self.stop, fault=True, mark=self.mark("stopped"), what=what
        )
        self.fails = True


def hits_of(runs: Iterable[RunPlan]) -> tuple[InjectionPoint, ...]:
    """List the places that the faults of an interleaving's runs are injected into.

    Tasks that die together with the one that is named are at no place of their own.
    """
    found: list[InjectionPoint] = []
    for run in runs:
        seen: set[tuple[str, ...]] = set()
        for hit in run.hits:
            if hit.place not in seen:
                seen.add(hit.place)
                found.append(hit)
    return tuple(found)


def _hit(
    function: str, event: str, batch: int, do: str, rest: Mapping[str, Any]
) -> InjectionPoint:
    partition, nth = rest.get("partition"), rest.get("nth")
    where = -1 if partition is None else partition
    return InjectionPoint(
        do, function, event, rest.get("line", ""), batch, where, nth or 1
    )


def looked_mark(number: int) -> str:
    """Name the mark that is left when a run's results have been read."""
    return f"{number}-looked"


def _in_words(
    function: str, event: str, batch: int, do: str, rest: Mapping[str, Any]
) -> str:
    partition = rest.get("partition")
    spot = "" if partition is None else f" of task {partition}"
    when = "before" if event == "call" else "after"
    if function in OWN_CODE:
        place = str(CodePoint(rest.get("line", ""), rest.get("nth") or 1))
        place = place if rest.get("line") else "the sink's code"
        return f"{_HARM[do]} {when} {place}{spot}, batch {batch}"
    shown = function if " " in function else f"{function}()"
    place = _ENGINE.get(function, shown)
    return f"{_HARM[do]} {when} {place}{spot}, batch {batch}"
