"""What a journal notes of a replayed interleaving: its runs, and what readers saw.

A record names its plan by a digest. It is recalled only for an interleaving with the
same steps, whose runs are steered by the same rules.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.ledger import History
from onceproof.properties.schema import Count, read_as, stored
from onceproof.spark_checks.replay.run_evidence import Resumed, RunRecord, Sent
from onceproof.spark_checks.sinks.code_points import CodePoint
from onceproof.spark_checks.sinks.exchanges import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.spark_checks.plan.run_plan import InterleavingPlan
    from onceproof.spark_checks.replay.outcome import Outcome

_DRIVER = -1


@stored()
@dataclass(frozen=True)
class PointsOf:
    """The points of the user's code that one process reached in a batch, in order."""

    batch: Count
    """The batch."""
    partition: int
    """The partition of its task; -1 on the driver."""
    points: tuple[str, ...]
    """The points."""


@stored()
@dataclass(frozen=True)
class WentOnAt:
    """A point that the driver's code reached after an exchange was cut."""

    batch: Count
    """The batch."""
    text: str
    """The line or return, in words."""
    time: Count
    """Which time it is reached, from 1."""
    unchanged: bool
    """Whether nothing that outlives the process was left since the point before it."""


@stored()
@dataclass(frozen=True)
class ReachedAt:
    """A point that an attempt reached after an exchange was cut."""

    text: str
    """The line or return, in words."""
    time: Count
    """Which time it is reached, from 1."""


@stored()
@dataclass(frozen=True)
class SentAt:
    """An exchange of code with its store; the names are those of ``Exchange``."""

    point: str
    """The point that was reached last before it."""
    time: Count
    """Which time the point was reached, from 1."""
    number: Count
    """Which exchange it is since that point, from 1."""
    connection: Count
    """Which connection it is on, from 1."""
    request: Count
    """Which request on that connection it is, from 1."""
    sender: str
    """The part of Spark that sends it; empty for the code itself."""


@stored()
@dataclass(frozen=True)
class ResumedAt:
    """What code did that went on; the names are those of ``Resumed``."""

    batch: Count
    """The batch."""
    partition: int
    """The partition; -1 on the driver."""
    points: tuple[ReachedAt, ...]
    """The points that an attempt reached from then on."""
    exchanges: tuple[SentAt, ...]
    """All exchanges of the batch, or the task."""


@stored()
@dataclass(frozen=True)
class SentIn:
    """What a restarted run exchanged; the names are those of ``Sent``."""

    batch: Count
    """The batch."""
    partition: int
    """The partition; -1 on the driver."""
    exchanges: tuple[SentAt, ...]
    """All exchanges of the batch, or the task."""


@stored()
@dataclass(frozen=True)
class Uncut:
    """Requests that no fault cuts."""

    why: str
    """The reason."""
    number: Count
    """How many there are."""


@stored()
@dataclass(frozen=True)
class RunNote:
    """What a journal notes of one run; the names are those of ``RunRecord``."""

    how: tuple[str, ...]
    """The failpoints, in words."""
    stop: str
    """The fault that ended it; empty for the last run."""
    moment: str
    """The name of the moment after it."""
    ran: tuple[PointsOf, ...]
    """The points that the driver reached."""
    committed: tuple[Count, ...]
    """The batches that the commit log named at its end."""
    state: Count
    """How many steps of the interleaving are done by its end."""
    unreadable: str
    """The error of a reader that failed on what it left."""
    caught: bool
    """Whether the user's code caught the error that was to end it."""
    went_on: tuple[WentOnAt, ...]
    """The points that the driver's code reached after an exchange was cut."""
    resumed: tuple[ResumedAt, ...]
    """What code did that went on after an exchange was cut."""
    sent: tuple[SentIn, ...]
    """Its exchanges, if it is a restart."""
    uncut: tuple[Uncut, ...]
    """Its other requests, if it is a restart."""
    worked: tuple[PointsOf, ...]
    """The points that first attempts of tasks reached."""
    in_tasks: tuple[str, ...]
    """The points that any attempt reached."""
    in_threads: tuple[str, ...]
    """The points that threads of the driver reached, besides its main one."""


