"""What user code keeps in a worker's memory ends with the driver's run.

A session that is shared keeps its workers while drivers die in it and begin anew. A
worker that gets a task of another start of the query, or of another run, forgets the
modules of the user's own code first, so that they are imported as in a new process.
What these keep elsewhere, such as in a library or in the environment, stays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.tracing.followed_code import Code
from onceproof.spark_checks.plan.rules import RUN_PROPERTY
from onceproof.spark_checks.session import spark_internals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.spark_checks.plan.rules import RuleSet


class WorkerMemory:
    """Knows which start of which query the memory of this process is of."""

    def __init__(self) -> None:
        """No task has come yet."""
        self._plans: Sequence[RuleSet] = ()
        self._known = True
        self._served: tuple[str, int] | None = None
        self._codes: dict[tuple[tuple[str, ...], tuple[str, ...]], Code] = {}

    def install(self) -> None:
        """Look at whose each task is, as its code is read."""
        serializer = spark_internals.command_serializer()
        plain = serializer.loads

        def loads(self: Any, *arguments: Any, **words: Any) -> Any:
            memory.begins(spark_internals.task_property(RUN_PROPERTY))
            found = plain(self, *arguments, **words)
            # Commits and aborts run in no task: the DataSource says whose they are.
            options = getattr(found, "options", None)
            run = options.get(RUN_PROPERTY) if isinstance(options, Mapping) else None
            return plain(self, *arguments, **words) if memory.begins(run) else found

        memory = self
        serializer.loads = loads

    def task_comes(self, plans: Sequence[RuleSet]) -> None:
        """Take note of the plans of all runs; one of them is that of the next task."""
        self._plans, self._known = plans, False

    def begins(self, run: str | None) -> bool:
        """Take note of the task's run; answer whether something was forgotten."""
        if self._known or run is None:
            return False
        self._known = True
        plan = next((plan for plan in self._plans if plan.run == run), None)
        if plan is None:
            return False
        before, self._served = self._served, (plan.run, plan.start)
        key = plan.code, plan.named
        self._codes.setdefault(key, Code(*key))
        if before in (None, self._served):
            return False
        return self._forget()

    def _forget(self) -> bool:
        """Forget modules of the user's own code."""
        found = [name for name, one in list(sys.modules.items()) if self._is_own(one)]
        for name in found:
            module = sys.modules.pop(name)
            parent, _, last = name.rpartition(".")
            above = vars(sys.modules[parent]) if parent in sys.modules else {}
            if above.get(last) is module:
                del above[last]
        return bool(found)

    def _is_own(self, module: Any) -> bool:
        file = getattr(module, "__file__", None)
        if module.__name__ == "__main__" or not str(file).endswith(".py"):
            return False
        judged = [c.judge(file, module.__name__) for c in self._codes.values()]
        return any(one.follows and not one.installed for one in judged)
