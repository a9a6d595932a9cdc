"""What Hadoop need not do for each file and each job of a replay."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from onceproof.spark_checks.session.java.compiled import compiled

_SOURCE = Path(__file__).with_name("LocalFiles.java")
_CONFIGURATION, _ORIGINS = "org.apache.hadoop.conf.Configuration", "updatingResource"


def save_work(jvm: Any, configuration: Any) -> None:
    """Spare a JVM what nothing in it reads; ``configuration`` is Hadoop's.

    Modes of local files are set without a process for each, and settings are sent to
    tasks without where each of them was set, which is packed one by one. Where either
    cannot be done, Hadoop goes on as before.
    """
    with suppress(Exception):
        compiled(jvm, _SOURCE).install(configuration)
    with suppress(Exception):
        kind = getattr(jvm, "java.lang.Class").forName(_CONFIGURATION)
        origins = kind.getDeclaredField(_ORIGINS)
        origins.setAccessible(True)
        origins.get(configuration).clear()
