"""Violations of batch and micro-batch sinks."""

from __future__ import annotations

from onceproof.model.language import Member, action, not_, part, state, when
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.output_commit import CommitCoordinator, OutputCommit
from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.model.protocols.parts.sinks.manifest import Manifest, ManifestDirectory
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more
from tests.model.zoo.cases import case

USERS = 3


class Spark25331(MicroBatch):
    """SPARK-25331: files are written, and the driver dies before the manifest.

    The batch is written again under new names; who lists the folder sees both.
    """

    sink = part(Sink, default=ManifestDirectory)


class UnderARandomUser(Sink):
    """Knows a batch that it has committed by its own user, drawn when it starts."""

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
        """The batch is due unless this user has committed it."""
        self.due[b] = self.committed_by[b] != self.user

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
    """Paimon #9666: addBatch commits, and the driver dies before the commit log.

    The same batch comes again, to a sink with another random user, which takes it
    for new.
    """

    sink = part(Sink, default=UnderARandomUser)


class KeyedByAttempt(CommitCoordinator):
    """Tells attempts apart by their number, which starts anew with each stage."""

    def same(self, x: Member, y: Member, s: Member, a: Member) -> bool:
        """Take two requests with one number for one attempt's."""
        return y == a


class Spark24589(OutputCommit):
    """SPARK-24589: a task of the first stage attempt runs on, a fetch fails.

    The second attempt's task for the same partition asks as well; both are let.
    """

    coordinator = part(CommitCoordinator, default=KeyedByAttempt)


CASES = [
    case(
        "SPARK-25331",
        Spark25331,
        "at-most-once",
        """
        restart()  log_offsets(0)  start_batch(0)  start_task(0, 0)  write(0, 0, 0)
        commit_task(0, 0)  start_commit(0)  crash()!  restart()  start_batch(0)
        start_task(0, 0)  write(0, 0, 0)
        """,
        parameters={"PARTITION": 1},
        fix=MicroBatch,
        fixed={"sink": Manifest},
    ),
    case(
        "Paimon #9666",
        Paimon9666,
        "at-most-once",
        """
        restart()  sink.draw_user()  log_offsets(0)  start_batch(0)  start_task(0, 0)
        write(0, 0, 0)  commit_task(0, 0)  start_commit(0)  sink.add_batch(0)  crash()!
        restart()  sink.draw_user()  start_batch(0)  start_task(0, 0)  write(0, 0, 0)
        commit_task(0, 0)  start_commit(0)  sink.add_batch(0)
        """,
        parameters={"PARTITION": 1},
        fix=MicroBatch,
        fixed={"sink": BatchLedger},
    ),
    case(
        "SPARK-24589",
        Spark24589,
        "at-most-once",
        """
        start_task(0, 0, 0)  write(0, 0, 0)  lose_input()!
        start_task(0, 1, 0)  write(0, 1, 0)  ask(0, 0, 0)  ask(0, 1, 0)
        commit_task(0, 0, 0)  commit_task(0, 1, 0)  commit_job()
        """,
        parameters={"PARTITION": 1},
        fix=OutputCommit,
    ),
]
