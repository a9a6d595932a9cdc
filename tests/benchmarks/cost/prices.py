"""What each step of a simulated system costs: the parameters of the simulation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prices:
    """Seconds and bytes of single steps; a record is a bundle of events."""

    events_in_a_record: int = 10_000
    """How many events are in a record of the simulation."""
    work: float = 0.1
    """Seconds in which a source or an operator works on a record (10 us an event)."""
    message: float = 0.001
    """Seconds that a record, a barrier or an acknowledgement is on its way."""
    log_write: float = 0.02
    """Seconds in which an operator waits for the write of a record's numbers and
    productions to its log (2 us an event, with group commit)."""
    log_bytes: int = 160_000
    """Bytes that are logged for a record (16 an event)."""
    look_up: float = 0.01
    """Seconds in which an operator finds a repeated record in its log (1 us an event).
    """
    state_bytes: int = 5_000_000
    """Bytes of the state of an operator: what a snapshot writes and a restart reads."""
    bandwidth: float = 200e6
    """Bytes that an operator reads or writes in a second."""
    store_bandwidth: float = 20e9
    """Bytes that the store of snapshots and logs serves in a second, to all together.
    """
    pause: float = 0.005
    """Seconds in which an operator stops for its snapshot, before the copy is written.
    """
    interval: float = 2.0
    """Seconds from the end of a checkpoint to the begin of the next."""
    pointer_write: float = 0.01
    """Seconds in which the pointer to a complete checkpoint is stored."""
    acknowledge: float = 0.00005
    """Seconds in which the coordinator takes an operator's word for its snapshot."""
    deploy: float = 0.001
    """Seconds in which the coordinator starts one operator again; one after the other.
    """
    detect: float = 0.5
    """Seconds until a failure is noticed."""
    start: float = 0.5
    """Seconds in which a process starts."""
    room: int = 8
    """Records that wait in a channel, or are not acknowledged, before a sender waits.
    """

    def transfer(self, operators: int) -> float:
        """Seconds in which so many operators read or write their state at once."""
        share = self.store_bandwidth / max(operators, 1)
        return self.state_bytes / min(self.bandwidth, share)
