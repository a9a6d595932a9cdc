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
"""Causes for which an interleaving is not replayed: the sink has no such point or
task; it is a step of Spark's own that no failpoint reaches; the user's code did not
come to the point again; the replay itself failed."""


class NotReplayable(Exception):  # noqa: N818 - an answer, not an error
    """Says why no failpoint realises an interleaving, and the ``cause``."""

    def __init__(self, message: str, cause: str = OUT_OF_REACH) -> None:
        """Say why, in words, and by one of the causes."""
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, order=True)
class InjectionPoint:
    """Where a fault is injected: before or after a function, or a point of own code.

    ``do`` says what happens there, for the ``nth`` time in a batch; ``partition`` is
    -1 on the driver. A hit without a ``line`` is at no point of the user's own code.
    """

    do: str
    function: str
    event: str
    line: str = ""
    batch: int = 0
    partition: int = -1
    nth: int = 1

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The place in the code, in whatever batch, task and repetition."""
        return self.do, self.function, self.event, self.line


@dataclass(frozen=True)
class ExpectedMark:
    """A mark that a run leaves if it realises the interleaving.

    ``event`` is what the mark shows of the model, ``what`` is how it was brought
    about. A ``late`` mark is left by a process that outlives the run.
    """

    event: str
    fault: bool
    mark: str
    what: str
    late: bool = False


@dataclass
class RunPlan:
    """One start of the query, up to the fault that ends it or to rest.

    ``offered`` batches are there to be read. The query ends by itself, or ``fails``
    by a rule, or by the ``trap`` at a batch; ``undo`` then takes back a file sink's
    commit: the batch, and the partitions whose files stay. ``how`` names the
    failpoints. ``stop`` is the fault that ends the run, and ``end_mark`` the mark that
    shows it did; ``expected`` holds the other marks that the run must leave. ``begun``
    gives, for batches whose tasks faults are injected into, the mark that a task ran.
    What ends the run is ``catchable`` if it is an error that the sink's code may catch.
    ``hits`` are the places that faults are injected into.
    """

    number: int
    offered: int
    rules: list[Rule] = field(default_factory=list)
    trap: int | None = None
    undo: tuple[int, set[int]] | None = None
    merged: bool = False
    fails: bool = False
    catchable: bool = False
    how: list[str] = field(default_factory=list)
    moment: str = ""
    state: int = 0
    stop: str = ""
    end_mark: ExpectedMark | None = None
    expected: list[ExpectedMark] = field(default_factory=list)
    begun: dict[int, str] = field(default_factory=dict)
    hits: list[InjectionPoint] = field(default_factory=list)

    def mark(self, name: str) -> str:
        """Give a mark a name of this run's own: all runs of a query share a folder."""
        return f"{self.number}-{name}"

    def rule(self, function: str, event: str, batch: int, do: str, **rest: Any) -> None:
        """Let something happen at a call or a return of a function."""
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
    """Name the mark that is left when all is seen of what a run left behind."""
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
