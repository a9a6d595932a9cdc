"""How messages of Kafka's protocol are framed, and which requests change something.

https://kafka.apache.org/protocol: a request is its length, the key of an API, its
version and a number, and a reply is its length and that number.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.kafka import addresses
from onceproof.spark_checks.stores.kafka.tls import context_of
from onceproof.spark_checks.stores.links import FramedRequest

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator, Mapping

    from onceproof.spark_checks.stores.links import Lead

_PRODUCE = 0
_INIT, _ADD_PARTITIONS, _ADD_OFFSETS, _END = 22, 24, 25, 26
_OFFSETS = 28
_KINDS = {
    _PRODUCE: "Produce",
    _INIT: "InitProducerId",
    _ADD_PARTITIONS: "AddPartitionsToTxn",
    _ADD_OFFSETS: "AddOffsetsToTxn",
    _END: "EndTxn",
    _OFFSETS: "TxnOffsetCommit",
    8: "OffsetCommit",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    33: "AlterConfigs",
    37: "CreatePartitions",
    42: "DeleteGroups",
    44: "IncrementalAlterConfigs",
    47: "OffsetDelete",
}
_COMPACT = {_INIT: 2, _ADD_PARTITIONS: 3, _ADD_OFFSETS: 3, _END: 3}
_PRODUCE_COMPACT, _PRODUCE_BY_ID = 9, 13
_ADD_BY_TRANSACTION = 4
_LATER = (14, 15, 16, 51)
"""The errors that mean: a coordinator is not ready, or another transaction ends yet."""
_MOST = 100 << 20
_ID = 16


@dataclass(frozen=True)
class KafkaFraming:
    """Reads requests of clients to brokers, whose topics have a prefix."""

    prefix: str
    """The topic of the run, and what the names of its others begin with."""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    """The settings of a client, which say how to connect to the brokers."""

    def length(self, start: bytes) -> int | None:
        """Return the length of a message with the four bytes that hold it."""
        if len(start) < 4:  # noqa: PLR2004 - bytes of an int32
            return None
        [length] = struct.unpack_from(">i", start)
        if not 0 < length < _MOST:
            message = "not a message of Kafka's protocol: a client speaks TLS"
            raise ValueError(message)
        return 4 + int(length)

    def request(self, message: bytes) -> FramedRequest:
        """Read a request; one that changes nothing is of no kind."""
        code, version, number = struct.unpack_from(">hhi", message, 4)
        kind = _KINDS.get(code, "")
        if code == _PRODUCE:
            try:
                acks, where = self._produced(message, version)
            except (IndexError, struct.error, UnicodeDecodeError) as error:
                text = "a Produce request of Kafka's cannot be read"
                raise OSError(text) from error
            kind = f"{kind} to {' and '.join(sorted(where))}"
            if acks == 0:
                return FramedRequest(number, kind, code, version, answered=False)
        # A client adds a transaction's partitions in one request, or in several.
        adds = code == _ADD_PARTITIONS
        return FramedRequest(number, kind, code, version, first_only=adds)

    def number(self, message: bytes) -> int:
        """Return the number of a reply."""
        return int(struct.unpack_from(">i", message, 4)[0])

    def refused(self, message: bytes, to: FramedRequest) -> bool:
        """Return whether a coordinator wants to be asked again."""
        compact = to.code in _COMPACT and to.version >= _COMPACT[to.code]
        at = 8 + compact + 4
        if to.code == _ADD_PARTITIONS and to.version < _ADD_BY_TRANSACTION:
            at += 1 if compact else 4
            size = message[at] - 1 if compact else _short(message, at)
            at += (1 if compact else 2) + size + (1 if compact else 4) + 4
        elif to.code not in _COMPACT:
            return False
        return _short(message, at) in _LATER

    def answer(self, message: bytes, to: FramedRequest, lead: Lead) -> bytes:
        """Return a reply that names ports of loopback in place of the brokers'."""
        return addresses.moved(message, to, lead)

    def tls(self) -> ssl.SSLContext | None:
        """Return how the brokers want to be spoken to."""
        return context_of(self.settings)

    def _produced(self, message: bytes, version: int) -> tuple[int, set[str]]:
        """Return how many acknowledgements are wanted, and where records go."""
        reader = _Reader(message, 12, compact=version >= _PRODUCE_COMPACT)
        reader.at += 2 + max(_short(message, reader.at), 0)  # never compact: the client
        reader.tags()
        if version >= 3:  # noqa: PLR2004 - since then there are transactions
            reader.text()
        acks = _short(message, reader.at)
        reader.at += 6
        where = set()
        for _ in reader.many():
            if version >= _PRODUCE_BY_ID:
                reader.at += _ID
                topic = ""
            else:
                topic = self._named(reader.text())
            for _ in reader.many():
                [partition] = struct.unpack_from(">i", message, reader.at)
                reader.at += 4
                reader.skip()
                reader.tags()
                where.add(f"{topic}partition {partition}")
            reader.tags()
        return acks, where

    def _named(self, topic: str) -> str:
        """Name a topic as it is named in each run."""
        rest = topic.removeprefix(self.prefix).removeprefix("-")
        return f"{rest}, " if rest else ""


class _Reader:
    """Reads fields of a message, one after the other."""

    def __init__(self, message: bytes, at: int, *, compact: bool) -> None:
        self.message = message
        self.at = at
        self.compact = compact

    def many(self) -> Iterator[int]:
        """Count the elements of a list, while they are read."""
        if self.compact:
            return iter(range(self._varint() - 1))
        [count] = struct.unpack_from(">i", self.message, self.at)
        self.at += 4
        return iter(range(count))

    def text(self) -> str:
        """Read a string, which may be none."""
        if self.compact:
            size = self._varint() - 1
        else:
            size = _short(self.message, self.at)
            self.at += 2
        size = max(size, 0)
        self.at += size
        return self.message[self.at - size : self.at].decode()

    def skip(self) -> None:
        """Leave out bytes, which may be none."""
        if self.compact:
            size = self._varint() - 1
        else:
            [size] = struct.unpack_from(">i", self.message, self.at)
            self.at += 4
        self.at += max(size, 0)

    def tags(self) -> None:
        """Leave out fields that may be there in compact messages."""
        if self.compact:
            for _ in range(self._varint()):
                self._varint()
                size = self._varint()
                self.at += size

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self.message[self.at]
            self.at += 1
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - the last one
                return found


def _short(message: bytes, at: int) -> int:
    return int(struct.unpack_from(">h", message, at)[0])
