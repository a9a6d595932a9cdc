"""Micro-batches into a user's sink whose connections to its store break."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.language import (
    Member,
    Sort,
    any_of,
    fault,
    not_,
    param,
    when,
)
from onceproof.model.protocols.micro_batch import MicroBatch, Task
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onceproof.model.language.steps import Event

_MOST = 2**12
EXCHANGE_SORTS = ("DRIVER_EXCHANGE", "TASK_EXCHANGE")
"""The names of the sorts of exchanges."""


class InstrumentedExchanges(InstrumentedMicroBatch):
    """The same with faults at each exchange of the sink's code with its store.

    What the code does then is its own: it may try again, or raise. The order of steps
    is that of code that raises. Where another fault follows in the same batch, code
    that goes on has faults of its own, for it gets to other lines then.
    """

    caught = param(0, "whether code on the driver goes on after a broken connection")
    caught_in_tasks = param(0, "whether code in tasks goes on after one")

    DRIVER_EXCHANGE = Sort(
        "exchange of the code on the driver", size=1, ordered=True, most=_MOST
    )
    TASK_EXCHANGE = Sort(
        "exchange of the code in a task", size=1, ordered=True, most=_MOST
    )
    MOMENT = Sort(
        "moment: 0 is the end, 1 the beginning of the next batch", size=2, ordered=True
    )
    _AN_ATTEMPTS = (
        MicroBatch.BATCH,
        MicroBatch.PARTITION,
        MicroBatch.ATTEMPT,
        TASK_EXCHANGE,
    )

    @fault(per=(MicroBatch.BATCH, DRIVER_EXCHANGE))
    def lose_request_in_commit(self, b: Member, n: Member) -> None:
        """A connection of the code on the driver breaks before the store is reached."""
        self._driver_raises(b, n)

    @fault(per=(MicroBatch.BATCH, DRIVER_EXCHANGE))
    def lose_reply_in_commit(self, b: Member, n: Member) -> None:
        """The store answers the code on the driver, and the reply is lost."""
        self._driver_raises(b, n)

    @fault(per=(MicroBatch.BATCH, MOMENT, DRIVER_EXCHANGE))
    def late_request_in_commit(self, b: Member, m: Member, n: Member) -> None:
        """A connection of the code on the driver breaks; its request arrives later."""
        self._has_moment(b, m)
        self._driver_raises(b, n)

    @fault(per=(MicroBatch.BATCH, DRIVER_EXCHANGE))
    def catch_lost_request_in_commit(self, b: Member, n: Member) -> None:
        """The same as a lost request; the code catches the error, and goes on."""
        self._driver_goes_on(b, n)

    @fault(per=(MicroBatch.BATCH, DRIVER_EXCHANGE))
    def catch_lost_reply_in_commit(self, b: Member, n: Member) -> None:
        """The same as a lost reply; the code catches the error, and goes on."""
        self._driver_goes_on(b, n)

    @fault(per=(MicroBatch.BATCH, MOMENT, DRIVER_EXCHANGE))
    def catch_late_request_in_commit(self, b: Member, m: Member, n: Member) -> None:
        """The same as a late request; the code catches the error, and goes on."""
        self._has_moment(b, m)
        self._driver_goes_on(b, n)

    @fault(per=_AN_ATTEMPTS)
    def lose_request_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """A connection of an attempt breaks before the store is reached."""
        self._attempt_raises(b, p, a, n)

    @fault(per=_AN_ATTEMPTS)
    def lose_reply_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """The store answers an attempt, and the reply is lost."""
        self._attempt_raises(b, p, a, n)

    @fault(per=_AN_ATTEMPTS)
    def late_request_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """A connection of an attempt breaks, and its request arrives later."""
        self._attempt_raises(b, p, a, n)

    @fault(per=_AN_ATTEMPTS)
    def catch_lost_request_in_task(
        self, b: Member, p: Member, a: Member, n: Member
    ) -> None:
        """The same as a lost request; the code catches the error, and goes on."""
        self._attempt_goes_on(b, p, a, n)

    @fault(per=_AN_ATTEMPTS)
    def catch_lost_reply_in_task(
        self, b: Member, p: Member, a: Member, n: Member
    ) -> None:
        """The same as a lost reply; the code catches the error, and goes on."""
        self._attempt_goes_on(b, p, a, n)

    @fault(per=_AN_ATTEMPTS)
    def catch_late_request_in_task(
        self, b: Member, p: Member, a: Member, n: Member
    ) -> None:
        """The same as a late request; the code catches the error, and goes on."""
        self._attempt_goes_on(b, p, a, n)

    def _has_moment(self, b: Member, m: Member) -> None:
        """Require that a batch follows where a request arrives as it begins."""
        when(any_of(m < self.MOMENT.last, b < self.BATCH.last))

    def _driver_raises(self, b: Member, n: Member) -> None:
        """Which of the writes have taken effect is seen in the real run alone."""
        when(n > 0, self._exchanges(b))
        self.sink.abort(b)
        self.lose_volatile()

    def _driver_goes_on(self, b: Member, n: Member) -> None:
        when(self.caught > 0, n > 0, self._exchanges(b))

    def _exchanges(self, b: Member) -> bool:
        """Where no code runs on the driver, Spark does all; when is its own affair."""
        if isinstance(self.sink, UserCode) and self.sink.on_driver == 0:
            return self._commits(b)
        return self._commits(b) & not_(self.sink.finished(b))

    def _attempt_raises(self, b: Member, p: Member, a: Member, n: Member) -> None:
        when(n > 0, self._works(b, p, a), a < self.ATTEMPT.last)
        self.sink.abort_task(b, p, a, wrote=False)
        self.task[p, a] = Task.FAILED

    def _attempt_goes_on(self, b: Member, p: Member, a: Member, n: Member) -> None:
        when(self.caught_in_tasks > 0, n > 0, self._works(b, p, a))


CAUGHT_ON_DRIVER = {
    "lose_request_in_commit": "catch_lost_request_in_commit",
    "lose_reply_in_commit": "catch_lost_reply_in_commit",
    "late_request_in_commit": "catch_late_request_in_commit",
}
CAUGHT_IN_TASKS = {
    "lose_request_in_task": "catch_lost_request_in_task",
    "lose_reply_in_task": "catch_lost_reply_in_task",
    "late_request_in_task": "catch_late_request_in_task",
}
CAUGHT = {**CAUGHT_ON_DRIVER, **CAUGHT_IN_TASKS}
"""By a fault that code raises after, the same where the code goes on."""
_IN_THE_CODE = (
    "crash_in_commit",
    "fail_in_commit",
    *CAUGHT_ON_DRIVER,
    *CAUGHT_ON_DRIVER.values(),
)
_AT_ITS_END = ("crash", "fail_commit")


def goes_on_in_vain(events: Sequence[Event], at: int) -> bool:
    """Return whether nothing depends on whether code went on after a fault.

    That is unless the next fault hits the same call of it, or follows it at once. For
    code in a task it is unless the next fault comes before the batch is committed.
    """
    batch = events[at].members[0]
    if events[at].name in CAUGHT_IN_TASKS.values():
        return not hit_again(events, at)
    ended = False
    for event in events[at + 1 :]:
        if event.fault and not ended:
            return event.name not in _IN_THE_CODE or event.members[0] != batch
        if event.fault:
            return event.name not in _AT_ITS_END
        if event.name == "sink.run":
            ended = True
        if event.name == "log_commit":
            return True
    return True


def goes_on_of(caught: Iterable[str]) -> dict[str, int]:
    """Return the parameters for code that goes on after some faults, by their names."""
    names = {fault.partition("(")[0] for fault in caught}
    return {
        "caught": int(not names.isdisjoint(CAUGHT_ON_DRIVER.values())),
        "caught_in_tasks": int(not names.isdisjoint(CAUGHT_IN_TASKS.values())),
    }


def caught_name(event: Event, partition: int | None) -> str:
    """Name a fault that code goes on after; one in a task has Spark's partition."""
    if partition is None:
        return str(event)
    members = (event.members[0], partition, *event.members[2:])
    return str(replace(event, members=members))


def hit_again(events: Sequence[Event], at: int) -> bool:
    """Return whether another fault follows before the batch is committed."""
    ends = (e.fault for e in events[at + 1 :] if e.fault or e.name == "log_commit")
    return next(ends, False)


OWN_CODE_ENGINES = {
    engine.label(): engine for engine in (InstrumentedMicroBatch, InstrumentedExchanges)
}
"""By its label, each protocol that a user's own sink is replayed by."""
