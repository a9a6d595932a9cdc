"""A simulated topology with the steps of ``deduplication-log`` on every link."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tests.benchmarks.cost.kernel import SimulatedClock, StepsTaken

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.cost.kernel import Layers, Link
    from tests.benchmarks.cost.prices import Prices

ROOM_FOR_COPIES = 2
"""How many copies of a record the protocol's network holds at most."""


class RecordsOfLink:
    """What sender, network and receiver of a link know of its records."""

    def __init__(self, link: Link) -> None:
        """Begin with none."""
        self.link = link
        self.sent = 0
        self.open: dict[int, int] = {}
        """The copies on their way of each record that is not acknowledged."""
        self.late: dict[int, int] = {}
        """The copies on their way of records that are acknowledged."""
        self.logged: set[int] = set()
        self.replying: set[int] = set()

    def copies(self, record: int) -> int:
        """Count the copies of a record on their way."""
        return self.open.get(record, 0) + self.late.get(record, 0)

    def change(self, record: int, by: int) -> None:
        """Add a copy, or take one away."""
        if record in self.open:
            self.open[record] += by
            return
        self.late[record] = self.late.get(record, 0) + by
        if not self.late[record]:
            del self.late[record]


class LogTopology:
    """Operators that log what they have applied, and start again one by one.

    An operator applies a record, logs its number, and saves what it will send, in one
    write. That is ``apply`` on one link and ``produce`` on the next. A source saves
    what it sends by a write of its own.
    """

    def __init__(
        self, layers: Layers, prices: Prices, records: int, *, kept: bool = False
    ) -> None:
        """Let each source have so many records, which each operator then has, too."""
        self.layers, self.prices, self.records = layers, prices, records
        self.clock, self.steps = SimulatedClock(), StepsTaken(kept=kept)
        self.log_bytes = self.restored_bytes = 0
        self.recovery_seconds: list[float] = []
        number = layers.operators
        known = {
            (link.receiver, link.of_receiver): RecordsOfLink(link)
            for links in layers.inputs
            for link in links
        }
        self._inputs = [
            [known[o, x.of_receiver] for x in links]
            for o, links in enumerate(layers.inputs)
        ]
        self._outputs = [
            [known[x.receiver, x.of_receiver] for x in links]
            for links in layers.outputs
        ]
        self._queues: list[deque[tuple[RecordsOfLink, int]]] = [
            deque() for _ in range(number)
        ]
        self._working: list[tuple[RecordsOfLink, int] | None] = [None] * number
        self._done, self._epoch = [0] * number, [0] * number
        self._busy, self._up = [False] * number, [True] * number
        self._failed_at = [0.0] * number
        self._in_last = 0
        self.processed_at: list[list[float]] = [[] for _ in range(layers.width)]
        self._unheard = 0

    def run(self, *, limit: float) -> bool:
        """Run until all is applied; return whether that is reached in time."""
        for operator in range(self.layers.width):
            self._work(operator)
        wanted = self.records * self.layers.width
        return self.clock.run(until=lambda: self._in_last == wanted, limit=limit)

    def settle(self, *, limit: float) -> bool:
        """Run on until each sender has heard of all that it sent."""
        return self.clock.run(until=lambda: not self._unheard, limit=limit)

    def _later(
        self, operator: int, delay: float, act: Callable[..., None], *given: object
    ) -> None:
        """Plan something that an operator does, unless it fails before."""
        self.clock.after(
            delay, self._if_same, operator, self._epoch[operator], act, given
        )

    def _if_same(
        self,
        operator: int,
        epoch: int,
        act: Callable[..., None],
        given: tuple[object, ...],
    ) -> None:
        if epoch == self._epoch[operator]:
            act(*given)

    # --- sending ------------------------------------------------------------

    def _target(self, operator: int) -> RecordsOfLink | None:
        links = self._outputs[operator]
        return links[self._done[operator] % len(links)] if links else None

    def _produce(self, operator: int) -> None:
        """Save a record for the output whose turn it is, and send it."""
        link = self._target(operator)
        self._done[operator] += 1
        if link is None:
            self._in_last += 1
            last = self.processed_at[operator - self.layers.operators]
            last.append(self.clock.now)
            return
        record = link.sent
        link.sent += 1
        link.open[record] = 0
        self._unheard += 1
        self.steps.take(link, "produce", record)
        self._send(link, record)

    def _send(self, link: RecordsOfLink, record: int) -> None:
        self.steps.take(link, "send", record)
        link.change(record, 1)
        self.clock.after(self.prices.message, self._arrive, link, record)

    def _arrive(self, link: RecordsOfLink, record: int) -> None:
        receiver = link.link.receiver
        if not self._up[receiver]:
            self._lose(link, record)
            return
        self._queues[receiver].append((link, record))
        self._work(receiver)

    def _lose(self, link: RecordsOfLink, record: int) -> None:
        link.change(record, -1)
        self.steps.take(link, "delivery.lose", record)

    # --- receiving ----------------------------------------------------------

    def _work(self, operator: int) -> None:
        """Begin with the next record, if there is one, and room for what it gives."""
        if self._busy[operator] or not self._up[operator]:
            return
        prices, out = self.prices, self._target(operator)
        room = out is None or len(out.open) < prices.room
        if self.layers.is_source(operator):
            if room and self._done[operator] < self.records:
                self._busy[operator] = True
                seconds = prices.work + prices.log_write
                self._later(operator, seconds, self._made, operator)
            return
        queue = self._queues[operator]
        if not queue:
            return
        link, record = queue[0]
        if record in link.logged:
            seconds, act = prices.look_up, self._drop
        elif room:
            seconds, act = prices.work + prices.log_write, self._apply
        else:
            return
        self._busy[operator] = True
        self._working[operator] = queue.popleft()
        self._later(operator, seconds, act, operator, link, record)

    def _made(self, operator: int) -> None:
        self._busy[operator] = False
        self.log_bytes += self.prices.log_bytes
        self._produce(operator)
        self._work(operator)

    def _apply(self, operator: int, link: RecordsOfLink, record: int) -> None:
        self.steps.take(link, "apply", record, 0)
        link.logged.add(record)
        self.log_bytes += self.prices.log_bytes
        self._reply(operator, link, record)
        self._produce(operator)
        self._work(operator)

    def _drop(self, operator: int, link: RecordsOfLink, record: int) -> None:
        if record in link.replying:
            self._later(
                operator, self.prices.message, self._drop, operator, link, record
            )
            return
        self.steps.take(link, "drop", record, 0)
        self._reply(operator, link, record)
        self._work(operator)

    def _reply(self, operator: int, link: RecordsOfLink, record: int) -> None:
        self.steps.take(link, "acknowledge", record, 0)
        link.change(record, -1)
        link.replying.add(record)
        self._busy[operator], self._working[operator] = False, None
        self.clock.after(self.prices.message, self._hear, link, record)

    def _hear(self, link: RecordsOfLink, record: int) -> None:
        sender = link.link.sender
        link.replying.discard(record)
        if not self._up[sender]:
            self.steps.take(link, "reply.lose", record)
            return
        self.steps.take(link, "hear", record, 0)
        if record in link.open:
            copies = link.open.pop(record)
            self._unheard -= 1
            if copies:
                link.late[record] = copies
        self.clock.after(self.prices.message, self._collect, link, record)
        self._work(sender)

    def _collect(self, link: RecordsOfLink, record: int) -> None:
        if record in link.logged and not link.copies(record):
            self.steps.take(link, "collect", record, 0)
            link.logged.discard(record)

    # --- failures -----------------------------------------------------------

    def fail_at(self, time: float, operator: int) -> None:
        """Plan the failure of an operator."""
        self.clock.after(time - self.clock.now, self._fail, operator)

    def _fail(self, operator: int) -> None:
        self._epoch[operator] += 1
        if self._up[operator]:
            self._up[operator] = False
            self._failed_at[operator] = self.clock.now
            self.steps.counts["fail"] += 1
            self._forget(operator)
        prices = self.prices
        again = prices.detect + prices.start + prices.deploy + prices.transfer(1)
        self._later(operator, again, self._restore, operator)

    def _forget(self, operator: int) -> None:
        """Lose what an operator holds in memory."""
        waiting = list(self._queues[operator])
        if self._working[operator] is not None:
            waiting.append(self._working[operator])
        self._queues[operator].clear()
        self._busy[operator], self._working[operator] = False, None
        for link, record in waiting:
            self._lose(link, record)
        for link in self._outputs[operator]:
            if link.sent:
                self.steps.take(link, "sender_restarts")

    def _restore(self, operator: int) -> None:
        """Start again; what is not acknowledged is sent again, from here and to it."""
        self._up[operator] = True
        self.restored_bytes += self.prices.state_bytes
        self.recovery_seconds.append(self.clock.now - self._failed_at[operator])
        for link in self._outputs[operator]:
            for record in list(link.open):
                self._send_again(link, record)
        for link in self._inputs[operator]:
            self._later(link.link.sender, self.prices.message, self._send_missing, link)
        self._work(operator)

    def _send_again(self, link: RecordsOfLink, record: int) -> None:
        """Send a record that is perhaps on its way: that is a repeated delivery."""
        copies = link.copies(record)
        if not copies:
            self._send(link, record)
        elif copies < ROOM_FOR_COPIES:
            self.steps.take(link, "delivery.repeat", record)
            link.change(record, 1)
            self.clock.after(self.prices.message, self._arrive, link, record)

    def _send_missing(self, link: RecordsOfLink) -> None:
        """The receiver is back: send what was lost with it."""
        if self._up[link.link.sender]:
            for record, copies in list(link.open.items()):
                if not copies:
                    self._send(link, record)
