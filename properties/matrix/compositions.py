"""Which compositions of the library mean something, and why the others do not.

Nothing is listed by hand: what fits in a slot follows from its type, what a part is in
a pipeline from its kind, and whether there is anything to judge from what a protocol
observes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language.composition.arguments import given_in_line
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.protocol import broken_in
from onceproof.model.language.composition.slots import Slot
from onceproof.model.library import parts, protocols
from onceproof.properties.guarantees import (
    EFFECTIVELY_ONCE,
    guarantees_of,
    why_not_judged,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.model.language.composition.protocol import Protocol

    Choices = Mapping[str, Mapping[str, type[Part]]]

SOURCE, ENGINE, SINK = "source", "engine", "sink"
BUILT_IN = "built in"


@dataclass(frozen=True)
class Composition:
    """A protocol of the library with a part in each of its slots."""

    engine: str
    """The protocol, by its name on the command line."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The part in each slot, by name; those of the protocol's own are among them."""
    changed: Mapping[str, str] = field(default_factory=dict)
    """Those of them that are not the protocol's own: what ``--set`` has to say."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """What each slot is in a pipeline: source, engine or sink."""
    family: str = BUILT_IN
    """What the sinks are that this engine takes: those of a family fill one table."""
    modules: frozenset[str] = frozenset()
    """The modules that its protocol and its parts are written in."""
    stated: frozenset[str] = frozenset()
    """The guarantees that its parts state to break, if not all are the protocol's own.

    What a protocol states of its parts, it states of all of them together.
    """

    def __str__(self) -> str:
        """Show the composition as it is typed after ``onceproof check``."""
        chosen = "".join(f" --set {k}={v}" for k, v in self.changed.items())
        return f"{self.engine}{chosen}"

    def named(self, role: str) -> str:
        """Name the parts that are the source, the sink, or of the engine."""
        chosen = [self.settings[n] for n, r in self.roles.items() if r == role]
        return " + ".join(chosen) or ("" if role == ENGINE else BUILT_IN)

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the composition: its engine and its parts."""
        return (self.engine, *self.settings.values())

    @property
    def changes(self) -> tuple[str, ...]:
        """The parts of the engine that are not the protocol's own."""
        return tuple(v for n, v in self.changed.items() if self.roles[n] == ENGINE)

    @property
    def source(self) -> str:
        """The source, if it is a part that is not the protocol's own; else no text."""
        chosen = (v for n, v in self.changed.items() if self.roles[n] == SOURCE)
        return " + ".join(chosen)

    @property
    def column(self) -> str:
        """Name the engine with its parts, and a source that is no part of it."""
        source = [f"source {self.source}"] if self.source else []
        return ", ".join([self.engine, *self.changes, *source])


@dataclass(frozen=True)
class LeftOut:
    """What is not judged, and why."""

    what: str
    """A protocol, or a part in a slot."""
    why: str
    """The reason, as a clause."""


@dataclass(frozen=True)
class Listed:
    """What there is to judge, and what is left out."""

    found: tuple[Composition, ...]
    """The compositions in which at most one part of the engine is changed."""
    several: tuple[Composition, ...]
    """Those in which several parts of the engine are changed at once."""
    same: tuple[LeftOut, ...]
    """Those that are another one under another name."""
    left_out: tuple[LeftOut, ...]
    """What is no composition, or has nothing to judge."""


def compositions() -> Listed:
    """List all compositions of the library, and what is none, with the reason.

    A protocol that gives another one no more than other parts for its slots makes the
    same compositions again. Each is listed once, where the fewest parts are changed.
    """
    every: list[tuple[object, Composition]] = []
    left: list[LeftOut] = []
    known = protocols()
    for name, kind in known.items():
        standard = kind()
        if EFFECTIVELY_ONCE not in guarantees_of(standard):
            left.append(LeftOut(name, why_not_judged(standard, EFFECTIVELY_ONCE.name)))
            continue
        choices = {place: parts(slot) for place, slot in _slots(kind).items()}
        left += _misfits(name, kind, choices)
        base = written(kind)
        refused: dict[str, list[str]] = {}
        for one in _of(name, kind, standard, choices):
            if isinstance(one, LeftOut):
                refused.setdefault(one.why, []).append(one.what)
            else:
                every.append(((base, _filled(one, standard, choices)), one))
        for why, names in refused.items():
            more = len(names) - 1
            such = f"{names[0]}, and {more} more" if more else names[0]
            left.append(LeftOut(such, why))
    best: dict[object, Composition] = {}
    for what, one in every:
        if what not in best or len(one.changed) < len(best[what].changed):
            best[what] = one
    same = [
        LeftOut(str(one), f"it is the same as {best[what]}")
        for what, one in every
        if best[what] is not one
    ]
    found = [one for what, one in every if best[what] is one]
    return Listed(
        tuple(one for one in found if len(one.changes) <= 1),
        tuple(one for one in found if len(one.changes) > 1),
        tuple(same),
        tuple(left),
    )


