"""The interleavings of a sink's model, and its verdicts: made once for all replays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import check, parameters_of
from onceproof.spark_checks.plan.expansion import expanded, with_few_points
from onceproof.spark_checks.sinks.user_code_model import InstrumentedMicroBatch

if TYPE_CHECKING:
    from onceproof.model.interleavings.interleaving import Interleavings
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.properties.judges.by_search import Report
    from onceproof.spark_checks.inputs.sizes import Sizes
    from onceproof.spark_checks.sinks.interface import ModelledSink


class Enumerations:
    """Keeps what was enumerated and judged of each model, by its parts and sizes."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: dict[str, tuple[Interleavings, Report]] = {}

    def of(self, protocol: MicroBatch) -> tuple[Interleavings, Report]:
        """Enumerate the interleavings of a model and judge it, once."""
        parts = [(p.label(), parameters_of(p)) for p in protocol.all_parts()]
        name = json.dumps(parts, sort_keys=True)
        if name not in self._kept:
            few = protocol
            if isinstance(protocol, InstrumentedMicroBatch):
                # Its points differ by their names alone.
                found, few = expanded(protocol), with_few_points(protocol)
            else:
                found = interleavings(protocol)
            self._kept[name] = found, check(few, guarantees_of(few))
        return self._kept[name]


def protocol_of(sink: ModelledSink, sizes: Sizes, *, faults: int = 1) -> MicroBatch:
    """Return the model that describes a sink, with a budget of faults."""
    return sink.engine(
        sink=sink.model,
        faults=faults,
        BATCH=sizes.batches,
        PARTITION=sizes.partitions,
        ATTEMPT=sizes.attempts,
        **sink.parameters,
    )
