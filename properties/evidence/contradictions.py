"""What no judge can have found: a record is held against itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.properties.evidence.record import Evidence

_VERDICTS = {
    "check": (Verdict.EXHAUSTED, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.VACUOUS),
    "simulate": (Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.VACUOUS),
    "prove": (
        Verdict.PROVED,
        Verdict.EXHAUSTED,
        Verdict.BOUNDED,
        Verdict.REFUTED,
        Verdict.UNDECIDED,
        Verdict.VACUOUS,
    ),
    "replay": (Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED),
}
_COUNTS = {
    "check": {"states": 1, "depth": 0},
    "simulate": {"walks": 1, "steps": 0, "states": 1},
}
_PROOFS = (Verdict.UNDECIDED, Verdict.BOUNDED, Verdict.EXHAUSTED)
_INTERLEAVINGS, _MISSED = "interleavings", "not steered"
_OF = re.compile(r"(\d+) of (\d+)")


def contradiction(record: Evidence) -> str:
    """Say in what a record contradicts itself, or nothing."""
    return next(_contradictions(record), "")


def _contradictions(record: Evidence) -> Iterator[str]:
    if record.verdict not in _VERDICTS[record.judge]:
        yield f"a {record.judge} never says {record.verdict}"
    modelled = record.parameters.get("faults") if record.fault_set else 0
    if record.faults != modelled:
        yield f"'faults' is {record.faults}, and its model has {modelled}"
    if record.faults < 0:
        yield "it has fewer than no faults"
    yield from _of_trace(record)
    if record.judge == "replay":
        yield from _of_replay(record)
    yield from _of_counts(record)


def _of_trace(record: Evidence) -> Iterator[str]:
    trace, refuted = record.trace, record.verdict is Verdict.REFUTED
    if trace is None:
        if refuted:
            yield "it is refuted, and has no trace"
        return
    if not refuted:
        yield f"it is {record.verdict}, and has a trace that refutes"
    faults = trace.fault_steps
    places = range(1, len(trace.steps) + 1)
    if list(faults) != sorted(set(faults)) or not all(n in places for n in faults):
        yield "'fault_steps' does not number steps of the trace"
    if len(faults) > record.faults:
        yield f"{len(faults)} faults happen in its trace, and it allows {record.faults}"


def _of_replay(record: Evidence) -> Iterator[str]:
    counted = record.coverage.get(_INTERLEAVINGS)
    found = part(counted)
    if found is None or found[0] > found[1]:
        yield f"its coverage counts {counted!r} interleavings"
        return
    if record.verdict is Verdict.UNDECIDED:
        return
    if not found[0]:
        yield f"it is {record.verdict}, and nothing was replayed"
    if record.verdict is Verdict.HELD and record.coverage.get(_MISSED):
        yield "it is held, and something could not be steered"


def _of_counts(record: Evidence) -> Iterator[str]:
    coverage = record.coverage
    for name, least in _COUNTS.get(record.judge, {}).items():
        value = coverage.get(name)
        if type(value) is not int or value < least:
            yield f"its coverage counts {value!r} {name}"
    if coverage.get("stopped") and record.verdict is Verdict.EXHAUSTED:
        yield "it is exhausted, and the search was stopped"


def looked_at(record: Evidence) -> int:
    """Count what a record rests on, to compare it with another of the same scope.

    Of a proof it is how far z3 came before it gave up.
    """
    if record.judge == "replay":
        return (part(record.coverage.get(_INTERLEAVINGS)) or (0, 0))[0]
    if record.judge == "prove":
        verdict = record.verdict
        return _PROOFS.index(verdict) if verdict in _PROOFS else len(_PROOFS)
    states = record.coverage.get("states")
    return states if type(states) is int else 0


def part(counted: Any) -> tuple[int, int] | None:
    """Read "7 of 9"; None for anything else."""
    found = _OF.fullmatch(counted) if isinstance(counted, str) else None
    return (int(found[1]), int(found[2])) if found else None
