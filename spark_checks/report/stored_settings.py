"""What the replay of a counterexample file takes from it: sizes, events, options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.inputs.user_events import from_json, own_events
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.counterexamples import GUARANTEE_NAMED
from onceproof.spark_checks.sinks.exchange_model import OWN_CODE_ENGINES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import SparkSession

    from onceproof.properties.counterexample.file import Counterexample
    from onceproof.spark_checks.inputs.event_files import Input
    from onceproof.spark_checks.report.counterexamples import RequestingTest


def sizes_of(counterexample: Counterexample) -> Sizes:
    """Return the sizes of a file's replay."""
    numbers = counterexample.parameters
    return Sizes(
        batches=numbers["BATCH"],
        partitions=numbers["PARTITION"],
        events=counterexample.events,
        attempts=numbers["ATTEMPT"],
    )


def given_by(counterexample: Counterexample) -> Callable[[SparkSession], Input] | None:
    """Return the events of a file; None for flights of its number."""
    key = tuple(map(str, counterexample.options.get("key", ())))
    if counterexample.input is not None:
        given = from_json(counterexample.input)
        return lambda _: given
    return own_events(None, key, sizes_of(counterexample)) if key else None


def choice_of(counterexample: Counterexample) -> Choice:
    """Choose the interleaving of a file; of a user's sink, the nearest one now."""
    if counterexample.protocol in OWN_CODE_ENGINES:
        return Choice(steps=counterexample.steps)
    return Choice(only=frozenset([counterexample.interleaving]))


def as_stored(
    test: RequestingTest, counterexample: Counterexample
) -> tuple[RequestingTest, str]:
    """Return a test with the options of a file, and a sentence on what differs now.

    A place that the test does not allow any more is not taken from the file: only a
    test grants it. Older files lack some options, for which the test's own are taken.
    """
    stored = counterexample.options
    differing: list[str] = []

    def taken(word: str, now: Iterable[str]) -> tuple[str, ...]:
        here, then = tuple(now), stored.get(word)
        if then is None or set(then) == set(here):
            return here
        differing.append(f"{word}={_listed(then)} (now {_listed(here)})")
        return tuple(then)

    # A file has its places without their passwords.
    places = {redacted(place): place for place in test.allow}
    wanted = taken("allow", places)
    refused = [place for place in wanted if place not in places]
    names = taken("guarantees", (prop.name for prop in test.claims))
    claims = tuple(GUARANTEE_NAMED[n] for n in names if n in GUARANTEE_NAMED)
    found = replace(
        test,
        key=taken("key", test.key),
        code=taken("code", test.code),
        allow=tuple(places[place] for place in wanted if place in places),
        claims=claims or test.claims,
    )
    sentence = ""
    if differing:
        sentence = f"replayed with the file's own {', '.join(differing)}"
        if refused:
            sentence += f", without {_listed(refused)}, which the test does not allow"
    return found, sentence


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"
