"""Requests of Kafka's protocol are read as far as it takes to name them."""

from __future__ import annotations

import struct

import pytest

from onceproof.spark_checks.stores.kafka.framing import KafkaFraming
from onceproof.spark_checks.stores.links import FramedRequest

FRAMING = KafkaFraming("onceproof_x")
PRODUCE, METADATA, INIT, ADD, END = 0, 3, 22, 24, 26


def framed(body):
    return struct.pack(">i", len(body)) + body


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def compact(value):
    return bytes([len(value) + 1]) + value.encode()


def request(code, version, body, *, number=7, tags=b""):
    head = struct.pack(">hhi", code, version, number) + text("rdkafka") + tags
    return framed(head + body)


def produced(version, *topics, acks=-1):
    """Make a Produce request of records in partitions of topics."""
    rest = struct.pack(">hi", acks, 30000)
    if version < 9:
        body = b"" if version < 3 else struct.pack(">h", -1)
        body += rest + struct.pack(">i", len(topics))
        for topic, partitions in topics:
            body += text(topic) + struct.pack(">i", len(partitions))
            for one in partitions:
                body += struct.pack(">ii", one, 3) + b"abc"
        return request(PRODUCE, version, body)
    body = b"\x00" + rest + bytes([len(topics) + 1])
    for topic, partitions in topics:
        body += compact(topic) if version < 13 else b"u" * 16
        body += bytes([len(partitions) + 1])
        for one in partitions:
            body += struct.pack(">i", one) + b"\x04abc" + b"\x00"
        body += b"\x01\x05\x02zz"  # a field of a later version
    return request(PRODUCE, version, body + b"\x00", tags=b"\x00")


@pytest.mark.parametrize("version", [2, 7, 9, 12])
def test_a_produce_request_is_named_by_where_its_records_go(version):
    """The names of topics are those of each run, and the order says nothing."""
    both = [("onceproof_x-ledger", [0]), ("onceproof_x", [1, 0])]

    found = FRAMING.request(produced(version, *both))

    assert (found.number, found.code, found.version) == (7, PRODUCE, version)
    where = "ledger, partition 0 and partition 0 and partition 1"
    assert found.kind == f"Produce to {where}"
    assert found.answered


def test_a_produce_request_may_have_no_names_of_topics():
    """Since version 13 it has their ids, which differ from run to run."""
    found = FRAMING.request(produced(13, ("any", [2])))

    assert found.kind == "Produce to partition 2"


@pytest.mark.parametrize("version", [7, 9])
def test_what_the_broker_does_not_answer_is_told_apart(version):
    """Nobody waits for its answer, but it changes something."""
    found = FRAMING.request(produced(version, ("onceproof_x", [0]), acks=0))

    assert (found.kind, found.answered) == ("Produce to partition 0", False)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (8, "OffsetCommit"),
        (19, "CreateTopics"),
        (21, "DeleteRecords"),
        (3, ""),
        (1, ""),
    ],
)
def test_what_changes_something_has_a_kind(code, kind):
    """What is only read has none, and is not cut."""
    message = struct.pack(">ihhi", 8, code, 2, 7)

    assert FRAMING.request(message).kind == kind


def test_a_produce_request_that_ends_early_is_not_guessed():
    """The connection breaks then."""
    whole = produced(7, ("onceproof_x", [0]))

    with pytest.raises(OSError, match="cannot be read"):
        FRAMING.request(framed(whole[4:40]))


@pytest.mark.parametrize(
    ("code", "kind"), [(INIT, "InitProducerId"), (END, "EndTxn"), (METADATA, "")]
)
def test_only_requests_that_change_something_have_a_kind(code, kind):
    """What is read changes nothing, if it is read again."""
    found = FRAMING.request(request(code, 1, b""))

    assert found.kind == kind
    assert not found.first_only


def test_partitions_are_added_in_one_request_or_in_several():
    """Timing decides, so the first one counts alone."""
    assert FRAMING.request(request(ADD, 1, b"")).first_only


def test_the_number_of_an_answer_is_that_of_its_request():
    """It is all that a reply says of it."""
    assert FRAMING.number(framed(struct.pack(">i", 7) + text("127.0.0.1"))) == 7


WAITS = struct.pack(">h", 51)
GONE = struct.pack(">h", 47)


@pytest.mark.parametrize(("error", "refused"), [(WAITS, True), (GONE, False)])
@pytest.mark.parametrize(
    ("code", "version", "before"),
    [
        (INIT, 1, b"\x00" * 4),
        (INIT, 4, b"\x00" + b"\x00" * 4),
        (END, 1, b"\x00" * 4),
        (END, 3, b"\x00" + b"\x00" * 4),
        (
            ADD,
            1,
            b"\x00" * 4 + struct.pack(">i", 1) + text("t") + struct.pack(">ii", 1, 0),
        ),
        (ADD, 3, b"\x00" * 5 + b"\x02" + compact("t") + b"\x02" + b"\x00" * 4),
        (ADD, 4, b"\x00" + b"\x00" * 4),
    ],
)
def test_a_coordinator_that_is_not_ready_has_done_nothing(
    code, version, before, error, refused
):
    """The client asks again, so that is no exchange yet."""
    answer = framed(struct.pack(">i", 7) + before + error + b"\x00" * 12)

    assert FRAMING.refused(answer, FramedRequest(7, "k", code, version)) is refused


def test_what_is_no_message_is_refused():
    """TLS begins with what would be a length of more than 100 MB."""
    with pytest.raises(ValueError, match="TLS"):
        FRAMING.length(b"\x16\x03\x01\x02\x00")

    assert FRAMING.length(b"\x00\x00") is None
    assert FRAMING.length(b"\x00\x00\x00\x09\x00") == 13
