"""Dead runs leave folders that a later run removes: those, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session import scratch
from onceproof.spark_checks.session.scratch import (
    DEAD,
    KEPT,
    LIVE,
    MARK,
    Process,
    Scratch,
    left,
    started,
    sweep,
)
from onceproof.spark_checks.session.session_pool import SessionPool

RUN = """
import sys, time
from onceproof.spark_checks.session.scratch import Scratch, started
mine = Scratch()
if sys.argv[1] == "keep":
    mine.keep()
(mine.path / "session").mkdir()
(mine.path / "session" / "log").write_text("log")
print(mine.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Give a directory for temporary files that nobody else uses."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


class Run:
    """A run in a process of its own, with a scratch folder."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-c", RUN, *(words or ("",))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.folder = Path(self.process.stdout.readline().strip())

    def die(self) -> Path:
        """End as a crash would."""
        self.process.kill()
        self.process.wait()
        return self.folder


@pytest.fixture
def run():
    runs: list[Run] = []

    def begin(*words: str) -> Run:
        runs.append(Run(*words))
        return runs[-1]

    yield begin
    for one in runs:
        one.die()


def states() -> dict[Path, str]:
    return {one.folder: one.state for one in left()}


def test_the_folder_of_a_dead_run_is_removed(run):
    """It was live before, and stayed as long as that was so."""
    other = run()
    assert states() == {other.folder: LIVE}
    assert sweep() == []
    assert (other.folder / "session" / "log").is_file()

    other.die()

    assert states() == {other.folder: DEAD}
    assert sweep() == [other.folder]
    assert not other.folder.exists()


def test_a_folder_that_is_kept_stays(run):
    """Who asked for it looks at it later."""
    folder = run("keep").die()

    assert states() == {folder: KEPT}
    assert sweep() == []
    assert (folder / "session" / "log").is_file()


def test_a_run_that_ends_leaves_nothing_or_what_is_kept():
    """Of a run that keeps some folders the rest is gone; no later run takes them."""
    gone, some, whole = Scratch(), Scratch(), Scratch()
    for one in (gone, some, whole):
        (one.path / "a").mkdir()
        (one.path / "b").mkdir()

    gone.remove()
    some.remove(keeping=[some.path / "a"])
    whole.keep()
    whole.leave()

    assert not gone.path.exists()
    assert not (some.path / "b").exists()
    assert sweep() == []
    assert states() == {some.path: KEPT, whole.path: KEPT}
    assert (some.path / "a").is_dir()


def test_a_child_that_lives_on_keeps_the_folder_alive():
    """The lock is of all processes that a run forked."""
    mine = Scratch()
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(done[1])
        os.write(ready[1], b"x")
        os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    os.close(done[0])
    os.close(mine._lock)

    alive = states()
    os.close(done[1])
    os.waitpid(child, 0)

    assert alive == {mine.path: LIVE}
    assert sweep() == [mine.path]


def marked(folder: Path, /, **changes: object) -> None:
    """Write a mark as a run would, with something else in it."""
    found = {
        "format": "onceproof scratch folder",
        "folder": folder.name,
        "inode": folder.stat().st_ino,
        "process": 1,
        "processes": [],
        "kept": False,
    }
    (folder / MARK).write_text(json.dumps(found | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"folder": "onceproof-other"},
        {"inode": 1},
        {"format": "other"},
        {"kept": "no"},
        {"kept": None},
        {"processes": None},
    ],
)
def test_a_mark_that_was_made_for_no_such_folder_is_none(temporary, change):
    """A folder that was copied, or that another program made, is not touched."""
    folder = temporary / "onceproof-abc"
    folder.mkdir()
    marked(folder)
    assert states() == {folder: DEAD}

    marked(folder, **change)

    assert states() == {}
    assert sweep() == []
    assert folder.is_dir()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", "1", "[" * 100_000, "\0", '{"a": 1']
)
def test_a_damaged_mark_is_none(temporary, content):
    """Nor is one that was half-written, or one that is of hostile form."""
    folder = temporary / "onceproof-abc"
    folder.mkdir()
    (folder / MARK).write_text(content)

    assert sweep() == []
    assert folder.is_dir()


def test_what_is_no_folder_of_ours_is_not_touched(temporary, tmp_path):
    """Links to folders and marks, other names, files; marks that are pipes, folders."""
    elsewhere = tmp_path / "onceproof-elsewhere"
    elsewhere.mkdir()
    marked(elsewhere)
    (temporary / "onceproof-elsewhere").symlink_to(elsewhere)
    other = temporary / "other"
    other.mkdir()
    marked(other)
    for name in ("link", "pipe", "folder", "none", "hard"):
        (temporary / f"onceproof-{name}").mkdir()
    (temporary / "onceproof-link" / MARK).symlink_to(elsewhere / MARK)
    os.mkfifo(temporary / "onceproof-pipe" / MARK)
    (temporary / "onceproof-folder" / MARK).mkdir()
    hard = temporary / "onceproof-hard"
    marked(hard)
    os.link(hard / MARK, temporary / "twice")
    (temporary / "onceproof-file").touch()
    before = sorted(str(path) for path in tmp_path.rglob("*"))

    assert left() == []
    assert sweep() == []
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_links_inside_of_a_dead_folder_are_not_followed(run, tmp_path):
    """What they lead to is not the run's."""
    theirs = tmp_path / "theirs"
    (theirs / "deep").mkdir(parents=True)
    (theirs / "deep" / "file").write_text("theirs")
    other = run()
    (other.folder / "link").symlink_to(theirs)
    (other.folder / "session" / "link").symlink_to(theirs)

    other.die()

    assert sweep() == [other.folder]
    assert (theirs / "deep" / "file").read_text() == "theirs"


def test_a_folder_of_another_user_is_not_touched(run, monkeypatch):
    """Neither it nor its mark is this user's."""
    folder = run().die()
    monkeypatch.setattr(scratch.os, "geteuid", lambda: os.getuid() + 1)

    assert left() == []
    assert sweep() == []
    assert folder.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="gives folders to another user")
