"""What an agent reported of real runs, so that models are checked without Spark.

``python -m tests.spark_checks.replay.conformance.recorded_runs`` records it anew: it
replays some sinks with an agent, and writes one line for each interleaving.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.replay.conformance.checked_runs import CheckedRuns
from onceproof.spark_checks.replay.conformance.run_trace import EndOfRun
from onceproof.spark_checks.replay.conformance.step_meanings import (
    BATCHES,
    FILES,
    PYTHON,
)
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.events import Replayed
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.java.agent.step_report import (
    StepReport,
    read_steps,
    step_in,
)
from onceproof.spark_checks.session.session_pool import SessionPool
from tests.spark_checks.steering import SINKS

FOLDER = Path(__file__).parent / "recorded"
SIZES = Sizes(batches=2)
KINDS = {
    "foreach-batch-ledger": BATCHES,
    "datasource-staged": PYTHON,
    "parquet-manifest": FILES,
}


@dataclass(frozen=True)
class Recorded:
    """What was reported of the runs of one interleaving."""

    name: str
    """The faults, in words."""
    steps: tuple[StepReport, ...]
    """The steps, in the order of time."""
    ends: tuple[EndOfRun, ...]
    """How the runs ended."""


def recorded(sink: str) -> list[Recorded]:
    """Read what was recorded of a sink."""
    lines = (FOLDER / f"{sink}.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        data = json.loads(line)
        found.append(
            Recorded(
                "; ".join(data["faults"]) or "no fault",
                tuple(map(step_in, data["steps"])),
                tuple(EndOfRun(frozenset(batches)) for batches in data["committed"]),
            )
        )
    return found


def everything(step: str, of: str) -> bool:
    """Say that an agent reports a step, as that of the recordings did."""
    return True


def checks(sink: str, protocol=None) -> CheckedRuns:
    """Check against a protocol; by default that of the sink."""
    protocol = protocol or protocol_of(SINKS[sink], SIZES)
    return CheckedRuns(protocol, KINDS[sink], everything)


def record() -> None:
    """Replay with an agent, and note what it reports."""
    pool = SessionPool(ENTRY_POINTS, agent=True)
    check = CheckedRuns.of
    found: list[str] = []

    def noted(self, evidence):
        if evidence.observations is not None:
            steps = read_steps(evidence.folder)
            first = steps[0].nanos if steps else 0
            data = {
                "faults": [how for run in evidence.runs for how in run.how],
                "committed": [sorted(run.committed) for run in evidence.runs],
                "steps": [_line(one, first) for one in steps],
            }
            found.append(json.dumps(data))
        return check(self, evidence)

    CheckedRuns.of = noted
    try:
        for name in KINDS:
            found.clear()
            replay([SINKS[name]], heard, ReplayRequest(sizes=SIZES), pool=pool)
            FOLDER.mkdir(exist_ok=True)
            text = "\n".join(dict.fromkeys(found)) + "\n"
            (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")
    finally:
        CheckedRuns.of = check
        pool.close()


def heard(event: object) -> None:
    """Say which interleaving is done."""
    if isinstance(event, Replayed):
        print(event.sink, event.outcome.interleaving.number)


def _line(step: StepReport, first: int) -> str:
    """Write a step as the agent does, from the first one on, without its thread."""
    values = dataclasses.astuple(dataclasses.replace(step, nanos=step.nanos - first))
    texts = ["-1" if value is None else str(value) for value in values[:-1]]
    return "\t".join([*texts, ""])


if __name__ == "__main__":
    record()
