"""The guarantees: what users ask of a pipeline, each in terms of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from onceproof.model.language import all_of, any_of, implies, not_
from onceproof.model.language.declarations.modality import Modality
from onceproof.properties.ledger import Ledger, observables
from onceproof.properties.property import Clause, Property

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.protocol import Protocol


class _Premise(TypedDict):
    """What a clause speaks of, and what is said where there is none of it."""

    premise: Callable[[Ledger], bool]
    idle: str


def _anything_visible(ledger: Ledger) -> bool:
    return any_of(ledger.shows(e) for e in ledger.events())


def _anything_accepted(ledger: Ledger) -> bool:
    return any_of(ledger.accepted(e) for e in ledger.events())


def _anything_promised(ledger: Ledger) -> bool:
    return any_of(ledger.promised(e) for e in ledger.events())


_VISIBLE: _Premise = {"premise": _anything_visible, "idle": "nothing is ever visible"}
_ACCEPTED: _Premise = {
    "premise": _anything_accepted,
    "idle": "no event is ever accepted",
}
_PROMISED: _Premise = {
    "premise": _anything_promised,
    "idle": "nothing is ever recorded as done",
}


def _no_repeats(ledger: Ledger) -> bool:
    return all_of(
        all_of(ledger.visible(e) <= 1 for e in ledger.events()),
        ledger.unexplained() == 0,
    )


def _nothing_missing(ledger: Ledger) -> bool:
    return all_of(implies(ledger.accepted(e), ledger.shows(e)) for e in ledger.events())


def _whole_units(ledger: Ledger) -> bool:
    return all_of(
        implies(ledger.together(e, f) & ledger.shows(e), ledger.shows(f))
        for e in ledger.events()
        for f in ledger.events()
    )


def _stays(before: Ledger, after: Ledger) -> bool:
    return all_of(implies(before.shows(e), after.shows(e)) for e in before.events())


def _promises_kept(ledger: Ledger) -> bool:
    return all_of(implies(ledger.promised(e), ledger.shows(e)) for e in ledger.events())


def _one_outcome(ledger: Ledger) -> bool:
    return all_of(
        not_(ledger.together(e, f) & ledger.shows(e) & ledger.rejected(f))
        for e in ledger.events()
        for f in ledger.events()
    )


def _anything_expected(ledger: Ledger) -> bool:
    return any_of(ledger.expected(e) >= 1 for e in ledger.events())


def _as_a_batch_run(ledger: Ledger) -> bool:
    return all_of(
        all_of(ledger.visible(e) == ledger.expected(e) for e in ledger.events()),
        ledger.unexplained() == 0,
    )


AT_MOST_ONCE = Property(
    "at-most-once",
    (
        Clause(
            Modality.ALWAYS, "no effect is ever visible twice", _no_repeats, **_VISIBLE
        ),
    ),
    needs=("visible", "accepted"),
)

AT_LEAST_ONCE = Property(
    "at-least-once",
    (
        Clause(
            Modality.AT_REST,
            "at rest every accepted event is visible",
            _nothing_missing,
            **_ACCEPTED,
        ),
    ),
    needs=("visible", "accepted"),
)

EFFECTIVELY_ONCE = Property(
    "effectively-once",
    AT_MOST_ONCE.clauses + AT_LEAST_ONCE.clauses,
    needs=("visible", "accepted"),
)

ATOMIC_VISIBILITY = Property(
    "atomic-visibility",
    (
        Clause(
            Modality.ALWAYS,
            "a unit is visible whole or not at all",
            _whole_units,
            **_VISIBLE,
        ),
    ),
    needs=("visible", "unit"),
)

DURABLE = Property(
    "durable",
    (
        Clause(Modality.STEP, "what was visible stays visible", _stays, **_VISIBLE),
        Clause(
            Modality.ALWAYS,
            "what was recorded as done is visible",
            _promises_kept,
            **_PROMISED,
        ),
    ),
    needs=("visible", "promised"),
)

RECOVERABLE = Property(
    "recoverable",
    (
        Clause(
            Modality.RECOVERABLE,
            "once faults stop, rest with every accepted event visible can be reached",
            _nothing_missing,
            **_ACCEPTED,
        ),
    ),
    needs=("visible", "accepted"),
)

AGREEMENT = Property(
    "agreement",
    (
        Clause(
            Modality.ALWAYS,
            "no unit takes effect in one place and is given up in another",
            _one_outcome,
            **_VISIBLE,
        ),
    ),
    needs=("visible", "rejected"),
)

BATCH_EQUIVALENCE = Property(
    "batch-equivalence",
    (
        Clause(
            Modality.AT_REST,
            "at rest readers see what a batch run over the same events shows",
            _as_a_batch_run,
            premise=_anything_expected,
            idle="a batch run never shows anything",
        ),
    ),
    needs=("visible", "expected"),
)

GUARANTEES = (
    AT_MOST_ONCE,
    AT_LEAST_ONCE,
    EFFECTIVELY_ONCE,
    ATOMIC_VISIBILITY,
    DURABLE,
    RECOVERABLE,
    AGREEMENT,
    BATCH_EQUIVALENCE,
)


def guarantees_of(protocol: Protocol) -> list[Property]:
    """List the guarantees that a protocol lets be judged."""
    return [g for g in GUARANTEES if not _lacking(protocol, g)]


def accepts_all(protocol: Protocol) -> bool:
    """Return whether every event counts as accepted, since nothing else is observed.

    An event that may be rejected is not owed from the start: where ``rejected`` is
    observed, only ``accepted`` says which events are.
    """
    offered = observables(protocol)
    return "visible" in offered and not {"accepted", "rejected"} & set(offered)


def why_not_judged(protocol: Protocol, name: str) -> str:
    """Say what a protocol does not observe for a guarantee to be judged; else none."""
    found = next((g for g in GUARANTEES if g.name == name), None)
    if found is None or not (lacking := _lacking(protocol, found)):
        return ""
    words = " and ".join(f"`{word}`" for word in lacking)
    message = (
        f"{protocol.label()} is not judged by {name}, since it does not observe {words}"
    )
    if lacking == ["accepted"]:
        message += (
            "; it observes `rejected`, so that not every event is owed: say which are "
            "by @observe(...) def accepted(...)"
        )
    return message


def _lacking(protocol: Protocol, guarantee: Property) -> list[str]:
    """List the words that a guarantee needs, and that a protocol does not observe."""
    offered = {*observables(protocol)}
    if accepts_all(protocol):
        offered.add("accepted")
    return [need for need in guarantee.needs if need not in offered]
