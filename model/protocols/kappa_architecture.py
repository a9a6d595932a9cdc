"""A job that is replaced: the new one replays the log into a table of its own."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.reprocessing.rows import MOST, RowsByKey
from onceproof.model.protocols.parts.reprocessing.switch_over import SwitchOver


class KappaArchitecture(Protocol):
    """A replay of the log makes a batch layer unnecessary. Kreps, 2014.

    Questioning the Lambda Architecture. The old job has a defect: it loses some events.
    A second job replays the log from its beginning into a new table. An operator looks
    whether it has caught up, switches readers over to the new table, and ends the old
    job.
    """

    E = SwitchOver.E

    replay = part(SwitchOver)
    rows = part(RowsByKey)

    log = state(False, per=E)
    handled = state(False, per=E)
    old_table = state(False, per=E)
    started = state(False)
    noted = state(False, per=E)
    table = state(0, high=MOST, per=E)
    written = state(False, per=E, volatile=True)
    ready = state(False)
    switched = state(False)
    ended = state(False)

    @action(per=E, by="source")
    def append(self, e: Member) -> None:
        """An event is appended to the log."""
        when(not_(self.log[e]))
        self.log[e] = True
        self.replay.append(e)

    @action(per=E, by="old job")
    def handle(self, e: Member) -> None:
        """The old job handles an event."""
        when(self._comes_next(e), self.replay.reads(e))
        self.handled[e] = True
        self.old_table[e] = True

    @action(per=E, by="old job")
    def mishandle(self, e: Member) -> None:
        """The old job's defect: it goes past an event without a row for it."""
        when(self._comes_next(e))
        self.handled[e] = True

    def _comes_next(self, e: Member) -> bool:
        """Return whether the old job may come to an event."""
        goes_on = all_of(not_(self.ended), self.replay.lets_go_on(self.ready))
        return all_of(self.log[e], not_(self.handled[e]), goes_on)

    @action(by="new job")
    def start_new(self) -> None:
        """The new job starts, before the first event of the log."""
        when(not_(self.started))
        self.started = True
        self.noted.set(lambda e: self.replay.begins_after(self.handled[e]))

    @action(per=E, by="new job")
    def write(self, e: Member) -> None:
        """The new job writes the row of an event, if the log still has it."""
        when(self.started, self.log[e], not_(self.noted[e]), self._is_free())
        rows = self.rows.after(self.table[e])
        self.table[e] = if_else(self.replay.reads(e), rows, self.table[e])
        self.written[e] = True

    @action(per=E, by="new job")
    def note(self, e: Member) -> None:
        """The new job notes that the row is written."""
        when(self.written[e])
        self.noted[e] = True
        self.written[e] = False

    @fault(by="new job")
    def new_job_dies(self) -> None:
        """The new job goes on with what it has not noted."""
        when(not_(self._is_free()))
        self.written.fill(value=False)

    def _is_free(self) -> bool:
        return all_of(not_(self.written[e]) for e in self.E)

    @action(by="operator")
    def see_it_caught_up(self) -> None:
        """The operator sees that the new job has all that the old one has."""
        when(self.started, not_(self.ready))
        caught_up = all_of(implies(self.handled[e], self.noted[e]) for e in self.E)
        when(self.replay.is_ready(caught_up))
        self.ready = True

    @action(by="operator")
    def switch(self) -> None:
        """Readers are switched over to the new table."""
        when(self.ready, not_(self.switched))
        self.switched = True

    @action(by="operator")
    def end_old(self) -> None:
        """The old job ends, and its table is dropped."""
        when(self.switched, not_(self.ended))
        self.ended = True
        self.old_table.set(lambda e: False)

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """Readers see one of the tables."""
        return if_else(self.switched, self.table[e], if_else(self.old_table[e], 1, 0))

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The log has the event."""
        return self.log[e]

    @observe(per=E)
    def expected(self, e: Member) -> int:
        """A batch run over the log shows each event once."""
        return if_else(self.log[e], 1, 0)

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The new job has noted the event, and readers see its table.

        What the old job has gone past is not promised, since it loses events.
        """
        return all_of(self.switched, self.noted[e])

    @sometimes
    def repairs(self) -> bool:
        """Readers can see an event that the old job lost."""
        return any_of(
            all_of(self.handled[e], not_(self.old_table[e]), self.visible(e) == 1)
            for e in self.E
        )

    @sometimes
    def writes_again(self) -> bool:
        """The new job can write a row that is there."""
        return any_of(
            all_of(self.table[e] > 0, not_(self.noted[e]), not_(self.written[e]))
            for e in self.E
        )

    @lemma
    def has_what_it_notes(self) -> bool:
        """The new job has a row for what it notes."""
        return all_of(
            implies(any_of(self.written[e], self.noted[e]), self.table[e] > 0)
            for e in self.E
        )

    @lemma
    def works_from_the_log(self) -> bool:
        """Neither job has a row for what the log has not."""
        return all_of(
            all_of(
                implies(any_of(self.table[e] > 0, self.handled[e]), self.log[e]),
                implies(self.old_table[e], self.handled[e]),
            )
            for e in self.E
        )

    @lemma
    def switches_before_it_ends_the_old_job(self) -> bool:
        """A job that runs is ready, readers are switched, and the old one ends."""
        return all_of(
            implies(self.ended, self.switched),
            implies(self.switched, self.ready),
            implies(self.ready, self.started),
        )

    @lemma
    def has_what_the_old_job_has(self) -> bool:
        """Once it is ready, the new job has all that the old one has handled."""
        return all_of(
            implies(all_of(self.ready, self.handled[e]), self.noted[e]) for e in self.E
        )

    @lemma
    def has_a_row_for_each(self) -> bool:
        """The new table has no event twice."""
        return all_of(self.table[e] <= 1 for e in self.E)
