"""Follows the orders of the tests' process: import, build a sink, run it, read it."""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.spark_checks.inject.failures.error_condition import condition_of
from onceproof.spark_checks.inject.failures.failure_reason import is_lost, named
from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.inject.forked_driver import LOST
from onceproof.spark_checks.inject.hosts import (
    made_at_import,
    made_by_build,
    pickling,
    user_modules,
)
from onceproof.spark_checks.inject.hosts.driver_side import serve_run
from onceproof.spark_checks.inject.sink_description import describe
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.java import jvm_link
from onceproof.spark_checks.session.processes import forkable
from onceproof.spark_checks.session.processes.fork_server import serve
from onceproof.spark_checks.sinks.interface import ModelledSink, NoStore, Target
from onceproof.spark_checks.sinks.readers import named_readers
from onceproof.spark_checks.sinks.user_code_model import UserCode
from onceproof.spark_checks.sinks.user_sink import with_code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.spark_checks.session.processes.wire import Channel, Message


_IN_MEMORY = "it is in the memory of a process"


class _HostState:
    """What this process has built; ``failed`` says why it has not."""

    def __init__(self) -> None:
        self.sink: Any = None
        self.failed: Message | None = None
        self.unused_numbers = False
        self.target: Target | None = None
        self.imported: made_at_import.Values = {}


_here = _HostState()


def live(orders: Channel, asks: Channel) -> int:
    """Follow orders until there are no more; return the status to end with."""
    if _here.unused_numbers:
        _other_numbers()
    while (order := orders.receive()) is not None:
        what = order["op"]
        if what == "run":
            if _here.failed is not None:
                return _lost(order, _here.failed)
            return serve_run(_here.sink, order, orders, asks)
        if what in _SILENT:
            try:
                _SILENT[what](order)
            except BaseException as error:  # noqa: BLE001 - it is reported with the next order
                _here.failed = failure(error)
            continue
        setup = what in ("template", "build")
        try:
            found = _here.failed or _ORDERS[what](order)
        except BaseException as error:  # noqa: BLE001 - nothing may end a host but us
            found = failure(error)
        orders.send(found)
        if setup and "error" not in found:
            serve(orders.end, live)
    return 0


def failure(error: BaseException) -> Message:
    """Return what was raised, and by whom, as a message."""
    kind = "user"
    if isinstance(error, OnceproofError):
        kind = "usage"
    elif is_lost(error):
        kind = "host"
    text = str(error) if kind == "usage" else named(error)
    trace = "".join(traceback.format_exception(error))
    data = {"kind": kind, "text": text, "trace": trace[-20_000:]}
    data["condition"] = condition_of(error)
    return {"error": data}


def _lost(order: Message, failed: Message) -> int:
    with Path(order["log"]).open("a") as log:
        log.write(f"{failed['error']['trace']}\n{failed['error']['text']}\n")
    return LOST


def _template(order: Message) -> Message:
    """Import modules that are no user's, and name those that leave anything behind."""
    sys.path[:] = order["path"]
    before, unfit = forkable.files(), []
    for name in filter(user_modules.is_installed, order["modules"]):
        # A failure here shows again in the user's code, if that needs the module.
        with suppress(BaseException):
            importlib.import_module(name)
        if forkable.threads():
            time.sleep(0.05)
        if forkable.threads() or forkable.opened(before):
            unfit.append(name)
            break
    return {"unfit": unfit}


def _build(order: Message) -> Message:
    """Build the sink that a text holds; say what it is, and how others get it."""
    _enter(order)
    before, numbers = forkable.files(), _numbers()
    restore = jvm_link.lazily(order["link"])
    place = pickling.unpack(order["store"]) if order["store"] else NoStore()
    target = Target(Path(order["path_of"]), order["name"], store=place)
    _here.target = target
    try:
        build = pickling.unpack(order["build"])
        first, environment = made_at_import.of_modules(), dict(os.environ)
        sink = build(target)
        later = made_at_import.of_modules()
        _here.imported = later | first
        for value in target.lasting_values:
            made_by_build.require_data(value)
        both = (environment, dict(os.environ))
        made = made_by_build.made_by_build(sink, target, (first, later), both)
    except BaseException:
        target.clean()
        raise
    finally:
        restore()
    _here.sink = sink
    found = describe(sink)
    found["code"] = list(_travels(build, sink, order))
    sys.stdout.flush()
    problems = forkable.problems(before)
    _here.unused_numbers = _numbers() == numbers
    found["packed_sink"] = None
    alone = bool(order["alone"])
    if alone:
        problems = problems or [_IN_MEMORY]
    if problems:
        name = order["called"]
        found["packed_sink"] = _packed(sink, name, problems, frames=not alone)
        found["cleaning"] = _packed(target.cleanups, order["called"], problems)
    found["made"] = made
    found["cleanups"] = len(target.cleanups)
    found["imported"] = sorted({module for module, *_ in _here.imported})
    return found


