"""Models of logs that are written in the background, each with a mistake.

Each forbids something that Spark does, so that a real run is no behaviour of it.
"""

from __future__ import annotations

from onceproof.model.language import Member, action, any_of, when
from onceproof.model.protocols.micro_batch import Driver
from onceproof.model.protocols.micro_batch_logged_later import MicroBatchLoggedLater

BATCH = MicroBatchLoggedLater.BATCH


class LoggedOnceItIsDone(MicroBatchLoggedLater):
    """A batch is in the offset log only once it is done."""

    @action(per=BATCH)
    def log_offsets(self, b: Member) -> None:
        when(self.at > b)
        super().log_offsets(b)


class NextOnceItIsCommitted(MicroBatchLoggedLater):
    """The next batch starts when the one before is in the commit log."""

    @action(per=BATCH)
    def start_batch(self, b: Member) -> None:
        when(self.commits == b)
        super().start_batch(b)


class LoggedOnceItStarts(MicroBatchLoggedLater):
    """A batch is in the offset log only once it has started."""

    @action(per=BATCH)
    def log_offsets(self, b: Member) -> None:
        when(any_of(self.driver != Driver.PLANNING, self.at > b))
        super().log_offsets(b)


class LoggedIsDone(MicroBatchLoggedLater):
    """A restart takes a batch whose offsets are logged for done."""

    @action
    def restart(self) -> None:
        super().restart()
        self.at = self.offsets
        self.commits = self.offsets
