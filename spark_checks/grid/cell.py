"""A cell of the grid: a query, a configuration and a fault, with what came of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.grid.comparison import in_words
from onceproof.spark_checks.grid.grid_faults import GridFault
from onceproof.spark_checks.grid.judged import (
    AFTER_MORE,
    AFTER_RECOVERY,
    JUDGED,
    verdict_of,
)
from onceproof.spark_checks.grid.prediction import Prediction, predicted
from onceproof.spark_checks.replay.conformance.trace_check import (
    NOT_ASKED,
    TraceCheck,
)

if TYPE_CHECKING:
    from onceproof.properties.property import Property
    from onceproof.spark_checks.grid.comparison import Comparison
    from onceproof.spark_checks.grid.grid_faults import PlacedFault
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec

UNFIT = "it fails without a fault"
UNREACHED = "Spark did not come to the step of the fault"


@dataclass(frozen=True)
class GridCell:
    """One query in one configuration, with one fault."""

    query: QuerySpec
    """The query."""
    configuration: QueryConfiguration
    """How it ran."""
    placed: PlacedFault
    """What failed."""
    with_run: Comparison | None = None
    """After the recovery: what readers see, beside what the run without a fault shows.
    """
    with_batch: Comparison | None = None
    """After further input: what readers see, beside what the batch run shows."""
    errors: tuple[str, ...] = ()
    """Why runs after the fault failed."""
    rested: bool = True
    """Whether a restart brought the query back."""
    refusal: str = ""
    """Why the fault could not be injected; the cell is then not judged."""
    trace: TraceCheck = NOT_ASKED
    """Whether the steps that an agent has reported are a behaviour of the model."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def name(self) -> str:
        """Name the cell."""
        return f"{self.query.name} [{self.configuration.name}] {self.placed.name}"

    def verdict(self, prop: Property) -> Verdict:
        """Judge a property; a cell that was not replayed is undecided."""
        if self.refusal or self.with_batch is None:
            return Verdict.UNDECIDED
        more = self.with_batch.history(AFTER_MORE, rested=self.rested)
        recovered = None
        if self.with_run is not None:
            recovered = self.with_run.history(AFTER_RECOVERY, rested=self.rested)
        return verdict_of(prop, recovered, more)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each guarantee that the grid judges."""
        return {p.name: self.verdict(p) for p in JUDGED}

    @cached_property
    def prediction(self) -> Prediction:
        """What the model says of the cell, or why it says nothing."""
        if self.refusal or self.with_batch is None:
            return Prediction()
        return predicted(self.query, self.configuration, self.placed)

    @cached_property
    def predicted(self) -> dict[str, Verdict]:
        """The model's verdict on each guarantee; empty where it says nothing."""
        return dict(self.prediction.verdicts)

    @property
    def drift(self) -> list[str]:
        """The guarantees of which Spark and the model have different verdicts."""
        found = self.verdicts
        return [name for name, v in self.predicted.items() if found[name] is not v]

    @property
    def refuted(self) -> bool:
        """Whether any guarantee is refuted."""
        return Verdict.REFUTED in self.verdicts.values()

    def story(self) -> list[str]:
        """Say what happened, what readers saw, and what was expected."""
        if self.refusal:
            return [f"not replayed: {self.refusal}"]
        found = [str(self.placed)]
        for number, text in enumerate(self.errors, 1):
            found.append(f"run {number} after the fault fails: {failure(text)}")
        if not self.rested:
            found.append(
                f"no restart brings the query back ({len(self.errors)} were tried)"
            )
        elif self.errors:
            found.append(
                f"a further restart brings it back (number {len(self.errors)})"
            )
        found += _differences(AFTER_RECOVERY, "the run without a fault", self.with_run)
        found += _differences(AFTER_MORE, "the batch run", self.with_batch)
        found += [
            f"drift: {name} is {self.verdicts[name]} on Spark, and "
            f"{self.predicted[name]} in the model"
            for name in self.drift
        ]
        found += self.trace.unexplained
        if self.refuted and self.placed.fault is GridFault.NONE:
            found.append("this is so without a fault: none was injected")
        late = self.with_run is not None and not self.with_run.equal
        if late and self.with_batch is not None and self.with_batch.equal:
            found.append("further input makes up for it")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the cell as plain data."""
        return {
            "query": self.query.name,
            "configuration": self.configuration.name,
            "fault": str(self.placed.fault),
            "batch": self.placed.batch,
            "verdicts": {name: str(v) for name, v in self.verdicts.items()},
            "model": {name: str(v) for name, v in self.predicted.items()},
            "unpredicted": self.prediction.reason,
            "drift": self.drift,
            "conforms": self.trace.conforms if self.trace.checked else None,
            "not_compared": self.trace.unchecked,
            "recovered": self.rested,
            "failed_runs": [_parsed(text) for text in self.errors],
            "not_replayed": self.refusal,
            "story": self.story(),
            "seconds": round(self.seconds, 3),
        }


def _parsed(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else {"message": text}


def failure(text: str) -> str:
    """Say in words why a run failed."""
    found = _parsed(text)
    conditions = ", ".join(found.get("conditions", ()))
    return f"{conditions}: {found['message']}" if conditions else str(found["message"])


def _differences(moment: str, oracle: str, compared: Comparison | None) -> list[str]:
    if compared is None or compared.equal:
        return []
    found = []
    for rows, text in (
        (compared.missing, "do not see {n} of {all} rows that {oracle} shows"),
        (compared.surplus, "see {n} rows that {oracle} does not show"),
    ):
        if rows:
            what = text.format(n=len(rows), all=len(compared.expected), oracle=oracle)
            found.append(f"{moment}, readers {what}, such as {in_words(rows[0])}")
    return found
