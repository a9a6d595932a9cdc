"""Starts a PostgreSQL server from the system's binaries, and ends it.

The server has a data folder, a port and a password of its own, and listens on loopback
alone. It does not wait for disks: processes die in a replay, and the machine does not.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.stores.interface import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VARIABLE = "ONCEPROOF_POSTGRES"
_HOST = "127.0.0.1"
_USER = "onceproof"
_SYSTEM_USER = "postgres"
_SECONDS = 60
_TRIES = 3
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "max_prepared_transactions": "100",
    "unix_socket_directories": "",
    "listen_addresses": _HOST,
    "timezone": "UTC",
    "logging_collector": "off",
    # Else a server that is killed leaves files in the system's shared memory.
    "dynamic_shared_memory_type": "mmap",
}


@dataclass(frozen=True)
class Server:
    """A server that was started here."""

    url: str
    """The URL of its database, with the password."""
    executor: Any
    """What started it."""

    @property
    def process(self) -> int:
        """The id of its process."""
        return int(self.executor.process.pid)

    def stop(self) -> None:
        """End it at once; its sessions are cut off."""
        self.executor.stop(stop_signal=signal.SIGINT, expected_returncode=0)


def missing() -> tuple[str, ...]:
    """Say, a sentence each, what is needed to start a server and is not there."""
    found = []
    if shutil.which("initdb", path=_folders()) is None:
        found.append(
            "there are no PostgreSQL binaries: apt-get install postgresql, or set "
            f"{VARIABLE} to the folder that initdb is in"
        )
    if _is_root() and not _can_switch():
        found.append(
            f"a PostgreSQL server does not run as root, and there is no user "
            f"{_SYSTEM_USER} to run it as: run the tests as another user"
        )
    try:
        import mirakuru  # noqa: F401, PLC0415 - an extra
    except ImportError:
        found.append("mirakuru is missing: pip install 'onceproof[postgres]'")
    return tuple(found)


def version() -> str:
    """Return the version of the server's binary; empty where it does not say."""
    try:
        done = subprocess.run(  # noqa: S603 - the server's own binary
            [_binary("postgres"), "--version"],
            check=True,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except (StoreError, OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.partition(") ")[2].split(" ")[0].strip()


def start(folder: Path) -> Server:
    """Start a server with its data in an empty folder; wait until it accepts clients.

    Raises ``StoreError`` with what the server said.
    """
    data, password = folder / "data", secrets.token_hex(16)
    data.mkdir(mode=0o700)
    if _is_root():
        # The server's user must get to its data; nothing else in there is readable.
        folder.chmod(0o711)
        _refuse_unreachable(folder)
        shutil.chown(data, _SYSTEM_USER, _SYSTEM_USER)
    _initialise(data, password)
    for _ in range(_TRIES):
        port = _free_port()
        executor = _started(data, port, folder / "server.log")
        if executor is not None:
            url = f"postgresql://{_USER}:{password}@{_HOST}:{port}/postgres"
            return Server(url, executor)
    output = (folder / "server.log").read_text(errors="replace").strip()
    message = f"the PostgreSQL server does not start: {output[-500:]}"
    raise StoreError(message)


def _refuse_unreachable(folder: Path) -> None:
    """Refuse a folder that the server's user cannot get to."""
    for place in (folder, *folder.parents):
        if not place.stat().st_mode & stat.S_IXOTH:
            message = (
                "a PostgreSQL server does not run as root, and the user "
                f"{_SYSTEM_USER} cannot enter {place}: set TMPDIR to a folder that all "
                "users can enter"
            )
            raise StoreError(message)


def _initialise(data: Path, password: str) -> None:
    secret = data.parent / "password"
    secret.touch(mode=0o600)
    secret.write_text(f"{password}\n", encoding="ascii")
    if _is_root():
        shutil.chown(secret, _SYSTEM_USER, _SYSTEM_USER)
    command = _as_user(
        [
            _binary("initdb"),
            f"--pgdata={data}",
            f"--username={_USER}",
            f"--pwfile={secret}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]
    )
    done = subprocess.run(  # noqa: S603 - a list, with a binary of PostgreSQL
        command,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        cwd=data,
    )
    secret.unlink()
    if done.returncode:
        message = f"initdb fails: {done.stderr.strip()[-500:]}"
        raise StoreError(message)


def _started(data: Path, port: int, log: Path) -> Any:
    """Start a server on a port; None if it ends again, for the port may be taken."""
    from mirakuru import TCPExecutor  # noqa: PLC0415 - an extra
    from mirakuru.exceptions import ExecutorError  # noqa: PLC0415

    settings = [f"-c{key}={value}" for key, value in _SETTINGS.items()]
    command = [_binary("postgres"), "-D", str(data), "-p", str(port), *settings]
    with log.open("ab") as output:
        executor = TCPExecutor(
            _as_user(command),
            host=_HOST,
            port=port,
            timeout=_SECONDS,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=str(data),
        )
        try:
            executor.start()
        except ExecutorError:
            return None
    return executor


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind((_HOST, 0))
        return int(taken.getsockname()[1])


def _binary(name: str) -> str:
    found = shutil.which(name, path=_folders())
    if found is None:
        message = f"there is no {name} in {_folders()}"
        raise StoreError(message)
    return found


def _folders() -> str:
    """Return where binaries may be: what is named, the path, and Debian's folders."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    return os.pathsep.join([os.environ.get("PATH", ""), *_newest_first()])


def _newest_first() -> Iterable[str]:
    found = [p for p in Path("/usr/lib/postgresql").glob("*/bin") if p.is_dir()]
    versions = {p: p.parent.name for p in found}
    numbered = [p for p in found if versions[p].isdigit()]
    return map(str, sorted(numbered, key=lambda p: int(versions[p]), reverse=True))


def _as_user(command: Sequence[str]) -> list[str]:
    """Run a command as the system's user for PostgreSQL, where this one is root."""
    if not _is_root():
        return list(command)
    user = [f"--reuid={_SYSTEM_USER}", f"--regid={_SYSTEM_USER}", "--init-groups"]
    return ["setpriv", *user, "--", *command]


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _can_switch() -> bool:
    import pwd  # noqa: PLC0415 - not on every system

    try:
        pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        return False
    return shutil.which("setpriv") is not None
