"""A worker has the memory of the start of the query that its task belongs to."""

from __future__ import annotations

import importlib
import sys

import pytest

from onceproof.spark_checks.inject.worker_memory import WorkerMemory
from onceproof.spark_checks.plan.rules import RuleSet

KNOWN = "import kept.inner\nknown = []\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a project with a package, and have it imported from there."""
    package = tmp_path / "kept"
    package.mkdir()
    (package / "__init__.py").write_text("known = []\n")
    (package / "inner.py").write_text("known = []\n")
    (tmp_path / "keeps.py").write_text(KNOWN)
    (tmp_path / "once_only.py").write_text(
        "import sys\n"
        "if hasattr(sys, 'has_once_only'):\n    raise ValueError('registered')\n"
        "sys.has_once_only = True\nknown = []\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    vars(sys).pop("has_once_only", None)


@pytest.fixture
def memory(project):
    return _Memory(str(project))


class _Memory:
    """The memory of a worker that gets one task after the other."""

    def __init__(self, code: str) -> None:
        self.memory, self._code = WorkerMemory(), code

    def task(self, run: str, start: int, *, beside: tuple[str, int] | None = None):
        """Begin a task of a start; give what was put away."""
        runs = [(run, start), *([beside] if beside else [])]
        code = (self._code,)
        self.memory.task_comes(
            [RuleSet((), "", r, code=code, start=n) for r, n in runs]
        )
        return self.memory.begins(run)


def known(name: str) -> list[str]:
    """Give what a module knows."""
    found: list[str] = importlib.import_module(name).known
    return found


@pytest.mark.parametrize("name", ["keeps", "kept", "kept.inner"])
def test_another_start_knows_nothing_of_the_one_before(memory, name):
    """And the same one knows what it knew, from batch to batch."""
    memory.task("run", 1)
    known(name).append("here")
    assert not memory.task("run", 1)
    assert known(name) == ["here"]

    assert memory.task("run", 2)
    assert known(name) == []
    assert getattr(sys.modules["kept"], "inner", sys.modules.get("kept.inner")) is (
        sys.modules.get("kept.inner")
    )


def test_a_package_that_stays_has_the_new_module(project):
    """Code that asks the package for it gets no module of the start before."""
    memory = _Memory(str(project / "kept" / "inner.py"))
    memory.task("run", 1)
    known("kept.inner").append("here")

    assert set(memory.task("run", 2)) == {"kept.inner"}
    assert not hasattr(sys.modules["kept"], "inner")
    assert known("kept.inner") == sys.modules["kept"].inner.known == []


def test_runs_beside_each_other_have_memories_of_their_own(memory):
    """A task of the one between two of the other takes nothing from it."""
    for turn in range(3):
        memory.task("one", 1, beside=("other", 4))
        known("kept.inner").append(f"one {turn}")
        memory.task("other", 4, beside=("one", 1))
        known("kept.inner").append(f"other {turn}")

    assert known("kept.inner") == ["other 0", "other 1", "other 2"]
    memory.task("one", 1, beside=("other", 4))
    assert known("kept.inner") == ["one 0", "one 1", "one 2"]


def test_a_run_that_is_over_leaves_nothing(memory):
    """Its name may come again."""
    memory.task("run", 1)
    known("keeps").append("here")
    memory.task("next", 1)
    memory.task("run", 1)
    assert known("keeps") == []


def test_nothing_but_the_users_own_code_is_put_away(memory, monkeypatch):
    """Whatever a program has put among the modules."""
    monkeypatch.setitem(sys.modules, "nobody", None)
    monkeypatch.setitem(sys.modules, "nothing", object())
    memory.task("run", 1)
    known("keeps")

    away = memory.task("run", 2)

    assert set(away) == {"keeps", "kept", "kept.inner"}


def test_a_module_that_cannot_be_imported_twice_is_used_again(memory):
    """What it has registered in a library is there still."""
    memory.task("run", 1)
    known("once_only").append("here")

    away = memory.task("run", 2)

    assert memory.memory.anew(away, known, "once_only") == ["here"]
    with pytest.raises(ModuleNotFoundError):
        memory.memory.anew({}, known, "never_there")
