"""The output of a stage is lost, and computed again for tasks that still need it."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.jobs.shuffles import (
    REDUCER,
    ROW,
    MissingReducers,
    SortedRows,
)


class StageRetry(Protocol):
    """Lost output is computed again. Zaharia and others, NSDI 2012; SPARK-23207.

    Resilient Distributed Datasets: lineage is enough where a task gives the same output
    each time. A mapper deals its rows out to reducers in turn. Its executor may be lost
    after some reducers have read them; the mapper then runs again. Once all reducers
    are done the job is, and readers see their results. Left out: several mappers, and
    tasks of the first attempt that run on.
    """

    role = "scheduler"

    ROW = ROW
    REDUCER = REDUCER

    order = part(SortedRows)
    retry = part(MissingReducers)

    dealt_to = state(nobody_of(REDUCER), per=ROW)
    turn = state(0, high=REDUCER)
    result = state(False, per=(REDUCER, ROW))
    done = state(False, per=REDUCER)
    finished = state(False)

    @action(per=(ROW, REDUCER), by="mapper")
    def deal(self, r: Member, q: Member) -> None:
        """The mapper writes its next row for the reducer whose turn it is."""
        earlier = any_of(all_of(x < r, self.dealt_to[x] == nobody) for x in self.ROW)
        when(
            not_(self.finished),
            self.dealt_to[r] == nobody,
            self.turn == q,
            self.order.can_be_next(earlier),
        )
        self.dealt_to[r] = q
        self.turn = if_else(q == self.REDUCER.last, 0, q + 1)

    @action(per=REDUCER, by="reducer")
    def reduce(self, q: Member) -> None:
        """A reducer reads its rows from the shuffle, and is done."""
        when(
            all_of(self.dealt_to[r] != nobody for r in self.ROW),
            not_(self.done[q]),
        )
        self.done[q] = True
        self.result.where(lambda p, _: p == q).set(lambda _, r: self.dealt_to[r] == q)

    @action
    def finish(self) -> None:
        """All reducers are done, and so is the job."""
        when(not_(self.finished), all_of(self.done[q] for q in self.REDUCER))
        self.finished = True

    @fault
    def lose_executor(self) -> None:
        """The executor with the mapper's output is lost while reducers need it."""
        when(
            any_of(self.dealt_to[r] != nobody for r in self.ROW),
            any_of(not_(self.done[q]) for q in self.REDUCER),
        )
        self.dealt_to.fill(nobody)
        self.turn = 0
        self.done.set(lambda q: all_of(self.done[q], self.retry.keeps(q)))

    @observe(per=ROW)
    def visible(self, r: Member) -> int:
        """How many reducers' results hold the row, once the job is done."""
        times = count(self.result[q, r] for q in self.REDUCER)
        return if_else(self.finished, times, 0)

    @observe(per=ROW)
    def accepted(self, r: Member) -> bool:
        """The job owes every row."""
        return True

    @observe(per=ROW)
    def promised(self, r: Member) -> bool:
        """The job is done."""
        return self.finished

    @observe(per=ROW)
    def unit(self, r: Member) -> int:
        """The job is one unit."""
        return if_else(r == r, 0, 1)

    @sometimes
    def loses_what_one_has_read(self) -> bool:
        """The shuffle can be lost after one reducer has read it."""
        return all_of(
            all_of(self.dealt_to[r] == nobody for r in self.ROW),
            any_of(self.result[q, r] for q in self.REDUCER for r in self.ROW),
        )

    @sometimes
    def finishes(self) -> bool:
        """The job can be done."""
        return self.finished
