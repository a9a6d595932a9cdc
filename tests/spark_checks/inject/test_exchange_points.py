"""Exchanges are known by where the code is; what is not known for sure is not cut."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import replace

import pytest

from onceproof.spark_checks.inject.connections import (
    REPEATED_IN_TIME,
    Connections,
    SeenRequest,
)
from onceproof.spark_checks.inject.exchange_points import REPEATED, exchanges_in
from onceproof.spark_checks.inject.senders import OUTSIDE
from onceproof.spark_checks.inject.tracing.whereabouts import (
    OwnWhereabouts,
    Whereabouts,
    processes,
    whereabouts_of,
)
from onceproof.spark_checks.plan.rules import (
    DRIVER_EXCHANGE,
    LATE_REQUEST,
    LINES,
    LOSE_REPLY,
    LOSE_REQUEST,
    WORK,
    Place,
    Rule,
    RuleSet,
)
from onceproof.spark_checks.sinks.exchanges import (
    BEYOND,
    ELSEWHERE,
    THREADS,
    UNANSWERED,
    UNSTEADY,
    kind_of_request,
)
from tests.spark_checks.stores.test_framed_passing import Letters, Store, heard, said
from tests.spark_checks.stores.test_proxy import Echo, ask


def requests(*points, batch=0, partition=None, link="a"):
    """Make the requests of a run, several at some points."""
    numbers = {}
    found = []
    for line, time_ in points:
        numbers[line, time_] = numbers.get((line, time_), 0) + 1
        function = LINES if partition is None else WORK
        where = Whereabouts(function, batch, partition, None, line, time_)
        found.append(SeenRequest(where, numbers[line, time_], link, answered=True))
    return found


def ask_in_vain(made):
    """Ask on a connection of its own, which breaks."""
    with (
        socket.create_connection(("127.0.0.1", made.port)) as client,
        pytest.raises(OSError),  # noqa: PT011 - whichever a broken connection gives
    ):
        ask(client, b"a\n")


def test_exchanges_are_numbered_by_point_and_named_by_connection():
    """So they are found again, on whatever connection."""
    sent = [
        *requests(("connect", 1), ("connect", 1), ("insert", 1)),
        *requests(("insert", 2), link="b"),
    ]

    seen = exchanges_in(sent, {}, sent)

    assert [one.place for one in seen.driver[0]] == [
        "request 1 at connect",
        "request 2 at connect",
        "request 1 at insert",
        "request 1 at insert",
    ]
    assert seen.driver[0][2].name == "request 3 of connection 1"
    assert seen.driver[0][3].name == "request 1 of connection 2"
    assert seen.sizes == {"DRIVER_EXCHANGE": 5, "TASK_EXCHANGE": 1}


def test_where_two_runs_differ_no_exchange_is_cut():
    """It would not be known which one was."""
    first = requests(("flush", 1), ("flush", 1), ("commit", 1))
    again = requests(("flush", 1), ("commit", 1), ("late", 1))

    seen = exchanges_in(first, {}, again)

    assert seen.places == {"request 1 at commit"}
    assert seen.not_cut == {UNSTEADY: 3}
    assert seen.unknown == 3


def test_of_many_exchanges_at_a_line_the_first_and_last_are_cut():
    """The others are counted."""
    many = requests(*(("insert", n) for n in range(1, 101)))

    seen = exchanges_in(many, {}, many)

    assert [one.time for one in seen.driver[0]] == [1, 2, 3, 4, 97, 98, 99, 100]
    assert seen.not_cut == {REPEATED: 92}
    assert not seen.unknown


def test_each_step_of_a_call_is_cut_though_it_has_many():
    """The commit of a table's log is somewhere in the midst of its requests."""
    call = requests(*(("write", 1) for _ in range(11)))

    seen = exchanges_in(call, {}, call)

    assert [one.number for one in seen.driver[0]] == list(range(1, 12))
    assert seen.not_cut == {}


def test_each_step_of_a_call_that_repeats_is_cut_at_its_ends():
    calls = requests(*(("write", n) for n in range(1, 21) for _ in range(3)))

    seen = exchanges_in(calls, {}, calls)

    times = [1, 2, 3, 4, 17, 18, 19, 20]
    assert [one.time for one in seen.driver[0] if one.number == 1] == times
    for step in (2, 3):
        assert [one.time for one in seen.driver[0] if one.number == step] == [1, 20]
    assert seen.not_cut == {REPEATED: 60 - 12}
    assert not seen.unknown


def test_a_call_with_too_many_steps_leaves_the_verdict_open():
    """Nobody knows whether those in the midst are like the others."""
    call = requests(*(("write", 1) for _ in range(100)))
    most = requests(*(("write", 1) for _ in range(64)))

    seen = exchanges_in(call, {}, call)

    numbers = [one.number for one in seen.driver[0]]
    assert numbers == [*range(1, 33), *range(69, 101)]
    assert seen.not_cut == {BEYOND: 36}
    assert seen.unknown == 36
    assert not exchanges_in(most, {}, most).unknown


