"""A simulated topology with the steps of ``barrier-snapshot`` at every operator."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tests.benchmarks.cost.kernel import SimulatedClock, StepsTaken

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.cost.kernel import Layers, Link
    from tests.benchmarks.cost.prices import Prices

BARRIER = -1


class BarrierTopology:
    """Operators that process records, and one coordinator of checkpoints for all.

    To an operator, those before it are the protocol's sources: a sender goes back to
    the offset of each of its outputs that it noted as it sent the barrier on.
    """

    def __init__(
        self,
        layers: Layers,
        prices: Prices,
        records: int,
        *,
        kept: bool = False,
        checkpoints: bool = True,
    ) -> None:
        """Let each source have so many records, which each operator then has, too."""
        self.layers, self.prices, self.records = layers, prices, records
        self.clock, self.steps = SimulatedClock(), StepsTaken(kept=kept)
        self.checkpoints = checkpoints
        self.finished = False
        self.snapshot_bytes = self.restored_bytes = 0
        self.recovery_seconds: list[float] = []
        self.lost_records = 0
        self._up, self._epoch, self._failed_at = True, 0, 0.0
        self._running, self.complete, self._to_acknowledge = False, 0, 0
        self._coordinator_free = 0.0
        number, fan = layers.operators, layers.fan
        self._saved = [0] * number
        self._noted = [0] * number
        self.processed_at: list[list[float]] = [[] for _ in range(layers.width)]
        self.visible_at: list[list[float]] = [[] for _ in range(layers.width)]
        self._saved_sent = [[0] * fan for _ in range(number)]
        self._noted_sent = [[0] * fan for _ in range(number)]
        self._reset()

    def _reset(self) -> None:
        """Take every operator back to the last complete checkpoint."""
        number, layers = self.layers.operators, self.layers
        self._done = list(self._saved)
        self._sent = [list(sent) for sent in self._saved_sent]
        self._queues: list[list[deque[int]]] = [
            [deque() for _ in links] for links in layers.inputs
        ]
        self._used = [[0] * len(links) for links in layers.inputs]
        self._came = [[False] * len(links) for links in layers.inputs]
        self._taken = [False] * number
        self._busy = [False] * number
        self._turn = [0] * number
        last = self._done[-layers.width :]
        self._in_last = sum(last)
        for times, done in zip(self.processed_at, last, strict=True):
            del times[done:]

    # --- time ---------------------------------------------------------------

    def run(self, *, limit: float) -> bool:
        """Run to the end of the input; return whether it is reached in time."""
        for operator in range(self.layers.width):
            self._work(operator)
        if self.checkpoints:
            self._later(self.prices.interval, self._trigger)
        return self.clock.run(until=lambda: self.finished, limit=limit)

    def _later(self, delay: float, act: Callable[..., None], *given: object) -> None:
        """Plan a call that a failure cancels."""
        self.clock.after(delay, self._if_same, self._epoch, act, given)

    def _if_same(
        self, epoch: int, act: Callable[..., None], given: tuple[object, ...]
    ) -> None:
        if epoch == self._epoch:
            act(*given)

    # --- records ------------------------------------------------------------

    def _work(self, operator: int) -> None:
        """Begin with the next record, if there is one, and room for what it gives."""
        if self._busy[operator]:
            return
        links = self.layers.outputs[operator]
        out = links[self._done[operator] % len(links)] if links else None
        room = (
            out is None or self._used[out.receiver][out.of_receiver] < self.prices.room
        )
        if self.layers.is_source(operator):
            if room and self._done[operator] < self.records:
                self._begin(operator, self.prices.work, self._emit_as_source, operator)
            return
        queues, came = self._queues[operator], self._came[operator]
        number, first = len(queues), self._turn[operator]
        for nth in range(number):
            place = (first + nth) % number
            if not queues[place] or (came[place] and not self._taken[operator]):
                continue
            if queues[place][0] == BARRIER:
                self._receive_barrier(operator, place)
                return
            if room:
                self._turn[operator] = (place + 1) % number
                self._begin(operator, self.prices.work, self._process, operator, place)
                return

    def _begin(
        self, operator: int, seconds: float, act: Callable[..., None], *given: object
    ) -> None:
        self._busy[operator] = True
        self._later(seconds, act, *given)

    def _emit_as_source(self, operator: int) -> None:
        self._busy[operator] = False
        self._emit(operator)
        self._work(operator)

    def _process(self, operator: int, place: int) -> None:
        link = self.layers.inputs[operator][place]
        offset = self._queues[operator][place].popleft()
        self._used[operator][place] -= 1
        self.steps.take(operator, "process", place, offset)
        self._busy[operator] = False
        self._emit(operator)
        self._work(operator)
        self._work(link.sender)

    def _emit(self, operator: int) -> None:
        """Send what the record gives to the output whose turn it is."""
        links = self.layers.outputs[operator]
        number, turn = self.layers.operators, self._done[operator]
        self._done[operator] += 1
        if not links:
            self._in_last += 1
            self.processed_at[operator - number].append(self.clock.now)
            if self._in_last == self.records * self.layers.width:
                self._all_processed()
            return
        link = links[turn % len(links)]
        sent = self._sent[operator]
        self.steps.take(link.receiver, "emit", link.of_receiver, sent[link.of_sender])
        self._used[link.receiver][link.of_receiver] += 1
        self._later(self.prices.message, self._arrive, link, sent[link.of_sender])
        sent[link.of_sender] += 1

    def _arrive(self, link: Link, what: int) -> None:
        self._queues[link.receiver][link.of_receiver].append(what)
        self._work(link.receiver)

    def _all_processed(self) -> None:
        if not self.checkpoints:
            self.finished = True
        elif not self._running:
            self._trigger()

    # --- checkpoints --------------------------------------------------------

    def _everywhere(self, name: str, *members: int) -> None:
        """Take a step of the coordinator, which is a step of each operator's run."""
        self.steps.counts[name] += 1
        if self.steps.kept:
            for operator in range(self.layers.width, self.layers.operators):
                self.steps.note(operator, name, *members)

    def _trigger(self) -> None:
        if self._running:
            return
        self._running = True
        self._to_acknowledge = self.layers.operators
        self._everywhere("trigger")
        for operator in range(self.layers.width):
            self._later(self.prices.message, self._send_barriers, operator)

    def _send_barriers(self, operator: int) -> None:
        """Note the offsets of the outputs, and send a barrier to each."""
        self._noted[operator] = self._done[operator]
        self._noted_sent[operator] = list(self._sent[operator])
        for link in self.layers.outputs[operator]:
            self.steps.take(link.receiver, "send_barrier", link.of_receiver)
            self._later(self.prices.message, self._arrive, link, BARRIER)
        if self.layers.is_source(operator):
            self._later(self.prices.message, self._acknowledged)

    def _receive_barrier(self, operator: int, place: int) -> None:
        self._queues[operator][place].popleft()
        came = self._came[operator]
        came[place] = True
        if not all(came):
            self.steps.take(operator, "receive_barrier", place)
            self._work(operator)
            return
        self._taken[operator] = True
        self.steps.take(operator, "snapshot", place, self.complete)
        self._send_barriers(operator)
        self.snapshot_bytes += self.prices.state_bytes
        self._begin(operator, self.prices.pause, self._go_on, operator)
        written = self.prices.transfer(self.layers.operators - self.layers.width)
        self._later(self.prices.pause + written, self._acknowledged)

    def _go_on(self, operator: int) -> None:
        self._busy[operator] = False
        self._work(operator)

    def _acknowledged(self) -> None:
        """The coordinator takes one operator's word after the other."""
        free = max(self._coordinator_free, self.clock.now) + self.prices.acknowledge
        self._coordinator_free = free
        self._to_acknowledge -= 1
        if not self._to_acknowledge:
            wait = free - self.clock.now + self.prices.pointer_write
            self._later(wait, self._store)

    def _store(self) -> None:
        self._everywhere("store_checkpoint", self.complete)
        self.complete += 1
        self._saved = list(self._noted)
        last = self._saved[-self.layers.width :]
        for times, saved in zip(self.visible_at, last, strict=True):
            times.extend([self.clock.now] * (saved - len(times)))
        self._saved_sent = [list(sent) for sent in self._noted_sent]
        self._later(self.prices.message, self._announce)

    def _announce(self) -> None:
        self._everywhere("announce", self.complete - 1)
        self._running = False
        for came in self._came:
            came[:] = [False] * len(came)
        self._taken = [False] * self.layers.operators
        self._later(self.prices.message, self._confirm)
        if self._all_saved():
            self._later(self.prices.message, self._finish)
        elif self._in_last == self.records * self.layers.width:
            self._trigger()
        else:
            self._later(self.prices.interval, self._trigger)

    def _finish(self) -> None:
        self.finished = True

    def _all_saved(self) -> bool:
        return sum(self._saved) == self.records * self.layers.operators

    def _confirm(self) -> None:
        for operator in range(self.layers.width, self.layers.operators):
            for link in self.layers.inputs[operator]:
                self.steps.take(operator, "confirm", link.of_receiver)

    # --- failures -----------------------------------------------------------

    def fail_at(self, time: float, operator: int) -> None:
        """Plan the failure of an operator; which one it is makes no difference."""
        self.clock.after(time - self.clock.now, self._fail, operator)

    def _fail(self, _operator: int) -> None:
        self._epoch += 1
        if self._up:
            self._up = False
            self._failed_at = self.clock.now
            self._everywhere("fail")
            self.lost_records += sum(self._done) - sum(self._saved)
        prices, operators = self.prices, self.layers.operators
        again = prices.detect + prices.start + prices.deploy * operators
        self._later(again + prices.transfer(operators), self._restore)

    def _restore(self) -> None:
        self._up, self._running = True, False
        self._coordinator_free = self.clock.now
        self._everywhere("restore")
        self.restored_bytes += self.prices.state_bytes * self.layers.operators
        self.recovery_seconds.append(self.clock.now - self._failed_at)
        self._reset()
        if self._all_saved():
            self.finished = True
            return
        for operator in range(self.layers.width):
            self._work(operator)
        self._later(self.prices.interval, self._trigger)
