"""What there is to show of a counterexample, or of a protocol, as plain data.

Both views of the explorer render this and nothing else. What the model says is worked
out in plain Python. What is not known, cut off or not worked out is said in ``notes``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.javascript import JUDGED
from onceproof.properties.check import claims_of
from onceproof.properties.counterexample import differences, named
from onceproof.properties.explorer.because import because
from onceproof.properties.explorer.clipping import MOST_STEPS, clipped
from onceproof.properties.explorer.kinds import CRASH, Kinds, by_word
from onceproof.properties.explorer.messages import Message, messages_of
from onceproof.properties.explorer.passing import nearest_passing
from onceproof.properties.explorer.standing import FAILS, OPEN, Strip, breaks
from onceproof.properties.explorer.tell import Model, model_of
from onceproof.properties.explorer.weighing import matters
from onceproof.properties.lanes import LOOK, lanes_of
from onceproof.properties.walks import successors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.plain import State
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.steps import Event
    from onceproof.properties.counterexample import Counterexample

MODEL, SPARK = "model", "real Spark"
DRIFT = "drift"


@dataclass(frozen=True)
class Change:
    """An element of the state that a step changes; ``before`` may not be known."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Option:
    """A step that could have been taken instead; ``breaks`` says it breaks at once."""

    text: str
    kind: str
    breaks: bool


@dataclass(frozen=True)
class Shown:
    """A step: who does what, what it changes, and what else could have been done.

    ``matters`` says whether the run still breaks without it, where that is known, and
    ``source`` whether the step was taken in the model alone or by real Spark.
    """

    number: int
    lane: int
    text: str
    event: str
    members: tuple[int, ...]
    kind: str
    doc: str
    source: str
    changes: tuple[Change, ...]
    options: tuple[Option, ...] = ()
    matters: bool | None = None
    breaks: bool = False


@dataclass(frozen=True)
class Look:
    """What readers of the real sink saw just after a step."""

    after: int
    text: str
    breaks: bool


@dataclass(frozen=True)
class PassingRun:
    """A run that breaks nothing; the first ``shared`` steps are those of the trace."""

    shared: int
    steps: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class View:
    """All that a view of a counterexample shows. Steps count from 1, 0 is the start.

    ``fails_at`` is the step after which the property first fails, if it does.
    """

    protocol: str
    parameters: dict[str, Any]
    property: str
    clause: str
    source: str
    sink: str
    lanes: tuple[str, ...]
    steps: tuple[Shown, ...]
    start: dict[str, Any]
    fails_at: int | None
    messages: tuple[Message, ...] = ()
    strips: tuple[Strip, ...] = ()
    looks: tuple[Look, ...] = ()
    because: tuple[str, ...] = ()
    passing: PassingRun | None = None
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    live: bool = False

    def to_json(self) -> dict[str, Any]:
        """Give plain data; what is too long is cut off, and that is noted."""
        data: dict[str, Any]
        data, notes = clipped(asdict(self))
        data["notes"] += notes
        return data


@dataclass(frozen=True)
class Explored:
    """A view, and the model that it can be stepped in, where there is one."""

    view: View
    model: Model | None


def explored(told: Counterexample, protocol: Protocol | None = None) -> Explored:
    """Work out what there is to show of a counterexample, of the model or of Spark.

    ``protocol`` is the model that it was found in where its name does not lead there.
    """
    notes = []
    if len(told.steps) > MOST_STEPS:
        total = len(told.steps)
        notes.append(f"of {total:,} steps the first {MOST_STEPS:,} are shown")
        kept = told.steps[:MOST_STEPS]
        told = replace(told, steps=kept, fails_at=min(told.fails_at, MOST_STEPS))
    model, reason = model_of(told, protocol)
    if model is None:
        notes.append(f"no other step can be taken here: {reason}")
        return Explored(_without_model(told, notes), None)
    return Explored(_Worker(told, model, notes).view(), model)


