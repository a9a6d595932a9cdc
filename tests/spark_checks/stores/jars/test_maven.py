"""Jars are fetched once, whole, and are used only if they are the ones expected."""

from __future__ import annotations

import hashlib
import multiprocessing
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.jars import maven
from onceproof.spark_checks.stores.jars.maven import VARIABLE, Jar, fetched, kept

CONTENT = b"a jar, or what is taken for one here" * 5000
JAR = Jar("org.example:thing:1.2", hashlib.sha256(CONTENT).hexdigest())
PATH = "/maven2/org/example/thing/1.2/thing-1.2.jar"


class Repository(ThreadingHTTPServer):
    """A repository on loopback; what it does for each request is given."""

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = list(answers)
        self.asked = []
        self.logins = []
        self.url = f"http://127.0.0.1:{self.server_port}/maven2"

    def handle_error(self, request, client_address):
        """A client that has gone is no error here."""


class Handler(BaseHTTPRequestHandler):
    """Answers as the repository says, the last way again and again."""

    def do_GET(self):
        asked = self.server.asked
        asked.append(self.path)
        self.server.logins.append(self.headers.get("Authorization"))
        answers = self.server.answers
        status, content, length = answers[min(len(asked), len(answers)) - 1]
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


SOUND = (200, CONTENT, len(CONTENT))
CUT = (200, CONTENT[:70000], len(CONTENT))
WRONG = (200, b"another jar", 11)
ABSENT = (404, b"", 0)
BUSY = (503, b"", 0)


@contextmanager
def serving(*answers):
    """Serve a repository as long as the block lasts."""
    server = Repository(*answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """Give each test a cache and a home of its own, and no wait between tries."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(maven, "_PAUSE", 0)
    return tmp_path / "cache" / "jars"


def files(cache):
    """List the files of the cache."""
    return sorted(path.name for path in cache.iterdir())


def test_a_jar_is_fetched_once_from_where_it_belongs(monkeypatch, cache):
    """The second time it comes from the cache, without the network."""
    with serving(SOUND) as server:
        monkeypatch.setenv(VARIABLE, server.url + "/")
        before = kept([JAR])
        [first] = fetched([JAR])
    [second] = fetched([JAR])

    assert server.asked == [PATH]
    assert first == second == cache / "org.example_thing-1.2.jar"
    assert first.read_bytes() == CONTENT
    assert (before, kept([JAR])) == (False, True)
    assert files(cache) == ["org.example_thing-1.2.jar"]


@pytest.mark.parametrize("broken", [CUT, BUSY], ids=["cut", "busy"])
def test_what_breaks_off_is_tried_again(monkeypatch, cache, broken):
    """Networks do that, and the next try succeeds."""
    with serving(broken, SOUND) as server:
        monkeypatch.setenv(VARIABLE, server.url)
        [found] = fetched([JAR])

    assert found.read_bytes() == CONTENT
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("answer", "tries", "expected"),
    [
        (CUT, 2, "the download ends after 70,000 of 180,000 bytes"),
        (BUSY, 2, "it answers 503"),
        (ABSENT, 1, "it answers 404"),
        (WRONG, 1, "is not the file that is expected"),
    ],
    ids=["cut", "busy", "absent", "wrong"],
)
def test_what_is_not_the_jar_is_not_kept(monkeypatch, cache, answer, tries, expected):
    """The message names the jar, the repository and what to do; nothing is left."""
    with serving(answer) as server:
        monkeypatch.setenv(VARIABLE, server.url)
        with pytest.raises(StoreError) as error:
            fetched([JAR])

    message = str(error.value)
    assert expected in message
    assert f"{JAR.coordinate} " in message
    assert f"{server.url}" in message
    assert f"help: set {VARIABLE}" in message
    assert len(server.asked) == tries
    assert files(cache) == []


def test_without_a_network_one_sentence_says_what_to_do(monkeypatch):
    """Nobody listens at the address."""
    with serving(SOUND) as server:
        pass
    monkeypatch.setenv(VARIABLE, server.url)

    with pytest.raises(StoreError, match=f"refused; help: set {VARIABLE} to the URL"):
        fetched([JAR])


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    """It is asked for the whole URL."""
    with serving(SOUND) as proxy:
        monkeypatch.setenv(VARIABLE, "http://repository.invalid/maven2")
        monkeypatch.setenv("http_proxy", proxy.url)
        [found] = fetched([JAR])

    assert found.read_bytes() == CONTENT
    assert proxy.asked == [f"http://repository.invalid{PATH}"]


def test_a_folder_serves_as_repository(monkeypatch, tmp_path):
    """Such as the one that Maven itself keeps."""
    place = tmp_path / "m2" / JAR.path
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    monkeypatch.setenv(VARIABLE, (tmp_path / "m2").as_uri())

    [found] = fetched([JAR])

    assert found.read_bytes() == CONTENT


@pytest.mark.parametrize("value", ["/srv/maven", "ftp://example.org/maven2"])
def test_what_is_no_url_of_a_repository_is_refused(monkeypatch, value):
    """The message names the variable."""
    monkeypatch.setenv(VARIABLE, value)

    with pytest.raises(StoreError, match=f"{VARIABLE} is no URL that begins with"):
        fetched([JAR])


def test_a_jar_that_was_changed_in_the_cache_is_fetched_again(monkeypatch, cache):
    """A damaged disk, a full one, an editor: what is used is verified each time."""
    with serving(SOUND) as server:
        monkeypatch.setenv(VARIABLE, server.url)
        [found] = fetched([JAR])
        found.write_bytes(CONTENT[:-1])
        changed = kept([JAR])
        fetched([JAR])

    assert not changed
    assert found.read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_folder_that_others_can_write_to_is_not_used(monkeypatch, cache):
    """Who can put a jar there could have put code there."""
    cache.mkdir(parents=True)
    cache.chmod(0o777)

    with pytest.raises(StoreError, match="is no folder that you alone can write to"):
        fetched([JAR])
    assert not kept([])


def fetch_apart(answers):
    """Fetch in a process of its own."""
    answers.put(str(fetched([JAR])[0]))


def test_processes_that_fetch_at_once_share_what_one_of_them_fetches(
    monkeypatch, cache
):
    """They wait for each other; what a dead run had begun is removed."""
    cache.mkdir(parents=True, mode=0o700)
    (cache / ".onceproof-0123.tmp").write_bytes(CONTENT[:10])
    with serving(SOUND) as server:
        monkeypatch.setenv(VARIABLE, server.url)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        running = [
            context.Process(target=fetch_apart, args=(answers,)) for _ in range(4)
        ]
        for one in running:
            one.start()
        found = {answers.get(timeout=30) for _ in running}
        for one in running:
            one.join()

    assert len(found) == 1
    assert server.asked == [PATH]
    assert files(cache) == ["org.example_thing-1.2.jar"]
