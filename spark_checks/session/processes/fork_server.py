"""A fork server: it forks hosts on request, and reports how each of them ended.

The first one is started afresh, imports Spark's Python and our own modules, and runs
no user code. It has no connection to Java and no threads that a fork would lose. A
host that it forks can itself become a server, for hosts that share what it has done.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from onceproof.spark_checks.session.processes.wire import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Live = Callable[[Channel, Channel], int]

FORK = b"F"
PASSED = 5
"""Files that come with a request: two channels, a pipe for the end, two outputs."""
PRELOADED = (
    "pandas",
    "pyarrow",
    "pyspark.sql.datasource",
    "pyspark.sql.streaming.readwriter",
    "pyspark.sql.pandas.serializers",
    "onceproof.spark_checks.inputs.flights",
)
PRELOADED_SINCE_4 = ("pyspark.sql.classic.dataframe", "pyspark.testing")
"""PySpark 4 asks its testing package, for each argument of Java's, about numpy."""
_DIES_WITH_PARENT = 1
_OUTPUTS = 3
_ONE_THREAD = "OPENBLAS_NUM_THREADS"


def serve(control: socket.socket, live: Live) -> NoReturn:
    """Fork a host for each request, until nobody is left to make any.

    A host does what ``live`` does, and ends with the status that it returns.

    The hosts end with this process, however it ends.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    gc.collect()
    gc.freeze()
    ends: dict[int, int] = {}
    woken, wakes = os.pipe()
    for pipe in (woken, wakes):
        os.set_blocking(pipe, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if woken in ready:
            os.read(woken, 1 << 10)
        _reap(ends)
        if control.fileno() not in ready:
            continue
        data, files, *_ = socket.recv_fds(control, len(FORK), PASSED)
        for file in files:
            os.set_inheritable(file, False)  # noqa: FBT003 - it takes no names
        if not data:
            os._exit(0)
        me = os.getpid()
        child = os.fork()
        if child == 0:
            for kept in (control.detach(), woken, wakes, files[2], *ends.values()):
                os.close(kept)
            _live(me, files, live)
        for file in (*files[:2], *files[3:]):
            os.close(file)
        ends[child] = files[2]
        with suppress(OSError):
            os.write(files[2], f"{child} ".encode())


def _reap(ends: dict[int, int]) -> None:
    """Report of each host that has ended how it ended."""
    for child, pipe in list(ends.items()):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with suppress(OSError):
                os.write(pipe, f"{os.waitstatus_to_exitcode(status)} ".encode())
            os.close(ends.pop(child))


def _live(parent: int, files: Sequence[int], live: Live) -> NoReturn:
    """Be a host: this process is the child."""
    code = 74
    try:
        die_with(parent)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, output in ((1, files[3]), (2, files[4])):
            os.dup2(output, number)
            os.close(output)
        orders, asks = (socket.socket(fileno=n) for n in files[:2])
        code = live(Channel(orders), Channel(asks))
    finally:
        os._exit(code)


def die_with(parent: int) -> None:
    """End this process as its parent ends."""
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def main() -> NoReturn:
    """Be the first server: ``argv`` names the control socket and the host's code."""
    control = socket.socket(fileno=int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for entry in list(Path("/proc/self/fd").iterdir()):
        # Programs that a user's code starts must not hold what ends with this tree.
        with suppress(OSError):
            os.set_inheritable(int(entry.name), int(entry.name) < _OUTPUTS)
    before = os.environ.get(_ONE_THREAD)
    os.environ[_ONE_THREAD] = "1"
    module, _, function = sys.argv[3].partition(":")
    since_4 = PRELOADED_SINCE_4 if find_spec("pyspark.sql.classic") else ()
    for name in (*PRELOADED, *since_4, module):
        # An older Spark does not have all of them.
        with suppress(ImportError):
            importlib.import_module(name)
    if before is None:
        del os.environ[_ONE_THREAD]
    else:
        os.environ[_ONE_THREAD] = before
    from onceproof.spark_checks.session.processes.forkable import threads  # noqa: PLC0415

    deadline = time.monotonic() + 1
    while threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    serve(control, getattr(importlib.import_module(module), function))