def _without_model(told: Counterexample, notes: list[str]) -> View:
    lanes = lanes_of(told)
    rows = {row.number: row for row in lanes.rows if row.kind != LOOK}
    known = dict(told.start)
    steps = []
    for number, step in enumerate(told.steps, 1):
        changes = tuple(
            Change(name, known.get(name), value) for name, value in step.changes.items()
        )
        known |= step.changes
        steps.append(
            Shown(
                number=number,
                lane=rows[number].lane,
                text=str(step),
                event=step.event,
                members=step.members,
                kind=by_word(step),
                doc="",
                source=SPARK if told.sink else MODEL,
                changes=changes,
                breaks=number == _fails_at(told),
            )
        )
    notes.append("which steps matter is not known, nor what was on its way")
    return _assembled(told, lanes.names, steps, notes=tuple(notes))


def _fails_at(told: Counterexample) -> int | None:
    """Give the step after which a file says that its claim fails."""
    if not told.property:
        return None
    if told.observed is None:
        return told.fails_at
    known = told.fails_at < len(told.looks)
    return told.looks[told.fails_at] if known else len(told.steps)


def _assembled(
    told: Counterexample, lanes: Sequence[str], steps: Sequence[Shown], **more: Any
) -> View:
    filled: dict[str, Any] = {
        "start": told.start,
        "because": told.because,
        "fails_at": _fails_at(told),
        **more,
    }
    return View(
        protocol=told.protocol,
        parameters=told.parameters,
        property=told.property,
        clause=told.clause,
        source=SPARK if told.sink else MODEL,
        sink=told.sink,
        lanes=tuple(lanes),
        steps=tuple(steps),
        looks=_looks(told),
        versions=told.versions,
        **filled,
    )


def _looks(told: Counterexample) -> tuple[Look, ...]:
    """Tell what readers saw; of drift also what they would have seen by the model."""
    seen = [row for row in lanes_of(told).rows if row.kind == LOOK]
    wanted = [
        row
        for row in lanes_of(replace(told, observed=told.expected)).rows
        if row.kind == LOOK
    ]
    texts = [row.text for row in seen]
    for number, (row, by_model) in enumerate(zip(seen, wanted, strict=False)):
        if row.text != by_model.text and told.property == DRIFT:
            texts[number] += f"; by the model {by_model.text}"
    return tuple(
        Look(row.number, text, row.breaks)
        for row, text in zip(seen, texts, strict=True)
    )


