"""The plan of one run while the planner puts it together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.plan.rules import (
    CUTS,
    LATE_REQUEST,
    LOSE_REPLY,
    OWN_CODE,
    Rule,
)
from onceproof.spark_checks.plan.run_plan import (
    BEGIN,
    END,
    ExpectedMark,
    InjectionPoint,
    RunPlan,
    mark_of,
)
from onceproof.spark_checks.sinks.code_points import CodePoint
from onceproof.spark_checks.sinks.exchanges import is_kind, place_of_exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.steps import Event

HARM = {
    "die": "the process dies",
    "kill": "SIGKILL ends the driver and its JVM",
    "kill_executor": "SIGKILL ends the task's executor",
    "slow": "the task is slow, and a copy of it runs elsewhere,",
    "raise": "an error is raised",
    "zombie": "the task is given up but lives on,",
}
"""What a rule does, in words."""


_ENGINE = {BEGIN: "the first row", END: "the end"}


@dataclass
class RunDraft:
    """A ``RunPlan`` that is not finished; its fields mean the same."""

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
    loses_checkpoint: bool = False
    """Whether the checkpoint is deleted once the run has ended."""
    joined: bool = False
    """Whether one batch holds all events: a run before this one lost the checkpoint."""
    fails: bool = False
    """Whether a rule makes the query fail."""
    kills_driver: bool = False
    """Whether the fault that ends the run is the driver's death, and nothing else."""
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
        """Return a name for a mark of this run."""
        return mark_of(self.number, name)

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
        self.catchable = catchable or do in ("raise", *CUTS)
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
        what = f"Spark fails to write commits/{batch}"
        self.hits.append(InjectionPoint("trap", "commits", "call", batch=batch))
        self.trap = batch
        self.begins(batch)
        self.rule(BEGIN, "call", batch, "pass", await_=(self.mark("stopped"),))
        self.how.append(what)
        self.end_mark = ExpectedMark(
            self.stop, fault=True, mark=self.mark("stopped"), what=what
        )
        self.fails = True

    def finished(self) -> RunPlan:
        """Return the plan, which nothing changes any more."""
        undo = self.undo and (self.undo[0], frozenset(self.undo[1]))
        return RunPlan(
            number=self.number,
            offered=self.offered,
            rules=tuple(self.rules),
            trap=self.trap,
            undo=undo,
            merged=self.merged,
            loses_checkpoint=self.loses_checkpoint,
            joined=self.joined,
            fails=self.fails,
            kills_driver=self.kills_driver,
            catchable=self.catchable,
            how=tuple(self.how),
            moment=self.moment,
            state=self.state,
            stop=self.stop,
            end_mark=self.end_mark,
            expected=tuple(self.expected),
            begun=dict(self.begun),
            hits=tuple(self.hits),
        )


def _hit(
    function: str, event: str, batch: int, do: str, rest: Mapping[str, Any]
) -> InjectionPoint:
    partition, nth = rest.get("partition"), rest.get("nth")
    where = -1 if partition is None else partition
    line = rest.get("line", "")
    if do in CUTS:
        line = place_of_exchange(line, rest["exchange"], rest.get("sender", ""))
    return InjectionPoint(do, function, event, line, batch, where, nth or 1)


def _in_words(
    function: str, event: str, batch: int, do: str, rest: Mapping[str, Any]
) -> str:
    partition = rest.get("partition")
    spot = "" if partition is None else f" of task {partition}"
    when = "before" if event == "call" else "after"
    if do in CUTS:
        point = CodePoint(rest["line"], rest.get("nth") or 1)
        sent = rest["line"] if is_kind(rest["line"]) else f"sent at {point}"
        request = f"{rest['request']} ({sent}{spot}, batch {batch})"
        if do == LOSE_REPLY:
            return f"the store replied to {request}; the reply was lost"
        if do == LATE_REQUEST:
            when = "as the next batch began" if rest.get("before_next") else "later"
            return f"the connection broke at {request}, which reached the store {when}"
        return f"the connection broke before {request} reached the store"
    if function in OWN_CODE:
        place = str(CodePoint(rest.get("line", ""), rest.get("nth") or 1))
        place = place if rest.get("line") else "the sink's code"
        return f"{HARM[do]} {when} {place}{spot}, batch {batch}"
    shown = function if " " in function else f"{function}()"
    place = _ENGINE.get(function, shown)
    return f"{HARM[do]} {when} {place}{spot}, batch {batch}"
