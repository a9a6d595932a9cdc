"""Functions and objects on their way into another process, by cloudpickle.

What a module holds is named, and the module is executed anew where it arrives. A
function that was made inside another travels as its code, and has the globals of its
module there, and never a copy of them.
"""

from __future__ import annotations

import base64
import functools
import importlib
import io
import pickle
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from onceproof.model.errors import UsageError
from onceproof.spark_checks.session import pickling_internals, spark_internals

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCKS = {type(make()): make for make in (threading.Lock, threading.RLock)}
_DEEPEST = 4


class _Globals:
    """The globals of a module, wherever this is read."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __reduce__(self) -> tuple[Any, ...]:
        return _globals_of, (self.module,)


def _globals_of(module: str) -> dict[str, Any]:
    return vars(importlib.import_module(module))


class _Packer(pickling_internals.FunctionPickler):
    """Names modules, and takes copies of what a function has made."""

    frames = True

    def reduce_function(self, func: Any) -> Any:
        name = func.__module__
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is None or name == "__main__" or vars(module) is not func.__globals__:
            return super().reduce_function(func)
        _, state, *rest = self._parts(func)
        code, _, *others = self.arguments_of(func)
        given = (code, _Globals(name), *others)
        return (self.maker(), given, state, *rest)

    def _parts(self, func: Any) -> Any:
        bare = types.FunctionType(
            func.__code__, {}, func.__name__, func.__defaults__, func.__closure__
        )
        slots = self.slots_of(bare)
        for slot in ("__qualname__", "__annotations__", "__kwdefaults__", "__doc__"):
            slots[slot] = getattr(func, slot)
        slots["__module__"] = func.__module__
        state = dict(func.__dict__)
        return None, (state, slots), None, None, self.setter()

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, SparkSession):
            return _session, _same_java(obj.sparkContext, "a SparkSession")
        if isinstance(obj, SparkContext):
            return _context, _same_java(obj, "a SparkContext")
        if isinstance(obj, DataFrame):
            if not self.frames:
                message = "a DataFrame of one JVM cannot be used in another"
                raise TypeError(message)
            _same_java(obj.sparkSession.sparkContext, "a DataFrame")
            return _frame, (spark_internals.target(spark_internals.java_frame(obj)),)
        if type(obj) in _LOCKS:
            return _LOCKS[type(obj)], ()
        if type(obj) is ThreadPoolExecutor:
            return ThreadPoolExecutor, (obj._max_workers,)  # noqa: SLF001 - one like it
        return super().reducer_override(obj)


def _same_java(context: Any, what: str) -> tuple[()]:
    if not spark_internals.same_gateway(context):
        message = f"{what} of another Spark cannot be used in a replay"
        raise TypeError(message)
    return ()


def _session() -> Any:
    return SparkSession.builder.getOrCreate()


def _context() -> Any:
    return SparkSession.builder.getOrCreate().sparkContext


def _frame(target: str) -> Any:
    from onceproof.spark_checks.session.java.jvm_link import frame_of  # noqa: PLC0415

    return frame_of(target, SparkSession.builder.getOrCreate())


def pack(what: object, *, frames: bool = True) -> str:
    """Make a text of an object, with the ``frames`` of Spark that it holds.

    Raises whatever cannot be put into one.
    """
    data = io.BytesIO()
    # Spark's tasks get some modules by value: a host executes them itself.
    by_value = pickling_internals.modules_by_value()
    held = set(by_value)
    by_value.clear()
    try:
        packer = _Packer(data)
        packer.frames = frames
        packer.dump(what)
    finally:
        by_value.update(held)
    return base64.b85encode(data.getvalue()).decode()


def unpack(text: str) -> Any:
    """Make the object of a text again; import what it names."""
    return pickle.loads(base64.b85decode(text))  # noqa: S301 - our own process's


def pack_build(build: Any, name: str) -> str:
    """Make a text of the function that builds a sink.

    Raises ``UsageError`` that names what it holds and cannot be given to a process.
    """
    try:
        return pack(build)
    except Exception as error:
        message = (
            f"{name} cannot be run in a process of its own: "
            f"{unfit(build) or first_line(error)}; a sink is built afresh in each "
            "process that runs it, so make such an object inside the function that "
            "builds the sink or at the top of its module, and pass it plain values"
        )
        raise UsageError(message) from error


def unfit(what: Any) -> str:
    """Name what an object holds that cannot be given to another process."""
    for name, value in _held(what, _DEEPEST):
        try:
            pack(value)
        except Exception as error:  # noqa: BLE001 - any failure is an answer
            kind = type(value)
            shown = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
            return f"{name} is a {shown} ({first_line(error)})"
    return ""


def first_line(error: BaseException) -> str:
    """Return the first line of an error, or its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _held(what: Any, deep: int) -> Iterator[tuple[str, Any]]:
    """Yield what a function or an object holds, from the inside out."""
    if deep == 0:
        return
    found: dict[str, Any] = {}
    if isinstance(what, functools.partial):
        found = dict(enumerate_(what.args)) | dict(what.keywords)
        found |= {"its function": what.func}
    elif isinstance(what, types.MethodType):
        found = {"its object": what.__self__}
    elif isinstance(what, types.FunctionType):
        names = what.__code__.co_freevars
        for name, cell in zip(names, what.__closure__ or (), strict=True):
            try:
                found[f"{name!r} of {what.__qualname__}()"] = cell.cell_contents
            except ValueError:
                continue
        if what.__module__ == "__main__":
            used = what.__code__.co_names
            found |= {
                f"{n!r} of {what.__qualname__}()": what.__globals__[n]
                for n in used
                if n in what.__globals__
            }
        for name, value in enumerate_(what.__defaults__ or ()):
            found[f"default {name} of {what.__qualname__}()"] = value
    elif hasattr(what, "__dict__") and not isinstance(what, type | types.ModuleType):
        kind = type(what).__name__
        found = {f"{name!r} of {kind}": value for name, value in vars(what).items()}
    for name, value in found.items():
        if callable(value) or hasattr(value, "__dict__"):
            yield from _held(value, deep - 1)
        yield name, value


def enumerate_(values: Any) -> Iterator[tuple[str, Any]]:
    """Name the values of a tuple by their place in it."""
    for number, value in enumerate(values, 1):
        yield f"argument {number}", value
