"""Files: text is written whole or not at all, and what is read is checked for form.

A file that is too large, is not UTF-8, or is JSON that two programs could read
differently is refused in one sentence, with its place.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import secrets
import stat
import tempfile
import time
import tomllib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MOST_BYTES = 64 * 1024 * 1024
_MOST_NUMBER = 2**63
_NEW = 0o666
_DRAFT = ".onceproof-"
_PATIENCE, _PAUSE = 60.0, 0.02


def write_whole(path: Path, text: str) -> None:
    """Write a file so that there is the old one or the new one, whatever happens.

    The text goes into a file beside it, reaches the disk, and takes the name then. A
    symbolic link is replaced, not written through; a device or a pipe is written to.
    Raises ``UsageError`` where it cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            path.write_bytes(data)
            return
        replace_with(path, data, mode=mode)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise UsageError(message) from None


def _mode(path: Path) -> int | None:
    """Return the kind and permissions of what has a name, or None."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def replace_with(
    path: Path,
    data: bytes,
    *,
    mode: int | None = None,
    new: int = _NEW,
    lasting: bool = True,
) -> None:
    """Put a file with ``data`` in the place of a name, on disk before it is there.

    A file that had the name keeps its permissions if they are given as ``mode``;
    another gets ``new``. One that need not outlast a power cut is not ``lasting``, and
    costs no wait for the disk. Raises ``OSError``.
    """
    with replacing(path, mode=mode, new=new, lasting=lasting) as file:
        file.write(data)


@contextmanager
def replacing(
    path: Path, *, mode: int | None = None, new: int = _NEW, lasting: bool = True
) -> Iterator[BinaryIO]:
    """Give a file to write, which takes a name when the block ends without an error.

    The arguments are those of ``replace_with``. Raises ``OSError``.
    """
    draft = path.parent / f"{_DRAFT}{secrets.token_hex(8)}.tmp"
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new)
    try:
        with os.fdopen(number, "wb") as file:
            if mode is not None and stat.S_ISREG(mode):
                with suppress(OSError):
                    os.fchmod(number, stat.S_IMODE(mode))
            yield file
            if lasting:
                file.flush()
                os.fsync(number)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if lasting:
        _settle(path.parent)


def remove_drafts(folder: Path) -> None:
    """Remove what dead runs had begun to write there. Nobody may be writing now."""
    for draft in folder.glob(f"{_DRAFT}*.tmp"):
        draft.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Let the new name outlast a power cut, where the file system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def locked(path: Path, *, patience: float = _PATIENCE) -> Iterator[None]:
    """Let one run at a time read and rewrite a file; the others wait for it.

    The lock is a file beside it, and ends with the process that holds it. Raises
    ``UsageError`` where it cannot be had within ``patience`` seconds, or at all.
    """
    lock = path.with_name(f".{path.name}.lock")
    ends = time.monotonic() + patience
    try:
        while (number := _lock_of(lock)) is None:
            if time.monotonic() > ends:
                message = (
                    f"{path} is being written by another run for {patience:g} seconds; "
                    f"wait for that, or end the process that holds {lock}"
                )
                raise UsageError(message)
            time.sleep(_PAUSE)
    except OSError as error:
        message = f"{lock} cannot be locked: {error.strerror or error}"
        raise UsageError(message) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        # A process forked meanwhile has the same lock: to close it here is not enough.
        fcntl.flock(number, fcntl.LOCK_UN)
        os.close(number)


def _lock_of(lock: Path) -> int | None:
    """Take a lock, and give its number; None where another run has it."""
    number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _NEW)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(number), lock.stat()):
            return number
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(number)
        raise
    os.close(number)
    return None


def read_text(path: Path, *, most: int = MOST_BYTES) -> str:
    """Read a file of UTF-8 text.

    Raises ``UsageError`` for one that cannot be read, is larger than ``most`` bytes, or
    is no such text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or error
        message = f"{path} cannot be read: {text}"
        raise UsageError(message) from None
    if len(data) > most:
        message = f"{path} is larger than {most:,} bytes, and is not read"
        raise UsageError(message)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8 text: byte {error.start + 1:,} is damaged"
        raise UsageError(message) from None


def read_json(path: Path, what: str) -> Any:
    """Read a JSON file in which every key is given once and every number is one.

    Raises ``UsageError`` for anything else; ``what`` names what it should have been.
    """
    return json_of(read_text(path), str(path), what)


def json_of(text: str, name: str, what: str) -> Any:
    """Read a text as ``read_json`` reads a file; ``name`` says where it is from.

    Raises ``UsageError``.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except RecursionError:
        why = "it is nested too deeply"
    except json.JSONDecodeError as error:
        marked = text.startswith("\ufeff")
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        why = "it begins with a byte order mark; save it without one"
        why = why if marked else place
    except ValueError as error:
        why = str(error)
    message = f"{name} is not JSON, so it is no {what}: {why}"
    raise UsageError(message)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises ``UsageError`` for one that cannot be read, or is no TOML.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        why = "it is nested too deeply"
    except ValueError as error:
        why = str(error)
    message = f"{path} cannot be read: {why}"
    raise UsageError(message)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                break
            seen.add(name)
        message = f"it gives {name[:80]!r} twice in one object"
        raise ValueError(message)
    return found


def _constant(name: str) -> float:
    message = f"{name} is no number"
    raise ValueError(message)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        message = f"the number {text[:40]} is too large"
        raise ValueError(message)
    return number


def _int(text: str) -> int:
    if len(text) > len(str(_MOST_NUMBER)) + 1 or abs(int(text)) >= _MOST_NUMBER:
        message = f"the number {text[:40]} is too large"
        raise ValueError(message)
    return int(text)


def writable(folder: Path) -> None:
    """Make a folder, and see that files can be put into it.

    Raises ``UsageError`` where that is not so.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"{folder} cannot be written to: {error.strerror or error}"
        raise UsageError(message) from None


def short_path(path: Path | str, folder: Path | str = os.curdir) -> str:
    """Return a path as seen from a folder, if that is shorter."""
    return min(os.path.relpath(path, folder), str(path), key=len)
