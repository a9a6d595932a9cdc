"""What every sink of a micro-batch engine is: the part that describes it."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

MOST = 3


class Sink(Part):
    """A sink: what its code does when the engine calls it, and what a reader sees.

    The engine hands over a batch in this order: ``write`` in each task, then
    ``start_commit`` on the driver, after which the sink takes steps of its own until
    it is ``finished``. Whatever a subclass leaves out does nothing. An event is a
    pair of batch and place; ``holds`` says which partition reads it.
    """

    pipeline_role: ClassVar[str] = "sink"

    BATCH = Sort("batch", ordered=True)
    PARTITION = Sort("partition, or place of an event")
    ATTEMPT = Sort("attempt of a task", ordered=True)

    merged = state(False, per=PARTITION)

    @property
    def aborts(self) -> bool:
        """Whether the engine reports a failed commit to the sink, by ``abort``."""
        return False

    @property
    def writes_in_tasks(self) -> bool:
        """Whether the sink has code that runs in tasks."""
        return type(self).write != Sink.write

    def holds(self, p: Member, e: Member) -> bool:
        """Return whether partition ``p`` reads the event at place ``e``."""
        return if_else(
            any_of(self.merged[q] for q in self.PARTITION), self.merged[p], p == e
        )

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Run the sink's code in attempt ``a`` of the task for partition ``p``."""

    def takes(self, b: Member) -> bool:
        """Return whether the sink's tasks run for the batch: it may skip it whole."""
        return True

    def write_late(self, b: Member, p: Member, a: Member) -> None:
        """Run the code of an attempt that was given up, after all."""
        self.write(b, p, a)

    def abort_task(self, b: Member, p: Member, a: Member, wrote: bool) -> None:  # noqa: FBT001 - a modelled value
        """Clean up after an attempt that failed, having written or not."""

    def start_commit(self, b: Member) -> None:
        """Run the sink's code on the driver, once all tasks are done."""

    def retry(self, b: Member) -> None:
        """Run the sink's code on the driver again, after a connection of it broke."""
        self.start_commit(b)

    def delay(self, b: Member) -> None:
        """Take note of the step on the driver that is next: it arrives late."""

    def arrive_late(self, b: Member) -> None:
        """Take the step on the driver that another try has taken meanwhile."""

    def finished(self, b: Member) -> bool:
        """Return whether the sink's code on the driver has returned."""
        return all_of(b == b)

    def kept_of_task(self, b: Member, p: Member) -> bool:
        """Return what is so once a task has written; for lemmas, if they need it."""
        return all_of(b == b, p == p)

    def kept(self, b: Member) -> bool:
        """Return what is so once the code has returned; for lemmas, if they need it."""
        return all_of(b == b)

    def abort(self, b: Member) -> None:
        """Clean up after a commit that failed, or a job that did."""

    def visible(self, b: Member, e: Member) -> int:
        """Count how often a reader sees the event."""
        raise NotImplementedError


def one_more(times: int) -> int:
    """Count on, as far as it matters."""
    return min_of(times + 1, MOST)


def one_less(times: int) -> int:
    """Count back."""
    return max_of(times - 1, 0)
