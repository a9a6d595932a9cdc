"""``--evidence [DIR]``: what a check, a proof or a replay found is left as evidence."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onceproof.model.errors import UsageError
from onceproof.model.files import writable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.properties.evidence.measurements.measurement import Measurement
    from onceproof.properties.evidence.record import Evidence
    from onceproof.properties.judges.by_search import Report
    from onceproof.spark_checks.grid.grid_run import GridReport
    from onceproof.spark_checks.replay.sink_report import SinkReport

STATED = ""

evidence = click.option(
    "--evidence",
    "evidence",
    is_flag=False,
    flag_value=STATED,
    default=None,
    metavar="[DIR]",
    help="Write a record for each guarantee, to DIR or as pyproject.toml says.",
)


def leave(
    given: str | None,
    reports: Iterable[Report],
    *,
    protocol: str = "",
    how: Mapping[str, Any] | None = None,
) -> None:
    """Write a record for each guarantee of protocols, if --evidence was given.

    ``protocol`` is what was typed, where it was one protocol; ``how`` holds further
    options of the judge.
    """
    if given is None:
        return
    from onceproof.properties.counterexample.file import labels_of  # noqa: PLC0415
    from onceproof.properties.evidence.from_reports import records_of, subject_of  # noqa: PLC0415

    folder, root = _places(given)
    records: list[Evidence] = []
    for report in reports:
        subject = subject_of(report.protocol)
        path, _, _ = protocol.partition(":")
        if path.endswith(".py"):
            subject = f"{Path(os.path.relpath(path, root)).as_posix()}:{subject}"
        known = {name: value for name, value in (how or {}).items() if value}
        steps = partial(labels_of, report.protocol)
        records += records_of(report, subject=subject, how=known, steps=steps)
    _write(records, folder)


def leave_replays(given: str | None, reports: Iterable[SinkReport]) -> None:
    """Write a record for each guarantee of sinks, if --evidence was given."""
    if given is None:
        return
    from onceproof.spark_checks.report.evidence.records import records_of_replay  # noqa: PLC0415

    folder, root = _places(given)
    records: list[Evidence] = []
    for report in reports:
        records += records_of_replay(report, root=root)
    _write(records, folder)


def leave_grid(given: str | None, report: GridReport) -> None:
    """Write a record for each query and configuration, if --evidence was given."""
    if given is None:
        return
    from onceproof.spark_checks.grid.grid_records import records_of_grid  # noqa: PLC0415

    _write(records_of_grid(report), _places(given)[0])


def keep_measurement(given: str | None, found: Measurement) -> None:
    """Write what was counted in real tables, if --evidence was given."""
    if given is None:
        return
    from onceproof.properties.evidence.measurements.store import keep  # noqa: PLC0415

    path = keep(found, _places(given)[0])
    click.echo(f"evidence: a measurement in {path}", err=True)


def refuse_unreadable(given: str | None) -> None:
    """Refuse a folder for evidence that cannot be read or written.

    Raises ``UsageError``, before a long run would end without a place for its answer.
    """
    if given is None:
        return
    from onceproof.properties.evidence.measurements.store import measurements  # noqa: PLC0415

    folder = _places(given)[0]
    writable(folder)
    measurements(folder)


def refuse(given: str | None) -> None:
    """Refuse a sink in the place of the folder for evidence, and unreadable evidence.

    A long run would otherwise end without a place for what it found. Raises
    ``UsageError``.
    """
    if given is None:
        return
    from onceproof.properties.evidence.store import read_folder  # noqa: PLC0415
    from onceproof.spark_checks.sinks.reference import every_reference_sink  # noqa: PLC0415

    known = every_reference_sink()
    if given in known:
        message = f"--evidence takes a folder, not the sink {given}; put it last"
        raise UsageError(message)
    read_folder(_places(given)[0])


def _places(given: str) -> tuple[Path, Path]:
    """Return the folder for evidence, and the root that paths are seen from."""
    from onceproof.spark_checks.report.evidence.project_settings import settings_at  # noqa: PLC0415

    settings = settings_at(Path.cwd())
    return (settings.evidence if given == STATED else Path(given)), settings.root


def _write(records: Iterable[Evidence], folder: Path) -> None:
    from onceproof.properties.evidence.store import write  # noqa: PLC0415

    found = list(records)
    if not found:
        message = "there is no guarantee to write evidence of; leave out --evidence"
        raise UsageError(message)
    kept = write(found, folder)
    suffix = f"; {kept} not replaced, for those there rest on more" if kept else ""
    click.echo(f"evidence: {len(found)} records in {folder}{suffix}", err=True)
