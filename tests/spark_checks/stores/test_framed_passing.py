"""Where messages are framed, a request is cut by its kind, and not the ones before."""

from __future__ import annotations

import contextlib
import queue
import socket
import ssl
import struct
import threading
import time

import pytest

from onceproof.spark_checks.stores.links import Cut, FramedRequest
from onceproof.spark_checks.stores.proxy import Proxy
from tests.spark_checks.stores.kafka.own_brokers import certificate


class Deciding:
    """Cuts the first request of a kind, and keeps what it hears."""

    def __init__(self, kind, cut):
        self.kind, self.cut = kind, cut
        self.asked, self.answers, self.refusals = [], [], []
        self.breaks = 0
        self.over = threading.Event()
        self.arrivals = []
        self.stranger = False

    def knows(self, peer, port):
        return not self.stranger

    def watches(self):
        return True

    def request(self, link, framed):
        self.asked.append(framed.kind)
        first = framed.kind == self.kind and self.breaks == 0
        return self.cut if first else Cut.NOTHING

    def answered(self, link, *, number):
        self.answers.append(number)

    def refused(self, link, *, number):
        self.refusals.append(number)

    def broke(self, link, *, number):
        self.breaks += 1

    def due(self, link):
        return self.over.is_set()

    def arrived(self, link, *, answered):
        self.arrivals.append(answered)

    def arrived_in(self, seconds):
        """Wait until a late request has arrived; return whether it was answered."""
        ends = time.monotonic() + seconds
        while not self.arrivals and time.monotonic() < ends:
            time.sleep(0.01)
        return self.arrivals == [True]


class Letters:
    """Messages of a length, a number and a letter; small letters change nothing."""

    def __init__(self, context=None):
        self.context = context

    def length(self, start):
        if len(start) < 4:
            return None
        [length] = struct.unpack_from(">i", start)
        if length != 5:
            raise ValueError("this is no message")
        return 4 + length

    def request(self, message):
        number, letter = read(message)
        return FramedRequest(number, letter if letter.isupper() else "")

    def number(self, message):
        return read(message)[0]

    def refused(self, message, to):
        return read(message)[1] == "R"

    def answer(self, message, to, lead):
        return message

    def tls(self):
        return self.context


def said(number, letter):
    return struct.pack(">iic", 5, number, letter.encode())


def read(message):
    _, number, letter = struct.unpack(">iic", message)
    return number, letter.decode()


class Store:
    """Answers each message with itself once it is let, and keeps the letters.

    One that ``reads_on`` meanwhile answers in a thread, which TLS does not allow.
    """

    def __init__(self, context=None):
        self.letters = []
        self.context = context
        self.refuses = set()
        self.reads_on = False
        self.speaks = threading.Event()
        self.speaks.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            with client, client.makefile("rb") as messages:
                heard = queue.SimpleQueue()
                if self.reads_on:
                    args = (client, heard)
                    threading.Thread(target=self.answers, args=args).start()
                while message := messages.read(9):
                    self.letters.append(read(message)[1])
                    if self.reads_on:
                        heard.put(message)
                    else:
                        self.answer(client, message)
                heard.put(b"")
        except (OSError, struct.error):
            return

    def answers(self, client, heard):
        while message := heard.get():
            self.answer(client, message)

    def answer(self, client, message):
        with contextlib.suppress(OSError):
            self.speaks.wait(20)
            number, _ = read(message)
            refuses = number in self.refuses
            client.sendall(said(number, "R") if refuses else message)


@pytest.fixture(params=["plain", "tls"])
def contexts(request, tmp_path_factory):
    """Give the contexts of a store's TLS and of a client's, if it has any."""
    if request.param == "plain":
        return None, None
    _, trusted, both = certificate(tmp_path_factory.mktemp("letters"), "letters")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(both)
    trusting = ssl.create_default_context(cafile=str(trusted))
    trusting.check_hostname = False
    return serving, trusting


@pytest.fixture
def store(contexts):
    """Give a store."""
    made = Store(contexts[0])
    yield made
    made.speaks.set()
    made.listener.close()


@pytest.fixture
def through(store, contexts):
    """Give a proxy to the store, with its watcher."""
    made = []

    def make(kind="", cut=Cut.NOTHING):
        deciding = Deciding(kind, cut)
        made.append(Proxy((store.address,), deciding, framing=Letters(contexts[1])))
        return made[-1].port, deciding

    yield make
    for proxy in made:
        proxy.close()


