"""Kernels: functions on integers and arrays, written in Python, run as native code.

``kernel_language.py`` says what a kernel may use. All kernels of a file are compiled
together on the first call of one, or are loaded from the cache: a run that finds them
there neither reads nor translates them.
"""

from __future__ import annotations

import ctypes
import inspect
from functools import cache, update_wrapper
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from onceproof.model.search.compiling.compiled import NativeCode
from onceproof.model.search.compiling.kernel_language import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

_LOCK = Lock()


class Kernel(Generic[P, R]):
    """A function that runs as native code; ``python`` is the function as written."""

    def __init__(self, function: Callable[P, R]) -> None:
        """Take a function; it is compiled on its first call."""
        update_wrapper(self, function)
        self.python = function
        self.file = inspect.getfile(function)
        self._dims: list[int] = []
        self._native: Callable[..., Any] | None = None

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> R:
        """Call the native code. Arrays are checked: C order, 64-bit, of its shape."""
        native = self._native or self.compile()
        values: list[int] = []
        for argument, dims in zip(arguments, self._dims, strict=True):
            if not dims:
                values.append(cast("int", argument))
                continue
            array = cast("NDArray[Any]", argument)
            sound = array.dtype == np.int64 and array.flags.c_contiguous
            if not sound or array.ndim != dims:
                message = f"{self.python.__name__} takes contiguous arrays of int64"
                raise TypeError(message)
            values += [array.ctypes.data, *array.shape]
        return cast("R", native(*values))

    def compile(self, text: str | None = None) -> Callable[..., Any]:
        """Compile the kernels of the file, or those of another text in its place."""
        function = self.python
        kinds = dict(function.__annotations__)
        result = kinds.pop("return")
        self._dims = [DIMENSIONS[kind] for kind in kinds.values()]
        words: list[Any] = []
        for dims in self._dims:
            words += [ctypes.c_void_p, *[ctypes.c_int64] * dims]
            if not dims:
                words[-1] = ctypes.c_int64
        code = _compiled(text or Path(self.file).read_text("utf-8"))
        kind = ctypes.CFUNCTYPE(None if result == "None" else ctypes.c_int64, *words)
        self._native = native = kind(code.address(function.__name__))
        return native


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function run as native code."""
    return Kernel(function)


@cache
def _compiled(text: str) -> NativeCode:
    with _LOCK:
        # Code that an older translator made is not used again.
        files = sorted(Path(__file__).parent.glob("kernel_*.py"))
        translator = "".join(file.read_text("utf-8") for file in files)
        return NativeCode(("kernels", text, translator), lambda: _translated(text))


def _translated(text: str) -> str:
    from onceproof.model.search.compiling.kernel_code import kernel_ir  # noqa: PLC0415

    return kernel_ir(text)
