"""What a sink leaves outside of its folder is cleaned up with the folder."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.spark_checks.replay import engine
from onceproof.spark_checks.replay.cleanup import CleanupWarning, Leftovers
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.sinks.interface import Target


class Fake:
    """Stands for a built sink: it notes what is done with it."""

    def __init__(self, cleanups=1, problems=()):
        self.cleanups, self.problems, self.done = cleanups, problems, []

    def clean(self):
        self.done.append("clean")
        return list(self.problems)

    def drop(self):
        self.done.append("drop")


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("gone", "kept", "under way")]
    for folder in made:
        folder.mkdir()
    return made


def test_functions_are_called_last_first_and_all_of_them():
    """One that fails is said to, and keeps no other from its work."""
    called = []
    target = Target(Path("/x"), "x")

    def fails():
        called.append("fails")
        raise OSError("no such table")

    target.cleanup(lambda: called.append("first"))
    target.cleanup(fails)
    target.cleanup(lambda: called.append("last"))

    problems = target.clean()

    assert called == ["last", "fails", "first"]
    [problem] = problems
    assert "fails raised OSError: no such table" in problem
    assert not target.clean()


def test_what_belongs_to_a_folder_that_is_gone_is_cleaned_up(folders):
    """The others wait: they may be kept."""
    left, built = Leftovers(), [Fake(), Fake(), Fake()]
    for folder, one in zip(folders, built, strict=True):
        left.add(folder, one)
    folders[0].rmdir()
    left.keep(folders[1])

    left.sweep()
    before = [[*one.done] for one in built]
    left.close(keep=False)
    left.close(keep=False)

    assert before == [["clean"], ["drop"], []]
    assert [one.done for one in built] == [["clean"], ["drop"], ["clean"]]


def test_nothing_is_cleaned_up_where_all_is_kept(folders):
    """Somebody wants to look at it."""
    left, built = Leftovers(), Fake()
    left.add(folders[0], built)

    left.close(keep=True)

    assert built.done == ["drop"]


def test_a_sink_that_registers_nothing_is_let_go(folders):
    """No process is kept for it."""
    left, built = Leftovers(), Fake(cleanups=0)
    left.add(folders[0], built)

    left.close(keep=False)

    assert built.done == []


@pytest.mark.filterwarnings("error")
def test_what_fails_is_a_warning_and_no_error(folders):
    """Also where warnings are errors: a verdict must not be hidden."""
    left = Leftovers()
    left.add(folders[0], Fake(problems=["drop raised OSError: away"]))

    with pytest.warns(CleanupWarning, match="gone is not cleaned up: drop raised"):
        left.close(keep=False)


@pytest.mark.parametrize(("inspect", "done"), [(True, "drop"), (False, "clean")])
def test_a_run_that_went_amiss_is_kept_only_where_somebody_looks(
    tmp_path, inspect, done
):
    """Else its folder goes with the session, and what it left elsewhere goes, too."""
    left, built, folder = Leftovers(), Fake(), tmp_path / "amiss"
    folder.mkdir()
    left.add(folder, built)
    amiss = Outcome(None, None, None, (), 0.0, not_replayed="it hangs", folder=folder)
    context = SimpleNamespace(leftovers=left)

    engine._tidied(amiss, context, None, ReplayRequest(inspect=inspect))

    assert built.done == [done]
    assert folder.exists() == inspect
