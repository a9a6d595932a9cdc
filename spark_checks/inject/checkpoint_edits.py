"""Faults that reach a run through its checkpoint: the trap and the edits.

They touch only a checkpoint and a sink's log that lie inside the run's own folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Self

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from types import TracebackType


MANIFEST = "_spark_metadata"
_UNIQUE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Trap:
    """Ends a query between its sink's commit and the entry ``commits/N``.

    Once a task of the batch has left the mark ``begun``, an empty ``commits/N`` is put
    in the way, and the trap's own ``mark`` is left; the engine finds the obstacle when
    it writes its entry, and fails. Spark looks there when it starts, and then
    not before, so the sink has committed by then.
    """

    def __init__(self, checkpoint: Path, batch: int, begun: Path, mark: Path) -> None:
        """Lie in wait for ``batch``."""
        self._begun = begun
        self._mark = mark
        self._commits = checkpoint / "commits" / str(batch)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.sprung = False

    def __enter__(self) -> Self:
        """Start to watch."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the obstacle away again, before anything looks at the checkpoint."""
        self._stop.set()
        self._thread.join()
        if self.sprung and self._commits.stat().st_size == 0:
            remove(self._commits)

    def _watch(self) -> None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        while not self._stop.is_set():
            if self._begun.exists():
                try:
                    os.close(os.open(self._commits, flags))
                except FileNotFoundError:
                    continue
                except FileExistsError:
                    return
                self.sprung = True
                self._mark.touch()
                return
            self._stop.wait(0.001)


def remove(entry: Path) -> None:
    """Delete a log entry and its checksum."""
    entry.unlink(missing_ok=True)
    (entry.parent / f".{entry.name}.crc").unlink(missing_ok=True)


def entries(checkpoint: Path, log: str) -> set[int]:
    """List the batches that a log names: ``offsets`` or ``commits``."""
    folder = checkpoint / log
    if not folder.is_dir():
        return set()
    return {int(f.name) for f in folder.iterdir() if f.name.isdigit()}


def empty(checkpoint: Path) -> None:
    """Delete all that a query has noted: it is deployed with a new checkpoint."""
    if checkpoint.exists():
        shutil.rmtree(checkpoint)


def own(path: Path, scratch: Path) -> Path:
    """Refuse a path outside the run's own folder."""
    if not path.resolve().is_relative_to(scratch.resolve()):
        message = f"{path} was not made by this run, so it is not edited"
        raise UsageError(message)
    return path


def add_unnamed_file(table: Path) -> bool:
    """Lay a copy of a file that holds rows where no manifest names it, if there is one.

    It is called as Spark calls the file of an attempt that does not commit.
    """
    data = max(_files_of(table), key=lambda file: file.stat().st_size, default=None)
    if data is None:
        return False
    shutil.copyfile(data, data.with_name(_UNIQUE.sub(str(uuid.uuid4()), data.name, 1)))
    return True


def undo_file_commit(
    table: Path, checkpoint: Path, batch: int, written: frozenset[int]
) -> None:
    """Leave what a crash leaves before the file sink's manifest names a batch.

    The files of partitions in ``written`` stay; others were not written yet.
    """
    manifest = table / MANIFEST / str(batch)
    named = {
        Path(json.loads(line)["path"]).name
        for line in manifest.read_text().splitlines()[1:]
    }
    for file in _files_of(table):
        if file.name in named and int(file.name.split("-")[1]) not in written:
            remove(file)
    remove(manifest)
    remove(checkpoint / "commits" / str(batch))


def _files_of(table: Path) -> list[Path]:
    """List the files of a table, in folders of partitions too.

    All names differ: a name holds an identifier that Spark makes up.
    """
    found = (file for file in table.rglob("part-*") if file.is_file())
    return sorted(f for f in found if MANIFEST not in f.relative_to(table).parts)
