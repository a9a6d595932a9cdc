"""Events of a replay: the engine emits them, and knows none of its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport


@dataclass(frozen=True)
class Started:
    """A replay has begun, over these sinks."""

    sinks: tuple[str, ...]
    """The names of the sinks, in order."""
    scratch: str
    """The path of the scratch folder."""


@dataclass(frozen=True)
class AgentLooked:
    """An agent was wanted: it is in the session, or it could not be had."""

    lacking: tuple[str, ...]
    """The steps that this version of Spark lacks, each a sentence."""
    problem: str = ""
    """Why there is no agent; empty if there is one."""

    def __str__(self) -> str:
        """Say, in a line, what the agent can do."""
        if self.problem:
            return (
                f"no agent: {self.problem}; checkpoint edits and the trap serve instead"
            )
        lacking = "; ".join(self.lacking) or "none"
        return f"an agent is in Spark; steps that this session lacks: {lacking}"


@dataclass(frozen=True)
class RecoveryBegun:
    """Interleavings of one fault are run first, to see what the code does then."""

    sink: str
    """The name of the sink."""
    interleavings: int
    """How many interleavings are run."""


@dataclass(frozen=True)
class RecoveryRun:
    """One of these interleavings was run."""

    sink: str
    """The name of the sink."""


@dataclass(frozen=True)
class SinkBegun:
    """The interleavings of a sink are known, and replayed from now on."""

    sink: str
    """The name of the sink."""
    interleavings: int
    """How many interleavings were chosen."""


@dataclass(frozen=True)
class InterleavingBegun:
    """The replay of an interleaving begins."""

    sink: str
    """The name of the sink."""
    number: int
    """The number of the interleaving."""


@dataclass(frozen=True)
class StepTaken:
    """A durable step of the model was taken."""

    sink: str
    """The name of the sink."""
    number: int
    """The number of the interleaving."""
    step: str
    """The step."""


@dataclass(frozen=True)
class FaultInjected:
    """A fault of the model was injected."""

    sink: str
    """The name of the sink."""
    number: int
    """The number of the interleaving."""
    fault: str
    """The fault."""


@dataclass(frozen=True)
class Recovered:
    """The query has reached rest after the faults of an interleaving."""

    sink: str
    """The name of the sink."""
    number: int
    """The number of the interleaving."""


@dataclass(frozen=True)
class Replayed:
    """An interleaving has an outcome: it was replayed, or it says why not."""

    sink: str
    """The name of the sink."""
    outcome: Outcome
    """The outcome."""
    folder: Path | None
    """The folder of its runs, if it is kept."""


@dataclass(frozen=True)
class JournalRead:
    """What was noted of a sink by an earlier replay was recalled, as far as it goes."""

    sink: str
    """The name of the sink."""
    recalled: int
    """How many outcomes, and confirmations of them, were recalled."""
    changed: str
    """Why nothing was recalled though there was a journal; empty otherwise."""

    def __str__(self) -> str:
        """Say it in a line; nothing if there was no journal."""
        if self.changed:
            return (
                f"{self.sink}: the journal of an earlier replay is not used: "
                f"{self.changed}"
            )
        if not self.recalled:
            return ""
        runs = "replay" if self.recalled == 1 else "replays"
        return f"{self.sink}: {self.recalled} {runs} taken from the journal"


@dataclass(frozen=True)
class JournalsKept:
    """A replay has ended early; what it has done can be gone on with."""

    folder: str
    """The path of the folder of journals."""

    def __str__(self) -> str:
        """Say how."""
        return f"what was replayed is noted in {self.folder}; --resume goes on from it"


@dataclass(frozen=True)
class SinkJudged:
    """All properties of a sink are judged."""

    report: SinkReport
    """The report on the sink."""


@dataclass(frozen=True)
class ScratchKept:
    """The scratch folder is kept: on request, for inspection, or after a stop."""

    scratch: str
    """The path of the scratch folder."""


@dataclass(frozen=True)
class Finished:
    """The replay is over."""

    seconds: float
    """How long the whole replay took."""


Event: TypeAlias = (
    Started
    | AgentLooked
    | RecoveryBegun
    | RecoveryRun
    | SinkBegun
    | InterleavingBegun
    | StepTaken
    | FaultInjected
    | Recovered
    | Replayed
    | JournalRead
    | JournalsKept
    | SinkJudged
    | ScratchKept
    | Finished
)
Listener: TypeAlias = "Callable[[Event], None]"
