"""The side of the tests' process: it asks for hosts, gives orders, and ends them."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.spark_checks.session.java import jvm
from onceproof.spark_checks.session.processes.fork_server import FORK
from onceproof.spark_checks.session.processes.wire import Channel

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from onceproof.spark_checks.session.processes.entry_points import EntryPoints
    from onceproof.spark_checks.session.processes.wire import Message

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from onceproof.spark_checks.session.processes.fork_server import main; main()"
)
_PATIENCE = 60.0
_GONE = 5.0


class HostError(OnceproofError):
    """A host failed by itself: this says nothing about the sink."""


class UserCodeError(Exception):
    """The user's code raised in a host; the message is what it raised, in a line."""

    def __init__(self, text: str, trace: str = "", condition: str = "") -> None:
        """Keep what was raised, with the traceback and Spark's name for the error."""
        super().__init__(text)
        self.trace = trace
        self.condition = condition


class Host:
    """A process that runs a user's code, and does what it is ordered to."""

    def __init__(self, orders: Channel, asks: Channel, status: int) -> None:
        """Take over this side of a host's channels and of the pipe for its end."""
        self.orders = orders
        self.asks = asks
        self._status = status
        self._received = b""
        self._code: int | None = None
        self.pid = self._number(_PATIENCE)
        if self.pid is None:
            self.let_go()
            message = "the process that forks hosts has ended"
            raise HostError(message)

    def ask(self, message: Message, seconds: float) -> Message:
        """Return an order and wait for the answer.

        Raises ``UserCodeError`` where the user's code raised, ``UsageError`` for what
        cannot be used, ``HostError`` where the process ended or did not answer.
        """
        self.orders.send(message)
        return answer(self.hear(seconds, message["op"]))

    def hear(self, seconds: float, what: str = "an order") -> Message:
        """Wait for an answer. Raises ``HostError`` where none comes."""
        try:
            found = self.orders.receive(seconds, ends=self._status)
        except TimeoutError:
            self.kill()
            message = f"a process did not answer to {what!r} within {seconds:.0f} s"
            raise HostError(message) from None
        if found is None:
            code = self.wait(_GONE)
            message = f"a process ended at {what!r} ({ended(code)})"
            raise HostError(message)
        return found

    def receive(self, channel: Channel, seconds: float) -> Message | None:
        """Wait for a message on a channel; None where the process has ended.

        Raises ``TimeoutError``.
        """
        return channel.receive(seconds, ends=self._status)

    @property
    def code(self) -> int | None:
        """How the process ended; None while it runs. It is negative for a signal."""
        if self._code is None:
            self._code = self._number(0)
        return self._code

    def wait(self, seconds: float) -> int:
        """Wait for the end and return the status; end the process if it takes long."""
        if self._code is None:
            self._code = self._number(seconds)
        if self._code is None:
            self.kill()
            self._code = self._number(_GONE)
        return -signal.SIGKILL if self._code is None else self._code

    def kill(self) -> None:
        """End the process at once, unless it has ended."""
        if self.code is None and self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def let_go(self) -> None:
        """Close this side: a host that waits for an order then ends."""
        self.orders.close()
        self.asks.close()
        if self._status >= 0:
            os.close(self._status)
            self._status = -1

    def close(self) -> None:
        """End the process if it still runs, and close this side."""
        if self._status >= 0:
            self.kill()
            self.let_go()

    def fork(self) -> Host:
        """Let this process, which has become a server, fork a host."""
        try:
            return forked(self.orders)
        except HostError:
            self.wait(_GONE)
            raise

    def _number(self, seconds: float) -> int | None:
        """Read a number that the server writes: the process's, or how it ended."""
        deadline = time.monotonic() + seconds
        while b" " not in self._received:
            if self._status < 0:
                return None
            poll = select.poll()
            poll.register(self._status, select.POLLIN)
            if not poll.poll(max(0.0, 1000 * (deadline - time.monotonic()))):
                return None
            piece = os.read(self._status, 1 << 8)
            if not piece:
                return None
            self._received += piece
        number, _, self._received = self._received.partition(b" ")
        return int(number)


def answer(found: Message) -> Message:
    """Return the answer of a host, or raise the error that it reports."""
    error = found.get("error")
    if error is None:
        return found
    kind, text = error["kind"], error["text"]
    if kind == "usage":
        raise UsageError(text)
    if kind == "host":
        raise HostError(text)
    raise UserCodeError(text, error.get("trace", ""), error.get("condition", ""))


def ended(code: int) -> str:
    """Return how a process ended."""
    if code >= 0:
        return f"status {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"


def forked(server: Channel) -> Host:
    """Let a server fork a host, with the outputs that this process has now."""
    orders, theirs = socket.socketpair()
    asks, also_theirs = socket.socketpair()
    status, reports = os.pipe()
    try:
        files = [theirs.fileno(), also_theirs.fileno(), reports, 1, 2]
        try:
            socket.send_fds(server.end, [FORK], files)
        except OSError as error:
            message = f"the process that forks hosts has ended ({error})"
            raise HostError(message) from None
    finally:
        theirs.close()
        also_theirs.close()
        os.close(reports)
    return Host(Channel(orders), Channel(asks), status)


def _options_of_python() -> list[str]:
    """List the options that this Python was started with, as multiprocessing does."""
    module: Any = subprocess
    found: list[str] = module._args_from_interpreter_flags()  # noqa: SLF001
    return found


class ForkServer:
    """The first fork server, started afresh: it shares no state with this process.

    ``templates`` are servers forked from it that have imported third-party modules.
    """

    def __init__(self, entry_points: EntryPoints, *, together: bool = False) -> None:
        """Start it, and do not wait until it is ready.

        It leads a process group of its own, unless it is to be ``together`` with this
        process in one.
        """
        mine, theirs = socket.socketpair()
        alive, held = os.pipe()
        flags = _options_of_python()
        paths = json.dumps(sys.path)
        number, host = str(theirs.fileno()), entry_points.host
        with theirs, jvm.interrupts_held():
            self._process = subprocess.Popen(  # noqa: S603 - this Python
                [sys.executable, *flags, "-P", "-c", _START, paths, number, host],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), held),
                process_group=None if together else 0,
            )
        os.close(held)
        self._alive = alive
        self._control = Channel(mine)
        self._templates: dict[frozenset[str], Host] = {}
        self._unfit: set[str] = set()
        self._one_by_one = threading.Lock()

    def template(self, modules: Iterable[str]) -> Host:
        """Return a server that has imported those modules that start no threads."""
        with self._one_by_one:
            while True:
                wanted = frozenset(modules) - self._unfit
                found = self._templates.get(wanted)
                if found is not None and found.code is None:
                    return found
                made = forked(self._control)
                order = {"op": "template", "modules": sorted(wanted), "path": sys.path}
                reply = made.ask(order, _PATIENCE)
                if not reply["unfit"]:
                    self._templates[wanted] = made
                    return made
                self._unfit.update(reply["unfit"])
                made.close()

    def close(self) -> None:
        """End the server and all that were forked from it; wait until they are gone."""
        for template in self._templates.values():
            template.close()
        self._control.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        poll = select.poll()
        poll.register(self._alive, select.POLLIN)
        poll.poll(1000 * _GONE)
        os.close(self._alive)

    def __enter__(self) -> Self:
        """Use it in a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()
