"""Replaces the addresses of brokers in the replies that lead clients to them.

The fields before an address are copied one by one, as the messages of Kafka's protocol
list them (https://kafka.apache.org/protocol): a name has any length.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onceproof.spark_checks.stores.links import FramedRequest, Lead

PRODUCE, FETCH, METADATA, COORDINATOR, CLUSTER = 0, 1, 3, 10, 60
_SHARES = (78, 79)
"""The APIs of share groups that name further brokers: their replies are not read."""
_LAST_API = 92
"""The last API of Kafka 4.3: what later ones answer is not known."""
_HEAD = 8
_UUID = 16
_LOOPBACK = "127.0.0.1"


def moved(message: bytes, to: FramedRequest, lead: Lead) -> bytes:
    """Return a reply whose addresses lead to ports of 127.0.0.1.

    Raises ``OSError`` for a reply that may have addresses and cannot be read.
    """
    if to.code in _SHARES or to.code > _LAST_API:
        text = f"Kafka's API {to.code} may answer with addresses, which are not read"
        raise OSError(text)
    if to.code not in _LAYOUTS:
        return message
    first, compact, last, layout = _LAYOUTS[to.code]
    if to.version < first:
        return message
    if to.version > last:
        text = f"version {to.version} of Kafka's API {to.code} is not known: its reply"
        raise OSError(text)
    copy = _Copy(message, lead, compact=to.version >= compact)
    try:
        copy.tags()  # of the header
        layout(copy, to.version)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        text = f"a reply of Kafka's API {to.code} cannot be read"
        raise OSError(text) from error
    return copy.whole()


class _Copy:
    """Copies the fields of a reply, one after the other."""

    def __init__(self, message: bytes, lead: Lead, *, compact: bool) -> None:
        self._message = message
        self._lead = lead
        self._at = _HEAD
        self._compact = compact
        self._made = bytearray(message[:_HEAD])

    def whole(self) -> bytes:
        """Copy what is left, and return all with its length."""
        self.skip(len(self._message) - self._at)
        return struct.pack(">i", len(self._made) - 4) + bytes(self._made[4:])

    def skip(self, size: int) -> None:
        """Copy bytes as they are."""
        if self._at + size > len(self._message):
            raise IndexError
        self._made += self._message[self._at : self._at + size]
        self._at += size

    def text(self) -> None:
        """Copy a string, or bytes, which may be none."""
        self.skip(max(self._size(), 0))

    def many(self) -> Iterator[int]:
        """Count the elements of a list, while they are copied."""
        if self._compact:
            return iter(range(self.varint() - 1))
        [count] = struct.unpack_from(">i", self._message, self._at)
        self.skip(4)
        return iter(range(count))

    def varint(self) -> int:
        """Copy a number of any length, and return it."""
        found = shift = 0
        while True:
            byte = self._message[self._at]
            self.skip(1)
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - the last one
                return found

    def tags(self, known: Callable[[_Copy], None] | None = None) -> None:
        """Copy the fields that may be there; the first one is ``known``."""
        if not self._compact:
            return
        for _ in range(self.varint()):
            tag = self.varint()
            before = len(self._made)
            size = self.varint()
            if tag or known is None:
                self.skip(size)
                continue
            start = len(self._made)
            known(self)
            content = self._made[start:]
            del self._made[before:]
            self._made += _varint(len(content)) + content

    def address(self) -> None:
        """Copy a host and a port, which lead elsewhere in the copy."""
        before = len(self._made)
        size = self._size()
        host = self._message[self._at : self._at + size].decode()
        self.skip(size)
        [port] = struct.unpack_from(">i", self._message, self._at)
        self.skip(4)
        if not host or port < 0:  # no broker is known
            return
        del self._made[before:]
        size = len(_LOOPBACK)
        self._made += _varint(size + 1) if self._compact else struct.pack(">h", size)
        self._made += _LOOPBACK.encode() + struct.pack(">i", self._lead(host, port))

    def _size(self) -> int:
        if self._compact:
            return self.varint() - 1
        [size] = struct.unpack_from(">h", self._message, self._at)
        self.skip(2)
        return int(size)


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - what fits in a byte
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _metadata(copy: _Copy, version: int) -> None:
    if version >= 3:  # noqa: PLR2004 - how long a client must wait
        copy.skip(4)
    for _ in copy.many():
        copy.skip(4)
        copy.address()
        if version >= 1:
            copy.text()
        copy.tags()


def _coordinator(copy: _Copy, version: int) -> None:
    if version >= 1:
        copy.skip(4)
    if version >= 4:  # noqa: PLR2004 - several at once
        for _ in copy.many():
            copy.text()
            copy.skip(4)
            copy.address()
            copy.skip(2)
            copy.text()
            copy.tags()
        return
    copy.skip(2)
    if version >= 1:
        copy.text()
    copy.skip(4)
    copy.address()


def _cluster(copy: _Copy, version: int) -> None:
    copy.skip(4 + 2)
    copy.text()
    copy.skip(1 if version >= 1 else 0)
    copy.text()
    copy.skip(4)
    for _ in copy.many():
        copy.skip(4)
        copy.address()
        copy.text()
        copy.skip(1 if version >= 2 else 0)  # noqa: PLR2004 - whether it is fenced
        copy.tags()


def _produced(copy: _Copy, version: int) -> None:
    for _ in copy.many():
        if version >= 13:  # noqa: PLR2004 - topics by their ids
            copy.skip(_UUID)
        else:
            copy.text()
        for _ in copy.many():
            copy.skip(4 + 2 + 8 + 8 + 8)
            for _ in copy.many():
                copy.skip(4)
                copy.text()
                copy.tags()
            copy.text()
            copy.tags()
        copy.tags()
    copy.skip(4)
    copy.tags(_nodes)


def _fetched(copy: _Copy, version: int) -> None:
    del version
    copy.skip(4 + 2 + 4)
    for _ in copy.many():
        copy.skip(_UUID)
        for _ in copy.many():
            copy.skip(4 + 2 + 8 + 8 + 8)
            for _ in copy.many():
                copy.skip(8 + 8)
                copy.tags()
            copy.skip(4)
            copy.text()
            copy.tags()
        copy.tags()
    copy.tags(_nodes)


def _nodes(copy: _Copy) -> None:
    """Copy the brokers that lead what a client asked another one for."""
    for _ in copy.many():
        copy.skip(4)
        copy.address()
        copy.text()
        copy.tags()


_LAYOUTS: dict[int, tuple[int, int, int, Callable[[_Copy, int], None]]] = {
    METADATA: (0, 9, 13, _metadata),
    COORDINATOR: (0, 3, 6, _coordinator),
    CLUSTER: (0, 0, 2, _cluster),
    PRODUCE: (10, 9, 13, _produced),
    FETCH: (16, 12, 18, _fetched),
}
"""By API: the first version with addresses, the first compact one, the last known one,
and what is copied."""
