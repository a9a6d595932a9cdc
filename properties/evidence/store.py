"""Evidence files: written whole, and read back or refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.files import read_json, writable, write_whole
from onceproof.properties.evidence.contradictions import looked_at
from onceproof.properties.evidence.parsing import parsed
from onceproof.properties.evidence.record import FORMAT, SCHEMA, Evidence
from onceproof.properties.forms import shown
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path


def write(record: Evidence, folder: Path) -> bool:
    """Write a record, whole or not at all, in place of one of the same name.

    One that was found for the very same, and rests on more, stays: then nothing is
    written, and the answer is no. What refutes never gives way to what holds so.
    """
    writable(folder)
    path = folder / record.name
    if _rests_on_more(path, record):
        return False
    write_whole(path, json.dumps(record.to_json(), indent=1) + "\n")
    return True


def _rests_on_more(path: Path, record: Evidence) -> bool:
    """Say whether the record that is there is to stay."""
    try:
        there = read(path)
    except UsageError:
        return False
    if there.hashes != record.hashes or looked_at(there) <= looked_at(record):
        return False
    return record.verdict is not Verdict.REFUTED or there.verdict is Verdict.REFUTED


def read_folder(folder: Path) -> dict[str, Evidence]:
    """Read all the evidence of a folder, by file name; there need be no folder.

    Raises ``UsageError`` for a file that is no evidence, or is damaged.
    """
    paths = sorted(folder.glob("*.json"))
    return {path.name: read(path) for path in paths}


def read(path: Path) -> Evidence:
    """Read an evidence file.

    Raises ``UsageError`` for one that is missing, damaged, foreign, or of another
    schema, and for one that bears another name than what it tells would give it.
    """
    data = read_json(path, "evidence")
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        message = f"{path} is JSON, but no evidence of Onceproof; take it out"
        raise UsageError(message)
    schema = data.pop("schema", None)
    if type(schema) is not int or schema != SCHEMA:
        message = (
            f"{path} has schema {shown(schema)}, and this Onceproof reads {SCHEMA}; "
            "make it anew, or use the version that wrote it"
        )
        raise UsageError(message)
    try:
        found = parsed(data)
    except ValueError as error:
        message = f"{path} is damaged: {error}; make it anew"
        raise UsageError(message) from None
    if found.name != path.name:
        message = f"{path} is damaged: what it tells belongs in {found.name}"
        raise UsageError(message)
    return found
