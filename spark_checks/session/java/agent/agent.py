"""The agent in a session's JVM: where its jar comes from, what it lacks, what is armed.

Byteman calls ``DurableSteps.java`` at each place of ``steps.toml``. What happens there
depends on the run that the calling thread belongs to: several runs go on side by side.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.versions import MISSING, versions_of
from onceproof.spark_checks.session.java.agent.durable_steps import (
    TABLE,
    Method,
    lacks,
    places,
)
from onceproof.spark_checks.session.java.agent.script import PROPERTY, script_of
from onceproof.spark_checks.session.java.agent.step_report import FILE
from onceproof.spark_checks.session.java.compiled import compiled
from onceproof.spark_checks.stores.jars.maven import Jar, fetched, unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable

VARIABLE = "ONCEPROOF_BYTEMAN"
HALT = "halt"
"""What ends the JVM."""
BYTEMAN = Jar(
    "org.jboss.byteman:byteman:4.0.27",
    "979274834c1880bd2fb3a8a225d9a21350701a6bbea25a48631eb9b8d2e4cc00",
)
_SOURCE = Path(__file__).with_name("DurableSteps.java")
_SCRIPT = "steps.btm"
_NONE = -1


@dataclass(frozen=True)
class AgentJar:
    """Byteman's jar, and the table of the places that it is to watch."""

    path: Path
    """The jar."""
    table: Path = TABLE
    """The table."""

    def option(self, folder: Path) -> str:
        """Write the script into a session's folder; return the option of Java.

        Byteman divides its own options at commas and colons.
        """
        script = folder / _SCRIPT
        version = versions_of("pyspark")["pyspark"]
        script.write_text(script_of(places(version, self.table)), encoding="utf-8")
        given = f"script:{script}"
        return shlex.quote(f"-javaagent:{self.path}={given}")


def agent_jar() -> AgentJar:
    """Return the jar that the environment names, or the one of Maven Central.

    Raises ``StoreError`` where the jar cannot be had, and ``UsageError`` where the one
    that is named is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named).absolute()
        if not path.is_file():
            message = f"{VARIABLE} names no file: {named}; help: name Byteman's jar"
            raise UsageError(message)
        return AgentJar(path)
    [path] = fetched([BYTEMAN])
    return AgentJar(path)


def missing_agent() -> str:
    """Say, in a sentence, why there is no agent to be had; empty if there is one."""
    named = os.environ.get(VARIABLE)
    if named:
        there = Path(named).is_file()
        return "" if there else f"{VARIABLE} names no file: {named}"
    return "; ".join(unreachable([BYTEMAN]))


def lacking_here() -> tuple[str, ...]:
    """Say which steps the table has no class for, in the PySpark that is installed."""
    version = versions_of("pyspark")["pyspark"]
    if version == MISSING:
        return ()
    return tuple(filter(None, (lacks(one, lambda _: True) for one in places(version))))


@dataclass(frozen=True)
class StepRule:
    """What the agent does at a step of one run; the fields mean what a rule's do."""

    step: str
    """The name of the step."""
    event: str
    """``call`` or ``return``."""
    batch: int
    """The batch."""
    do: str
    """One of die, end, raise, halt, zombie, pass, or ``kill`` and a process group.

    The process dies that takes the step, which is a task's or the driver's; to end the
    run is to let the driver die, also where a task takes the step."""
    partition: int | None = None
    """The partition; None for any."""
    attempt: int | None = None
    """The attempt; None for any."""
    nth: int | None = None
    """Which time the step is reached, from 1; None for any."""
    await_: tuple[str, ...] = ()
    """The marks to wait for first."""
    mark: str = ""
    """The mark to leave."""
    once: bool = False
    """Whether it does nothing if its mark exists already."""
    after: str = ""
    """It does nothing until this mark exists."""


class Agent:
    """The agent in the JVM of a session."""

    def __init__(self, jvm: Any, context: Any, jar: AgentJar) -> None:
        """Compile what Byteman calls, by Spark's own compiler, and look for each place.

        ``context`` is Java's side of the session's context.
        """
        properties = jvm.java.lang.System.getProperties()
        self._steps = properties.get(PROPERTY) or compiled(jvm, _SOURCE)
        self._steps.use(context)
        found = places(versions_of("pyspark")["pyspark"], jar.table)
        lacking = {place: lacks(place, self._there) for place in found}
        self.missing = tuple(filter(None, lacking.values()))
        self._has = {(p.step, p.of) for p, missing in lacking.items() if not missing}
        properties.put(PROPERTY, self._steps)

    def has(self, step: str, of: str = "") -> bool:
        """Return whether the session has a step, or has it ``of`` some sinks."""
        return any(name == step and of in ("", sinks) for name, sinks in self._has)

    def arm(
        self,
        run: str,
        number: int,
        folder: Path,
        marks: Path,
        rules: Iterable[StepRule],
        patience: float,
    ) -> None:
        """Report the steps of a run from now on, and do what ``rules`` say.

        ``run`` is what the threads and tasks of the run carry as a local property.
        Raises ``UsageError`` for a halt: other runs share the JVM.
        """
        rules = tuple(rules)
        if any(rule.do == HALT for rule in rules):
            message = "a halt ends the JVM that other runs share; let the driver die"
            raise UsageError(message)
        steps = self._steps
        report, millis = str(folder / FILE), round(1000 * patience)
        armed = steps.prepare(str(folder), str(number), str(marks), report, millis)
        for rule in rules:
            steps.rule(
                armed,
                f"{rule.step} {rule.event}",
                rule.batch,
                _or_any(rule.partition),
                _or_any(rule.attempt),
                _or_any(rule.nth),
                rule.do,
                "\n".join(rule.await_),
                rule.mark,
                rule.once,
                rule.after,
            )
        steps.arm(run, armed)

    def disarm(self, run: str) -> None:
        """Do nothing more at the steps of a run; a task that lives on is as it was."""
        self._steps.disarm(run)

    def _there(self, method: Method) -> bool:
        return bool(self._steps.has(method.owner, method.name))


def _or_any(number: int | None) -> int:
    return _NONE if number is None else number
