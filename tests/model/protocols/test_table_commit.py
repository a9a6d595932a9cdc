"""Commits to a table by a catalog: what a swap does that a lock does not."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.parts.table_logs import CatalogLock, CatalogSwap
from onceproof.model.protocols.table_commit import TableCommit
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict


def verdicts(**parts):
    """Judge commits with other parts or sizes."""
    return check(TableCommit(**parts)).verdicts


@pytest.mark.parametrize("faults", [0, 1, 2])
def test_a_swap_loses_nothing(faults):
    """Metadata that the catalog never names is not seen."""
    found = verdicts(log=CatalogSwap, faults=faults)

    assert all(verdict.holds for verdict in found.values())


def test_three_writers_swap_in_turn():
    """Each of them has its version in the end."""
    found = verdicts(log=CatalogSwap, WRITER=3)

    assert all(verdict.holds for verdict in found.values())


def test_metadata_that_the_catalog_never_names_is_not_seen():
    """A writer that has put its metadata is in no table until the swap."""
    reference = Interpreter(TableCommit(log=CatalogSwap, WRITER=1))
    seen = set()
    todo = list(reference.initial_states())
    for now in todo:
        table = reference.look(now)
        seen.add((str(table.log.metadata[0, 0]), int(table.visible(0))))
        todo += [s for _, s in reference.successors(now) if s not in todo]

    assert seen == {("nobody", 0), ("WRITER0", 0), ("WRITER0", 1)}


def test_a_lock_whose_holder_pauses_loses_a_commit():
    """The other faults lose nothing: the lock of a writer that is dead expires."""
    found = check(TableCommit(log=CatalogLock))
    durable = next(f for f in found.findings if f.property.name == "durable")

    assert durable.verdict is Verdict.REFUTED
    assert durable.trace is not None
    assert [e.name for e in durable.trace.events if e.fault] == ["log.time_out"]
    assert all(v.holds for v in verdicts(log=CatalogLock, faults=0).values())


def test_a_late_name_brings_back_the_table_that_its_writer_had_read():
    """With three writers: the third has read what the second wrote, and keeps it."""
    story = (
        "read(0,0) read(1,0) prepare(0,0) log.time_out() prepare(1,0) put(1,0) "
        "read(2,1) prepare(2,1) put(0,0) put(2,1)"
    )
    reference = Interpreter(TableCommit(log=CatalogLock, WRITER=3))
    events = {str(e).replace(" ", ""): e for e in reference.events()}
    now = next(iter(reference.initial_states()))
    for word in story.split():
        after = reference.after(now, events[word])
        assert after is not None, word
        now = after

    table = reference.look(now)
    assert [int(table.visible(w)) for w in range(3)] == [0, 1, 1]
