"""What user code keeps in a worker's memory ends with the start of the query.

A session that is shared keeps its workers while drivers die in it and begin anew. A
worker that gets a task of another start of a query, or of another query beside it, puts
the modules of the user's own code away first. So they are imported as in a new process,
and are back when a task of the same start comes. What they keep elsewhere, such as in a
library, in the environment or in a thread, stays.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.tracing.followed_code import Code
from onceproof.spark_checks.plan.rules import RUN_PROPERTY
from onceproof.spark_checks.session import spark_internals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from onceproof.spark_checks.plan.rules import RuleSet


class WorkerMemory:
    """Knows which start of which query the memory of this process is of."""

    def __init__(self) -> None:
        """No task has come yet."""
        self._plans: Sequence[RuleSet] = ()
        self._known = True
        self._served: tuple[str, int] | None = None
        self._away: dict[tuple[str, int], Mapping[str, ModuleType]] = {}
        self._codes: dict[tuple[str, ...], Code] = {}
        # What is there before workers are forked is none of a user's, and is much.
        self._ours = frozenset(sys.modules)

    def install(self) -> None:
        """Look at whose each task is, as its code is read."""
        serializer = spark_internals.command_serializer()
        plain = serializer.loads

        def loads(self: Any, *arguments: Any, **words: Any) -> Any:
            before = memory.begins(spark_internals.task_property(RUN_PROPERTY))
            found = memory.anew(before, plain, self, *arguments, **words)
            # Commits and aborts run in no task: the DataSource says whose they are.
            before = memory.begins(spark_internals.option_of(found, RUN_PROPERTY))
            if not before:
                return found
            return memory.anew(before, plain, self, *arguments, **words)

        memory = self
        serializer.loads = loads

    def task_comes(self, plans: Sequence[RuleSet]) -> None:
        """Take note of the plans of all runs; one of them is that of the next task."""
        self._plans, self._known = plans, False

    def begins(self, run: str | None) -> Mapping[str, ModuleType]:
        """Take note of the task's run; return the modules that were put away for it."""
        if self._known or run is None:
            return {}
        self._known = True
        plan = next((plan for plan in self._plans if plan.run == run), None)
        if plan is None:
            return {}
        before, self._served = self._served, (plan.run, plan.start)
        self._codes.setdefault(plan.code, Code(plan.code))
        if before in (None, self._served):
            return {}
        return self._change(before, self._served)

    @staticmethod
    def anew(
        before: Mapping[str, ModuleType], read: Any, *arguments: Any, **words: Any
    ) -> Any:
        """Read a task's code, whose modules are imported anew.

        Some modules cannot be imported twice in a process, since they have registered
        something in a library. Then those of ``before`` are used again.
        """
        try:
            return read(*arguments, **words)
        except Exception:
            if not before:
                raise
            _put_back(before)
            return read(*arguments, **words)

    def _change(
        self, before: tuple[str, int], now: tuple[str, int]
    ) -> Mapping[str, ModuleType]:
        """Put the modules of one start away, and those of another one back."""
        going = {(plan.run, plan.start) for plan in self._plans}
        others = {n: m for n, m in list(sys.modules.items()) if n not in self._ours}
        found = {n: m for n, m in others.items() if self._is_own(n, m)}
        for name, module in found.items():
            del sys.modules[name]
            above, last = _above(name)
            if above.get(last) is module:
                del above[last]
        _put_back(self._away.pop(now, {}))
        self._away[before] = found
        self._away = {one: away for one, away in self._away.items() if one in going}
        # What nobody can reach any more is closed, as if its process had ended.
        gc.collect()
        return found

    def _is_own(self, name: str, module: Any) -> bool:
        file = str(getattr(module, "__file__", None))
        if name == "__main__" or not file.endswith(".py"):
            return False
        judged = [code.judge(file, name) for code in self._codes.values()]
        return any(one.follows and not one.installed for one in judged)


def _put_back(modules: Mapping[str, ModuleType]) -> None:
    sys.modules.update(modules)
    for name, module in modules.items():
        above, last = _above(name)
        above[last] = module


def _above(name: str) -> tuple[dict[str, Any], str]:
    """Return what the package above a module has, and the module's name in it."""
    parent, _, last = name.rpartition(".")
    there = sys.modules.get(parent)
    return ({} if there is None else vars(there)), last