def test_of_a_kind_those_of_each_line_are_cut_at_their_ends():
    """Twelve of a kind from three lines differ; twelve from one line repeat."""
    kind = kind_of_request("Produce")
    sent = requests(*((kind, 1) for _ in range(12)))
    for at, one in enumerate(sent):
        one.reached = f"line {at // 4}"
    alike = requests(*((kind, 1) for _ in range(12)))

    assert len(exchanges_in(sent, {}, sent).driver[0]) == 12
    assert exchanges_in(alike, {}, alike).not_cut == {REPEATED: 4}


def test_what_the_store_does_not_answer_leaves_the_verdict_open():
    """It cannot be cut, and a broken connection would lose it."""
    sent = requests(("flush", 1))

    assert exchanges_in(sent, {UNANSWERED: 2}, sent).unknown == 2


def test_of_tasks_all_places_are_cut_in_some_partition():
    """The task that has the most comes first."""
    sent = [
        *requests(("a", 1), ("b", 1), partition=1),
        *requests(("a", 1), partition=0),
        *requests(("c", 1), partition=0),
    ]

    seen = exchanges_in(sent, {}, sent)

    assert [(p, one.point) for p, one in seen.of_tasks(0)] == [
        (0, "a"),
        (0, "c"),
        (1, "b"),
    ]


def test_a_process_says_where_its_code_is(tmp_path):
    """Of two threads at once, nobody knows which one talks to a store."""
    here = OwnWhereabouts(tmp_path)
    place = Place(1, 2, 0, "run")

    here.reach(place, "line 3", 4)
    [me] = processes(tmp_path)
    found = whereabouts_of(tmp_path, me)
    other = threading.Thread(target=here.reach, args=(place, "line 9", 1))
    other.start()
    other.join()
    with pytest.raises(LookupError):
        whereabouts_of(tmp_path, me)
    fresh = OwnWhereabouts(tmp_path)
    fresh.reach(place, "line 5", 1)
    fresh.back(b"")

    assert found == Whereabouts(WORK, 1, 2, 0, "line 3", 4)
    assert whereabouts_of(tmp_path, me) is None
    assert whereabouts_of(tmp_path, 1) is None


@pytest.fixture
def connections(tmp_path):
    """Give connections to an echo server, and the server."""
    server = Echo()
    made = Connections((server.address,), tmp_path)
    yield made, server
    made.close()
    server.listener.close()


def rules(tmp_path, *some):
    return RuleSet(tuple(some), str(tmp_path), patience=5.0)


def cut(do, exchange=1, **more):
    return Rule(
        DRIVER_EXCHANGE,
        "call",
        0,
        do,
        line="line 3",
        nth=1,
        exchange=exchange,
        mark="stopped",
        **more,
    )


@pytest.mark.parametrize("do", [LOSE_REQUEST, LOSE_REPLY])
def test_the_exchange_at_a_point_is_cut_and_leaves_its_mark(tmp_path, connections, do):
    """Once; those before it, and all after it, are passed on."""
    made, server = connections
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path, cut(do, 2)))

    with socket.create_connection(("127.0.0.1", made.port)) as client:
        here.reach(Place(0), "line 3", 1)
        assert ask(client, b"a\n") == b"A\n"
        assert not (tmp_path / "stopped").exists()
        with pytest.raises(OSError):  # noqa: PT011 - whichever a broken connection gives
            ask(client, b"b\n")
    with socket.create_connection(("127.0.0.1", made.port)) as client:
        assert ask(client, b"c\n") == b"C\n"
    made.end()

    assert (tmp_path / "stopped").exists()
    lost = [] if do == LOSE_REQUEST else [b"b\n"]
    assert server.lines == [b"a\n", *lost, b"c\n"]
    numbers = [one.number for one in made.seen()[0]]
    assert numbers == ([1, 3] if do == LOSE_REQUEST else [1, 2, 3])


def test_what_is_sent_as_a_connection_closes_is_no_request(tmp_path, connections):
    """The code may be anywhere by the time that it is seen."""
    made, server = connections
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path))

    here.reach(Place(0), "line 3", 1)
    for _ in range(4):
        client = socket.create_connection(("127.0.0.1", made.port))
        ask(client, b"a\n")
        client.sendall(b"bye\n")
        client.close()
    deadline = time.monotonic() + 5
    while server.lines.count(b"bye\n") < 4 and time.monotonic() < deadline:
        time.sleep(0.01)

    assert server.lines.count(b"bye\n") == 4
    assert len(made.seen()[0]) == 4


