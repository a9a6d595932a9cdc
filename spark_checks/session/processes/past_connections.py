"""Finds connections to a store's ports that do not lead through the proxy.

The system lists each connection while it is open, and mostly for a minute after it was
closed. Who holds an open one is known; of a closed one it is not.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_EVERY = 0.02
_LISTENS = "0A"


@dataclass(frozen=True)
class PastConnections:
    """The connections that were found."""

    held: int = 0
    """How many the code's processes held, or Spark's JVM."""
    unknown: int = 0
    """How many had ended before it was seen who held them."""


class PastWatch:
    """Looks for connections past the proxy while a run goes on."""

    def __init__(
        self,
        ports: Callable[[], Iterable[int]],
        ours: Callable[[], Iterable[int]],
        codes: Callable[[], Iterable[int]],
        spark: int | None,
    ) -> None:
        """Look for connections to the ``ports`` of a store.

        ``ours`` are the ports from which the proxy connects, ``codes`` the processes
        that run the user's code, and ``spark`` is the JVM. What it is connected to by
        now is of other sinks.
        """
        self._ports = ports
        self._ours = ours
        self._codes = codes
        self._spark = spark
        self._earlier = self._held_by(() if spark is None else (spark,))
        self._held: set[int] = set()
        self._unknown: set[int] = set()
        self._others: set[int] = set()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Look from now on."""
        self.end()
        self._held, self._unknown = set(), set()
        # One of the JVM's from before may be closed at any time, and is no new one.
        closed = {port for port, socket in self._rows() if not socket}
        self._others = closed | self._earlier
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._go, args=(self._over,), daemon=True, name="onceproof-proxy"
        )
        self._thread.start()

    def end(self) -> None:
        """Look once more, and then no more."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._over.set()
            thread.join()
            self._look()

    @property
    def found(self) -> PastConnections:
        """What was found since ``begin``."""
        unknown = self._unknown - self._held - self._others - set(self._ours())
        return PastConnections(len(self._held), len(unknown))

    def _go(self, over: threading.Event) -> None:
        while not over.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        rows = dict(self._rows())
        if not rows:
            return
        # The port is noted before the connection is known to anybody else.
        ours = set(self._ours())
        new = {p for p in rows if p not in ours | self._held | self._others}
        if not new:
            return
        codes = _with_children(self._codes())
        held = self._held_by(codes) & new
        if self._spark is not None:
            held |= (self._held_by((self._spark,)) - self._earlier) & new
        self._held |= held
        self._unknown |= {port for port in new - held if not rows[port]}
        self._others |= {port for port in new - held if rows[port]} - self._unknown

    def _held_by(self, processes: Iterable[int]) -> set[int]:
        """Return from which ports processes are connected to the store."""
        of = {socket: port for port, socket in self._rows() if socket}
        found: set[int] = set()
        for process in processes if of else ():
            with suppress(OSError):
                for entry in Path(f"/proc/{process}/fd").iterdir():
                    with suppress(OSError):
                        found.add(of.get(str(entry.readlink()), 0))
        return found - {0}

    def _rows(self) -> Iterator[tuple[int, str]]:
        """List the clients' ports, each with its socket; empty for one that is closed.

        Of a connection that the store has closed first, only its end may be listed.
        """
        ends = {f"{port:04X}" for port in self._ports()}
        rows: dict[int, str] = {}
        for table in _TABLES:
            with suppress(OSError):
                for line in table.read_text(encoding="ascii").splitlines()[1:]:
                    fields = line.split()
                    local, remote = (f.rpartition(":")[2] for f in fields[1:3])
                    socket = "" if fields[9] == "0" else f"socket:[{fields[9]}]"
                    if remote in ends and fields[3] != _LISTENS:
                        port = int(local, 16)
                        rows[port] = socket or rows.get(port, "")
                    elif local in ends and fields[3] != _LISTENS and not socket:
                        rows.setdefault(int(remote, 16), "")
        yield from rows.items()


def _with_children(processes: Iterable[int]) -> set[int]:
    """Add the processes that processes have started, but not this one."""
    found: set[int] = set()
    left = list(processes)
    while left:
        process = left.pop()
        if process in found or process == os.getpid():
            continue
        found.add(process)
        with suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                with suppress(OSError):
                    left += map(int, (thread / "children").read_text().split())
    return found
