"""Byteman's script: at each place, a call at the entry and one at the return."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.spark_checks.session.java.agent.durable_steps import StepPlace

PROPERTY = "onceproof.steps"
"""Java's system property that holds what is called; nothing happens without it."""
_RULE = """\
RULE {number} {event} of {name}
CLASS {owner}
METHOD {method}
AT {location}
BIND
  steps : java.util.function.BiFunction = System.getProperties().get("{property}");
  thrown : String =
    (steps == null ? null : steps.apply("{given}", $*));
IF thrown != null
DO throw new RuntimeException(thrown)
ENDRULE
"""


def script_of(places: Iterable[StepPlace]) -> str:
    """Return the rules for all places that have a method, as the text of a script.

    What each call is given is the step, ``call`` or ``return``, and how the helper
    finds the batch, the path, the logs and the run.
    """
    rules = []
    for number, place in enumerate(places):
        if place.method is None:
            continue
        ends = (place.method, "EXIT") if place.done is None else (place.done, "ENTRY")
        events = {"call": (place.method, "ENTRY"), "return": ends}
        for event, (method, location) in events.items():
            run = "path" if place.by_path else ""
            given = (place.step, event, place.batch, place.path, ",".join(place.logs))
            rules.append(
                _RULE.format(
                    number=number,
                    event=event,
                    name=place.name,
                    owner=method.owner,
                    method=method.declared,
                    location=location,
                    property=PROPERTY,
                    given="|".join((*given, run)),
                )
            )
    return "\n".join(rules)
