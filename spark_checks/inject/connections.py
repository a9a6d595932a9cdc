"""The connections of a sink to its store: what its code says on them, and what breaks.

An exchange is known by the point of the user's code that was reached last before it,
and by its number since. So it is found again in another run, on whatever connection.
Where a client sends from threads of its own, it is known by its kind in place of that.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.senders import Senders, UncutError
from onceproof.spark_checks.inject.tracing.whereabouts import processes
from onceproof.spark_checks.plan.rules import (
    CUTS,
    EXCHANGE_OF,
    LATE_REQUEST,
    LOSE_REPLY,
    LOSE_REQUEST,
    UNMET,
)
from onceproof.spark_checks.session.processes import client_processes
from onceproof.spark_checks.session.processes.past_connections import (
    PastConnections,
    PastWatch,
)
from onceproof.spark_checks.sinks.exchanges import (
    THREADS,
    UNANSWERED,
    kind_of_request,
)
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.links import Cut
from onceproof.spark_checks.stores.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.inject.senders import Sender, SparkThreads
    from onceproof.spark_checks.inject.tracing.whereabouts import Whereabouts
    from onceproof.spark_checks.plan.rules import Rule, RuleSet
    from onceproof.spark_checks.stores.links import (
        Asker,
        FramedRequest,
        Framing,
        Link,
    )

_STALLS = 2.0
_SETTLES = 30.0
_CUT_OF = {
    LOSE_REQUEST: Cut.REQUEST,
    LOSE_REPLY: Cut.REPLY,
    LATE_REQUEST: Cut.LATE,
}
REPEATED_IN_TIME = "whose number depends on timing, after the first one of their kind"


@dataclass
class SeenRequest:
    """A request that the user's code has sent."""

    where: Whereabouts
    """Where the code was."""
    number: int
    """Which request it is since the code came there, from 1."""
    link: Link
    """The connection."""
    sent: float = 0.0
    """When it was sent, by the monotonic clock."""
    answered: bool = False
    """Whether the store has replied."""
    reached: str = ""
    """The line that the code had reached, where it is known by its kind."""
    sender: str = ""
    """The part of Spark that sent it for the code; empty where the code itself did.
    Its number is among those of this sender."""


