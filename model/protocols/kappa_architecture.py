"""A job that is replaced: the new one replays the log into a table of its own."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.reprocessing.switch_over import SwitchOver


class KappaArchitecture(Protocol):
    """A replay of the log makes a batch layer unnecessary. Kreps, 2014.

    Questioning the Lambda Architecture. The old job has a defect: it loses the first
    event. A second job replays the log from its beginning into a new table, with a
    row for each event, so that a repeat does no harm. Once it has caught up, readers
    are switched over to the new table, and the old job ends.
    """

    E = SwitchOver.E

    replay = part(SwitchOver)

    log = state(0, high=E)
    old_offset = state(0, high=E)
    old_table = state(False, per=E)
    started = state(False)
    offset = state(0, high=E)
    table = state(False, per=E)
    written = state(False, volatile=True)
    switched = state(False)
    ended = state(False)

    @action(per=E, by="source")
    def append(self, e: Member) -> None:
        """The next event is appended to the log."""
        when(self.log == e)
        self.log = e + 1

    @action(per=E, by="old job")
    def run_old(self, e: Member) -> None:
        """The old job handles the next event; it loses the first one."""
        when(self.old_offset == e, self.log > e, not_(self.ended))
        self.old_table[e] = e > 0
        self.old_offset = e + 1

    @action(by="new job")
    def start_new(self) -> None:
        """The new job starts, before the first event of the log."""
        when(not_(self.started))
        self.started = True
        self.offset = self.replay.begins_at(self.old_offset)

    @action(per=E, by="new job")
    def write(self, e: Member) -> None:
        """The new job writes the row of the next event, over one that is there."""
        when(self.started, self.offset == e, self.log > e, not_(self.written))
        self.table[e] = self.replay.reads(e)
        self.written = True

    @action(per=E, by="new job")
    def note_offset(self, e: Member) -> None:
        """The new job notes that the row is written."""
        when(self.written, self.offset == e)
        self.offset = e + 1
        self.written = False

    @fault(by="new job")
    def new_job_dies(self) -> None:
        """The new job goes on from the offset that it noted."""
        when(self.written)
        self.written = False

    @action(by="operator")
    def switch(self) -> None:
        """Readers are switched over to the new table."""
        when(self.started, not_(self.switched))
        when(self.replay.may_switch(self.offset, self.old_offset))
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
        return self.log > e

    @observe(per=E)
    def expected(self, e: Member) -> int:
        """A batch run over the log shows each event once."""
        return if_else(self.log > e, 1, 0)

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The new job has noted the event, and readers see its table."""
        return all_of(self.switched, self.offset > e)

    @sometimes
    def repairs(self) -> bool:
        """Readers can see the event that the old job lost."""
        return all_of(self.visible(e) == 1 for e in self.E)

    @sometimes
    def writes_again(self) -> bool:
        """The new job can write a row that is there."""
        return any_of(
            all_of(self.table[e], self.offset == e, not_(self.written)) for e in self.E
        )
