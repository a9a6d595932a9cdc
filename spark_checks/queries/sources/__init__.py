"""The sources that queries read their events from: an entry each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.queries.sources.event_source import EventSource
from onceproof.spark_checks.queries.sources.files import FileInput
from onceproof.spark_checks.queries.sources.kafka import KafkaInput
from onceproof.spark_checks.queries.sources.rate import RateInput
from onceproof.spark_checks.stores.kafka.store import Kafka

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES: Mapping[str, EventSource] = {
    "files": EventSource(FileInput),
    "rate-micro-batch": EventSource(
        RateInput, triggers=("available-now",), one_batch_a_run=True
    ),
    "kafka": EventSource(KafkaInput, store=Kafka()),
}
"""Each source by its name, in the order in which the grid runs them."""