def test_requests_of_no_known_place_are_counted_and_passed_on(tmp_path, connections):
    """Of processes without such code, outside of it, and of several threads."""
    made, _ = connections
    made.begin(rules(tmp_path, cut(LOSE_REQUEST)))
    here = OwnWhereabouts(tmp_path)

    with socket.create_connection(("127.0.0.1", made.port)) as client:
        ask(client, b"a\n")
        here.back(b"")
        ask(client, b"b\n")
        here.reach(Place(0), "line 3", 1)
        other = threading.Thread(target=here.reach, args=(Place(0), "line 9", 1))
        other.start()
        other.join()
        ask(client, b"c\n")

    assert made.seen() == ([], {ELSEWHERE: 1, OUTSIDE: 1, THREADS: 1})
    assert not (tmp_path / "stopped").exists()


def test_a_cut_that_waits_in_vain_is_none(tmp_path, connections):
    """It is passed on, and a mark says why nothing is judged."""
    made, _ = connections
    rule_set = rules(tmp_path, cut(LOSE_REQUEST, await_=("never",)))
    made.begin(RuleSet(rule_set.rules, str(tmp_path), patience=0.05))
    OwnWhereabouts(tmp_path).reach(Place(0), "line 3", 1)

    with socket.create_connection(("127.0.0.1", made.port)) as client:
        assert ask(client, b"a\n") == b"A\n"

    [unmet] = tmp_path.glob("unmet-*")
    assert "waited in vain for never" in unmet.read_text()


def late(tmp_path, made):
    """Send a request that is late."""
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path, cut(LATE_REQUEST)))
    here.reach(Place(0), "line 3", 1)
    ask_in_vain(made)
    return here


def test_the_arrival_of_a_late_request_leaves_its_mark(tmp_path, connections):
    """Not before the store has replied to it."""
    made, _ = connections
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path, cut(LATE_REQUEST, landed="arrived")))
    here.reach(Place(0), "line 3", 1)

    ask_in_vain(made)
    before = (tmp_path / "arrived").exists()
    made.settle()

    assert not before
    assert (tmp_path / "arrived").exists()


def test_a_late_request_arrives_as_the_next_batch_begins(tmp_path, connections):
    """The first request of that batch waits for it; the retry does not."""
    made, server = connections
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path, cut(LATE_REQUEST, before_next=True)))
    here.reach(Place(0), "line 3", 1)

    ask_in_vain(made)
    with socket.create_connection(("127.0.0.1", made.port)) as client:
        assert ask(client, b"again\n") == b"AGAIN\n"
        here.reach(Place(1), "line 3", 1)
        assert ask(client, b"next\n") == b"NEXT\n"
    made.settle()

    assert server.lines == [b"again\n", b"a\n", b"next\n"]
    assert not list(tmp_path.glob("unmet-*"))


def test_a_late_request_that_no_batch_follows_is_not_replayed(tmp_path, connections):
    """It reaches the store, but not at the moment that was planned."""
    made, _ = connections
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path, cut(LATE_REQUEST, before_next=True)))
    here.reach(Place(0), "line 3", 1)

    ask_in_vain(made)
    made.settle()

    [unmet] = tmp_path.glob("unmet-*")
    assert "no request of a later batch" in unmet.read_text()


def test_a_late_request_arrives_once_a_run_is_settled(tmp_path, connections):
    """A run that fails leaves it on its way; the store has it when settling is done."""
    made, server = connections
    late(tmp_path, made)
    made.end()
    made.begin(rules(tmp_path))

    with socket.create_connection(("127.0.0.1", made.port)) as client:
        assert ask(client, b"b\n") == b"B\n"
    assert server.lines == [b"b\n"]
    made.settle()

    assert server.lines == [b"b\n", b"a\n"]
    assert (tmp_path / "stopped").exists()
    assert not list(tmp_path.glob("unmet-*"))


def test_a_late_request_arrives_where_others_wait_in_vain(tmp_path, connections):
    """Its connection may hold the lock that they wait for."""
    made, server = connections
    here = late(tmp_path, made)
    here.reach(Place(0), "line 3", 2)

    with socket.create_connection(("127.0.0.1", made.port)) as client:
        client.sendall(b"no end of a line")
        deadline = time.monotonic() + 20
        while b"a\n" not in server.lines and time.monotonic() < deadline:
            time.sleep(0.01)

    assert server.lines[0] == b"a\n"


def test_a_connection_of_this_user_is_known(tmp_path):
    """One that nobody holds is not."""
    store = socket.create_server(("127.0.0.1", 0))
    made = Connections((store.getsockname(),), tmp_path)
    with socket.create_connection(("127.0.0.1", made.port)) as client:
        peer = client.getsockname()[1]

        found = made.knows(peer, made.port)

        assert found
        assert not made.knows(made.port, made.port)
    made.close()
    store.close()


