"""Makes a mutation in a fork of a process that has everything at hand already.

The parent imports the package, draws the first protocols of the soundness share, and
compares them once. A fork then puts the changed code in the place of the old, function
by function. It runs the quick tests of what was changed, compares the protocols again,
and at last runs the tests of the soundness suite.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import time
import traceback
from collections import Counter
from itertools import zip_longest
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import pytest

from onceproof.model.search.compiling.kernels import Kernel
from tests.mutation.mutation import COMPARING, ROOT, tests_for
from tests.soundness import test_soundness
from tests.soundness.cases import draws, opened
from tests.soundness.finding import failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.mutation.mutation import Mutation
    from tests.soundness.cases import Case

_FILE = "tests/soundness/test_soundness.py"
_DRAWN = f"{_FILE}::test_every_reader_agrees_with_the_brute_force"
_KEPT = f"{_FILE}::test_what_once_showed_a_disagreement_shows_none"
COMPARED = ("model/language/", "model/search/", "model/interleavings/enumeration.py")
COMPARED += (
    "model/interleavings/canonical_form.py",
    "model/interleavings/durable_state.py",
    "model/export/javascript.py",
    "properties/judges/by_proof/",
)
COMPARED += (
    "properties/judges/by_search.py",
    "properties/property.py",
    "properties/verdicts.py",
)
READERS = {
    "model/search/": ("search", "symmetry"),
    "model/search/liveness.py": ("search",),
    "model/search/exhaustive.py": ("search",),
    "model/search/simulation.py": ("simulation",),
    "model/search/walk_watch.py": ("simulation",),
    "model/search/symmetry.py": ("symmetry",),
    "model/interleavings/enumeration.py": ("interleavings",),
    "model/interleavings/canonical_form.py": ("interleavings",),
    "model/interleavings/durable_state.py": ("interleavings",),
    "model/language/tracing/durable_fields.py": ("interleavings",),
    "model/export/javascript.py": ("javascript",),
    "properties/judges/by_proof/": ("z3",),
}


class Warm:
    """A process that has all at hand, and forks for each mutation."""

    def __init__(
        self,
        folder: Path,
        drawn: int,
        mutations: Sequence[Mutation],
        *,
        checked: bool,
    ) -> None:
        """Import everything and draw protocols; if ``checked``, compare them once."""
        self._folder = folder
        for name in dict.fromkeys(mutation.file for mutation in mutations):
            importlib.import_module(f"onceproof.{name[:-3].replace('/', '.')}")
        kept = [
            (f"{_KEPT}[{p.stem}]", opened(p))
            for p in test_soundness.REGRESSIONS
            if not p.stem.startswith("trap")
        ]
        cases = draws(test_soundness.SEED, drawn, folder)
        share = [(f"{_DRAWN}[{n}]", case) for n, case in enumerate(cases)]
        self._cases = [*kept, *((n, c) for n, c in share if not c.trap)]
        for name, case in self._cases if checked else ():
            wrong = failures(case, Counter(), None, most=100)
            assert not wrong, (name, wrong)

    def noticed(self, mutation: Mutation, timeout: float) -> str | None:
        """Give the first test that fails, nothing if all pass, None without an end."""
        answer = self._folder / "answer"
        answer.unlink(missing_ok=True)
        child = os.fork()
        if not child:
            try:
                answer.write_text(self._run(mutation), encoding="utf-8")
                os._exit(0)
            except BaseException:  # noqa: BLE001 - it must not run what its parent does
                traceback.print_exc()
                os._exit(1)
        deadline = time.monotonic() + timeout
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, 9)
                os.waitpid(child, 0)
                return None
            time.sleep(0.02)
        if os.WIFSIGNALED(ended[1]):
            return f"the process ended by signal {os.WTERMSIG(ended[1])}"
        if os.WEXITSTATUS(ended[1]):
            message = f"the mutation could not be made: {mutation.meaning}"
            raise RuntimeError(message)
        return answer.read_text(encoding="utf-8")

    def _run(self, mutation: Mutation) -> str:
        """Make the mutation in this process, which is a fork; say who noticed."""
        found = ""
        with (
            open(os.devnull, "w", encoding="utf-8") as nothing,  # noqa: PTH123
            contextlib.redirect_stdout(nothing),
            contextlib.redirect_stderr(nothing),
        ):
            put_in_place(mutation)
            tests = tests_for(mutation.file)
            # What compares protocols is asked in its place: the tests behind it are
            # long. The suite's other protocols follow at last.
            compared = not mutation.file.startswith(COMPARED)
            for one in tests:
                if one not in COMPARING:
                    found = found or _failing(one)
                elif not compared:
                    compared = True
                    found = found or self._compared(mutation)
            for one in tests:
                found = found or (_failing(one) if one in COMPARING else "")
        return found

    def _compared(self, mutation: Mutation) -> str:
        node = None
        if mutation.file == "model/export/javascript.py":
            from tests.node import Node

            node = Node()
        for name, case in self._cases:
            if self._differs(mutation, case, node):
                return name
        return ""

    @staticmethod
    def _differs(mutation: Mutation, case: Case, node: object) -> bool:
        try:
            if mutation.file.startswith("model/language/"):
                # The brute force runs the same methods: it is asked again.
                case = opened(case.path, case.name)
            readers = _readers(mutation.file)
            return bool(failures(case, Counter(), node, most=100, readers=readers))
        except Exception:  # noqa: BLE001 - a test that raises fails
            return True


def _readers(file: str) -> tuple[str, ...]:
    """Name the readers that a change of a file can change; none stands for all."""
    place = max((p for p in READERS if file.startswith(p)), key=len, default="")
    return READERS.get(place, ())


def put_in_place(mutation: Mutation) -> None:
    """Put changed code in the place of the old, in every function that runs it."""
    path = str(ROOT / mutation.file)
    old = compile(mutation.text, path, "exec", dont_inherit=True)
    new = compile(mutation.mutated, path, "exec", dont_inherit=True)
    changed = _changed(old, new)
    differ = bool(changed)
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__ in changed:
            function.__code__ = changed[function.__code__]
    if mutation.file.endswith(("_table.py", "_rows.py")):
        _compile_again(mutation)
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == path and name.startswith("onceproof"):
            scratch = {"__name__": name, "__file__": path}
            exec(new, scratch)
            for key, value in scratch.items():
                if isinstance(value, str | int) and vars(module).get(key) != value:
                    setattr(module, key, value)
                    differ = True
    assert differ, "nothing changes"


def _compile_again(mutation: Mutation) -> None:
    """Compile the kernels of a file again, from the changed text."""
    for found in gc.get_objects():
        if type(found) is Kernel and found.file == str(ROOT / mutation.file):
            found.compile(mutation.mutated)


def _changed(old: CodeType, new: CodeType) -> dict[CodeType, CodeType]:
    """Give, for each function of a file that changes, what takes its place."""
    before = {c.co_qualname + str(i): c for i, c in _functions(old)}
    after = {c.co_qualname + str(i): c for i, c in _functions(new)}
    return {
        code: after[name]
        for name, code in before.items()
        if name in after and _differ(code, after[name])
    }


def _functions(code: CodeType) -> Iterator[tuple[int, CodeType]]:
    """Yield the functions of a file, numbered among those of one name."""
    times: Counter[str] = Counter()
    todo = [code]
    while todo:
        for inner in todo.pop(0).co_consts:
            if isinstance(inner, CodeType):
                times[inner.co_qualname] += 1
                yield times[inner.co_qualname], inner
                todo.append(inner)


def _differ(one: CodeType, other: CodeType) -> bool:
    """Say whether two functions do other things, wherever they stand."""
    if (one.co_code, one.co_names, one.co_varnames) != (
        other.co_code,
        other.co_names,
        other.co_varnames,
    ):
        return True
    return any(
        _differ(a, b)
        if isinstance(a, CodeType) and isinstance(b, CodeType)
        else (type(a), a) != (type(b), b)
        for a, b in zip_longest(one.co_consts, other.co_consts)
    )


def _failing(tests: str) -> str:
    """Give the first of some tests that fails, or nothing."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "tests"]:
        del sys.modules[name]
    first = _First()
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    options += ["-m", "not grid and not tlc and not spark"]
    status = pytest.main([*options, tests], plugins=[first])
    if status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    return first.failed or f"{tests} (status {int(status)})"


class _First:
    """Remembers the first test that fails."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in how a test ended."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take in what could not be collected."""
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (not collected)"
