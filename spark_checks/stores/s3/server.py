"""Starts a server of S3 by moto, in a process beside the run, and ends it.

It keeps objects in memory, and in its folder where they are large. It listens on
loopback alone, and takes any credentials.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.interface import StoreError, missing_client
from onceproof.spark_checks.stores.readiness import first_ready

if TYPE_CHECKING:
    from pathlib import Path

_HOST = "127.0.0.1"
_MODULE = "onceproof.spark_checks.stores.s3.serve"
_SECONDS = 60.0
_ENDS = 10.0


class S3Server:
    """A server that was started here."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        """Keep the process of a server that listens on a port."""
        self._process = process
        self.endpoint = f"http://{_HOST}:{port}"

    @property
    def process(self) -> int:
        """The id of its process."""
        return self._process.pid

    def stop(self) -> None:
        """End it; what it holds is thrown away."""
        _end(self._process)


def missing() -> tuple[str, ...]:
    """Say, in a sentence, if a package is missing that a server needs."""
    found = (missing_client(name, "s3") for name in ("moto", "flask", "flask_cors"))
    return next(filter(None, found), ())


def start(folder: Path) -> S3Server:
    """Start a server, with a folder for itself; return it once it answers.

    Raises ``StoreError`` with what the server said.
    """
    log = folder / "server.log"
    with log.open("ab") as errors:
        process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-P", "-m", _MODULE, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "TMPDIR": str(folder),
            },
            start_new_session=True,
        )
    try:
        port = _first_line(process)
    except BaseException:
        _end(process)
        raise
    if not port.isdigit():
        _end(process)
        output = log.read_text(errors="replace").strip()[-500:]
        message = f"the S3 server does not start: {output or 'it says nothing'}"
        raise StoreError(message)
    return S3Server(process, int(port))


def _first_line(process: subprocess.Popen[bytes]) -> str:
    """Return the first line that a process prints; empty where it prints none."""
    pipe = process.stdout
    if pipe is None or not first_ready([pipe], [], _SECONDS)[0]:
        return ""
    return pipe.readline().decode().strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        process.stdin.close()  # type: ignore[union-attr]
    try:
        process.wait(_ENDS)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close()  # type: ignore[union-attr]
