"""Evidence files: one for each subject, written whole, and read back or refused."""

from __future__ import annotations

import itertools
import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.files import locked, writable, write_whole
from onceproof.model.text import printable
from onceproof.properties.evidence.contradictions import contradiction, looked_at
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.evidence.record import Evidence, file_name
from onceproof.properties.schema import (
    FileFormat,
    OtherSchemaError,
    listed,
    readers_of,
    shown,
    table,
    text,
)
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

FORMAT = FileFormat(
    "onceproof evidence",
    3,
    "evidence",
    "restore it, or delete it and make its evidence again",
)
_RECORD = table(
    {
        **{n: r for n, r in readers_of(Evidence).items() if n != "subject"},
        "id": text,
        "digest": text,
    }
)
_FILE = table({"subject": text, "records": listed(lambda v, _: v), "digest": text})
_PER_CLAIM = 2
_MOST_COMMANDS, _MOST_SHOWN = 3, 200
_by_subject = attrgetter("subject")


def write(records: Iterable[Evidence], folder: Path) -> int:
    """Put records into the files of their subjects, and count those that replace none.

    A record takes the place of the one with its id; all others stay. One that was found
    for the very same, and rests on more, stays as well: the new one is then counted,
    and not written. What refutes never gives way to what holds so. Runs that write to
    a folder at the same time wait for each other.

    Raises ``UsageError`` for a file that cannot be read or written.
    """
    writable(folder)
    kept = 0
    for subject, group in itertools.groupby(
        sorted(records, key=_by_subject), key=_by_subject
    ):
        path = folder / file_name(subject)
        with locked(path):
            there = {r.id: r for r in read(path)} if path.exists() else {}
            for record in group:
                if _rests_on_more(there.get(record.id), record):
                    kept += 1
                else:
                    there[record.id] = record
            _put(path, subject, there)
    return kept


def remove(record: Evidence, folder: Path) -> None:
    """Take a record out of the file of its subject; an empty file is deleted.

    Raises ``UsageError`` for a file that cannot be read or written.
    """
    path = folder / record.file_name
    with locked(path):
        there = {r.id: r for r in read(path)}
        there.pop(record.id, None)
        if there:
            _put(path, record.subject, there)
        else:
            path.unlink()


def _put(path: Path, subject: str, records: Mapping[str, Evidence]) -> None:
    found = []
    for _, record in sorted(records.items()):
        data = record.to_json()
        del data["subject"]
        found.append(data)
    _share_steps(found)
    head = {**FORMAT.head, "subject": subject}
    data = {**head, "records": found, "digest": _digest(subject, records.values())}
    write_whole(path, json.dumps(data, indent=1) + "\n")


def _share_steps(records: Iterable[dict[str, Any]]) -> None:
    """Write the steps of a trace once, and elsewhere the id of the record with them.

    What breaks at-most-once breaks effectively-once, by the same steps.
    """
    known: dict[str, str] = {}
    for record in records:
        trace = record["trace"]
        if trace is not None and trace["steps"]:
            steps = of_data(trace["steps"])
            if steps in known:
                trace["steps"] = known[steps]
            else:
                known[steps] = record["id"]


def _with_steps(records: Sequence[Any]) -> Iterator[Any]:
    """Give each record its own steps again. Raises ``ValueError`` if none has them."""
    known = {
        str(r["id"]): _steps(r)
        for r in records
        if isinstance(_steps(r), list) and "id" in r
    }
    for number, record in enumerate(records):
        steps = _steps(record)
        if isinstance(steps, str):
            if steps not in known:
                message = (
                    f"'records[{number}].trace.steps' is not a list, and "
                    f"{shown(steps)} is no record with steps"
                )
                raise ValueError(message)
            yield {**record, "trace": {**record["trace"], "steps": known[steps]}}
        else:
            yield record