def test_a_late_request_that_the_store_does_not_answer_is_none(tmp_path):
    """A mark says so: what was no fault is not judged."""
    listener = socket.create_server(("127.0.0.1", 0))
    made = Connections((listener.getsockname(),), tmp_path)
    late(tmp_path, made)
    client, _ = listener.accept()
    client.close()

    made.settle()

    [unmet] = tmp_path.glob("unmet-*")
    assert "did not answer the late request of line 3" in unmet.read_text()
    made.close()
    listener.close()


class FirstOnly(Letters):
    """The number of requests of the letter F depends on timing."""

    def request(self, message):
        found = super().request(message)
        return replace(found, first_only=found.kind == "F")


@pytest.fixture
def framed(tmp_path):
    """Give connections to a store whose messages are framed, and the store."""
    store = Store()
    made = Connections((store.address,), tmp_path, framing=FirstOnly())
    yield made, store
    made.close()
    store.listener.close()


def send(made, letters, answers, first=1):
    """Send messages, and wait until so many are answered."""
    with socket.create_connection(("127.0.0.1", made.port)) as client:
        for number, letter in enumerate(letters, first):
            client.sendall(said(number, letter))
        client.settimeout(20)
        found = b""
        while len(found) < 9 * answers and (piece := client.recv(1 << 10)):
            found += piece


def test_a_framed_exchange_is_known_by_its_kind(tmp_path, framed):
    """Its number is that among those of its kind, wherever the code is by then."""
    made, _ = framed
    here = OwnWhereabouts(tmp_path)
    made.begin(rules(tmp_path))

    here.reach(Place(0), "line 3", 1)
    send(made, "AbFA", 4)
    here.reach(Place(0), "line 4", 1)
    send(made, "AFF", 3)
    here.reach(Place(1), "line 3", 1)
    send(made, "FA", 2)
    found, others = made.seen()

    known = [(o.where.batch, o.where.line[-1], o.where.time, o.number) for o in found]
    assert known == [
        (0, "A", 1, 1),
        (0, "F", 1, 1),
        (0, "A", 1, 2),
        (0, "A", 1, 3),
        (1, "F", 1, 1),
        (1, "A", 1, 1),
    ]
    assert others == {REPEATED_IN_TIME: 2}


def test_a_framed_exchange_is_cut_by_its_kind(tmp_path, framed):
    """Not one that the store refuses for now, but the one that is sent for it."""
    made, store = framed
    store.refuses.add(2)
    rule = replace(cut(LOSE_REPLY, 2), line=kind_of_request("C"))
    made.begin(rules(tmp_path, rule))
    OwnWhereabouts(tmp_path).reach(Place(0), "line 9", 4)

    send(made, "CCA", 3)
    before = (tmp_path / "stopped").exists()
    with socket.create_connection(("127.0.0.1", made.port)) as client:
        client.sendall(said(4, "C"))
        numbers = heard(client)

    assert not before
    assert numbers == []
    assert (tmp_path / "stopped").exists()
    assert store.letters == ["C", "C", "A", "C"]
    assert [one.number for one in made.seen()[0]] == [1, 1, 2]


class Unanswered(FirstOnly):
    """As before; the store need not answer an N."""

    def request(self, message):
        found = super().request(message)
        return replace(found, answered=found.kind != "N")


def test_what_is_sent_without_an_answer_is_counted_and_passed_on(tmp_path):
    """It holds nothing up, and is none of the exchanges."""
    store = Store()
    made = Connections((store.address,), tmp_path, framing=Unanswered())
    made.begin(rules(tmp_path))
    OwnWhereabouts(tmp_path).reach(Place(0), "line 3", 1)
    try:
        with socket.create_connection(("127.0.0.1", made.port)) as client:
            client.sendall(said(1, "N"))
            deadline = time.monotonic() + 20
            while not store.letters and time.monotonic() < deadline:
                time.sleep(0.01)

        assert store.letters == ["N"]
        assert made.seen() == ([], {UNANSWERED: 1})
    finally:
        made.close()
        store.listener.close()


def test_a_refusal_of_one_request_leaves_the_cut_of_another(tmp_path, framed):
    """Of two on the way, the store refuses the first; the second is the one to cut."""
    made, store = framed
    store.refuses.add(1)
    store.reads_on = True
    rule = replace(cut(LOSE_REPLY, 1), line=kind_of_request("C"))
    made.begin(rules(tmp_path, rule))
    OwnWhereabouts(tmp_path).reach(Place(0), "line 9", 4)
    store.speaks.clear()

    with socket.create_connection(("127.0.0.1", made.port)) as client:
        client.sendall(said(1, "A") + said(2, "C"))
        deadline = time.monotonic() + 20
        while len(store.letters) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        store.speaks.set()
        numbers = heard(client)

    assert numbers == [1]
    assert (tmp_path / "stopped").exists()
