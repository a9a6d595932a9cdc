"""What a sink leaves outside of its folder is cleaned up with the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.plan.run_plan import InterleavingPlan
from onceproof.spark_checks.replay.cleanup import (
    CleanupWarning,
    Leftovers,
    RunFolders,
)
from onceproof.spark_checks.replay.deviation import Deviation
from onceproof.spark_checks.replay.outcome import outcome_of
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.run_evidence import RunEvidence
from onceproof.spark_checks.replay.steering.interleaving_run import fresh_target
from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
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


class Server:
    """Stands for a store; another interleaving sweeps whenever a place is made."""

    def __init__(self, leftovers):
        self.leftovers, self.there = leftovers, set()

    def place(self, name):
        self.there.add(name)
        return name

    def drop(self, name):
        self.there.remove(name)


class SweptAtOnce(Leftovers):
    """Another interleaving sweeps as soon as a place is noted."""

    def add_place(self, folder, drop):
        super().add_place(folder, drop)
        self.sweep()


def test_a_place_outlives_the_sweeps_of_others_until_its_folder_goes(tmp_path):
    """Interleavings run at the same time, and each sweeps when it is over."""
    left = SweptAtOnce()
    server = Server(left)
    context = ReplayContext(
        None, None, None, None, None, tmp_path, leftovers=left, store=server
    )

    folder, target = fresh_target(context)
    there = set(server.there)
    shutil.rmtree(folder)
    left.sweep()

    assert there == {target.store}
    assert not server.there


def test_a_place_without_a_folder_is_refused_and_dropped(tmp_path):
    """The next sweep would take it away from the run that uses it."""
    left, dropped = Leftovers(), []

    with pytest.raises(FileNotFoundError):
        left.add_place(tmp_path / "none", lambda: dropped.append("one"))
    left.close(keep=True)

    assert dropped == ["one"]


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
    evidence = RunEvidence(InterleavingPlan(None), Deviation("it hangs"), folder)
    outcome = outcome_of(evidence, model=None, spark=None)
    folders = RunFolders(left, ReplayRequest(inspect=inspect))

    found = folders.settle(evidence, outcome, retain=True)

    assert found == (folder if inspect else None)
    assert built.done == [done]
    assert folder.exists() == inspect


@pytest.mark.parametrize(
    ("visible", "retain", "stays"),
    [(2, True, True), (2, False, False), (1, True, False)],
)
def test_the_run_that_breaks_a_claim_is_kept_where_the_request_wants_it(
    tmp_path, visible, retain, stays
):
    """A run that only confirms a break is not, and neither is one that breaks none."""
    left, folder = Leftovers(), tmp_path / "one"
    folder.mkdir()
    row = Row(0, accepted=True, outcomes=(EventOutcome(True, visible),))
    evidence = RunEvidence(InterleavingPlan(None), folder=folder)
    seen = History(("at rest",), (row,), (0,))
    outcome = outcome_of(evidence, model=None, spark=seen)
    request = ReplayRequest(retain=True, inspect=False, claims=(EFFECTIVELY_ONCE,))

    found = RunFolders(left, request).settle(evidence, outcome, retain=retain)

    assert folder.exists() == stays
    assert found == (folder if stays else None)
