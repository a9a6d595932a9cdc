"""Java's archive of Spark's classes: with it a session starts in about half the time.

It holds classes in the form that they have once they are loaded. Java sees for itself
whether it fits what it is started with, and goes on without it where it does not.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from onceproof.model.code_cache import cache_folder
from onceproof.model.errors import UsageError
from onceproof.properties.counterexample.file import writable

VARIABLE = "ONCEPROOF_CLASS_ARCHIVE"
_DRAFT = "ONCEPROOF_CLASS_ARCHIVE_DRAFT"
_USES = "-XX:SharedArchiveFile="
_LEAST_JAVA = 13
_ENDS_WITHIN, _WRITES_WITHIN = 10, 300
_SINKS = ("foreach-batch-append", "datasource-staged", "parquet-manifest")


def archive(java: int) -> Path:
    """Say where the archive lies, or would lie, for a version of Java.

    That is in the virtual environment that Spark is installed in, or else in the
    user's cache; the variable ``ONCEPROOF_CLASS_ARCHIVE`` names another place.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    of = f"{shutil.which('java')} {os.environ.get('JAVA_HOME')} {sys.prefix}"
    digest = hashlib.sha256(of.encode()).hexdigest()[:8]
    spark = importlib.metadata.version("pyspark")
    own = sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK)
    folder = Path(sys.prefix, "share", "onceproof") if own else cache_folder()
    return folder / f"spark-{spark}-java-{java}-{digest}.jsa"


def options(java: int) -> str:
    """Give what Java is started with, after a blank; nothing without an archive."""
    if draft := os.environ.get(_DRAFT):
        return f" -XX:ArchiveClassesAtExit={shlex.quote(draft)}"
    found = archive(java)
    if java < _LEAST_JAVA or not found.is_file():
        return ""
    return f" {_USES}{shlex.quote(str(found))}"


def used_in(options: str) -> str:
    """Name the archive that options of Java tell it to use; nothing if none is."""
    given = [o for o in shlex.split(options) if o.startswith(_USES)]
    return given[-1].removeprefix(_USES) if given else ""


def patience() -> int:
    """Give the seconds that Java may take to end: it writes an archive as it does."""
    return _WRITES_WITHIN if os.environ.get(_DRAFT) else _ENDS_WITHIN


def make(java: int) -> Path:
    """Run some replays to see which classes they load, and archive those.

    It takes half a minute and 200 MB. Raises ``UsageError`` where Java is too old, the
    place is a folder or cannot be written to, or no archive came of it.
    """
    if java < _LEAST_JAVA:
        message = f"Java {java} makes no archive; it takes {_LEAST_JAVA} or later"
        raise UsageError(message)
    found = archive(java)
    if found.is_dir():
        message = f"{found} is a folder; {VARIABLE} names a file"
        raise UsageError(message)
    draft = found.with_name(f"{found.name}.{os.getpid()}")
    writable(found.parent)
    try:
        code, said = _run(draft)
        if code or not draft.is_file():
            last = (said.strip().splitlines() or ["Java wrote none"])[-1]
            message = f"no archive of Spark's classes was made: {last}"
            raise UsageError(message)
        draft.replace(found)
    finally:
        draft.unlink(missing_ok=True)
    return found


def _run(draft: Path) -> tuple[int, str]:
    """Run this file; when interrupted, let it end its JVM and delete its folder."""
    with subprocess.Popen(
        [sys.executable, "-m", "onceproof.spark_checks.session.class_archive"],
        env={**os.environ, _DRAFT: str(draft)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            _, said = running.communicate()
        except KeyboardInterrupt:
            running.send_signal(signal.SIGINT)
            running.communicate()
            raise
        return running.returncode, said


def main() -> None:
    """Replay one interleaving of some sinks."""
    from onceproof.spark_checks.inputs.sizes import Sizes  # noqa: PLC0415
    from onceproof.spark_checks.plan.choice import Choice  # noqa: PLC0415
    from onceproof.spark_checks.replay import engine  # noqa: PLC0415
    from onceproof.spark_checks.sinks.reference import reference_sinks  # noqa: PLC0415

    known = reference_sinks()
    plan = engine.Plan(sizes=Sizes(batches=1), choice=Choice(only=frozenset([1])))
    engine.replay([known[name] for name in _SINKS], lambda _: None, plan)


if __name__ == "__main__":
    main()
