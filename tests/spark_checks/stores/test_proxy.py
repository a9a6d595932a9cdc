"""A proxy passes bytes on as they are, and breaks connections where it is asked to."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
import uuid

import pytest

from onceproof.spark_checks.stores.proxy import Cut, Proxy

GREETING = b"hello\n"


class Deciding:
    """Cuts the request of a number, and keeps what it hears."""

    def __init__(self, number=0, cut=Cut.NOTHING):
        self.number, self.cut = number, cut
        self.requests = self.answers = self.breaks = 0
        self.over = threading.Event()
        self.arrivals = []

    def watches(self):
        return True

    def request(self, link):
        self.requests += 1
        return self.cut if self.requests == self.number else Cut.NOTHING

    def answered(self, link):
        self.answers += 1

    def broke(self, link):
        self.breaks += 1

    def due(self, link):
        return self.over.is_set()

    def arrived(self, link, *, answered):
        self.arrivals.append(answered)

    def waits(self, link):
        return True


class Echo:
    """A server that answers each line with itself in capitals, and keeps the lines."""

    def __init__(self, context=None, *, greets=False):
        self.lines = []
        self.greets = greets
        self.context = context
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
            if self.greets:  # the end of a handshake is an exchange of its own then
                client.sendall(GREETING)
            with client, client.makefile("rb") as lines:
                for line in lines:
                    self.lines.append(line)
                    client.sendall(line.upper())
        except OSError:
            return


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Make a certificate for localhost."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is missing: apt-get install openssl")
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "made.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        [*command, "-keyout", key, "-out", made], check=True, capture_output=True
    )
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


@pytest.fixture(params=["plain", "tls"])
def echo(request):
    """Give an echo server, and what connects to it through a port."""
    context = None
    if request.param == "tls":
        path = request.getfixturevalue("certificate")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        trusting = ssl.create_default_context(cafile=str(path))
    server = Echo(context, greets=True)

    def connect(port):
        made = socket.create_connection(("127.0.0.1", port), timeout=10)
        if request.param == "tls":
            made = trusting.wrap_socket(made, server_hostname="localhost")
        found = b""
        while found != GREETING:
            found += made.recv(len(GREETING) - len(found))
        return made

    yield server, connect
    server.listener.close()


def ask(client, line):
    """Send a line, and give the answer."""
    client.sendall(line)
    found = b""
    while not found.endswith(b"\n"):
        piece = client.recv(1 << 16)
        if not piece:
            raise ConnectionResetError
        found += piece
    return found


@pytest.fixture
def through():
    """Give what makes a proxy; all are closed."""
    made = []

    def start(address, watcher):
        made.append(Proxy(address, watcher))
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_bytes_are_passed_on_as_they_are(echo, through):
    """Of any length, in both directions, on several connections at once."""
    server, connect = echo
    proxy = through((server.address,), Deciding())
    long = b"x" * 3_000_000 + b"\n"

    with connect(proxy.port) as one, connect(proxy.port) as two:
        assert ask(one, b"a\n") == b"A\n"
        assert ask(two, b"b\n") == b"B\n"
        assert ask(one, long) == long.upper()


def counted(echo, through):
    """Count the requests of two lines on one connection."""
    server, connect = echo
    watcher = Deciding()
    with connect(through((server.address,), watcher).port) as client:
        ask(client, b"a\n")
        before = watcher.requests
        ask(client, b"b\n")
    return before, watcher


def test_a_request_begins_after_an_answer(echo, through):
    """Every one has an answer; TLS has some of its own before the first."""
    before, watcher = counted(echo, through)

    assert watcher.requests == before + 1
    assert watcher.answers == watcher.requests


@pytest.mark.parametrize("cut", [Cut.REQUEST, Cut.REPLY])
def test_a_connection_is_cut_before_or_after_the_store_acts(echo, through, cut):
    """The client gets an error either way; the store has the line, or has it not."""
    server, connect = echo
    before, _ = counted(echo, through)
    server.lines.clear()
    watcher = Deciding(before + 1, cut)
    proxy = through((server.address,), watcher)

    with connect(proxy.port) as client:
        ask(client, b"a\n")
        with pytest.raises(OSError):  # noqa: PT011 - whichever a broken connection gives
            ask(client, b"b\n")

    assert server.lines == ([b"a\n"] if cut is Cut.REQUEST else [b"a\n", b"b\n"])
    assert watcher.breaks == 1
    with connect(proxy.port) as client:
        assert ask(client, b"c\n") == b"C\n"


def waited_for(condition):
    """Wait until a condition holds; say whether it does."""
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.002)
    return condition()


def test_a_late_request_arrives_when_it_is_due(echo, through):
    """The client hears of an error at once, and sends it again before it arrives."""
    server, connect = echo
    before, _ = counted(echo, through)
    server.lines.clear()
    watcher = Deciding(before + 1, Cut.LATE)
    proxy = through((server.address,), watcher)

    with connect(proxy.port) as client:
        ask(client, b"a\n")
        with pytest.raises(OSError):  # noqa: PT011 - whichever a broken connection gives
            ask(client, b"b\n")
    with connect(proxy.port) as client:
        ask(client, b"c\n")
    assert server.lines == [b"a\n", b"c\n"]
    watcher.over.set()

    assert waited_for(lambda: watcher.arrivals == [True])
    assert server.lines == [b"a\n", b"c\n", b"b\n"]


def test_a_late_request_that_never_arrives_is_said_to_be_none(through):
    """The store has closed the connection meanwhile."""
    closed = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        client, _ = listener.accept()
        client.close()
        closed.set()

    threading.Thread(target=serve, daemon=True).start()
    watcher = Deciding(1, Cut.LATE)
    proxy = through((listener.getsockname(),), watcher)

    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as client:
        client.sendall(b"a\n")
        assert waited_for(lambda: watcher.breaks == 1)
    closed.wait(10)
    watcher.over.set()

    assert waited_for(lambda: watcher.arrivals == [False])
    listener.close()


def test_it_listens_on_loopback_alone_and_ends(echo, through):
    """No port, no connection and no thread is left."""
    server, connect = echo
    proxy = through((server.address,), Deciding())
    client = connect(proxy.port)
    ask(client, b"a\n")
    assert {one.getsockname()[0] for one in proxy._listeners} == {"127.0.0.1"}

    proxy.close()

    assert not [t for t in threading.enumerate() if t.name == "onceproof-proxy"]
    with pytest.raises(OSError):  # noqa: PT011 - whichever a broken connection gives
        ask(client, b"b\n")
    with pytest.raises(ConnectionRefusedError):
        connect(proxy.port)


@pytest.mark.parametrize("cut", [Cut.REQUEST, Cut.REPLY])
def test_a_commit_is_cut_before_or_after_it_takes_effect(server, through, cut):
    """PostgreSQL: psycopg raises its own error; the row is there, or it is not."""
    import psycopg

    place = server.place(f"onceproof_{uuid.uuid4().hex}")
    with psycopg.connect(place.url) as db:
        db.execute("CREATE TABLE orders (id int)")
    watcher = Deciding()
    proxy = through(place.addresses, watcher)
    db = psycopg.connect(place.through(proxy.port).url)
    db.execute("INSERT INTO orders VALUES (1)")
    watcher.number, watcher.cut = watcher.requests + 1, cut

    with pytest.raises(psycopg.OperationalError):
        db.commit()

    with psycopg.connect(place.url) as direct:
        [(rows,)] = direct.execute("SELECT count(*) FROM orders").fetchall()
    assert rows == (0 if cut is Cut.REQUEST else 1)
    server.drop(place)