@pytest.mark.parametrize("place", ["", MARK])
def test_a_folder_or_a_mark_that_was_given_away_is_not_touched(run, place):
    """Both must be this user's own."""
    folder = run().die()
    os.chown(folder / place, 12_345, -1)

    assert left() == []
    assert sweep() == []
    assert (folder / MARK).is_file()


def test_a_run_that_lives_is_not_swept_even_if_it_was_taken_for_dead(run):
    """Its lock is taken before anything of it is removed."""
    folder = run().folder

    assert scratch._swept(folder) == []
    assert (folder / "session" / "log").is_file()


@pytest.fixture
def sleeper():
    """Start a process that leads a group, as a JVM does."""
    process = subprocess.Popen(["sleep", "600"], process_group=0)
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_what_a_dead_run_left_running_is_ended(run, sleeper):
    """It is the very process that the run noted."""
    other = run()
    started(other.folder, sleeper.pid)
    other.die()
    (one,) = left()
    assert [process.number for process in one.running] == [sleeper.pid]

    sweep()

    assert sleeper.wait(10) == -signal.SIGKILL


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
@pytest.mark.parametrize("change", [{"began": 1}, {"system": "another"}, {"number": 1}])
def test_a_process_that_is_another_is_left_alone(run, sleeper, change):
    """Its number was given anew, it is of another boot, or of another container."""
    other = run()
    noted = Process.of(sleeper.pid)
    assert noted is not None
    other.die()
    several = [vars(replace(noted, **change)), {"number": -1}, 5, None]
    marked(other.folder, processes=several)

    assert sweep() == [other.folder]
    assert sleeper.poll() is None


def test_a_lab_removes_what_dead_runs_left(run):
    """As it begins; its own folder is gone as it ends."""
    folder, pool = run().die(), SessionPool(ENTRY_POINTS)

    mine = pool.scratch

    assert not folder.exists()
    assert states() == {mine: LIVE}
    pool.close()
    assert states() == {}


def test_what_cannot_be_removed_is_tried_again(run, monkeypatch):
    """The mark is the last to go, so that a folder that was cut short is still ours."""
    folder = run().die()
    whole = shutil.rmtree
    monkeypatch.setattr(scratch.shutil, "rmtree", lambda *_, **__: None)

    assert sweep() == []
    assert states() == {folder: DEAD}
    monkeypatch.setattr(scratch.shutil, "rmtree", whole)
    assert sweep() == [folder]


def doctor(*words: str):
    return CliRunner().invoke(main, ["doctor", *words])


def test_doctor_shows_dead_live_and_kept_runs_and_cleans(run):
    """In a table and as JSON; --clean removes the dead ones."""
    live, dead, kept = run(), run(), run("keep")
    dead.die()
    kept.die()

    data = {f["name"]: f for f in json.loads(doctor("--json").stdout)}
    cleaned = doctor("--clean", "--json")

    assert str(live.folder) in data["live run"]["version"]
    assert str(live.process.pid) in data["live run"]["version"]
    assert str(kept.folder) in data["kept run"]["version"]
    assert str(dead.folder) in data["dead run"]["problem"]
    assert "onceproof doctor --clean" in data["dead run"]["problem"]
    assert not any(f["needed"] for n, f in data.items() if n.endswith(" run"))
    assert cleaned.stderr == "scratch folders of dead runs removed: 1\n"
    assert "dead run" not in cleaned.stdout
    assert states() == {live.folder: LIVE, kept.folder: KEPT}
    assert "live run" in doctor().stdout