def heard(client):
    """Return the numbers that a client is answered until its connection ends."""
    client.settimeout(20)
    found = b""
    try:
        while piece := client.recv(1 << 10):
            found += piece
    except ConnectionError:
        pass
    return [read(found[at : at + 9])[0] for at in range(0, len(found), 9)]


ABCD = b"".join(said(n, letter) for n, letter in enumerate("AbCD", 1))


@pytest.mark.parametrize(
    ("cut", "stored"),
    [(Cut.REQUEST, "Ab"), (Cut.REPLY, "AbC"), (Cut.LATE, "Ab")],
)
def test_one_of_several_requests_at_once_is_cut(store, through, cut, stored):
    """Those before it are answered, and those after it do not reach the store."""
    port, deciding = through("C", cut)

    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(ABCD)
        numbers = heard(client)

    assert numbers == [1, 2]
    assert "".join(store.letters) == stored
    assert deciding.asked == ["A", "C"]
    assert deciding.breaks == 1
    if cut is Cut.LATE:
        deciding.over.set()
        assert deciding.arrived_in(20)
        assert store.letters[-1] == "C"


def test_a_cut_waits_until_what_was_sent_before_is_answered(store, through):
    """Else two requests would be cut where one is meant."""
    port, deciding = through("C", Cut.REQUEST)
    store.speaks.clear()

    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(ABCD)
        time.sleep(0.2)
        before = deciding.breaks
        store.speaks.set()
        numbers = heard(client)

    assert (before, deciding.breaks) == (0, 1)
    assert numbers == [1, 2]


def test_all_is_passed_on_where_nothing_is_cut(store, through):
    """Also what comes in pieces."""
    port, deciding = through()

    with socket.create_connection(("127.0.0.1", port)) as client:
        for at in range(len(ABCD)):
            client.sendall(ABCD[at : at + 1])
        client.shutdown(socket.SHUT_WR)
        numbers = heard(client)

    assert numbers == [1, 2, 3, 4]
    assert deciding.answers == [1, 3, 4]


def test_a_request_that_the_store_refuses_for_now_is_not_cut(store, through):
    """Its answer says that nothing was done; the client sends it again."""
    port, deciding = through("C", Cut.REPLY)
    store.refuses.add(3)

    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(ABCD)
        client.settimeout(20)
        found = b""
        while len(found) < 36:
            found += client.recv(1 << 10)
        client.sendall(said(5, "C"))
        numbers = heard(client)

    assert numbers == []
    assert deciding.refusals == [3]
    assert "".join(store.letters) == "AbCDC"
    assert deciding.breaks == 1


def test_what_is_no_message_breaks_the_connection(store, through):
    """It is not guessed what it means: TLS, for one, cannot be read."""
    port, deciding = through()

    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc")
        numbers = heard(client)

    assert numbers == []
    assert store.letters == []
    assert deciding.asked == []


def test_nobody_else_gets_to_a_store_that_knows_this_user_by_tls(
    store, through, contexts
):
    """The proxy shows this user's certificate; without TLS it shows nothing."""
    port, deciding = through()
    deciding.stranger = True

    with socket.create_connection(("127.0.0.1", port)) as client:
        # Whoever is refused may find the connection reset before it has sent all.
        with contextlib.suppress(OSError):
            client.sendall(ABCD)
            client.shutdown(socket.SHUT_WR)
        numbers = heard(client)

    assert numbers == ([] if contexts[0] else [1, 2, 3, 4])
    assert bool(store.letters) is not bool(contexts[0])


def test_much_is_carried_both_ways(store, through):
    """More than is held at once."""
    port, deciding = through()
    count = 100_000
    sent = b"".join(said(number, "a") for number in range(count))

    with socket.create_connection(("127.0.0.1", port)) as client:
        sender = threading.Thread(target=client.sendall, args=(sent,), daemon=True)
        sender.start()
        found = 0
        while found < len(sent):
            found += len(client.recv(1 << 16))
        sender.join()

    assert found == len(sent)
    assert deciding.asked == []


def test_a_store_that_is_not_trusted_is_refused_at_once(tmp_path):
    """It is said before a client connects."""
    _, _, both = certificate(tmp_path, "one")
    _, other, _ = certificate(tmp_path, "other")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(both)
    made = Store(serving)
    trusting = ssl.create_default_context(cafile=str(other))

    with pytest.raises(OSError, match="certificate verify failed"):
        Proxy((made.address,), Deciding("", Cut.NOTHING), framing=Letters(trusting))

    made.listener.close()
