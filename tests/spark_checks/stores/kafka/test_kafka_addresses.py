"""Answers lead clients to the proxy, in each version of each API that has addresses."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from onceproof.spark_checks.stores.kafka import addresses
from onceproof.spark_checks.stores.links import FramedRequest

LINES = Path(__file__).with_name("answers.txt").read_text().splitlines()
WRITTEN = [line.split() for line in LINES if not line.startswith("#")]
PORTS = {9092: 4001, 9093: 4002}


@pytest.mark.parametrize(
    ("code", "version", "answer", "moved"),
    WRITTEN,
    ids=[f"{code}-{version}" for code, version, *_ in WRITTEN],
)
def test_an_answer_is_what_brokers_on_loopback_would_say(code, version, answer, moved):
    """Kafka's own classes wrote both. Most differ; old ones have no addresses."""
    request = FramedRequest(7, "", int(code), int(version))
    asked = []

    def lead(host, port):
        asked.append(host)
        return PORTS[port]

    found = addresses.moved(bytes.fromhex(answer), request, lead)

    assert found == bytes.fromhex(moved)
    assert bool(asked) is (answer != moved)


def test_each_api_is_there_in_a_version_that_has_addresses():
    """So the test above is not empty."""
    differing = {int(code) for code, _, answer, moved in WRITTEN if answer != moved}

    assert differing == set(addresses._LAYOUTS)


@pytest.mark.parametrize("code", sorted(addresses._LAYOUTS))
def test_a_version_that_is_not_known_breaks_the_connection(code):
    """Else a client could go past the proxy."""
    answer = struct.pack(">iih", 6, 7, 0)
    last = addresses._LAYOUTS[code][2]

    with pytest.raises(OSError, match=f"version {last + 1} of Kafka's API {code} is"):
        addresses.moved(answer, FramedRequest(7, "", code, last + 1), lambda *_: 1)


@pytest.mark.parametrize("code", [*addresses._SHARES, addresses._LAST_API + 1])
def test_an_api_whose_addresses_are_not_read_breaks_the_connection(code):
    """Those of share groups, and those of a later Kafka; others pass as they are."""
    answer = struct.pack(">iih", 6, 7, 0)

    with pytest.raises(OSError, match=f"Kafka's API {code} may answer with addresses"):
        addresses.moved(answer, FramedRequest(7, "", code, 1), lambda *_: 1)
    last = FramedRequest(7, "", addresses._LAST_API, 0)
    assert addresses.moved(answer, last, lambda *_: 1) == answer


def test_an_answer_that_ends_early_breaks_the_connection():
    """It is not guessed what it means."""
    [answer] = [a for code, version, a, _ in WRITTEN if (code, version) == ("3", "12")]
    cut = bytes.fromhex(answer)[:40]

    with pytest.raises(OSError, match="a reply of Kafka's API 3 cannot be read"):
        addresses.moved(cut, FramedRequest(7, "", 3, 12), lambda *_: 1)
