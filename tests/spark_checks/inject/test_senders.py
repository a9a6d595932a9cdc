"""Who sends a request in Spark's JVM is known by its thread; else nothing is cut.

Threads of this process take the place of those of Spark's.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time

import pytest

from onceproof.spark_checks.inject.connections import Connections
from onceproof.spark_checks.inject.exchange_points import ALIKE, exchanges_in
from onceproof.spark_checks.inject.running_batch import BEFORE_BATCH, IN_BATCH
from onceproof.spark_checks.inject.tracing.whereabouts import OwnWhereabouts
from onceproof.spark_checks.plan.rules import (
    CUTS,
    DRIVER_EXCHANGE,
    LATE_REQUEST,
    LOSE_REPLY,
    Place,
    Rule,
    RuleSet,
)
from onceproof.spark_checks.session.processes.client_processes import alive
from onceproof.spark_checks.session.processes.waiting_threads import waiting_on
from onceproof.spark_checks.sinks.exchanges import ELSEWHERE, THREADS, UNSTEADY
from tests.spark_checks.stores.test_proxy import Echo, ask


class Threads:
    """Threads of this process, each with a name that Spark gives to threads."""

    def __init__(self):
        self.process = os.getpid()
        self.names = {}
        self.asked = []

    def java_of(self, thread):
        return thread

    def name_of(self, thread):
        self.asked.append(thread)
        return self.names.get(thread, "")


def task(partition, attempt=0, stage="3.0"):
    name = f"task {partition}.{attempt} in stage {stage} (TID 17)"
    return f"Executor task launch worker for {name}"


class Client:
    """A thread of a name, and its connection."""

    def __init__(self, spark, port, name):
        self._spark = spark
        self._port = port
        self._name = name
        self._asked = queue.Queue()
        self._heard = queue.Queue()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def _go(self):
        self._spark.names[threading.get_native_id()] = self._name
        with socket.create_connection(("127.0.0.1", self._port)) as mine:
            while (message := self._asked.get()) is not None:
                try:
                    self._heard.put(ask(mine, message))
                except OSError as error:
                    self._heard.put(error)

    def says(self, what=b"a\n"):
        self._asked.put(what)
        return self._heard.get(timeout=30)

    def ends(self):
        self._asked.put(None)
        self._thread.join(30)


@pytest.fixture
def spark(tmp_path):
    """Give connections to an echo server for which threads of a name send."""
    server, threads = Echo(), Threads()
    made = Connections((server.address,), tmp_path, spark=threads)
    clients = []

    def client(name):
        clients.append(Client(threads, made.port, name))
        return clients[-1]

    OwnWhereabouts(tmp_path).reach(Place(0), "line 3", 1)
    yield made, client, server
    for one in clients:
        one.ends()
    made.close()
    server.listener.close()


def rules(tmp_path, *some):
    return RuleSet(tuple(some), str(tmp_path), patience=5.0)


def known(made):
    return [(one.sender, one.number) for one in made.seen()[0]]


def test_tasks_are_told_apart_whichever_comes_first(tmp_path, spark):
    """Each has numbers of its own, and so has the driver; a retry is another one."""
    made, client, _ = spark
    made.begin(rules(tmp_path))
    driver, second, first = client("Thread-4"), client(task(1)), client(task(0))

    for one in (driver, second, first, second, first, driver):
        one.says()
    client(task(1, 1)).says()

    assert known(made) == [
        ("Spark's driver", 1),
        ("Spark's task 1", 1),
        ("Spark's task 0", 1),
        ("Spark's task 1", 2),
        ("Spark's task 0", 2),
        ("Spark's driver", 2),
        ("Spark's task 1, attempt 1", 1),
    ]
    assert {one.where.line for one in made.seen()[0]} == {"line 3"}
    assert not made.seen()[1]


@pytest.mark.parametrize("do", CUTS)
def test_the_exchange_of_one_task_is_cut(tmp_path, spark, do):
    """Not that of another task with the same number, nor that of its retry."""
    made, client, server = spark
    rule = Rule(
        DRIVER_EXCHANGE,
        "call",
        0,
        do,
        line="line 3",
        nth=1,
        exchange=2,
        sender="Spark's task 0",
        mark="stopped",
    )
    made.begin(rules(tmp_path, rule))
    other, cut, again = client(task(1)), client(task(0)), client(task(0, 1))

    heard = [one.says() for one in (other, other, cut, again, again)]
    before = (tmp_path / "stopped").exists()
    broken = cut.says(b"lost\n")
    made.settle()

    assert heard == [b"A\n"] * 5
    assert not before
    assert isinstance(broken, OSError)
    assert (tmp_path / "stopped").exists()
    assert server.lines.count(b"lost\n") == (do in (LOSE_REPLY, LATE_REQUEST))


def test_stages_of_a_line_that_come_one_after_the_other_are_told_apart(tmp_path, spark):
    """Where an older one goes on meanwhile, their order is not known."""
    made, client, _ = spark
    made.begin(rules(tmp_path))
    first, second = client(task(0, stage="3.0")), client(task(0, stage="4.0"))

    first.says()
    second.says()
    first.says()

    assert known(made) == [("Spark's task 0", 1), ("Spark's task 0 of stage 2", 1)]
    assert made.seen()[1] == {THREADS: 1}


def test_of_several_threads_of_the_driver_only_the_first_is_known(tmp_path, spark):
    """Which of them comes first differs from run to run."""
    made, client, _ = spark
    made.begin(rules(tmp_path))

    for name in ("Thread-4", "s3a-transfer-1"):
        client(name).says()

    assert known(made) == [("Spark's driver", 1)]
    assert made.seen()[1] == {THREADS: 1}


def test_what_comes_from_no_known_thread_or_line_is_counted(tmp_path, spark):
    """So it is where no code has Spark work, or that of two processes has."""
    made, client, _ = spark
    made.begin(rules(tmp_path))
    nameless, one = client(""), client(task(0))

    nameless.says()
    OwnWhereabouts(tmp_path).back(b"")
    one.says()

    assert known(made) == []
    assert made.seen()[1] == {ELSEWHERE: 2}


def test_what_spark_sends_by_itself_is_of_the_batch_of_its_query(tmp_path):
    """It is of the thread of the query, or of a task; of others it is not known."""
    server, threads = Echo(), Threads()
    query, marks = tmp_path / "checkpoint", tmp_path / "marks"
    (query / "offsets").mkdir(parents=True)
    marks.mkdir()
    made = Connections((server.address,), marks, spark=threads, checkpoint=query)
    made.begin(rules(marks))
    names = "Thread-4", "stream execution thread for [id = 1, runId = 2]", task(0)
    other, stream, worker = clients = [Client(threads, made.port, n) for n in names]

    for one in (other, other, stream):
        one.says()
    (query / "offsets" / "0").touch()
    for one in (other, other, stream, worker):
        one.says()
    seen, uncut = made.seen()
    for one in clients:
        one.ends()
    made.close()
    server.listener.close()

    assert [(one.sender, one.where.batch, one.where.line) for one in seen] == [
        ("Spark's driver", 0, BEFORE_BATCH),
        ("Spark's driver", 0, IN_BATCH),
        ("Spark's task 0", 0, IN_BATCH),
    ]
    assert uncut == {THREADS: 4}


@pytest.mark.parametrize("lives", [True, False])
def test_a_process_that_has_ended_runs_no_line(tmp_path, spark, lives):
    """Its mark stays; of two that live, nobody knows which one has Spark work."""
    made, client, _ = spark
    made.begin(rules(tmp_path))
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE) as other:
        mine = tmp_path / f"whereabouts-{os.getpid()}"
        (tmp_path / f"whereabouts-{other.pid}").write_bytes(mine.read_bytes())
        if not lives:
            other.stdin.close()
            deadline = time.monotonic() + 30
            while alive(other.pid) and time.monotonic() < deadline:
                time.sleep(0.01)
        client("Thread-4").says()

    assert made.seen()[1] == ({THREADS: 1} if lives else {})


def test_a_task_whose_number_of_requests_differs_is_not_cut(tmp_path, spark):
    """So a request that is counted for another task leaves the verdict open."""
    made, client, _ = spark
    found = []
    for names in ((0, 0, 1, 1), (0, 1, 1, 1)):
        made.begin(rules(tmp_path))
        for number in names:
            client(task(number)).says()
        found.append(made.seen())
    [(first, others), (again, _)] = found

    seen = exchanges_in(first, others, again)

    assert seen.not_cut == {UNSTEADY: 5}
    assert seen.unknown == 5
    assert not seen.places


def test_of_tasks_that_are_alike_one_is_cut(tmp_path, spark):
    """The one that sends most; each stage and the driver besides."""
    made, client, _ = spark
    made.begin(rules(tmp_path))
    for name in (task(0), task(1), task(1), "Thread-4", task(0, stage="4.0")):
        client(name).says()
    found, others = made.seen()

    seen = exchanges_in(found, others, found)

    assert seen.places == {
        "request 1 at line 3, by Spark's driver",
        "request 1 at line 3, by Spark's task 1",
        "request 2 at line 3, by Spark's task 1",
        "request 1 at line 3, by Spark's task 0 of stage 2",
    }
    assert seen.not_cut == {ALIKE: 1}
    assert not seen.unknown
    names = {one.place: one.name for one in seen.driver[0]}
    of_task = names["request 2 at line 3, by Spark's task 1"]
    assert of_task == "request 1 of connection 2 of Spark's task 1"


def waiting(wait, *ends):
    """Return whether a thread is seen to wait on the first of some connections."""
    begun = threading.Event()
    number = []

    def go():
        number.append(threading.get_native_id())
        begun.set()
        wait(*ends)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    begun.wait()
    deadline = time.monotonic() + 1
    found = None
    while found is None and time.monotonic() < deadline:
        found = waiting_on(os.getpid(), ends[0].fileno())
    again = waiting_on(os.getpid(), ends[0].fileno(), first=number[0])
    assert found == again
    assert found in (None, *number)
    return found is not None


def polls(*ends):
    asked = select.poll()
    for one in ends:
        asked.register(one, select.POLLIN)
    asked.poll()


def writes(end):
    asked = select.poll()
    end.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            end.send(bytes(1 << 16))
    asked.register(end, select.POLLOUT)
    asked.poll()


@pytest.mark.parametrize(
    ("wait", "count", "seen"),
    [
        (lambda end: end.recv(1), 1, True),
        (polls, 1, True),
        (polls, 2, False),
        (writes, 1, False),
        (lambda _, other: other.recv(1), 2, False),
    ],
)
def test_a_thread_is_seen_to_wait_for_one_connection(wait, count, seen):
    """Not one that waits for several, for another one, or to write."""
    pairs = [socket.socketpair() for _ in range(count)]

    found = waiting(wait, *(mine for mine, _ in pairs))

    assert found == seen
    for _, far in pairs:
        far.close()
