"""What tasks report of a level is put together in any order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from onceproof.model.errors import UsageError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.search.native.portable import PortableExpander
from onceproof.model.search.states.layout import Layout
from onceproof.model.search.visited_states import VisitedStates
from onceproof.spark_checks.engine.level_jobs import LevelSummary
from onceproof.spark_checks.engine.progress_file import (
    alone_in,
    note_progress,
    read_progress,
)

SEEN = [
    LevelSummary(3, {1}, [1, 0], {"a": (4, 0)}),
    LevelSummary(5, {2, 7}, [2, 8], {"a": (3, 9), "b": (1, 1)}),
    LevelSummary(0, set(), [], {}),
]


def test_summaries_are_the_same_in_every_order():
    """The least state counts, flags are united, and steps are added up."""
    found = []
    for order in itertools.permutations(SEEN):
        whole = LevelSummary()
        for one in order:
            whole.add(LevelSummary.of_json(one.as_json()))
        found.append(whole)

    expected = LevelSummary(8, {1, 2, 7}, [3, 8], {"a": (3, 9), "b": (1, 1)})
    assert found == [expected] * 6


@pytest.mark.parametrize("name", ["two-phase-commit", "raft-election", "transactions"])
def test_a_portable_expander_takes_the_steps_of_the_search(name):
    """Successors, events and flags are those of the search in this process."""
    system = trace(make(name, {}))
    graph = VisitedStates(system)
    graph.start()
    graph.grow()
    graph.grow()
    rows = graph.states[: graph.count].copy()

    made = PortableExpander.of(
        system,
        Layout(system.fields, system.sizes),
        claims=[],
        flag_words=graph.flags.words,
        step_claims=[],
        symmetry=None,
    ).expand(rows)

    expected = graph.expand_rows(rows)
    assert made.generated == expected.generated > 0
    assert (made.states == expected.states).all()
    assert (made.events == expected.events).all()
    assert (made.sources == expected.sources).all()
    assert (made.flags == expected.flags.rows).all()
    assert system.events() == graph.events
    assert len(np.unique(made.events)) > 1


def test_a_folder_of_another_search_is_refused(tmp_path):
    """Neither another model's states nor other files count as states."""
    note_progress(tmp_path, read_progress(tmp_path, "mine", 8))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "search.json").write_text('{"form": 1, "iden')

    assert read_progress(tmp_path, "mine", 4).buckets == 8
    with pytest.raises(UsageError, match="another model"):
        read_progress(tmp_path, "yours", 8)
    with pytest.raises(UsageError, match="something other than a search"):
        read_progress(tmp_path / "other", "mine", 8)
    with pytest.raises(UsageError, match="cannot be read"):
        read_progress(tmp_path / "torn", "mine", 8)


def test_nothing_is_added_to_a_folder_of_other_files(tmp_path):
    """It is refused before a lock is put there."""
    (tmp_path / "mine.txt").touch()

    with pytest.raises(UsageError, match="other than a search"), alone_in(tmp_path):
        pass

    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_two_searches_do_not_share_a_folder(tmp_path):
    """The second one is refused while the first goes on."""
    folder = tmp_path / "states"

    with (
        alone_in(folder),
        pytest.raises(UsageError, match="another search is under way"),
        alone_in(folder),
    ):
        pass
    with alone_in(folder):
        pass
