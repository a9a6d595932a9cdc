"""Stands between clients and a store on loopback, and breaks connections on request.

Bytes are passed on as they are, TLS included: only their direction counts. What a
client sends after it has heard from the store, or as its first, is a *request*, up to
where it waits; what the store then sends is the reply. What it sends as it closes its
connection is none. A store whose clients do not wait says how its messages are framed;
if it wants TLS, the proxy speaks it in place of the client.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.framed_passing import FramedPassing
from onceproof.spark_checks.stores.links import MOST_HELD, Cut, Link, finish_store
from onceproof.spark_checks.stores.readiness import first_ready
from onceproof.spark_checks.stores.tls_tunnel import TlsTunnel

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.stores.links import Framing, Watcher

HOST = "127.0.0.1"
_PIECE = 1 << 16
_BEGINNING = 1 << 13
_IDLE = 0.5
_TURN = 0.001
_LONGEST_HOLD = 30.0
_QUIET = 0.1
_CONNECTS = 10.0
_DRAINS = 10.0


class Proxy:
    """Listens on free ports of loopback, and passes on to a store."""

    def __init__(
        self,
        addresses: tuple[tuple[str, int], ...],
        watcher: Watcher,
        *,
        framing: Framing | None = None,
    ) -> None:
        """Listen. Clients of its port reach the first of the addresses that answers.

        With a ``framing`` each message is looked at: its clients send several requests
        before they wait for a reply. What replies say of further addresses then leads
        to further ports. Raises ``OSError`` where there is no free port, and, where it
        speaks TLS, if the store does not want to.
        """
        self._framing = framing
        self._watcher = watcher
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._links: set[Link] = set()
        self._lock = threading.Lock()
        self._leading = threading.Lock()
        self._addresses = set(addresses)
        self._used: set[int] = set()
        self._listeners: list[socket.socket] = []
        self._tls = None if framing is None else framing.tls()
        if self._tls is not None:
            self._connected(addresses).close()
        self.port: int = self._listen(addresses)
        self._ports = {addresses[0]: self.port} if len(addresses) == 1 else {}

    @property
    def store_ports(self) -> frozenset[int]:
        """The ports of the store itself, as far as they are known by now."""
        with self._lock:
            return frozenset(port for _, port in self._addresses)

    @property
    def used_ports(self) -> frozenset[int]:
        """The ports from which the store was connected to."""
        with self._lock:
            return frozenset(self._used)

    def close(self) -> None:
        """Listen no more, break all connections, and wait for their threads."""
        self._over.set()
        with self._leading:
            for listener in self._listeners:
                with suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)
                listener.close()
        with self._lock:
            links, threads = list(self._links), list(self._threads)
        for link in links:
            for one in (link.client, link.store):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()

    def _lead(self, host: str, port: int) -> int:
        """Return the port that leads to an address of the store, and no other."""
        with self._leading:
            if self._over.is_set():
                message = "no new connections: the proxy is closed"
                raise OSError(message)
            with self._lock:
                self._addresses.add((host, port))
            if (host, port) not in self._ports:
                self._ports[host, port] = self._listen(((host, port),))
            return self._ports[host, port]

    def _listen(self, addresses: tuple[tuple[str, int], ...]) -> int:
        listener = socket.create_server((HOST, 0))
        listener.settimeout(_IDLE)
        self._listeners.append(listener)
        self._start(lambda: self._accept(listener, addresses))
        return int(listener.getsockname()[1])

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True, name="onceproof-proxy")
        with self._lock:
            self._threads = [t for t in self._threads if t.is_alive()]
            self._threads.append(thread)
            thread.start()

    def _accept(
        self, listener: socket.socket, addresses: tuple[tuple[str, int], ...]
    ) -> None:
        while not self._over.is_set():
            try:
                client, (_, peer) = listener.accept()
                port = listener.getsockname()[1]
            except TimeoutError:
                continue
            except OSError:
                return
            # The store knows this user by TLS, and would take others for this one.
            if self._tls is not None and not self._watcher.knows(peer, port):
                client.close()
                continue
            self._start(lambda client=client: self._serve(client, addresses))  # type: ignore[misc]

    def _connected(self, addresses: tuple[tuple[str, int], ...]) -> socket.socket:
        """Connect to the first address that answers."""
        failed = OSError("the store has no address")
        for address in addresses:
            try:
                made = socket.create_connection(address, timeout=_CONNECTS)
            except OSError as error:
                failed = error
                continue
            with self._lock:
                self._used.add(made.getsockname()[1])
            if self._tls is None:
                return made
            try:
                return self._tls.wrap_socket(made, server_hostname=address[0])
            except BaseException:
                made.close()
                raise
        raise failed

    def _joined(
        self, client: socket.socket, addresses: tuple[tuple[str, int], ...]
    ) -> Link | None:
        """Connect to the store for a client; None where it does not answer."""
        try:
            store = self._connected(addresses)
        except OSError:
            client.close()
            return None
        if isinstance(store, ssl.SSLSocket):
            tunnel = TlsTunnel(store, self._over)
            self._start(tunnel.go)
            store = tunnel.plain
        try:
            return Link(client, store)
        except OSError:
            client.close()
            store.close()
            return None

    def _serve(
        self, client: socket.socket, addresses: tuple[tuple[str, int], ...]
    ) -> None:
        """Serve one connection to its end."""
        link = self._joined(client, addresses)
        if link is None:
            return
        with self._lock:
            self._links.add(link)
        try:
            if self._over.is_set():
                return
            if self._framing is not None:
                FramedPassing(
                    link, self._watcher, self._over, self._framing, self._lead
                ).go()
            else:
                _Passing(link, self._watcher, self._over).go()
        except OSError:
            link.reset()
        finally:
            with self._lock:
                self._links.discard(link)
            link.close()


class _Passing:
    """Passes the bytes of one connection on, in both directions."""

    def __init__(self, link: Link, watcher: Watcher, over: threading.Event) -> None:
        self._link = link
        self._watcher = watcher
        self._over = over
        self._to_store = bytearray()
        self._to_client = bytearray()
        self._client_ended = False
        self._store_ended = False
        self._asked = False
        self._gathers = False
        self._cut = Cut.NOTHING
        self._since = 0.0

    def go(self) -> None:
        """Pass on until both ends have nothing more to say, or it is cut."""
        while not self._over.is_set():
            if self._done():
                return
            reads, writes = self._wishes()
            idle = _TURN if self._gathers else _IDLE
            ready, open_ = first_ready(reads, writes, idle)
            link = self._link
            if link.client in ready:
                self._from_client()
            if link.client not in ready and self._gathers and self._asks():
                finish_store(self._link, self._over)
                return
            if link.store in ready and link.client not in ready and self._from_store():
                link.reset()
                finish_store(self._link, self._over)
                return
            if link.store in open_ and self._to_store:
                del self._to_store[: link.store.send(self._to_store)]
            if link.client in open_ and self._to_client:
                del self._to_client[: link.client.send(self._to_client)]

    def _wishes(self) -> tuple[list[socket.socket], list[socket.socket]]:
        link = self._link
        reads = []
        if not self._client_ended and len(self._to_store) < MOST_HELD:
            reads.append(link.client)
        if not self._store_ended and len(self._to_client) < MOST_HELD:
            reads.append(link.store)
        writes = [link.store] if self._to_store and not self._gathers else []
        return reads, [*writes, *([link.client] if self._to_client else [])]

    def _done(self) -> bool:
        """Hand on ends of streams; return whether nothing is left to do."""
        if self._client_ended and not self._to_store:
            with suppress(OSError):
                self._link.store.shutdown(socket.SHUT_WR)
        if self._store_ended and not self._to_client:
            with suppress(OSError):
                self._link.client.shutdown(socket.SHUT_WR)
            return True
        return False

    def _from_client(self) -> None:
        """Take what the client sends."""
        piece = self._link.client.recv(_PIECE)
        if not piece:
            self._client_ended = True
            self._gathers = False
        elif not self._asked and self._watcher.watches():
            self._asked = self._gathers = True
            self._since = time.monotonic()
        self._to_store += piece

    def _asks(self) -> bool:
        """End a request where its client waits; return whether it is cut now.

        What is sent as a connection is closed comes from a client that does not wait.
        """
        if not self._has_sent():
            return False
        self._gathers = False
        self._link.asked = bytes(self._to_store[:_BEGINNING])
        self._cut = self._watcher.request(self._link)
        if self._cut is Cut.LATE and len(self._to_store) >= MOST_HELD:
            return False  # the client has not sent it all, and would not any more
        if self._cut in (Cut.REQUEST, Cut.LATE):
            self._watcher.broke(self._link)
            self._link.reset()
            if self._cut is Cut.LATE:
                self._deliver()
            return True
        return False

    def _deliver(self) -> None:
        """Keep a request until it is due; then let the store answer it to nobody."""
        while not self._watcher.due(self._link):
            if self._over.wait(_TURN):
                return
        self._client_ended = True
        store = self._link.store
        answered = False
        with suppress(OSError):
            store.setblocking(True)  # noqa: FBT003 - its own signature
            store.settimeout(_DRAINS)
            store.sendall(self._to_store)
            self._to_store.clear()
            answered = bool(store.recv(_PIECE))
            store.setblocking(False)  # noqa: FBT003 - its own signature
            self._hear_out()
        self._watcher.arrived(self._link, answered=answered)

    def _from_store(self) -> bool:
        """Take what the store sends; return whether the connection is cut now."""
        piece = self._link.store.recv(_PIECE)
        if not piece:
            self._store_ended = True
            return False
        if self._asked and not self._gathers:
            self._asked = False
            self._watcher.answered(self._link)
            if self._cut is Cut.REPLY:
                self._hear_out()
                self._watcher.broke(self._link)
                return True
        self._to_client += piece
        return False

    def _has_sent(self) -> bool:
        """Return whether the client waits, and so has sent all of its request.

        Else it would depend on timing how many requests there are.
        """
        if len(self._to_store) >= MOST_HELD:
            return True
        if time.monotonic() - self._since > _LONGEST_HOLD:
            return True
        if not self._watcher.waits(self._link):
            return False
        # What it sent before it began to wait is there by now, and so is its end.
        return not first_ready([self._link.client], [], 0)[0]

    def _hear_out(self) -> None:
        """Let the store answer to the end, while the client hears nothing."""
        link = self._link
        while not self._over.is_set():
            reads = [link.store, *([] if self._client_ended else [link.client])]
            writes = [link.store] if self._to_store else []
            ready, open_ = first_ready(reads, writes, _QUIET)
            if not ready and not open_:
                return
            if link.client in ready:
                piece = link.client.recv(_PIECE)
                self._client_ended = not piece
                self._to_store += piece
            if link.store in open_ and self._to_store:
                del self._to_store[: link.store.send(self._to_store)]
            if link.store in ready and not link.store.recv(_PIECE):
                return
