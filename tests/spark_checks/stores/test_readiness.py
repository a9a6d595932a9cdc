"""What can be read or written is found, whatever number its descriptor has."""

from __future__ import annotations

import fcntl
import resource
import socket
import time
from contextlib import suppress

import pytest

from onceproof.spark_checks.stores.readiness import first_ready

ABOVE = 1100


@pytest.fixture
def two():
    ends = socket.socketpair()
    yield ends
    for end in ends:
        end.close()


@pytest.fixture
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * ABOVE), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_descriptor_may_be_above_what_select_takes(two):
    """Select raises for it, and the proxy closed the connection of the client."""
    here, there = two
    with socket.socket(fileno=fcntl.fcntl(here, fcntl.F_DUPFD, ABOVE)) as high:
        there.send(b"x")

        assert high.fileno() >= ABOVE
        assert first_ready([high], [high], 1) == ([high], [high])


def test_what_has_nothing_to_say_is_waited_for(two):
    """The time is in seconds, and not in thousandths."""
    here, _ = two
    began = time.monotonic()

    found = first_ready([here], [], 0.05)

    assert found == ([], [])
    assert time.monotonic() - began >= 0.05


def test_each_is_found_by_what_was_asked_of_it(two):
    """What can be written was not asked whether it can be read."""
    here, there = two
    there.send(b"x")

    assert first_ready([here], [there], 1) == ([here], [there])
    assert first_ready([], [here], 1) == ([], [here])
    assert first_ready([there], [here], 1) == ([], [here])


def test_what_is_full_cannot_be_written(two):
    """There is room again once the other end has read."""
    here, there = two
    here.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            here.send(b"x" * 65536)

    full = first_ready([], [here], 0)
    while first_ready([there], [], 0)[0]:
        there.recv(1 << 20)

    assert full == ([], [])
    assert first_ready([], [here], 1) == ([], [here])


def test_an_end_can_be_read(two):
    """It reads as nothing, which says that the other end has finished."""
    here, there = two
    there.close()

    assert first_ready([here], [], 1)[0] == [here]
    assert here.recv(1) == b""


def test_what_is_closed_is_no_connection(two):
    """Whoever passes on learns so, and does not wait for ever."""
    here, _ = two
    here.close()

    with pytest.raises((OSError, ValueError)):
        first_ready([here], [], 1)
