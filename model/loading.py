"""A file run as a module: what it must not do to the verdict that rests on it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from onceproof.model.errors import ModelError, OnceproofError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, ModuleType

_PREFIX = "onceproof_file_"
_BROUGHT = "__onceproof_brought__"


def load(path: Path) -> ModuleType:
    """Run a file as a module of its own, with those of its folder at hand.

    It is compiled from its text as it is now, and so are the modules of its folder:
    what an earlier file brought along is forgotten, and nothing is cached on disk.
    Raises ``UsageError`` where there is none, ``ModelError`` where it does not run to
    its end, ``sys.exit`` included.
    """
    if not path.is_file():
        message = f"there is no file {path}"
        raise UsageError(message)
    folder = path.resolve().parent
    _forget()
    digest = hashlib.blake2b(str(path.resolve()).encode(), digest_size=6).hexdigest()
    name = f"{_PREFIX}{digest}_{path.stem}"
    spec = importlib.util.spec_from_loader(name, _AsItIs(name, str(path)))
    if spec is None or spec.loader is None:
        message = f"{path} cannot be read as a module"
        raise UsageError(message)
    module = importlib.util.module_from_spec(spec)
    known = set(sys.modules)
    sys.modules[name] = module
    cached, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(folder))
    try:
        with running_on():
            spec.loader.exec_module(module)
    except (OnceproofError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ModelError(_error_text(error), where=_place(error, path)) from error
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = cached
        _remember(module, folder, set(sys.modules) - known)
    return module


class _AsItIs(importlib.machinery.SourceFileLoader):
    """Compiles a file from its text, whatever Python cached of it."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - as importlib calls it
        """Compile the text."""
        return self.source_to_code(self.get_data(self.path), self.path)


def _remember(module: ModuleType, folder: Path, names: Iterable[str]) -> None:
    """Note which modules of its folder a file brought along."""
    found = []
    for name in names:
        top = sys.modules.get(name.partition(".")[0])
        file = getattr(top, "__file__", None) or ""
        place = Path(file).parent if Path(file).stem == "__init__" else Path(file)
        if file and place.parent == folder:
            found.append(name)
    setattr(module, _BROUGHT, found)


def _forget() -> None:
    """Forget the modules that earlier files brought along from their folders."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PREFIX):
            for one in getattr(module, _BROUGHT, ()):
                sys.modules.pop(one, None)


@contextlib.contextmanager
def running_on() -> Iterator[None]:
    """Let ``os._exit`` raise in this process: a model has nothing to end.

    Its children end as they would.
    """
    ours, leave = os.getpid(), os._exit

    def refused(status: int) -> NoReturn:
        if os.getpid() != ours:
            leave(status)
        raise SystemExit(status)

    os._exit = refused
    try:
        yield
    finally:
        os._exit = leave


def _error_text(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the file ends the program ({error.code!r}) before it is read whole"
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # noqa: BLE001 - the file's own class says what it likes
        text = ""
    text = " ".join(text.split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _place(error: BaseException, path: Path) -> str:
    """Find the last line of the file that had a part in an error."""
    if isinstance(error, SyntaxError):
        lines = f":{error.lineno}" if error.lineno else ""
        return f"{error.filename or path}{lines}"
    frames = traceback.extract_tb(error.__traceback__)
    mine = [f.lineno for f in frames if Path(f.filename).resolve() == path.resolve()]
    return f"{path}:{mine[-1]}" if mine else str(path)
