"""Scratch folders: one for each run, marked as its own, and removed once it is dead.

A folder holds a mark, which the run locks for as long as it lives: the system lets go
of the lock when the run's last process ends, however that comes. A mark names the very
folder that it was made for, so that no other folder is taken for one of ours.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.session.java import jvm

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "onceproof-"
MARK = "onceproof.mark"
LIVE, DEAD, KEPT = "live", "dead", "kept"
_MOST_BYTES = 1 << 20
_FORMAT = "onceproof scratch folder"


@dataclass(frozen=True)
class Process:
    """A process, identified beyond its number, which the system uses again."""

    number: int
    """Its process id."""
    began: int
    """When it began, in clock ticks since the system booted."""
    system: str
    """The boot of the system, and the namespace of process ids."""

    @classmethod
    def of(cls, number: int) -> Process | None:
        """Describe a process that runs; None where there is none, or no /proc."""
        try:
            stat = Path(f"/proc/{number}/stat").read_bytes().decode("ascii", "replace")
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
            space = Path("/proc/self/ns/pid").readlink()
        except OSError:
            return None
        # The name of its program may hold anything, and ends with the last bracket.
        fields = stat.rpartition(")")[2].split()
        if fields[0] in "ZX":
            return None
        return cls(number, int(fields[19]), f"{boot.strip()} {space}")

    @property
    def runs(self) -> bool:
        """Return whether it still runs: that very process, and not its number alone."""
        return Process.of(self.number) == self


class Scratch:
    """A folder of the run's own, for all of its state."""

    def __init__(self) -> None:
        """Make the folder below the directory for temporary files; lock its mark."""
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = _marked(self.path)
        except OSError as error:
            message = (
                f"no writable folder for temporary files ({error}); "
                "set TMPDIR to one that is"
            )
            raise jvm.EnvironmentError_(message) from None

    def keep(self) -> None:
        """Let no later run remove the folder."""
        with suppress(OSError):
            _write(self.path, {**_read(self.path), "kept": True})

    def remove(self, *, keeping: Iterable[Path] = ()) -> None:
        """Delete the folder with all that it holds, or all but some folders in it."""
        kept = set(keeping)
        if kept:
            self.keep()
            for entry in self.path.iterdir():
                if entry not in kept and entry.is_dir():
                    shutil.rmtree(entry, ignore_errors=True)
        else:
            _emptied(self.path)
        self.leave()

    def leave(self) -> None:
        """Let go of the lock: the run is over."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)


def started(folder: Path, number: int) -> None:
    """Note a process that a run started, in the mark of its scratch folder."""
    found = Process.of(number)
    if found is not None:
        with suppress(OSError):
            stat = _read(folder)
            several = [*stat.get("processes", []), vars(found)]
            _write(folder, {**stat, "processes": several})


def _marked(folder: Path) -> int:
    """Put a mark into a folder, and give the lock that is held on it."""
    number = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):
        # Where nothing can be locked the folder is never known to be dead.
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    found = folder.stat()
    _write(
        folder,
        {
            "format": _FORMAT,
            "folder": folder.name,
            "inode": found.st_ino,
            "process": os.getpid(),
            "processes": [],
            "kept": False,
        },
    )
    return number


def _write(folder: Path, record: dict[str, Any]) -> None:
    """Write a mark into the file that is locked; one half-written is no mark."""
    with (folder / MARK).open("r+b") as file:
        file.write(json.dumps(record).encode() + b"\n")
        file.truncate()


def _read(folder: Path) -> dict[str, Any]:
    """Read a mark. Raises ``OSError`` for what is no mark of that folder."""
    number = os.open(folder / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as file:
        opened = os.fstat(number)
        if not stat.S_ISREG(opened.st_mode) or opened.st_nlink != 1:
            raise OSError(folder)
        try:
            record: dict[str, Any] = json.loads(file.read(_MOST_BYTES))
        except (ValueError, RecursionError):
            raise OSError(folder) from None
    ours = (
        isinstance(record, dict)
        and record.get("format") == _FORMAT
        and record.get("folder") == folder.name
        and record.get("inode") == folder.lstat().st_ino
        and isinstance(record.get("kept"), bool)
        and isinstance(record.get("processes"), list)
        and opened.st_uid == os.geteuid()
    )
    if not ours:
        raise OSError(folder)
    return record


# What dead runs left ----------------------------------------------------------


@dataclass(frozen=True)
class LeftoverFolder:
    """A scratch folder on this machine."""

    folder: Path
    """The folder."""
    state: str
    """Whether its run is live or dead, or the folder is kept."""
    run: int
    """The process id of its run."""
    processes: tuple[Process, ...] = field(default=())
    """The processes that the run started."""

    @property
    def running(self) -> tuple[Process, ...]:
        """List the processes that the run started, and that still run."""
        return tuple(process for process in self.processes if process.runs)

    @property
    def size(self) -> int:
        """Count the bytes that the folder's files take."""
        total = 0
        for place, _, names in os.walk(self.folder):
            for name in names:
                with suppress(OSError):
                    total += os.lstat(Path(place) / name).st_size
        return total


def left() -> list[LeftoverFolder]:
    """List the scratch folders of this user, in the directory for temporary files."""
    try:
        entries = sorted(os.scandir(tempfile.gettempdir()), key=lambda e: e.name)
    except OSError:
        return []
    found = []
    for entry in entries:
        if entry.name.startswith(PREFIX):
            with suppress(OSError):
                found.append(_left(Path(entry.path)))
    return found


def _left(folder: Path) -> LeftoverFolder:
    """Describe a scratch folder. Raises ``OSError`` for one that is not ours."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise OSError(folder)
    record = _read(folder)
    lock = _taken(folder)
    if lock is not None:
        os.close(lock)
    dead = KEPT if record["kept"] else DEAD
    several = tuple(filter(None, map(_process, record["processes"])))
    state = LIVE if lock is None else dead
    return LeftoverFolder(folder, state, int(record.get("process", 0)), several)


def _process(data: Any) -> Process | None:
    try:
        found = Process(**data)
    except TypeError:
        return None
    ints = type(found.number) is int and type(found.began) is int
    return found if ints and found.number > 1 else None


def _taken(folder: Path) -> int | None:
    """Take the lock of a mark; None where a run that lives holds it."""
    number = os.open(folder / MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


def sweep() -> list[Path]:
    """Remove the folders of dead runs, and end what they started; list them.

    A folder is removed only if it has the mark that was made for it, belongs to this
    user, and no process holds its lock; one that is kept stays. A process is ended only
    if it is the very one that the run noted.
    """
    removed = []
    for one in left():
        if one.state == DEAD:
            with suppress(OSError):
                removed += _swept(one.folder)
    return removed


def _swept(folder: Path) -> list[Path]:
    """Remove a folder while its lock is held, so that no one else does."""
    lock = _taken(folder)
    if lock is None:
        return []
    try:
        record = _read(folder)
        if record["kept"]:
            return []
        for process in filter(None, map(_process, record["processes"])):
            _end(process)
        _emptied(folder)
    finally:
        os.close(lock)
    return [] if folder.exists() else [folder]


def _emptied(folder: Path) -> None:
    """Remove a folder, its mark last: what is cut short is known for ours later on."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != MARK:
                entry.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def _end(process: Process) -> None:
    """Kill a process that is the very one that was noted, and its group if it leads."""
    if not process.runs:
        return
    with suppress(OSError):
        if os.getpgid(process.number) == process.number:
            os.killpg(process.number, signal.SIGKILL)
        else:
            os.kill(process.number, signal.SIGKILL)
