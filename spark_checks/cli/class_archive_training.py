"""Makes the archive of Spark's classes: some replays show which are loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.files import writable
from onceproof.spark_checks.replay import request
from onceproof.spark_checks.session.java.class_archive import (
    DRAFT_VARIABLE,
    LEAST_JAVA,
    VARIABLE,
    archive,
)

if TYPE_CHECKING:
    from pathlib import Path

_MAIN = "from onceproof.spark_checks.cli.class_archive_training import main; main()"
_SINKS = ("foreach-batch-append", "datasource-staged", "parquet-manifest")


def make(java: int) -> Path:
    """Run some replays to see which classes they load, and archive those.

    It takes about 40 s and 180 MB. Raises ``UsageError`` where Java is too old, the
    place is a folder or cannot be written to, or no archive came of it.
    """
    if java < LEAST_JAVA:
        message = f"Java {java} makes no archive; it takes {LEAST_JAVA} or later"
        raise UsageError(message)
    found = archive(java)
    if found.is_dir():
        message = f"{found} is a folder; {VARIABLE} names a file"
        raise UsageError(message)
    draft = found.with_name(f"{found.name}.{os.getpid()}")
    writable(found.parent)
    try:
        code, output = _run(draft)
        if code or not draft.is_file():
            last = (output.strip().splitlines() or ["Java wrote none"])[-1]
            message = f"no archive of Spark's classes was made: {last}"
            raise UsageError(message)
        draft.replace(found)
    finally:
        draft.unlink(missing_ok=True)
    return found


def _run(draft: Path) -> tuple[int, str]:
    """Run ``main``; when interrupted, let it end its JVM and delete its folder."""
    with subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", _MAIN],
        env={**os.environ, DRAFT_VARIABLE: str(draft)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            _, output = running.communicate()
        except KeyboardInterrupt:
            running.send_signal(signal.SIGINT)
            running.communicate()
            raise
        return running.returncode, output


def main() -> None:
    """Replay one interleaving of some sinks."""
    from onceproof.spark_checks.inputs.sizes import Sizes  # noqa: PLC0415
    from onceproof.spark_checks.plan.choice import Choice  # noqa: PLC0415
    from onceproof.spark_checks.replay import engine  # noqa: PLC0415
    from onceproof.spark_checks.sinks.reference import reference_sinks  # noqa: PLC0415

    known = reference_sinks()
    chosen = request.ReplayRequest(
        sizes=Sizes(batches=1), choice=Choice(only=frozenset([1]))
    )
    engine.replay([known[name] for name in _SINKS], lambda _: None, chosen)