def _steps(record: Any) -> Any:
    """Return what plain data has for the steps of a record's trace."""
    trace = record.get("trace") if isinstance(record, dict) else None
    return trace.get("steps") if isinstance(trace, dict) else None


def _digest(subject: str, records: Iterable[Evidence]) -> str:
    """Hash which records a file holds: one that is lost is noticed."""
    return of_data([subject, sorted(record.digest for record in records)])


def _rests_on_more(there: Evidence | None, record: Evidence) -> bool:
    """Return whether the record that is there stays."""
    if there is None or there.fingerprints != record.fingerprints:
        return False
    if looked_at(there) <= looked_at(record):
        return False
    return record.verdict is not Verdict.REFUTED or there.verdict is Verdict.REFUTED


def read_folder(folder: Path) -> dict[str, Evidence]:
    """Read all the evidence of a folder, by address; there need be no folder.

    Raises ``UsageError`` for a file that is no evidence, is damaged, or was written by
    a version that wrote a file for each claim.
    """
    found: dict[str, Evidence] = {}
    old: dict[Path, Any] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            found |= {record.address: record for record in read(path)}
        except OtherSchemaError as error:
            if error.schema != _PER_CLAIM:
                raise
            old[path] = error.data
    if old:
        raise UsageError(_outdated(folder, old))
    return found


def _outdated(folder: Path, old: Mapping[Path, Any]) -> str:
    """Return what to do about files that hold one claim each."""
    commands = dict.fromkeys(
        printable(command[:_MOST_SHOWN])
        for data in old.values()
        if isinstance(command := data.get("again"), str)
    )
    first = [*commands][:_MOST_COMMANDS]
    left = len(commands) - len(first)
    more = f", and {left} more that their 'again' names" if left else ""
    name, others = next(iter(old)).name, len(old) - 1
    which = f"{name} and {others} more files" if others else name
    return (
        f"{folder} holds evidence of schema {_PER_CLAIM}, a file for each claim "
        f"({which}), and this Onceproof reads schema {FORMAT.schema}, a file for each "
        f"subject; delete them, and make the evidence again: {'; '.join(first)}{more}"
    )


def read(path: Path) -> tuple[Evidence, ...]:
    """Read the records of a subject.

    Raises ``UsageError`` for a file that is missing, damaged or foreign, that has
    another name than its subject gives it, or that has lost a record, and
    ``OtherSchemaError`` for one of another schema.
    """
    data = FORMAT.content(path)
    try:
        return _parsed(data, path.name)
    except ValueError as error:
        raise FORMAT.damaged(path, error) from None


def _parsed(data: Any, name: str) -> tuple[Evidence, ...]:
    """Read records from plain data. Raises ``ValueError`` for what is amiss."""
    file = _FILE(data, "")
    subject = file["subject"]
    if name != file_name(subject):
        message = f"what it says belongs in {file_name(subject)}"
        raise ValueError(message)
    records = _with_steps(file["records"])
    found = tuple(
        _record(one, subject, f"records[{n}]") for n, one in enumerate(records)
    )
    ids = [record.id for record in found]
    if ids != sorted(set(ids)) or not ids:
        message = "'records' is empty, out of order, or has a record twice"
        raise ValueError(message)
    if file["digest"] != _digest(subject, found):
        message = "a record was lost or added: its digest is of other records"
        raise ValueError(message)
    return found


def _record(value: Any, subject: str, place: str) -> Evidence:
    """Read a record whose digest fits, and that does not contradict itself."""
    data = _RECORD(value, place)
    name, digest = data.pop("id"), data.pop("digest")
    found = Evidence(subject=subject, **data)
    if reason := contradiction(found):
        why = reason
    elif digest != found.digest:
        why = "it was edited after it was made: its digest is of something else"
    elif name != found.id:
        why = f"its id is {shown(name)}, and what it says has the id {found.id!r}"
    else:
        return found
    message = f"{place}, {shown(name)}: {why}"
    raise ValueError(message)
