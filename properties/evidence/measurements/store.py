"""Files of measurements: one for what was compared, in a folder beside the evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onceproof.model.files import locked, writable, write_whole
from onceproof.properties.evidence.measurements.measurement import (
    Measurement,
    contradiction_of,
)
from onceproof.properties.schema import FileFormat, readers_of, table, text

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = FileFormat(
    "onceproof measurement", 1, "measurement", "restore it, or delete it"
)
_FOLDER = "measurements"
_FILE = table({**readers_of(Measurement), "digest": text})


def keep(found: Measurement, folder: Path) -> Path:
    """Write a measurement below a folder of evidence; give the file.

    It replaces the one of the same tables, asked the same. Raises ``UsageError``.
    """
    place = folder / _FOLDER
    writable(place)
    path = place / f"{found.id}.json"
    with locked(path):
        data = {**FORMAT.head, **found.to_json()}
        write_whole(path, json.dumps(data, indent=1) + "\n")
    return path


def measurements(folder: Path) -> dict[str, Measurement]:
    """Read the measurements below a folder of evidence, by the names of their files.

    Raises ``UsageError`` for a file that is none, is damaged or contradicts itself.
    """
    found = {}
    for path in sorted((folder / _FOLDER).glob("*.json")):
        try:
            found[path.name] = _parsed(FORMAT.content(path), path.stem)
        except ValueError as error:
            raise FORMAT.damaged(path, error) from None
    return found


def _parsed(data: object, name: str) -> Measurement:
    """Read a measurement. Raises ``ValueError`` for what is amiss."""
    content = _FILE(data, "")
    digest = content.pop("digest")
    found = Measurement(**content)
    why = contradiction_of(found)
    if not why and digest != found.digest:
        why = "it was edited after it was made: its digest is of something else"
    if not why and name != found.id:
        why = f"what it says belongs in {found.id}.json"
    if why:
        raise ValueError(why)
    return found