class Connections:
    """Passes on what a sink says to its store, and breaks connections as rules say."""

    def __init__(
        self,
        addresses: tuple[tuple[str, int], ...],
        marks: Path,
        *,
        framing: Framing | None = None,
        spark: SparkThreads | None = None,
        sent_for: Callable[[bytes], Asker | None] | None = None,
        looks_past: bool = False,
        checkpoint: Path | None = None,
    ) -> None:
        """Listen for a sink that leaves its marks in a folder.

        With a ``framing`` an exchange is known by its kind, and by its number among
        those of its kind. What ``spark`` sends for the sink's code is known, too;
        ``sent_for`` reads from a request for which of Java's threads that is. With the
        ``checkpoint`` of a query, what ``spark`` sends while none of the code runs is
        known by its batch. With
        ``looks_past``, connections that do not lead through here are looked for, too;
        that takes a good part of a processor.

        Raises ``StoreError`` where exchanges cannot be found on this system, or where
        the store cannot be reached by TLS.
        """
        missing = client_processes.missing()
        if missing:
            message = (
                f"connections cannot be broken here: {missing}; help: name the store "
                "without Unreliable()"
            )
            raise StoreError(message)
        self._marks = marks
        self._lock = threading.Lock()
        self._rules: list[Rule] = []
        self._patience = 0.0
        self._watching = False
        self._senders = Senders(marks, spark, sent_for, checkpoint)
        self._latest: dict[tuple[Link, int], SeenRequest] = {}
        self._cutting: dict[tuple[Link, int], Rule] = {}
        self._numbers: Counter[tuple[int, Whereabouts, str]] = Counter()
        self._counted: dict[tuple[Link, int], tuple[int, Whereabouts, str]] = {}
        self._requests: list[SeenRequest] = []
        self._others: Counter[str] = Counter()
        self._late: dict[Link, tuple[SeenRequest, Rule]] = {}
        self._called: set[Link] = set()
        try:
            self._proxy = Proxy(addresses, self, framing=framing)
        except OSError as error:
            where = ",".join(f"{host}:{port}" for host, port in addresses)
            message = f"Onceproof cannot stand between a sink and {where}: {error}"
            raise StoreError(message) from None
        self._past: PastWatch | None = None
        if looks_past:
            self._past = PastWatch(
                lambda: self._proxy.store_ports,
                lambda: self._proxy.used_ports,
                lambda: processes(marks),
                None if spark is None else spark.process,
            )

    @property
    def past(self) -> PastConnections:
        """The connections of the run that do not lead through here."""
        return PastConnections() if self._past is None else self._past.found

    @property
    def port(self) -> int:
        """The port that the sink connects to."""
        return self._proxy.port

    def knows(self, peer: int, port: int) -> bool:
        """Return whether a process of this user connects from a port to another."""
        return client_processes.user(peer, port) == os.getuid()

    def begin(self, rule_set: RuleSet) -> None:
        """Watch a run of the sink from now on, and break what its rules say."""
        with self._lock:
            self._rules = [rule for rule in rule_set.rules if rule.do in CUTS]
            self._patience = rule_set.patience
            self._watching = True
            self._numbers.clear()
            self._senders.begin()
            self._requests = []
            self._others.clear()
        if self._past is not None:
            self._past.begin()

    def end(self) -> None:
        """Watch no more: what is said from now on is passed on."""
        if self._past is not None:
            self._past.end()
        with self._lock:
            self._watching = False
            self._rules = []

    def settle(self, *, last: bool = True) -> None:
        """Let requests that are still on their way arrive, and the store answer.

        If the run is not the ``last``, only those arrive that belong to it.
        """
        with self._lock:
            due = {one for one, (_, rule) in self._late.items() if last or rule.landed}
            for link in due:
                if self._late[link][1].before_next:
                    self._in_vain(link, "no request of a later batch came after")
            self._called |= due
        deadline = time.monotonic() + _SETTLES
        while due & self._late.keys() and time.monotonic() < deadline:
            time.sleep(0.002)
        with self._lock:
            for link in due & self._late.keys():
                self._in_vain(link)

    def _in_vain(self, link: Link, why: str = "the store did not answer") -> None:
        """Take note that a late request had no effect, or not when it was due."""
        late = self._late.pop(link, None)
        if late is not None:
            seen, _ = late
            (self._marks / f"{UNMET}-late-{link.peer}").write_text(
                f"{why} the late request of {seen.where.line}"
            )

    def seen(self) -> tuple[list[SeenRequest], dict[str, int]]:
        """Return the exchanges of the run, and the number of others, by reason."""
        with self._lock:
            answered = [one for one in self._requests if one.answered]
            return answered, dict(self._others)

    def close(self) -> None:
        """Break all connections, and listen no more."""
        if self._past is not None:
            self._past.end()
        self._proxy.close()

    def watches(self) -> bool:
        """Return whether a run is watched now."""
        return self._watching

    def request(self, link: Link, framed: FramedRequest | None = None) -> Cut:
        """Decide on a request."""
        number = framed.number if framed else 0
        with self._lock:
            self._latest.pop((link, number), None)
            if not self._watching:
                return Cut.NOTHING
            rule = self._rule_for(link, framed)
            seen = self._latest.get((link, number))
        if seen is not None:
            self._let_in(seen.where.batch)
        if rule is None:
            return Cut.NOTHING
        if not self._awaited(rule):
            return Cut.NOTHING
        with self._lock:
            self._cutting[link, number] = rule
        return _CUT_OF[rule.do]

    def _rule_for(self, link: Link, framed: FramedRequest | None) -> Rule | None:
        """Take note of a request; return the rule for it, which counts once."""
        try:
            sender = self._senders.of(link, by_kind=framed is not None)
        except UncutError as error:
            self._others[str(error)] += 1
            return None
        if framed is not None and not framed.answered:
            self._others[UNANSWERED] += 1
            return None
        if framed is None and sender.by and self._overlaps(link, sender):
            self._others[THREADS] += 1
            return None
        where = sender.where
        reached = where.line if framed is not None else ""
        if framed is not None:
            where = replace(where, line=kind_of_request(framed.kind), time=1)
        counted = (sender.holder, where, sender.by)
        self._numbers[counted] += 1
        number = self._numbers[counted]
        if framed is not None and framed.first_only and number > 1:
            self._others[REPEATED_IN_TIME] += 1
            return None
        now = time.monotonic()
        seen = SeenRequest(where, number, link, now, reached=reached, sender=sender.by)
        self._requests.append(seen)
        of_link = (link, framed.number if framed else 0)
        self._latest[of_link], self._counted[of_link] = seen, counted
        fits = (rule for rule in self._rules if _fits(rule, seen))
        found = next(filter(self._follows, fits), None)
        if found is not None:
            self._rules.remove(found)
        return found

    def _follows(self, rule: Rule) -> bool:
        """Return whether the cut that a rule comes after has been made, if any."""
        return not rule.after or (self._marks / rule.after).exists()

    def _overlaps(self, link: Link, sender: Sender) -> bool:
        """Return whether a part of Spark waits for another reply meanwhile.

        Then several threads send for it, and which one comes first is up to them.
        """
        return any(
            at is not link
            and at.open
            and not one.answered
            and (one.where, one.sender) == (sender.where, sender.by)
            for (at, _), one in self._latest.items()
        )

    def _let_in(self, batch: int) -> None:
        """Let the store reply to what is late until this batch, and wait for that."""
        deadline = time.monotonic() + _SETTLES
        while time.monotonic() < deadline:
            with self._lock:
                due = {
                    link
                    for link, (_, rule) in self._late.items()
                    if rule.before_next and rule.batch < batch
                }
                self._called.update(due)
            if not due:
                return
            time.sleep(0.002)

    def _awaited(self, rule: Rule) -> bool:
        """Wait for the marks of faults that come before; return whether all came."""
        deadline = time.monotonic() + self._patience
        for mark in rule.await_:
            path = Path(mark) if "/" in mark else self._marks / mark
            while not path.exists():
                if time.monotonic() > deadline or not self._marks.is_dir():
                    (self._marks / f"{UNMET}-{rule.mark}").write_text(
                        f"{rule.request or 'a request'} waited in vain for {path.name}"
                    )
                    return False
                time.sleep(0.002)
        return True

    def answered(self, link: Link, *, number: int = 0) -> None:
        """Take note that the store answers."""
        with self._lock:
            seen = self._latest.get((link, number))
            if seen is not None:
                seen.answered = True

    def refused(self, link: Link, *, number: int) -> None:
        """Take back what was noted of a request: the client sends it again."""
        with self._lock:
            rule = self._cutting.pop((link, number), None)
            seen = self._latest.pop((link, number), None)
            if rule is not None:
                self._rules.append(rule)
            if seen is not None:
                self._numbers[self._counted.pop((link, number))] -= 1

    def broke(self, link: Link, *, number: int = 0) -> None:
        """Leave the mark of the fault."""
        with self._lock:
            rule = self._cutting.pop((link, number), None)
            seen = self._latest.pop((link, number), None)
            if rule is not None and rule.do == LATE_REQUEST and seen is not None:
                self._late[link] = (seen, rule)
        if rule is not None and rule.mark:
            (self._marks / rule.mark).touch()

    def due(self, link: Link) -> bool:
        """Return whether a late request arrives now.

        That is as the next batch begins, where its rule says so, or else once a run has
        ended well, which has sent it again where it had to. If
        the code waits in vain, it is at once: what it waits for may be a lock that the
        late request's own connection holds.
        """
        with self._lock:
            if link in self._called:
                return True
            longest = time.monotonic() - _STALLS
            asked = (one for (at, _), one in self._latest.items() if at.open)
            return any(not one.answered and one.sent < longest for one in asked)

    def arrived(self, link: Link, *, answered: bool) -> None:
        """Take note that a late request was sent on; without a reply, it was not."""
        with self._lock:
            if answered:
                late = self._late.pop(link, None)
                if late is not None and late[1].landed:
                    (self._marks / late[1].landed).touch()
            else:
                self._in_vain(link)

    def waits(self, link: Link) -> bool:
        """Return whether the client waits for its answer."""
        return self._senders.waits(link)


def _fits(rule: Rule, seen: SeenRequest) -> bool:
    where = seen.where
    return (
        rule.function == EXCHANGE_OF[where.function]
        and rule.batch == where.batch
        and rule.partition in (None, where.partition)
        and rule.attempt in (None, where.attempt)
        and rule.line == where.line
        and rule.nth in (None, where.time)
        and rule.exchange in (None, seen.number)
        and rule.sender == seen.sender
    )
