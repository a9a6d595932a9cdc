"""The interleavings of a model are enumerated once for a replay."""

from __future__ import annotations

import threading

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan import enumeration
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.enumeration import Enumerations, protocol_of
from onceproof.spark_checks.replay import engine
from onceproof.spark_checks.replay.request import ReplayRequest
from tests.spark_checks.steering import SINKS, SMALL

NAME = "foreach-batch-append"


class SparkStartsError(Exception):
    """The replay is as far as to look for Java."""


@pytest.fixture
def enumerated(monkeypatch):
    """List the models that are enumerated; no replay gets as far as Spark."""
    found = []
    plain = enumeration.interleavings

    def noted(protocol):
        found.append(protocol)
        return plain(protocol)

    def no_java():
        raise SparkStartsError

    monkeypatch.setattr(enumeration, "interleavings", noted)
    monkeypatch.setattr(engine, "java_version", no_java)
    return found


def test_a_model_is_enumerated_once(enumerated):
    """Whoever asks again is given the same."""
    kept = Enumerations()

    first = kept.interleavings(protocol_of(SINKS[NAME], SMALL))
    again = kept.interleavings(protocol_of(SINKS[NAME], SMALL))
    other = kept.interleavings(protocol_of(SINKS[NAME], Sizes(batches=2)))

    assert first is again
    assert other is not first
    assert len(enumerated) == 2


def test_nothing_is_enumerated_before_spark_unless_by_number(enumerated):
    """A replay of all interleavings needs none to be counted before."""
    request = ReplayRequest(sizes=SMALL)

    with pytest.raises(SparkStartsError):
        engine.replay([SINKS[NAME]], lambda _: None, request)

    assert not enumerated


def test_what_was_enumerated_for_a_check_is_handed_on(enumerated):
    """Numbers are checked before Spark starts, and the same are replayed then."""
    request = ReplayRequest(sizes=SMALL, choice=Choice(only=frozenset([1])))
    kept = Enumerations()

    with pytest.raises(SparkStartsError):
        engine.replay([SINKS[NAME]], lambda _: None, request, enumerations=kept)
    kept.interleavings(protocol_of(SINKS[NAME], SMALL))

    assert len(enumerated) == 1


def test_a_number_that_no_sink_has_is_refused_before_spark(enumerated):
    """It says how many there are."""
    request = ReplayRequest(sizes=SMALL, choice=Choice(only=frozenset([999])))

    with pytest.raises(UsageError, match="there is no interleaving 999"):
        engine.replay([SINKS[NAME]], lambda _: None, request)


def test_what_is_enumerated_ahead_is_not_enumerated_again(enumerated):
    """Whoever asks meanwhile waits for it, and gets the very same."""
    protocol = protocol_of(SINKS[NAME], SMALL)
    kept = Enumerations()

    with kept.ahead([protocol]):
        first = kept.interleavings(protocol)
        judged = kept.verdicts(protocol)

    assert kept.interleavings(protocol) is first
    assert kept.verdicts(protocol) is judged
    assert enumerated == [protocol]


def test_what_goes_wrong_ahead_is_raised_where_it_is_asked_for(monkeypatch):
    """The thread says nothing, and goes on with the next."""
    wrong, right = (protocol_of(SINKS[n], SMALL) for n in (NAME, "foreach-writer"))
    plain = enumeration.interleavings
    done = threading.Event()

    def failing(protocol):
        if protocol is wrong:
            raise UsageError("no such model")
        done.set()
        return plain(protocol)

    monkeypatch.setattr(enumeration, "interleavings", failing)
    kept = Enumerations()

    with kept.ahead([wrong, right]):
        assert done.wait(60)
        with pytest.raises(UsageError, match="no such model"):
            kept.interleavings(wrong)


def test_once_it_is_over_nothing_more_is_enumerated(enumerated):
    """A replay that ends early does not wait for all models."""
    protocols = [protocol_of(sink, SMALL) for sink in SINKS.values()]

    with Enumerations().ahead(protocols):
        pass

    assert len(enumerated) < len(protocols)
    assert not [t for t in threading.enumerate() if "enumeration" in t.name]
