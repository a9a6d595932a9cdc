"""The cache of compiled code; each entry is verified before it is loaded.

Loaded code runs. So an entry is used only if it is complete, matches the request, and
cannot have been written by anybody else. Otherwise the code is compiled again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.files import replace_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedReader

_FORM = b"onceproof compiled code 1\n"
_DIGEST = hashlib.sha256().digest_size
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Return the folder for what is kept: ``ONCEPROOF_CACHE``, else the user's own.

    Where that cannot be written, a folder in the temporary directory serves.
    """
    named = os.environ.get("ONCEPROOF_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(named) if named else Path(home).expanduser() / "onceproof"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        spare = Path(tempfile.gettempdir()) / f"onceproof-cache-{os.getuid()}"
        with suppress(OSError):
            spare.mkdir(mode=0o700, exist_ok=True)
        return spare


def code_folder() -> Path | None:
    """Return the folder for compiled code, or None where none can be trusted."""
    return own_folder("code")


def own_folder(name: str) -> Path | None:
    """Return a folder of the cache, or None where what is in it cannot be trusted.

    It has to be a folder of the user's own, no symbolic link, and writable by nobody
    else.
    """
    folder = cache_folder() / name
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and _is_own(found)
    return folder if own else None


@contextmanager
def own_file(path: Path) -> Iterator[BufferedReader]:
    """Open a file of the user's own, which nobody else can write to.

    Raises ``OSError`` for any other, and for a symbolic link.
    """
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(number, "rb") as file:
        found = os.fstat(number)
        if not (stat.S_ISREG(found.st_mode) and _is_own(found)):
            message = f"{path} is no file that you alone can write to"
            raise PermissionError(message)
        yield file


def identity(parts: Iterable[str | bytes]) -> bytes:
    """Return a digest that no other list of parts has."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def load(name: bytes) -> bytes | None:
    """Return the content of an identity's entry, or None without a sound one."""
    folder = code_folder()
    if folder is None:
        return None
    try:
        with own_file(folder / name.hex()) as file:
            data = file.read()
    except OSError:
        return None
    head = len(_FORM) + len(name) + _DIGEST
    content = data[head:]
    sound = data[:head] == _FORM + name + hashlib.sha256(content).digest()
    return content if sound else None


def keep(name: bytes, content: bytes) -> None:
    """Keep the content of an identity, if there is a folder that it can be kept in."""
    folder = code_folder()
    if folder is None:
        return
    data = _FORM + name + hashlib.sha256(content).digest() + content
    with suppress(OSError):  # a full disk, or one that is read only
        replace_with(folder / name.hex(), data, new=0o600)


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid() and not found.st_mode & _OTHERS
