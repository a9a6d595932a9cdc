"""Compiled code: made once for each model, kept on disk between runs."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
from llvmlite import binding as llvm

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def cache_folder() -> Path:
    """Give the folder for compiled code: ``ONCEPROOF_CACHE``, else the user's own.

    Where that cannot be written, a folder in the temporary directory serves.
    """
    named = os.environ.get("ONCEPROOF_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(named) if named else Path(home).expanduser() / "onceproof"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        spare = Path(tempfile.gettempdir()) / f"onceproof-cache-{os.getuid()}"
        spare.mkdir(mode=0o700, exist_ok=True)
        return spare


class Compiled:
    """A native function ``name`` of LLVM IR, called with integers and arrays."""

    def __init__(self, source: str, name: str) -> None:
        """Compile ``source``, or load what an earlier run compiled."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
        made = f"{source}{llvmlite.__version__}{cpu}{features.flatten()}"
        digest = hashlib.sha256(made.encode()).hexdigest()[:32]
        path = cache_folder() / f"{digest}.o"
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu,
            features=features.flatten(),
            opt=2,
            jit=True,
            codemodel="jitdefault",
        )
        try:
            code = path.read_bytes()
        except OSError:
            code = _compile(source, target)
            _keep(path, code)
        # MCJIT takes the target machine over, and the engine must outlive its code.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._address = self._engine.get_function_address(name)
        self._function: Callable[..., Any] | None = None

    def __call__(self, *arguments: int | NDArray[Any]) -> None:
        """Call the function; arrays are passed by the address of their data."""
        values = [a if isinstance(a, int) else a.ctypes.data for a in arguments]
        if self._function is None:
            kinds = [
                ctypes.c_int64 if isinstance(a, int) else ctypes.c_void_p
                for a in arguments
            ]
            self._function = ctypes.CFUNCTYPE(None, *kinds)(self._address)
        self._function(*values)


def _compile(source: str, target: llvm.TargetMachine) -> bytes:
    module = llvm.parse_assembly(source)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(module, passes)
    return bytes(target.emit_object(module))


def _keep(path: Path, code: bytes) -> None:
    with tempfile.NamedTemporaryFile(
        dir=path.parent, suffix=".tmp", delete=False
    ) as draft:
        draft.write(code)
    Path(draft.name).replace(path)
