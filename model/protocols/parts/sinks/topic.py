"""Sinks that append records to a topic, without a transaction."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.append import Append


class Topic(Append):
    """Tasks append records to a topic, and readers see each of them.

    So does Spark's Kafka sink. No record says which batch it was in: how events are cut
    into batches changes nothing.
    """


class TopicByKey(Topic):
    """Readers keep the last record of each key: a repeat changes nothing for them."""

    breaks = ("atomic-visibility",)

    def visible(self, b: Member, e: Member) -> int:
        """A reader keeps one record for a key."""
        return if_else(self.rows[b, e] > 0, 1, 0)
