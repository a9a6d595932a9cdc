"""The guard: the user's code may write to what is its own, and to what it was allowed.

It is installed in the processes that run a user's code under replay. What it sees is
what Python sees: files that are opened to be written, moved or deleted, databases of
SQLite, connections of Python's sockets, and writers of Spark. A driver that is written
in C opens connections that it does not see.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.refusal import line_of_user, refusal
from onceproof.spark_checks.inject.tracing.followed_code import Code
from onceproof.spark_checks.plan.rules import EXIT_CODE, REFUSED
from onceproof.spark_checks.sinks import allowed_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    from onceproof.spark_checks.plan.rules import RuleSet

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Where an event names a path, and the open folder that this is relative to, if any.
_PATHS: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((0, None), (1, 2)),
    "os.link": ((0, 2), (1, 3)),
    "os.truncate": ((0, None),),
    "sqlite3.connect": ((0, None),),
}
_OF_FILES = (
    "os.rename",
    "os.remove",
    "os.symlink",
    "os.link",
    "os.truncate",
    "sqlite3.connect",
)
# Spark takes the names of options in any case.
_PATH_OPTIONS = ("path", "checkpointlocation")
_ADDRESS_OPTIONS = (
    "url",
    "uri",
    "connection.uri",
    "kafka.bootstrap.servers",
    "es.nodes",
)
_ENGINE = ("pyspark", "py4j")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# The address of a Unix socket is a path, or begins with a null, or is empty.
_NO_FILE: tuple[str | bytes, ...] = ("", b"", "\0", b"\0")
_HARMLESS = ("/dev/", "/proc/")


class _Policy:
    """What is allowed in this process now, and where to report what is refused."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] | None = None
        self.marks: list[Path] = []
        self.sink = ""
        self.code = Code(())
        self.hooked = False
        self.busy = False


_policy = _Policy()


def install(plans: Iterable[RuleSet]) -> None:
    """Hold this process to what the plans of the runs that go on now allow."""
    held = [plan for plan in plans if plan.allowed is not None]
    _policy.marks = [Path(plan.marks) for plan in held]
    if not held:
        _policy.allowed = None
        return
    _policy.allowed = tuple(a for plan in held for a in plan.allowed or ())
    _policy.sink, _policy.code = held[0].sink, Code(held[0].code, held[0].named)
    tempfile.tempdir = str(Path(held[0].marks).parent)
    if not _policy.hooked:
        sys.addaudithook(_audit)
        _policy.hooked = True


def refuse(place: str, *, file: bool = False) -> None:
    """Report a place that is not allowed, and end the process: nothing is touched."""
    where = line_of_user(_policy.code)
    message = refusal(_policy.sink, place, where=where, file=file)
    for marks in _policy.marks:
        (marks / f"{REFUSED}-{os.getpid()}").write_text(message)
    os._exit(EXIT_CODE)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _policy.allowed is None or _policy.busy:
        return
    _policy.busy = True
    try:
        if event == "open":
            _opens(*args)
        elif event in _PATHS:
            for at, folder in _PATHS[event]:
                within = -1 if folder is None else args[folder]
                _path(args[at], within, file=event in _OF_FILES)
        elif event == "socket.connect":
            _connects(args[1])
    finally:
        _policy.busy = False


def _opens(path: object, mode: object, flags: object) -> None:
    writes = isinstance(mode, str) and set(mode) & set("wax+")
    if writes or (mode is None and isinstance(flags, int) and flags & _WRITES):
        _path(path, file=True)


def _path(path: object, folder: object = -1, *, file: bool = False) -> None:
    """Refuse a path that is not allowed; it may be relative to an open ``folder``."""
    if not isinstance(path, str | bytes | os.PathLike):
        return
    place = os.fspath(path)
    text = place.decode(errors="replace") if isinstance(place, bytes) else place
    if text.startswith("file:"):
        text, _, options = text.partition("?")
        if "mode=memory" in options.split("&"):
            return
    if not text or text.removeprefix("file:").startswith(":memory:"):
        return
    if isinstance(folder, int) and folder >= 0:
        text = os.path.join(os.path.realpath(f"/proc/self/fd/{folder}"), text)  # noqa: PTH118
    for full in {
        allowed_places.path_of(text),
        allowed_places.path_of(text, encoded=True),
    }:
        kept = full.startswith(_HARMLESS) or "__pycache__" in Path(full).parts
        if not (kept or allowed_places.allows(full, _policy.allowed or ())):
            refuse(full, file=file)


def _connects(address: object) -> None:
    if _by_the_engine():
        return
    if isinstance(address, tuple):
        host = str(address[0])
        place = f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}"
        if not allowed_places.allows(place, _policy.allowed or ()):
            refuse(place)
    elif isinstance(address, str | bytes) and address[:1] not in _NO_FILE:
        _path(address, file=True)


def _by_the_engine() -> bool:
    """Return whether Spark's own code asks for a connection."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.split(".", 1)[0] in _ENGINE:
            return True
        if name and not name.startswith(("onceproof.", "socket", "ssl", "http")):
            break
        frame = frame.f_back
    return False


def watch_writers() -> None:
    """Hold the writers of Spark in this process to what is allowed, from now on."""
    from pyspark.sql import DataFrameWriter  # noqa: PLC0415 - slow to import

    from onceproof.spark_checks.session.private_names import (  # noqa: PLC0415
        SAVES,
    )

    for name in SAVES:
        _wrap(DataFrameWriter, name, _writes)
    _wrap(DataFrameWriter, "jdbc", _writes_to_database)
    _wrap(DataFrameWriter, "option", _takes_option)
    _wrap(DataFrameWriter, "options", _takes_options)


def _wrap(owner: Any, name: str, look: Callable[..., None]) -> None:
    plain = getattr(owner, name)

    def wrapped(self: Any, *args: Any, **options: Any) -> Any:
        look(*args, **options)
        return plain(self, *args, **options)

    setattr(owner, name, wrapped)


def _writes(path: object = None, *_: Any, **options: Any) -> None:
    _takes_options(**options)
    if isinstance(path, str):
        check_path(path)


def _writes_to_database(url: str, *_: Any, **__: Any) -> None:
    check_address(url)


def _takes_option(key: str, value: object) -> None:
    _takes_options(**{key: value})


def _takes_options(**options: Any) -> None:
    for key, value in options.items():
        _held(key, str(value))


def check_path(path: str) -> None:
    """Refuse a path of Spark's that is not allowed; another scheme is an address."""
    _held("path", path)


def check_address(address: str) -> None:
    """Refuse an address that is not allowed: in full, or as ``host:port``."""
    _held("url", address)


def _held(option: str, value: str) -> None:
    if not permitted(option, value, _policy.allowed):
        refuse(value)


def permitted(option: str, value: str, allowed: tuple[str, ...] | None) -> bool:
    """Return whether an option of a reader or writer names a place that is allowed."""
    name = option.lower()
    if allowed is None or name not in (*_PATH_OPTIONS, *_ADDRESS_OPTIONS):
        return True
    if name in _PATH_OPTIONS and (
        allowed_places.is_path(value) or not _SCHEME.match(value)
    ):
        value = value if allowed_places.is_path(value) else os.path.realpath(value)
    return allowed_places.allows(value, allowed)
