"""Connections to a store's port that do not lead through the proxy are found."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from onceproof.spark_checks.session.processes import past_connections
from onceproof.spark_checks.session.processes.client_processes import missing
from onceproof.spark_checks.session.processes.past_connections import (
    PastConnections,
    PastWatch,
)

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

HOLDS = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))):
    print("connected", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store():
    """Listen, as a store does."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def other(store):
    """Start a process that connects to a store, and keeps it."""
    command = [sys.executable, "-c", HOLDS, str(store.getsockname()[1])]
    made = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert made.stdout is not None
    assert made.stdout.readline()
    return made


def found(store, work, *, ours=(), codes=()):
    """Watch some work."""
    port = store.getsockname()[1]
    watch = PastWatch(lambda: [port], lambda: ours, lambda: codes, None)
    watch.begin()
    work()
    watch.end()
    return watch.found


def test_a_connection_that_the_code_holds_is_found(store):
    """It may be older than the run. Nobody else's counts."""
    made = other(store)
    try:
        of_code = found(store, lambda: None, codes=[made.pid])
        of_others = found(store, lambda: None)
    finally:
        made.communicate("")

    assert of_code == PastConnections(held=1)
    assert of_others == PastConnections()


@pytest.mark.parametrize("first", ["client", "store"])
def test_one_that_has_ended_is_found_but_not_whose_it_was(store, first, monkeypatch):
    """Whichever end closes first; what the proxy has opened is its own."""
    monkeypatch.setattr(past_connections, "_EVERY", 60.0)  # it looks at the end only
    ports = []

    def work():
        with socket.create_connection(store.getsockname()) as client:
            ports.append(client.getsockname()[1])
            accepted, _ = store.accept()
            ends = [client, accepted] if first == "client" else [accepted, client]
            for end in ends:
                end.close()

    past = found(store, work)
    own = found(store, work, ours=ports)

    assert past == PastConnections(unknown=1)
    assert own == PastConnections()


def test_a_connection_of_the_jvm_from_before_is_none_when_it_ends(store):
    """It is one of another sink's; nobody holds it any more when it is looked for."""
    port = store.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)):
        far, _ = store.accept()
        watch = PastWatch(lambda: [port], lambda: (), lambda: (), os.getpid())
        watch.begin()
    far.close()
    watch.end()

    assert watch.found == PastConnections()
