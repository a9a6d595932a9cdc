"""The JVM that Spark runs in: which Java it is, how it is started, and that it ends."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import OnceproofError
from onceproof.spark_checks.session.java import class_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OLDEST_JAVA = 17
_VFORK_ENDS = 25


class EnvironmentError_(OnceproofError):  # noqa: N801, N818 - the plain name is taken
    """Says what this machine lacks, and how to fix it."""


def java_version() -> int:
    """Return the major version of the Java that Spark would use.

    Raises ``EnvironmentError_`` where there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        output = subprocess.run(  # noqa: S603 - the Java that Spark would start
            [java, "-version"], capture_output=True, text=True, check=True, timeout=30
        ).stderr
    except (OSError, subprocess.SubprocessError):
        where = f"at JAVA_HOME={home}" if home else "on the PATH"
        message = f"no Java {where}; install Java {OLDEST_JAVA} or later"
        raise EnvironmentError_(message) from None
    found = re.search(r'version "(\d+)', output)
    version = int(found.group(1)) if found else 0
    if version < OLDEST_JAVA:
        message = f"Java {version} is too old; Spark needs {OLDEST_JAVA} or later"
        raise EnvironmentError_(message)
    return version


def options(java: int, folder: Path, scratch: Path) -> str:
    """Return the options of Java; what Java writes goes to folders of the run's own.

    Below Java 25, an option makes Linux start processes in half the time: on executors
    Hadoop runs chmod for each file. Classes have room enough from the start; else Java
    would collect all of its memory four times while a session becomes warm. So have new
    objects, of which few live on.
    """
    launching = (
        " -Djdk.lang.Process.launchMechanism=VFORK"
        if sys.platform == "linux" and java < _VFORK_ENDS
        else ""
    )
    return (
        f"-Djava.io.tmpdir={shlex.quote(str(scratch))} "
        f"-XX:ErrorFile={shlex.quote(str(folder / 'java.log'))} "
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m "
        "-XX:MetaspaceSize=256m -Xmn384m"
        f"{launching}{class_archive.options(java)}"
    )


def why_not(error: Exception, given: str) -> str:
    """Return why Spark did not start with Java's ``given`` options, with help."""
    if "BindException" in str(error):
        return (
            "Spark did not start: a port of its settings is in use; help: "
            "free it, or take the setting out of spark-defaults.conf"
        )
    first = str(error).strip().split("\n")[0][:200] or type(error).__name__
    used = class_archive.used_in(given)
    archived = used and f" (delete {used}, an archive of classes, if it may be damaged)"
    return f"Spark did not start: {first}{archived}"


@contextmanager
def interrupts_as_before(
    meanwhile: Callable[..., None] | None = None,
) -> Iterator[None]:
    """Take back whatever handler of Ctrl-C is set inside; ``meanwhile`` is one.

    A context sets one that calls the JVM, in the midst of whatever other call is under
    way. Threads other than the main one have no say in it.
    """
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or before is None:
        yield
        return
    if meanwhile is not None:
        signal.signal(signal.SIGINT, meanwhile)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def none_left(*, together: bool = False) -> Iterator[None]:
    """End the JVM that PySpark starts meanwhile, if it is not to be used after all.

    It would end by itself only once something had been connected to it. It leads a
    process group of its own, unless it is to be ``together`` with this process.
    """
    from onceproof.spark_checks.session import spark_internals  # noqa: PLC0415 - slow

    module = spark_internals.launcher()
    started: list[subprocess.Popen[bytes]] = []

    def popen(*command: Any, **options: Any) -> subprocess.Popen[bytes]:
        # It is a script that starts a JVM to ask for the command of the JVM.
        with interrupts_held():
            group = None if together else 0
            process = subprocess.Popen(*command, **options, process_group=group)  # noqa: S603
            started.append(process)
        return started[-1]

    before, module.Popen = module.Popen, popen
    try:
        yield
    except BaseException:
        for process in started:
            end(process)
        raise
    finally:
        module.Popen = before


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Put off Ctrl-C: a process that is just being started would be lost by it."""
    held: list[int] = []
    with interrupts_as_before(lambda number, _: held.append(number)):
        yield
    for number in held[:1]:
        signal.raise_signal(number)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that still runs, with its group if it leads it; wait for it."""
    if process.poll() is None:
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
