"""A checkpoint and a result are taken back to where a crash would have left them."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.inject.checkpoint_edits import MANIFEST, entries, remove

if TYPE_CHECKING:
    from pathlib import Path

_STATE = re.compile(r"\.?(\d+)(?:_[^.]+)?\.(?:delta|snapshot|changelog|zip)(?:\.crc)?")

PURGED = "a later batch has purged what this crash would have found"


def rewind(
    checkpoint: Path, result: Path, placed: PlacedFault, *, retain: int = 100
) -> str:
    """Leave what a crash would have left; return why that cannot be, if it cannot.

    The checkpoint has all batches up to the fault's, and maybe later ones. What a
    batch leaves is deleted in the opposite order: the commit log, the result, the
    state of each partition, the offset log. ``retain`` is how many batches Spark keeps:
    what a later batch has purged cannot be put back, and the crash would have found it.
    """
    batch, fault = placed.batch, placed.fault
    unlogged = (GridFault.BEFORE_OFFSETS, GridFault.BEFORE_LOGS)
    before = fault in unlogged or fault.of_a_task
    later = max(entries(checkpoint, "commits"), default=0) - batch
    if later + before >= retain:
        return PURGED
    if batch not in entries(checkpoint, "commits"):
        return f"there is no batch {batch}"
    if fault is GridFault.TORN_COMMITS:
        _forget(checkpoint, "commits", batch + 1)
        _forget(checkpoint, "offsets", batch + 1)
        _forget_results(result, batch + 1)
        _forget_state(checkpoint, batch + 1)
        entry = checkpoint / "commits" / str(batch)
        remove(entry)
        entry.touch()
        return ""
    _forget(checkpoint, "commits", batch)
    _forget(checkpoint, "offsets", batch if before else batch + 1)
    if before and batch == 0:
        # Spark makes the folder after offsets/0, and refuses to start with one.
        shutil.rmtree(checkpoint / "state", ignore_errors=True)
    done = fault in (GridFault.BEFORE_COMMITS, GridFault.BEFORE_LOGS)
    _forget_results(result, batch + 1 if done else batch)
    kept = _forget_state(
        checkpoint,
        batch + 1 if done else batch,
        first=batch + 1 if fault is GridFault.IN_TASKS else None,
    )
    if fault is GridFault.IN_TASKS and not kept:
        return "the query has no state, or one task alone commits it"
    return ""


def _forget(checkpoint: Path, log: str, begin: int) -> None:
    for batch in entries(checkpoint, log):
        if batch >= begin:
            remove(checkpoint / log / str(batch))


def _forget_results(result: Path, begin: int) -> None:
    for folder in (result, result / MANIFEST):
        if not folder.is_dir():
            continue
        for path in folder.iterdir():
            number = path.name.removesuffix(".json").removesuffix(".compact")
            if number.isdigit() and int(number) >= begin:
                remove(path)


def _forget_state(checkpoint: Path, kept: int, first: int | None = None) -> bool:
    """Delete state of later versions; one task keeps up to ``first``, if given.

    It is that of partition 0, of the operator whose tasks have run first. Returns
    whether partition 0 has kept what another partition has lost.
    """
    mine, theirs = False, False
    folder = checkpoint / "state"
    versions = {
        path: int(found.group(1))
        for path in (sorted(folder.rglob("*")) if folder.is_dir() else ())
        if (found := _STATE.fullmatch(path.name))
    }
    # Of two operators in a row, all tasks of one end before those of the other start.
    newest = [path for path, version in versions.items() if version == first]
    ran_first = min(newest, key=lambda path: path.stat().st_mtime_ns, default=folder)
    for path, version in versions.items():
        operator, partition = path.relative_to(folder).parts[:2]
        mine_keeps = partition == "0" and ran_first.is_relative_to(folder / operator)
        most = first if first is not None and mine_keeps else kept
        if version > most:
            path.unlink()
            theirs = theirs or partition != "0"
        elif version > kept:
            mine = True
    return mine and theirs


def copied(source: Path, target: Path) -> None:
    """Put a copy of a folder in the place of another, with the times of its files."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
