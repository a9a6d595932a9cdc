"""A measurement: what was counted in one source and one sink, at one moment.

It is no evidence of what a sink does under faults, or does with later data. So it
supports no claim of a guarantee sheet; the sheet lists it, with its moment.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from onceproof.model.language.tracing.trace import trace
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.text import slug
from onceproof.properties.evidence import fingerprints
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.schema import Count, instant, stored
from onceproof.properties.verdicts import Verdict

SUMS_AGREE = "sums-agree"
"""The claim that numbers have the same sums in both tables."""
_POSSIBLE = (Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.VACUOUS)
_LETTERS = 80


@stored()
@dataclass(frozen=True)
class MeasuredCounts:
    """How many events were counted."""

    events: Count
    """The events of the source."""
    owed: Count
    """The events of the source that are owed."""
    once: Count
    """The events of the source that are in the sink once."""
    missing: Count
    """The owed events that are not in the sink."""
    duplicated: Count
    """The events of the source that are in the sink more than once."""
    unexplained: Count
    """The rows of the sink that belong to no event."""
    changed: Count
    """The events that are in the sink once, but with another number to be summed."""
    groups: Count
    """How many groups there are; 0 if nothing was grouped."""
    wrong_groups: Count
    """The number of groups in which something is wrong."""


@stored()
@dataclass(frozen=True)
class MeasuredSum:
    """A sum in both tables."""

    number: str
    """The number that was added up."""
    source: str | None
    """Its sum in the source, in digits; null if nothing was added up."""
    sink: str | None
    """Its sum in the sink, in digits; null if nothing was added up."""

    @property
    def agrees(self) -> bool:
        """Whether both are the same number. Raises ``ValueError`` for other text."""
        try:
            return Decimal(self.source or 0) == Decimal(self.sink or 0)
        except InvalidOperation:
            message = f"the sum of {self.number} is no number"
            raise ValueError(message) from None


@stored()
@dataclass(frozen=True)
class Measurement:
    """What was counted in one source and one sink, at one moment."""

    source: str
    """The source with its options and its query, without passwords."""
    sink: str
    """The sink with its options and its query, without passwords."""
    key: tuple[str, ...]
    """What identifies an event in both."""
    owed: str
    """Up to when events are owed, in words."""
    by: str
    """What events were grouped by; empty if they were not."""
    source_repeats: bool
    """Whether the source may hold an event more than once."""
    began: Annotated[str, instant]
    """When reading began, in UTC."""
    ended: Annotated[str, instant]
    """When reading ended, in UTC."""
    verdicts: dict[str, Verdict]
    """How each claim came out, for what was read."""
    problems: tuple[str, ...]
    """Why nothing is decided; empty if something is."""
    counts: MeasuredCounts
    """How many events were counted."""
    sums: tuple[MeasuredSum, ...]
    """The sums that must agree."""
    properties: dict[str, str]
    """The hash of each guarantee that was judged: of its words and its terms."""
    command: str
    """The command that measures again, without passwords; empty if there was none."""
    versions: dict[str, str] = field(default_factory=dict)
    """The versions of the tools that counted."""

    @property
    def id(self) -> str:
        """Name the file: by what was compared, and up to when. Not by the moment."""
        asked: list[Any] = [self.source, self.sink, self.key, self.owed, self.by]
        numbers = [one.number for one in self.sums]
        asked += [numbers, self.source_repeats, sorted(self.verdicts)]
        hashed = fingerprints.of_data(asked)[:8]
        plain = slug(self.sink, most=_LETTERS).encode("ascii", "ignore").decode()
        return f"{plain.strip('-') or 'sink'}--{hashed}"

    @property
    def digest(self) -> str:
        """Hash all that it holds."""
        return fingerprints.of_data(asdict(self))

    def to_json(self) -> dict[str, Any]:
        """Return plain data, with its digest."""
        return {**asdict(self), "digest": self.digest}


def hashes_now(names: tuple[str, ...]) -> dict[str, str]:
    """Return the hash of each guarantee as it is judged now; unknown ones have none."""
    system = trace(MicroBatch())
    return {
        prop.name: fingerprints.of_property(prop, system)
        for prop in GUARANTEES
        if prop.name in names
    }


def contradiction_of(found: Measurement) -> str:
    """Say how a measurement contradicts itself; empty if it does not."""
    counts = found.counts
    more, less = counts.duplicated + counts.unexplained, counts.missing
    wrong = {
        "at-most-once": more,
        "at-least-once": less,
        "effectively-once": more + less,
        SUMS_AGREE: counts.changed + sum(not one.agrees for one in found.sums),
    }
    if not found.verdicts:
        return "it judges nothing"
    for name, verdict in found.verdicts.items():
        if name not in wrong or verdict not in _POSSIBLE:
            return f"{name} is not {verdict} by counting"
        if (verdict is Verdict.UNDECIDED) != bool(found.problems):
            return f"{name} is {verdict}, and problems are {list(found.problems)}"
        if verdict.holds and (wrong[name] or not counts.events):
            return f"{name} is {verdict}, and {wrong[name]} are wrong"
        of_groups = name == SUMS_AGREE and counts.wrong_groups
        if verdict is Verdict.REFUTED and not (wrong[name] or of_groups):
            return f"{name} is {verdict}, and nothing is wrong"
    judged = {name for name in found.verdicts if name != SUMS_AGREE}
    if judged != set(found.properties):
        return "the hashes are of other guarantees than the verdicts"
    return ""
