"""Violations of batch and micro-batch sinks."""

from __future__ import annotations

from onceproof.model.language import Member, action, any_of, not_, part, state, when
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.output_commit import OutputCommit
from onceproof.model.protocols.parts.jobs.commit_coordinators import (
    CommitCoordinator,
    KeyedByAttempt,
)
from onceproof.model.protocols.parts.sinks.manifest import ManifestDirectory
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more

USERS = 3


class Spark25331(MicroBatch):
    """Readers list the folder, and do not read the manifest."""

    sink = part(Sink, default=ManifestDirectory)


class UnderARandomUser(Sink):
    """Skips a batch that was committed under the user name of this run."""

    drawn = state(0, high=USERS)
    user = state(0, high=USERS, volatile=True)
    committed_by = state(0, high=USERS, per=Sink.BATCH)
    rows = state(0, high=MOST, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    @action
    def draw_user(self) -> None:
        """Draw a user for this run."""
        when(self.user == 0, self.drawn < USERS)
        self.drawn = self.drawn + 1
        self.user = self.drawn

    def start_commit(self, b: Member) -> None:
        """The batch is due unless this user, who may come later, has committed it."""
        self.due[b] = any_of(self.user == 0, self.committed_by[b] != self.user)

    @action(per=Sink.BATCH)
    def add_batch(self, b: Member) -> None:
        """Commit a snapshot with the rows, the batch and the user."""
        when(self.due[b], self.user > 0)
        self.due[b] = False
        self.rows[b] = one_more(self.rows[b])
        self.committed_by[b] = self.user

    def finished(self, b: Member) -> bool:
        """``addBatch`` returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """Readers see every snapshot."""
        return self.rows[b]


class Paimon9666(MicroBatch):
    """The sink makes up another user name after a restart."""

    sink = part(Sink, default=UnderARandomUser)


class Spark24589(OutputCommit):
    """Two attempts of the stage have tasks with the same number."""

    coordinator = part(CommitCoordinator, default=KeyedByAttempt)