def written(kind: type[Part]) -> type[Part]:
    """Return the class that says what a protocol does, whatever fits its slots.

    A variant of it may have other parts, and state what they break. One that has a size
    or a number of its own is another protocol.
    """
    base = kind.__base__
    while base is not None and issubclass(base, Part) and _is_variant(kind, base):
        kind, base = base, base.__base__
    return kind


def _is_variant(kind: type[Part], base: type[Part]) -> bool:
    own = {name for name in vars(kind) if not name.startswith("_")} - {"breaks"}
    alone = len(kind.__bases__) == 1 and given_in_line(kind) == given_in_line(base)
    return alone and own <= set(_slots(kind)) & set(_slots(base))


def _filled(one: Composition, standard: Protocol, choices: Choices) -> object:
    """Return which part is in each slot, and what it is made with."""
    made = {
        n: standard.parts[n].made_with for n in one.settings if n not in one.changed
    }
    return frozenset(
        (n, choices[n][label], *sorted((k, str(v)) for k, v in made.get(n, {}).items()))
        for n, label in one.settings.items()
    )


def _of(
    name: str, kind: type[Protocol], standard: Protocol, choices: Choices
) -> Iterator[Composition | LeftOut]:
    slots = _slots(kind)
    roles = {slot: role_of(what) for slot, what in slots.items()}
    sinks = [what for what in slots.values() if role_of(what) == SINK]
    family = _declares_role(sinks[0].kind).label() if sinks else BUILT_IN
    own = {slot: standard.parts[slot].label() for slot in slots}
    for labels in itertools.product(*choices.values()):
        settings = dict(zip(slots, labels, strict=True))
        changed = {s: label for s, label in settings.items() if label != own[s]}
        kinds = {s: choices[s][label] for s, label in changed.items()}
        modules = frozenset(one.__module__ for one in (kind, *kinds.values()))
        try:
            made = kind(**kinds)
        except (ModelError, UsageError) as error:
            yield LeftOut(str(Composition(name, settings, changed, roles)), str(error))
            continue
        filling = [choices[slot][label] for slot, label in settings.items()]
        beside = [type(part) for part in made.all_parts()]
        stated = {
            b for part in filling for b in (*part.breaks, *broken_in(part, beside))
        }
        yield Composition(
            name,
            settings,
            changed,
            roles,
            family,
            modules,
            frozenset(stated if changed else ()),
        )


def _slots(kind: type[Part]) -> dict[str, Slot[Part]]:
    declared = kind.parameters()
    return {name: what for name, what in declared.items() if isinstance(what, Slot)}


def role_of(slot: Slot[Part]) -> str:
    """Return what the parts of a slot are in a pipeline; its kind says so."""
    return str(getattr(slot.kind, "pipeline_role", ENGINE))


def _declares_role(kind: type[Part]) -> type[Part]:
    """Return the class that says what parts of a kind are in a pipeline."""
    return next(base for base in kind.__mro__ if "pipeline_role" in vars(base))


def _misfits(name: str, kind: type[Protocol], choices: Choices) -> Iterator[LeftOut]:
    """Yield parts that fit a slot of a protocol's base, and not this one's."""
    for place, fitting in choices.items():
        wider: Sequence[Slot[Part]] = [
            vars(base)[place]
            for base in kind.__mro__[1:]
            if isinstance(vars(base).get(place), Slot)
        ]
        every = {label for other in wider for label in parts(other)}
        if misfit := sorted(every - set(fitting)):
            yield LeftOut(
                f"{name} with {place}={', '.join(misfit)}",
                f"its {place} is of a more specific kind: {', '.join(fitting)}",
            )
