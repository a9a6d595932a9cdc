"""How far a search on Spark has come, noted level by level beside its states."""

from __future__ import annotations

import fcntl
import hashlib
import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.files import replace_with

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOCK = "search.lock"
_NAME = "search.json"
_FORM = 1


@dataclass
class Progress:
    """The levels that are complete."""

    identity: str
    """A hash of all that the states and the answers depend on."""
    buckets: int
    """How many buckets the states of a level are distributed to."""
    counts: list[int] = field(default_factory=list)
    """How many states each level has."""
    summaries: list[str] = field(default_factory=list)
    """What was seen as each level was expanded, as JSON; the last may be missing."""


def identity_of(*parts: str) -> str:
    """Return a hash of texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read_progress(folder: Path, identity: str, buckets: int) -> Progress:
    """Read how far the search in ``folder`` has come; a new one begins if it is empty.

    Raises ``UsageError`` for a folder that holds something else, such as a search of
    another model.
    """
    file = folder / _NAME
    if not file.exists():
        _refuse_other_files(folder)
        progress = Progress(identity, buckets)
        note_progress(folder, progress)
        return progress
    noted = _read(file)
    if noted is None:
        message = f"{file} cannot be read; delete {folder}, and search again"
        raise UsageError(message)
    if noted.identity != identity:
        message = (
            f"{folder} holds the search of another model, of other sizes or of other "
            "properties; name another folder, or delete this one"
        )
        raise UsageError(message)
    return noted


def levels_in(folder: Path) -> int:
    """Return how many levels the search in a folder has written; 0 without one."""
    noted = _read(folder / _NAME)
    return 0 if noted is None else len(noted.counts)


def _refuse_other_files(folder: Path) -> None:
    if any(found.name != _LOCK for found in folder.iterdir()):
        message = (
            f"{folder} holds something other than a search; name a folder that is "
            "empty or new"
        )
        raise UsageError(message)


def _read(file: Path) -> Progress | None:
    """Read what was noted; None where it is not whole, or of another form."""
    try:
        data = json.loads(file.read_text())
        return Progress(**data) if data.pop("form") == _FORM else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Create a folder if need be, and keep other searches out of it meanwhile.

    Raises ``UsageError`` where another search is under way, or where the folder holds
    something else, to which nothing is added.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / _NAME).exists():
            _refuse_other_files(folder)
        lock = (folder / _LOCK).open("wb")
    except OSError as error:
        message = f"{folder} cannot be used: {error.strerror or error}"
        raise UsageError(message) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"another search is under way in {folder}; name another folder"
            raise UsageError(message) from None
        yield


def note_progress(folder: Path, progress: Progress) -> None:
    """Write how far the search has come, in one step."""
    text = json.dumps({"form": _FORM, **asdict(progress)}, indent=1)
    replace_with(folder / _NAME, text.encode())
