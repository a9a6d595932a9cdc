"""The journals of a replay of several sinks: opened one by one, and deleted at the end.

They are kept for as long as something is left to replay, be it that the process was
killed, that a signal stopped it, or that its time was over.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.properties.evidence.fingerprints import of_data, of_file
from onceproof.spark_checks.replay.journal.journal import (
    Head,
    Journal,
    Record,
    RecordJournal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = "journals"
_ROOMS = ("model", "properties", "spark_checks")
_OURS = Path(__file__).parents[3]
_SETTINGS = ("JAVA", "JDK", "PYSPARK", "SPARK", "HADOOP", "ONCEPROOF", "PYTHON", "TZ")


class Journals:
    """Opens the journal of each sink, and deletes all once nothing is left to do."""

    def __init__(self, output: Path, *, resume: bool) -> None:
        """Keep journals below ``output``; with ``resume`` go on with those there."""
        self.folder = output / FOLDER
        self.resume = resume
        self._opened: list[RecordJournal[Any]] = []
        # Spark adds to the environment as it starts.
        self._found_with = found_with()

    def of(
        self, sink: str, asked: Mapping[str, object], versions: Mapping[str, str]
    ) -> Journal:
        """Open the journal of a sink: of what is asked, with a store of some versions.

        Raises ``UsageError`` if another process writes it.
        """
        journal = Journal(
            self.folder, self._head(sink, asked, versions), resume=self.resume
        )
        self._opened.append(journal)
        return journal

    def of_records(
        self,
        name: str,
        asked: Mapping[str, object],
        read: Callable[[Any], Record],
    ) -> RecordJournal[Record]:
        """Open the journal of what is no replay of a sink, with records of its own.

        Raises ``UsageError`` if another process writes it.
        """
        head = self._head(name, asked, {})
        journal = RecordJournal(self.folder, head, read, resume=self.resume)
        self._opened.append(journal)
        return journal

    def _head(
        self, name: str, asked: Mapping[str, object], versions: Mapping[str, str]
    ) -> Head:
        return Head(name, asked, {**self._found_with, **versions})

    @property
    def hold_any(self) -> bool:
        """Whether a journal of this replay is there to go on with."""
        return any(j.holds_any and j.path.exists() for j in self._opened)

    def close(self, *, done: bool) -> None:
        """Close the journals; delete those of no use, and all if nothing is left."""
        for journal in self._opened:
            if done or not journal.holds_any:
                journal.path.unlink(missing_ok=True)
            journal.close()
        # Journals of other replays may lie there.
        with suppress(OSError):
            self.folder.rmdir()


def found_with() -> dict[str, str]:
    """Describe what outcomes rest on: Onceproof's own code, packages, and settings.

    The code has the reference sinks in it.
    """
    code = {
        path.relative_to(_OURS).as_posix(): of_file(path)
        for room in _ROOMS
        for path in (_OURS / room).rglob("*")
        if path.suffix in (".py", ".toml", ".btm", ".java")
    }
    packages = sorted(
        f"{one.metadata['Name']}=={one.version}" for one in distributions()
    )
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)
    }
    return {
        "code of Onceproof": of_data(code),
        "packages": of_data(packages),
        "settings in the environment": of_data(settings),
        "Python": sys.version,
        "system": shlex.join(platform.uname()[:1] + platform.uname()[2:]),
    }
