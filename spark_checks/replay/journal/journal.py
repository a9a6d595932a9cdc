"""The journal of a replay: a file of lines, a record each, written as it goes.

A process that is killed leaves all but its last line whole. The first line says what
was asked for, and of which code and versions the records are.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from onceproof.model.errors import UsageError
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.spark_checks.replay.journal.records import JournalRecord, record_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FORMAT, SCHEMA = "onceproof-journal", 1
SUFFIX = ".journal"
_SHOWN = 8


@dataclass(frozen=True)
class Head:
    """What a journal's records depend on, besides the plans that they name."""

    sink: str
    """The name of the sink."""
    asked: Mapping[str, Any]
    """What was asked for."""
    found_with: Mapping[str, str]
    """The code, the versions and the settings that the records were found with."""

    @property
    def file(self) -> str:
        """The name of the journal: there is one for all that can be asked for."""
        return f"{self.sink}-{of_data(dict(self.asked))[:_SHOWN]}{SUFFIX}"

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "sink": self.sink,
            "asked": dict(self.asked),
            "found_with": dict(self.found_with),
        }


class Noted(Protocol):
    """What a line of a journal says."""

    @property
    def plan(self) -> str:
        """What it is the record of."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""


Record = TypeVar("Record", bound=Noted)


class RecordJournal(Generic[Record]):
    """A journal of records of one kind, while it is written."""

    def __init__(
        self,
        folder: Path,
        head: Head,
        read: Callable[[Any], Record],
        *,
        resume: bool,
    ) -> None:
        """Open the journal; with ``resume`` recall what it holds already.

        ``read`` turns plain data into a record, and raises ``ValueError`` for others.
        ``changed`` says why nothing is recalled though something is there, and
        ``holds_any`` whether there is a record to go on with.
        Raises ``UsageError`` if another process writes it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / head.file
        self.changed = ""
        self.holds_any = False
        self._read = read
        self._known: dict[str, deque[Record]] = defaultdict(deque)
        self._file = _locked(self.path)
        whole = self._recall(head) if resume else 0
        self._file.seek(whole)
        self._file.truncate()
        self.holds_any = bool(self._known)
        if not whole:
            self._write(head.to_json())

    def recall(self, digest: str) -> Record | None:
        """Take out the first record of a plan that was not taken yet, if there is one.

        Each replay of the plan has a record of its own, in the order of the replays.
        """
        known = self._known.get(digest)
        return known.popleft() if known else None

    def note(self, record: Record) -> None:
        """Add a record, and leave it to the system to keep."""
        self.holds_any = True
        data = record.to_json()
        self._write({"record": data, "digest": of_data(data)})

    def close(self) -> None:
        """Let another process write the journal."""
        self._file.close()

    def _write(self, data: Mapping[str, Any]) -> None:
        line = json.dumps(data, separators=(",", ":"))
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def _recall(self, head: Head) -> int:
        """Read the records, and return where the last whole one ends.

        0 means that nothing is recalled; ``changed`` then says why, if there was any.
        """
        lines = self._file.read().splitlines(keepends=True)
        # The last line lacks its end if the process was killed while it wrote it.
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        if not lines:
            return 0
        if self._differs(lines[0], head):
            return 0
        for number, line in enumerate(lines[1:], 2):
            try:
                record = self._record_of(line)
            except ValueError as error:
                self.changed = f"line {number} is damaged: {error}"
                self._known.clear()
                return 0
            self._known[record.plan].append(record)
        return sum(map(len, lines))

    def _differs(self, line: bytes, head: Head) -> bool:
        """Compare the first line with what it should be."""
        wanted = head.to_json()
        try:
            found = json.loads(line)
        except ValueError as error:
            self.changed = f"line 1 is damaged: {error}"
            return True
        if found == wanted:
            return False
        known = found.get("found_with") if isinstance(found, dict) else None
        names: list[str] = []
        if isinstance(known, dict):
            now = wanted["found_with"]
            every = sorted({*now, *known})
            names = [name for name in every if known.get(name) != now.get(name)]
        self.changed = f"other {', '.join(names)}" if names else "another form"
        return True

    def _record_of(self, line: bytes) -> Record:
        """Read a line. Raises ``ValueError`` for one that was changed or is damaged."""
        data = json.loads(line)
        if not isinstance(data, dict) or data.get("digest") != of_data(
            data.get("record")
        ):
            message = "its digest does not match"
            raise ValueError(message)
        return self._read(data["record"])


class Journal(RecordJournal[JournalRecord]):
    """The journal of one sink's replay, while it is written."""

    def __init__(self, folder: Path, head: Head, *, resume: bool) -> None:
        """Open the journal; with ``resume`` recall what it holds already."""
        super().__init__(folder, head, record_in, resume=resume)


def _locked(path: Path) -> IO[bytes]:
    """Open a file that no other process writes.

    Raises ``UsageError`` if one does.
    """
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
    try:
        # Unlike flock's, this lock is not inherited by the drivers that are forked.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        message = (
            f"another replay of the same is going on and writes {path}; wait for it, "
            "or give this one another --output"
        )
        raise UsageError(message) from None
    return file
