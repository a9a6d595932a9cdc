"""What Hadoop need not do for each file and each job of a replay."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from onceproof.spark_checks.session.java.compiled import compiled

_SOURCE = Path(__file__).with_name("LocalFiles.java")
_CONFIGURATION, _ORIGINS = "org.apache.hadoop.conf.Configuration", "updatingResource"


def save_work(jvm: Any, configuration: Any) -> None:
    """Have Hadoop set modes in this JVM, and send settings without their origins.

    Without its native library it starts a process for each local file, and it packs one
    by one where each setting was set, which no task reads. ``configuration`` is the one
    of the session. Where either cannot be done, Hadoop goes on as before.
    """
    with suppress(Exception):
        compiled(jvm, _SOURCE).install(configuration)
    with suppress(Exception):
        kind = getattr(jvm, "java.lang.Class").forName(_CONFIGURATION)
        origins = kind.getDeclaredField(_ORIGINS)
        origins.setAccessible(True)
        # py4j's own way to clear a map ends at the first key that it cannot look up.
        none = getattr(jvm, "java.util.concurrent.ConcurrentHashMap")()
        origins.set(configuration, none)
