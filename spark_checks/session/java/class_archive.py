"""Java's archive of Spark's classes: with it a session starts in about half the time.

It holds classes in the form that they have once they are loaded. Java sees for itself
whether it fits what it is started with, and goes on without it where it does not.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from pathlib import Path

from onceproof.model.code_cache import cache_folder
from onceproof.model.versions import versions_of

VARIABLE = "ONCEPROOF_CLASS_ARCHIVE"
DRAFT_VARIABLE = "ONCEPROOF_CLASS_ARCHIVE_DRAFT"
_USES = "-XX:SharedArchiveFile="
LEAST_JAVA = 13
_ENDS_WITHIN, _WRITES_WITHIN = 10, 300


def archive(java: int) -> Path:
    """Return where the archive lies, or would lie, for a version of Java.

    That is in the virtual environment that Spark is installed in, or else in the
    user's cache; the variable ``ONCEPROOF_CLASS_ARCHIVE`` names another place.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    of = f"{shutil.which('java')} {os.environ.get('JAVA_HOME')} {sys.prefix}"
    digest = hashlib.sha256(of.encode()).hexdigest()[:8]
    spark = versions_of("pyspark")["pyspark"]
    own = sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK)
    folder = Path(sys.prefix, "share", "onceproof") if own else cache_folder()
    return folder / f"spark-{spark}-java-{java}-{digest}.jsa"


def options(java: int) -> str:
    """Return what Java is started with, after a blank; nothing without an archive."""
    if draft := os.environ.get(DRAFT_VARIABLE):
        return f" -XX:ArchiveClassesAtExit={shlex.quote(draft)}"
    found = archive(java)
    if java < LEAST_JAVA or not found.is_file():
        return ""
    return f" {_USES}{shlex.quote(str(found))}"


def used_in(options: str) -> str:
    """Name the archive that options of Java select, or the empty text."""
    given = [o for o in shlex.split(options) if o.startswith(_USES)]
    return given[-1].removeprefix(_USES) if given else ""


def patience() -> int:
    """Return how many seconds Java may take to end: it writes an archive then."""
    return _WRITES_WITHIN if os.environ.get(DRAFT_VARIABLE) else _ENDS_WITHIN