@stored()
@dataclass(frozen=True)
class JournalRecord:
    """What a journal notes of a replayed interleaving."""

    plan: str
    """The digest of its plan: see ``digest_of``."""
    seen: History
    """What readers saw."""
    runs: tuple[RunNote, ...]
    """Its runs, in order."""
    unplanned: tuple[str, ...]
    """The errors after which the query was restarted, and the model was not."""
    released_early: bool
    """Whether a task that was given up was released early."""
    failed_first: str
    """Why an earlier try failed; empty if there was none."""
    conforms: bool
    """Whether the steps that an agent reported are a behaviour of the model."""
    unchecked: str
    """Why that was not decided; empty if it was, or if nothing was reported."""
    milliseconds: Count
    """How long the runs took, in milliseconds."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def digest_of(plan: InterleavingPlan, faults: int) -> str:
    """Hash the steps of an interleaving, of up to so many faults, and its runs."""
    steps = [str(event) for event in plan.interleaving.trace.events]
    return of_data([faults, steps, _plain(plan.runs)])


def record_of(outcome: Outcome, digest: str) -> JournalRecord:
    """Note an outcome of which readers saw something.

    Raises ``ValueError`` for an outcome without a real run behind it.
    """
    if outcome.spark is None:
        message = "an interleaving that was not replayed has no record"
        raise ValueError(message)
    return JournalRecord(
        digest,
        outcome.spark,
        tuple(map(_noted, outcome.runs)),
        outcome.unplanned,
        outcome.released_early,
        outcome.failed_first,
        outcome.trace.conforms,
        outcome.trace.unchecked,
        round(outcome.seconds * 1000),
    )


def record_in(data: Any) -> JournalRecord:
    """Read a record. Raises ``ValueError`` for data of another form."""
    return read_as(JournalRecord, data)


def runs_of(record: JournalRecord) -> tuple[RunRecord, ...]:
    """Give the runs as they were when they were noted."""
    return tuple(map(_recalled, record.runs))


def _noted(run: RunRecord) -> RunNote:
    return RunNote(
        how=run.how,
        stop=run.stop,
        moment=run.moment,
        ran=tuple(PointsOf(b, _DRIVER, points) for b, points in run.ran.items()),
        committed=tuple(sorted(run.committed)),
        state=run.state,
        unreadable=run.unreadable,
        caught=run.caught,
        went_on=tuple(
            WentOnAt(batch, point.text, point.time, point.unchanged)
            for batch, points in run.went_on.items()
            for point in points
        ),
        resumed=tuple(map(_resumed_at, run.resumed)),
        sent=tuple(
            SentIn(one.batch, one.partition, _sent_at(one.exchanges))
            for one in run.sent
        ),
        uncut=tuple(Uncut(why, number) for why, number in sorted(run.uncut.items())),
        worked=tuple(PointsOf(b, p, points) for (b, p), points in run.worked.items()),
        in_tasks=tuple(sorted(run.in_tasks)),
        in_threads=tuple(sorted(run.in_threads)),
    )


def _recalled(note: RunNote) -> RunRecord:
    went_on: dict[int, tuple[CodePoint, ...]] = {}
    for at in note.went_on:
        point = CodePoint(at.text, at.time, at.unchanged)
        went_on[at.batch] = (*went_on.get(at.batch, ()), point)
    return RunRecord(
        how=note.how,
        stop=note.stop,
        moment=note.moment,
        ran={reached.batch: reached.points for reached in note.ran},
        committed=frozenset(note.committed),
        state=note.state,
        unreadable=note.unreadable,
        caught=note.caught,
        went_on=went_on,
        resumed=tuple(map(_resumed, note.resumed)),
        sent=tuple(
            Sent(one.batch, one.partition, _exchanges(one.exchanges))
            for one in note.sent
        ),
        uncut={one.why: one.number for one in note.uncut},
        worked={(one.batch, one.partition): one.points for one in note.worked},
        in_tasks=frozenset(note.in_tasks),
        in_threads=frozenset(note.in_threads),
    )


def _resumed_at(one: Resumed) -> ResumedAt:
    points = tuple(ReachedAt(point.text, point.time) for point in one.points)
    return ResumedAt(one.batch, one.partition, points, _sent_at(one.exchanges))


def _resumed(one: ResumedAt) -> Resumed:
    points = tuple(CodePoint(at.text, at.time) for at in one.points)
    return Resumed(one.batch, one.partition, points, _exchanges(one.exchanges))


def _sent_at(every: Iterable[Exchange]) -> tuple[SentAt, ...]:
    return tuple(SentAt(**asdict(one)) for one in every)


def _exchanges(every: Iterable[SentAt]) -> tuple[Exchange, ...]:
    return tuple(Exchange(**asdict(at)) for at in every)


def _plain(what: object) -> object:
    """Return what a plan holds as plain data, in an order that never changes.

    Raises ``TypeError`` for what has none.
    """
    if isinstance(what, Enum):
        return what.name
    if what is None or isinstance(what, bool | int | float | str):
        return what
    if isinstance(what, tuple | list):
        return [_plain(one) for one in what]
    if isinstance(what, frozenset | set):
        return sorted((_plain(one) for one in what), key=repr)
    if isinstance(what, dict):
        return _pairs(what)
    if is_dataclass(what):
        held = [_plain(getattr(what, field.name)) for field in fields(what)]
        return [type(what).__name__, *held]
    message = f"{what!r} has no digest"
    raise TypeError(message)


def _pairs(what: Mapping[Any, Any]) -> object:
    pairs = [[_plain(name), _plain(value)] for name, value in what.items()]
    return sorted(pairs, key=repr)
