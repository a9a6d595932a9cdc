"""A task that is given up and lives on: Spark believes its process dead.

The process goes on as it is, with its locks and its open transactions, but cut off from
Spark, with all of the input that Spark had for it. Another waits for its end.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from pathlib import Path
from typing import IO, Any

from onceproof.spark_checks.plan.rules import EXIT_CODE, UNMET

_PATIENCE = 20.0
_SHELL = "/bin/sh"
_LEAVES_MARK = 'read -r _; [ -d "$1" ] && : > "$1/$2"'
_inputs: list[Any] = []
_kept: list[int] = []


def feeds(stream: IO[bytes]) -> None:
    """Remember by which stream Spark feeds this process."""
    _inputs[:] = [stream]


def begin(marks: Path, landed: str) -> None:
    """Cut this process off from Spark, and let it go on.

    The mark ``landed`` is left when it has ended. Where the rest of the task's input
    does not come, a mark reports that, and the process dies.
    """
    rest = _taken(marks) if _inputs else b""
    _watch(marks, landed)
    if _inputs:
        _let_go(_inputs[0])
        _feed(_inputs[0], rest)


def take_input(marks: Path) -> None:
    """Take over the rest of a slow task's input, and stay connected to Spark.

    Where Spark gives the task up, it closes the connection, and the task would else
    see its input end early.
    """
    if _inputs:
        rest = _taken(marks)
        _feed(_inputs[0], rest)


def _taken(marks: Path) -> bytes:
    """Return the rest of a task's input; die, with a mark, where it does not come."""
    try:
        return _rest_of(_inputs[0])
    except TimeoutError as error:
        (marks / f"{UNMET}-{os.getpid()}").write_text(str(error))
        os._exit(EXIT_CODE)


def _watch(marks: Path, landed: str) -> None:
    """Have a mark left when this process ends, however it ends.

    A shell does it, which holds one end of a pipe: to fork a process that runs a user's
    code would not be safe, for libraries may have threads in it.
    """
    over, alive = os.pipe()
    _kept.append(alive)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.posix_spawn(
        _SHELL,
        ["sh", "-c", _LEAVES_MARK, "sh", str(marks), landed],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, over, 0),
            (os.POSIX_SPAWN_DUP2, nowhere, 1),
        ],
    )
    os.close(over)
    os.close(nowhere)


def _rest_of(stream: Any) -> bytes:
    """Take over what Spark still sends beyond what the stream holds in its buffer.

    Raises ``TimeoutError`` where the end of a task's input does not come.
    """
    from onceproof.spark_checks.session.private_names import (  # noqa: PLC0415
        END_OF_STREAM,
    )

    number = stream.fileno()
    os.set_blocking(number, False)
    tail = bytes(stream.peek(1) or b"")[-len(END_OF_STREAM) :]
    os.set_blocking(number, True)
    found = bytearray()
    deadline = time.monotonic() + _PATIENCE
    while not (tail + found[-len(END_OF_STREAM) :]).endswith(END_OF_STREAM):
        if select.select([number], [], [], 0.05)[0]:
            piece = os.read(number, 1 << 16)
            if not piece:
                break
            found += piece
        elif time.monotonic() > deadline:
            message = "the input of a task that is given up did not end"
            raise TimeoutError(message)
    return bytes(found)


def _feed(stream: Any, rest: bytes) -> None:
    """Let the stream go on with ``rest``, and then end."""
    mine, other = socket.socketpair()
    os.dup2(mine.fileno(), stream.fileno())

    def send() -> None:
        other.sendall(rest)
        other.shutdown(socket.SHUT_WR)

    threading.Thread(target=send, daemon=True).start()


def _let_go(stream: Any) -> None:
    """Cut what ties the process to Spark, which then believes it dead.

    What the process still sends to Spark goes nowhere; connections of the user's own
    stay as they are.
    """
    spark = os.fstat(stream.fileno()).st_ino
    nowhere = os.open(os.devnull, os.O_RDWR)
    for entry in list(Path("/proc/self/fd").iterdir()):
        number = int(entry.name)
        try:
            if os.fstat(number).st_ino == spark:
                os.dup2(nowhere, number)
        except OSError:
            continue
