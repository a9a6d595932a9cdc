"""A job that is replaced: the new one replays the log into a table of its own."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.reprocessing.switch_over import SwitchOver


class KappaArchitecture(Protocol):
    """A replay of the log makes a batch layer unnecessary. Kreps, 2014.

    Questioning the Lambda Architecture. The old job has a defect: it loses some events.
    A second job replays the log from its beginning into a new table, with a row for
    each event, so that a repeat does no harm. Once it has caught up, readers are
    switched over to the new table, and the old job ends.
    """

    E = SwitchOver.E

    replay = part(SwitchOver)

    log = state(False, per=E)
    handled = state(False, per=E)
    old_table = state(False, per=E)
    started = state(False)
    noted = state(False, per=E)
    table = state(False, per=E)
    written = state(False, per=E, volatile=True)
    switched = state(False)
    ended = state(False)

    @action(per=E, by="source")
    def append(self, e: Member) -> None:
        """An event is appended to the log."""
        when(not_(self.log[e]))
        self.log[e] = True

    @action(per=E, by="old job")
    def handle(self, e: Member) -> None:
        """The old job handles an event."""
        when(self.log[e], not_(self.handled[e]), not_(self.ended))
        self.handled[e] = True
        self.old_table[e] = True

    @action(per=E, by="old job")
    def mishandle(self, e: Member) -> None:
        """The old job's defect: it goes past an event without a row for it."""
        when(self.log[e], not_(self.handled[e]), not_(self.ended))
        self.handled[e] = True

    @action(by="new job")
    def start_new(self) -> None:
        """The new job starts, before the first event of the log."""
        when(not_(self.started))
        self.started = True
        self.noted.set(lambda e: self.replay.begins_after(self.handled[e]))

    @action(per=E, by="new job")
    def write(self, e: Member) -> None:
        """The new job writes the row of an event, over one that is there."""
        when(self.started, self.log[e], not_(self.noted[e]), self._is_free())
        self.table[e] = self.replay.reads(e)
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
    def switch(self) -> None:
        """Readers are switched over to the new table."""
        when(self.started, not_(self.switched))
        caught_up = all_of(implies(self.handled[e], self.noted[e]) for e in self.E)
        when(self.replay.may_switch(caught_up))
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
        row = if_else(self.switched, self.table[e], self.old_table[e])
        return if_else(row, 1, 0)

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
        """The new job has noted the event, and readers see its table."""
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
            all_of(self.table[e], not_(self.noted[e]), not_(self.written[e]))
            for e in self.E
        )

    @lemma
    def has_what_it_notes(self) -> bool:
        """The new job has a row for what it notes."""
        return all_of(
            implies(any_of(self.written[e], self.noted[e]), self.table[e])
            for e in self.E
        )

    @lemma
    def goes_past_what_is_in_the_log(self) -> bool:
        """Neither job has a row for what the log has not."""
        return all_of(
            all_of(
                implies(any_of(self.table[e], self.handled[e]), self.log[e]),
                implies(self.old_table[e], self.handled[e]),
            )
            for e in self.E
        )

    @lemma
    def switches_before_it_ends_the_old_job(self) -> bool:
        """Readers are switched over to a job that runs, and then the old one ends."""
        return all_of(
            implies(self.ended, self.switched), implies(self.switched, self.started)
        )