class _Worker:
    """Works out a view from a model and the run that is told of."""

    def __init__(self, told: Counterexample, model: Model, notes: list[str]) -> None:
        self._told = told
        self._model = model
        self._notes = notes
        self._run = model.run
        self._kinds = Kinds.of(model.system)
        self._after = successors(model.reference)

    def view(self) -> View:
        """Put the view together."""
        told, model = self._told, self._model
        fails_at = self._failing()
        kept = self._matters(fails_at)
        steps = self._steps(fails_at, kept)
        reasons = told.because
        if not reasons and fails_at is not None:
            reasons = because(model, fails_at, kept)
        return _assembled(
            told,
            lanes_of(told).names,
            steps,
            fails_at=fails_at,
            start=named(model.reference, self._run.start),
            messages=tuple(messages_of(model.reference, self._run, self._crashes())),
            strips=tuple(self._strips()),
            because=reasons,
            passing=self._passing(fails_at),
            notes=tuple(self._notes),
            live=True,
        )

    def _crashes(self) -> set[str]:
        return {name for name, kind in self._kinds.by_name.items() if kind == CRASH}

    def _fails(self, run: Sequence[State]) -> bool:
        prop = self._model.claim
        if prop is None:
            return False
        return breaks(prop, self._model.clause, self._model.reference, run)

    def _failing(self) -> int | None:
        """Find the step after which the claim first fails: in the model, or as told."""
        if not self._told.property or self._told.observed is not None:
            return _fails_at(self._told)
        states = self._run.states
        found = (n for n in range(len(states)) if self._fails(states[: n + 1]))
        ends = self._told.steps or self._model.reference.resting(self._run.start)
        return next(found, _fails_at(self._told) if ends else None)

    def _matters(self, fails_at: int | None) -> frozenset[int] | None:
        if fails_at is None or self._model.claim is None:
            return None
        kept = matters(
            self._model.reference,
            self._run.start,
            self._run.events[:fails_at],
            self._fails,
        )
        if kept is None:
            self._notes.append(
                "which steps matter is not known: the claim cannot be judged by the "
                "states of this run in the model"
            )
            return None
        return kept | {fails_at}

    def _steps(self, fails_at: int | None, kept: frozenset[int] | None) -> list[Shown]:
        reference, run = self._model.reference, self._run
        rows = {r.number: r for r in lanes_of(self._told).rows if r.kind != LOOK}
        kinds = self._kinds.along(run)
        found = []
        for number, event in enumerate(run.events, 1):
            before, after = run.states[number - 1 : number + 1]
            old = named(reference, before)
            changes = differences(reference, before, after)
            found.append(
                Shown(
                    number=number,
                    lane=rows[number].lane,
                    text=str(event),
                    event=event.name,
                    members=event.members,
                    kind=kinds[number - 1],
                    doc=reference.steps[event.name].doc.split("\n")[0],
                    source=SPARK if self._told.sink else MODEL,
                    changes=tuple(Change(n, old[n], v) for n, v in changes.items()),
                    options=self._options(before, event),
                    matters=None if kept is None else number in kept,
                    breaks=number == fails_at,
                )
            )
        return found

    def _options(self, state: State, taken: object) -> tuple[Option, ...]:
        after = self._after(state)
        kinds = self._kinds.by_name
        return tuple(
            Option(str(event), kinds[event.name], self._fails((state, then)))
            for event, then in after.items()
            if event != taken
        )

    def _strips(self) -> list[Strip]:
        """Judge each claim along the run: the one that is told of comes first."""
        chosen = self._told.property
        claims = [p for p in claims_of(self._model.protocol) if not p.lemma]
        claims.sort(key=lambda p: p.name != chosen)
        strips = [Strip.of(p, self._model.reference, self._run.states) for p in claims]
        return [*self._observed(), *strips]

    def _observed(self) -> list[Strip]:
        """Give the strip of what readers of real Spark saw, as the file tells it."""
        told = self._told
        if told.observed is None:
            return []
        cells = [OPEN] * (len(told.steps) + 1)
        for moment, at in enumerate(told.looks):
            if at < len(cells):
                cells[at] = FAILS if moment == told.fails_at else "seen"
        first = cells.index(FAILS) if FAILS in cells else None
        name = f"{told.property}, as readers of real Spark saw it"
        return [Strip(name, told.clause, tuple(cells), first)]

    def _passing(self, fails_at: int | None) -> PassingRun | None:
        claim = self._model.claim
        if fails_at is None or claim is None:
            return None
        if any(clause.when not in JUDGED for clause in claim.clauses):
            self._notes.append("no passing run is shown of a claim about whole runs")
            return None
        found, reason = nearest_passing(
            self._model.reference, self._run, fails_at, self._breaks_property
        )
        if found is None:
            self._notes.append(f"no passing run is shown: {reason}")
            return None
        return PassingRun(
            found.shared, tuple((e.name, e.members) for e in found.events)
        )

    def _breaks_property(self, before: State, event: Event, after: State) -> bool:
        """Judge a step: of real Spark only where readers would look after it."""
        prop, reference = self._model.claim, self._model.reference
        if self._told.observed is not None:
            down = self._kinds.by_name[event.name] == CRASH
            if not (down or reference.resting(after)):
                return False
        return prop is not None and breaks(prop, None, reference, (before, after))
