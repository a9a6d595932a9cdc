"""Compiled code: made once for each model, kept on disk between runs and checked."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import llvmlite
from llvmlite import binding as llvm

from onceproof.model.code_cache import identity, keep, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


class NativeCode:
    """Native functions of LLVM IR, compiled or loaded from the cache."""

    def __init__(self, parts: Sequence[str], write: Callable[[], str]) -> None:
        """Load what an earlier run compiled of ``parts``, or compile what they make.

        ``write`` gives the IR. It depends on ``parts`` alone, and is called only if
        there is no entry for them.
        """
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
        triple = llvm.Target.from_default_triple()
        versions = (llvmlite.__version__, *map(str, llvm.llvm_version_info))
        entry = identity((*parts, *versions, triple.triple, cpu, features.flatten()))
        target = triple.create_target_machine(
            cpu=cpu,
            features=features.flatten(),
            opt=2,
            jit=True,
            codemodel="jitdefault",
        )
        code = load(entry)
        if code is None:
            code = _compile(write(), target)
            keep(entry, code)
        # MCJIT takes the target machine over, and the engine must outlive its code.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return where a function lies; it does for as long as this object lives."""
        return int(self._engine.get_function_address(name))


class Compiled:
    """A native function ``name`` of LLVM IR, called with integers and arrays."""

    def __init__(self, source: str, name: str) -> None:
        """Compile ``source``, or load what an earlier run compiled."""
        self._code = NativeCode((source,), lambda: source)
        self._address = self._code.address(name)
        self._function: Callable[..., Any] | None = None

    def __call__(self, *arguments: int | NDArray[Any] | None) -> None:
        """Call the function; arrays are passed by the address of their data.

        None is passed as a null pointer.
        """
        values = [
            a if a is None or isinstance(a, int) else a.ctypes.data for a in arguments
        ]
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
