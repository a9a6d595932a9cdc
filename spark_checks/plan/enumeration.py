"""The interleavings of a sink's model, and its verdicts: made once for all replays."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from onceproof.model.errors import OnceproofError
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import check, parameters_of
from onceproof.spark_checks.plan.expansion import expanded, with_few_points
from onceproof.spark_checks.sinks.user_code_model import InstrumentedMicroBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onceproof.model.interleavings.interleaving import Interleavings
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.properties.judges.by_search import Report
    from onceproof.spark_checks.inputs.sizes import Sizes
    from onceproof.spark_checks.sinks.interface import ModelledSink


class Enumerations:
    """Keeps what was enumerated and judged of each model, by its parts and sizes."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: dict[str, Interleavings] = {}
        self._judged: dict[str, Report] = {}
        self._lock = threading.RLock()

    @contextmanager
    def ahead(self, protocols: Sequence[MicroBatch]) -> Iterator[None]:
        """While it lasts, a thread enumerates and judges models, one after the other.

        Spark takes seconds to start, and a core is idle meanwhile. A model with an
        error raises it where it is asked for.
        """
        over = threading.Event()

        def work() -> None:
            for protocol in protocols:
                for ask in (self.interleavings, self.verdicts):
                    if over.is_set():
                        return
                    with suppress(OnceproofError):
                        ask(protocol)

        thread = threading.Thread(target=work, name="onceproof-enumeration")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def interleavings(self, protocol: MicroBatch) -> Interleavings:
        """Enumerate the failure interleavings of a model, once."""
        name = _name_of(protocol)
        with self._lock:
            if name not in self._kept:
                if isinstance(protocol, InstrumentedMicroBatch):
                    self._kept[name] = expanded(protocol)
                else:
                    self._kept[name] = interleavings(protocol)
            return self._kept[name]

    def verdicts(self, protocol: MicroBatch) -> Report:
        """Judge a model by search, once."""
        name = _name_of(protocol)
        with self._lock:
            if name not in self._judged:
                few = protocol
                if isinstance(protocol, InstrumentedMicroBatch):
                    # Its points differ by their names alone.
                    few = with_few_points(protocol)
                self._judged[name] = check(few, guarantees_of(few))
            return self._judged[name]


def _name_of(protocol: MicroBatch) -> str:
    """Name a model by its parts and their sizes; a user's part may have any label."""
    parts = [
        (type(p).__module__, type(p).__qualname__, parameters_of(p))
        for p in protocol.all_parts()
    ]
    return json.dumps(parts, sort_keys=True)


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