def _import(order: Message) -> Message:
    """Import a user's modules in a process of their own; return what they made."""
    _enter(order)
    restore = jvm_link.lazily(order["link"])
    try:
        pickling.unpack(order["build"])
        found = made_at_import.of_another_import(order["imported"])
    finally:
        restore()
    return {"values": made_at_import.text_of(found)}


def _renew(order: Message) -> None:
    """Give this process what its modules would have made if it had imported them."""
    other = made_at_import.values_of(order["values"])
    made_at_import.renew(_here.imported, other)


def _packed(sink: Any, name: str, problems: list[str], *, frames: bool = True) -> str:
    try:
        return pickling.pack(sink, frames=frames)
    except Exception as error:
        why = pickling.unfit(sink) or pickling.first_line(error)
        message = (
            f"{name} cannot be run again after a crash: once it is built, "
            f"{'; '.join(problems)}, which a new process does not get, and {why}; let "
            "go of it in the function that builds the sink (close it, dispose of it), "
            "or make it at the top of the module or where it is first used"
        )
        raise UsageError(message) from error


def _unpack(order: Message) -> None:
    """Take what another process has built, in a process that has run nothing yet."""
    _enter(order)
    restore = jvm_link.lazily(order["link"])
    try:
        _here.sink = pickling.unpack(order["packed_sink"])
    finally:
        restore()
    _travels(None, _here.sink, order)


def _travels(build: Any, sink: Any, order: Message) -> tuple[str, ...]:
    """Return where the code of a user's sink lies, and make tasks get it."""
    code = tuple(order["code"])
    if not code:
        return ()
    bare = ModelledSink(order["called"], build, UserCode, frozenset(), code=code)
    return with_code_of(bare, sink).code


def _enter(order: Message) -> None:
    """Take over environment, folder and modules of the tests' process."""
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    os.chdir(order["folder"])
    user_modules.enter(order)


def _look(order: Message) -> Message:
    """Read the sink; return Java's name of what readers see."""
    spark = jvm_link.connect(order["link"])
    jvm_link.activate(spark)
    read: Any = named_readers(_here.sink.read)[order["reader"]]
    return _given(read(spark), "read")


def _result(order: Message) -> Message:
    """Return what readers should see of some events."""
    spark = jvm_link.connect(order["link"])
    return _given(_here.sink.result(jvm_link.frame_of(order["frame"], spark)), "result")


def _clean(order: Message) -> Message:
    """Call the functions that clean up after the sink."""
    target = _here.target
    restore = jvm_link.lazily(order["link"])
    try:
        if target is None:
            functions = pickling.unpack(order["cleaning"])
            target = Target(Path(), "", functions)
        return {"problems": [redacted(problem) for problem in target.clean()]}
    finally:
        restore()


def _given(frame: Any, what: str) -> Message:
    java = spark_internals.java_frame(frame)
    if java is None:
        message = (
            f"{what}= must return a DataFrame of Spark, not {type(frame).__name__}"
        )
        raise UsageError(message)
    jvm_link.keep(frame)
    return {"frame": spark_internals.target(java)}


def _numbers() -> Any:
    """Return the state of NumPy's own random numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    state = numpy.random.get_state()
    return (state[1].tobytes(), *state[2:])


def _other_numbers() -> None:
    """Draw other random numbers than the process that this one is forked from."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


_SILENT: Mapping[str, Callable[[Message], None]] = {"unpack": _unpack, "renew": _renew}
"""The orders that are not answered: what fails is said with the next one."""
_ORDERS: Mapping[str, Callable[[Message], Message]] = {
    "template": _template,
    "build": _build,
    "import": _import,
    "look": _look,
    "result": _result,
    "clean": _clean,
}
