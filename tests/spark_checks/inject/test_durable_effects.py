"""What a process leaves that outlives it is seen, however it is left."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from onceproof.spark_checks.inject.tracing import system_calls
from onceproof.spark_checks.inject.tracing.durable_effects import (
    DurableEffects,
    LeftBehind,
)
from onceproof.spark_checks.inject.tracing.system_calls import Calls

NOTHING = LeftBehind(nothing=True, others_ran=False)


@pytest.fixture
def effects(tmp_path):
    made = DurableEffects(tmp_path)
    yield made
    made.close()


@pytest.fixture
def server():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    yield listening.getsockname()
    listening.close()


def happens(effects, what):
    effects.begin()
    what()
    return effects.since()


@pytest.mark.own_process
def test_what_stays_in_memory_is_nothing(effects, tmp_path):
    """Reading, computing, and writing into a buffer or an open transaction."""
    (tmp_path / "old").write_text("old")
    file = (tmp_path / "new").open("w")
    database = sqlite3.connect(tmp_path / "db")
    database.execute("CREATE TABLE t (n INTEGER)")
    database.commit()
    database.execute("INSERT INTO t VALUES (1)")

    def work():
        sum(range(1000))
        (tmp_path / "old").read_text()
        file.write("held back")
        database.execute("INSERT INTO t VALUES (2)")
        database.execute("SELECT * FROM t").fetchall()

    assert happens(effects, work) == NOTHING
    assert not happens(effects, database.commit).nothing
    assert not happens(effects, file.close).nothing
    database.close()


@pytest.mark.own_process
def test_what_ends_with_the_process_is_nothing(effects, tmp_path, server):
    """Locks, files that are closed, and connections that say nothing more."""
    file = (tmp_path / "locked").open("w")
    client = socket.create_connection(server)

    assert happens(effects, lambda: fcntl.flock(file, fcntl.LOCK_EX)) == NOTHING
    assert happens(effects, file.close) == NOTHING
    assert happens(effects, client.close) == NOTHING


def test_files_that_are_changed_by_compiled_code_are_seen(effects, tmp_path):
    """Python does not know of it."""
    libc, here = ctypes.CDLL(None), bytes(tmp_path)
    (tmp_path / "old").write_text("old")
    calls = [
        lambda: libc.rename(here + b"/old", here + b"/moved"),
        lambda: libc.chmod(here + b"/moved", 0o600),
        lambda: libc.truncate(here + b"/moved", ctypes.c_long(1)),
        lambda: libc.unlink(here + b"/moved"),
        lambda: libc.mkdir(here + b"/made", 0o700),
        lambda: libc.creat(here + b"/file", 0o600),
    ]

    assert [happens(effects, call).nothing for call in calls] == [False] * 6


@pytest.mark.own_process
def test_what_is_said_on_a_connection_is_seen(effects, server):
    """One that is opened and closed meanwhile, too, whoever opens it."""
    client = socket.create_connection(server)
    near, far = socket.socketpair()
    datagram = socket.socket(type=socket.SOCK_DGRAM)

    def come_and_go():
        with socket.create_connection(server) as brief:
            brief.send(b"?")

    assert not happens(effects, lambda: client.send(b"?")).nothing
    assert not happens(effects, lambda: near.sendall(b"?")).nothing
    assert not happens(effects, lambda: datagram.sendto(b"?", server)).nothing
    assert not happens(effects, come_and_go).nothing
    assert happens(effects, lambda: far.recv(9)) == NOTHING
    for end in (client, near, far, datagram):
        end.close()


@pytest.mark.own_process
def test_memory_that_is_a_file_hides_what_is_written(effects, tmp_path):
    """From then on nothing is known."""
    (tmp_path / "file").write_text("text")
    with (tmp_path / "file").open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)

    assert happens(effects, lambda: None).others_ran
    mapped.close()


@pytest.mark.own_process
def test_memory_that_is_a_file_already_hides_it_too(tmp_path):
    (tmp_path / "file").write_text("text")
    with (tmp_path / "file").open("r+b") as file, mmap.mmap(file.fileno(), 0):
        effects = DurableEffects(tmp_path)
        assert happens(effects, lambda: None).others_ran
        effects.close()


@pytest.mark.own_process
def test_a_process_that_is_started_may_do_anything(effects):
    subprocess.run([sys.executable, "-c", ""], check=True)

    assert happens(effects, lambda: None).others_ran


@pytest.mark.own_process
def test_what_another_thread_leaves_falls_where_it_falls(effects, tmp_path):
    """A thread that leaves nothing does no harm."""
    over = threading.Event()

    def run(work):
        over.clear()
        other = threading.Thread(target=lambda: (over.wait(), work()))
        other.start()
        time.sleep(0.02)
        return happens(effects, lambda: (over.set(), other.join()))

    assert run((tmp_path / "mine").exists) == NOTHING
    found = run((tmp_path / "mine").touch)
    assert not found.nothing
    assert found.others_ran


def test_a_process_that_cannot_be_watched_may_do_anything(tmp_path, monkeypatch):
    """Something else watches it, or the system does not let anybody."""
    monkeypatch.setattr(system_calls, "__file__", str(tmp_path / "none.py"))

    effects = DurableEffects(tmp_path)

    assert happens(effects, lambda: None) == LeftBehind(nothing=False, others_ran=True)
    effects.close()


def test_the_end_of_the_watcher_ends_what_is_known(effects):
    effects.begin()
    effects._watcher.kill()
    effects._watcher.wait()

    assert effects.since() == LeftBehind(nothing=False, others_ran=True)


def test_a_process_goes_on_unwatched_at_its_speed(tmp_path):
    effects = DurableEffects(tmp_path)
    [tracer] = tracers()
    assert tracer != "0"

    effects.close()

    assert tracers() == ["0"]


def tracers():
    status = Path("/proc/self/status").read_text().splitlines()
    return [n.split()[1] for n in status if n.startswith("TracerPid:")]


@pytest.mark.parametrize(
    ("machine", "write", "read"), [(0xC000003E, 1, 0), (0xC00000B7, 64, 63)]
)
def test_calls_are_known_by_the_numbers_of_the_machine(machine, write, read):
    calls, nothing = Calls(machine), (0,) * 6

    assert calls.leaves(write, nothing)
    assert not calls.leaves(read, nothing)
    assert calls.leaves(10_000, nothing)


def test_on_an_unknown_machine_nothing_is_known():
    with pytest.raises(KeyError):
        Calls(0x40000003)


def test_without_a_beginning_nothing_is_known(effects):
    assert not effects.since().nothing
    effects.begin()
    assert effects.since().nothing
    assert not effects.since().nothing


@pytest.mark.own_process
@pytest.mark.parametrize("flag", [os.O_CREAT, os.O_TRUNC, os.O_CREAT | os.O_RDWR])
def test_a_file_that_is_opened_to_be_made_is_seen(effects, tmp_path, flag):
    (tmp_path / "here").touch()
    opened = []

    def open_it(flags):
        return lambda: opened.append(os.open(tmp_path / "here", flags))

    assert not happens(effects, open_it(flag)).nothing
    assert happens(effects, open_it(os.O_RDONLY)) == NOTHING
    for number in opened:
        os.close(number)
