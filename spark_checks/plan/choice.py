"""Which of a sink's failure interleavings are replayed, and which of them first."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.counterexample.file import steps_of
from onceproof.spark_checks.sinks.code_points import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from onceproof.model.interleavings.interleaving import Interleaving, Interleavings
    from onceproof.properties.counterexample.file import TraceStep
    from onceproof.spark_checks.plan.run_plan import InjectionPoint

    Hits: TypeAlias = Callable[[Interleaving], "tuple[InjectionPoint, ...] | None"]

_INSTALLED = 4
_Place: TypeAlias = "tuple[str, str, str, str]"
_Kinds: TypeAlias = "dict[tuple[str, ...], list[Interleaving]]"


@dataclass(frozen=True)
class Choice:
    """Which interleavings of a sink are replayed.

    With ``most``, the interleavings with one fault inject each kind of fault at every
    distinct line, at its first and at its last time; only further repetitions are cut.
    Lines that run only after a fault are each hit by some second one.
    Installed packages get four times ``most`` lines. The rest is shared out evenly over
    the numbers of faults, and over the kinds of fault of each number. However many
    lines there are, those with several faults are at least half of ``most``.
    """

    only: frozenset[int] | None = None
    """The numbers of the interleavings to replay; None for all."""
    most: int | None = None
    """Limits how many are replayed; None for no limit."""
    first: tuple[int, ...] = ()
    """The numbers of those that are replayed before all others."""
    seed: int = 0
    """The seed of the choice among interleavings of one kind."""
    nth: int | None = None
    """Replay a single one by its position, which wraps round."""
    steps: tuple[TraceStep, ...] = ()
    """Replay the interleaving with these steps. Where the sink has changed and has none
    like it, replay all with faults of the same names."""

    @property
    def whole(self) -> bool:
        """Whether the choice is of all interleavings, and not of some by name."""
        return self.only is None and self.nth is None and not self.steps

    def check(self, known: Mapping[str, int]) -> None:
        """Refuse numbers that no sink has an interleaving of.

        ``known`` holds how many there are of each sink, as far as that is known.
        Raises ``UsageError``.
        """
        if self.only is None or not known:
            return
        for number in sorted(self.only):
            if not 1 <= number <= max(known.values()):
                ranges = ", ".join(f"{name} has 1 to {n}" for name, n in known.items())
                message = f"there is no interleaving {number}; help: {ranges}"
                raise UsageError(message)

    def of(
        self,
        found: Interleavings,
        hits: Hits | None = None,
        merged: Container[int] = (),
    ) -> tuple[tuple[Interleaving, ...], tuple[Interleaving, ...]]:
        """Choose: what comes first, and what comes then, each in order of numbers.

        ``hits`` gives the places that an interleaving's faults are injected into, and
        None for one that cannot be replayed; without it all are alike. Another one is
        replayed for those that are ``merged``, unless they are asked for by name.
        """
        classes = found.classes
        if self.only is not None:
            classes = tuple(one for one in classes if one.number in self.only)
        if self.steps:
            classes = tuple(self._like_steps(found))
        if self.nth is not None:
            classes = (classes[self.nth % len(classes)],) if classes else ()
        first = tuple(one for one in classes if one.number in self.first)
        others = tuple(one for one in classes if one.number not in self.first)
        if self.whole:
            others = tuple(one for one in others if one.number not in merged)
        if self.most is not None and len(others) > self.most:
            others = self._thinned(others, self.most, hits)
        return first, others

    def most_valuable_first(
        self, classes: Sequence[Interleaving], hits: Hits | None = None
    ) -> tuple[Interleaving, ...]:
        """Order interleavings so that the first ones differ as much as can be.

        First come those that cannot be replayed, which cost nothing; then each kind of
        fault at each place, in turn; then the others, those with fewer faults first.
        """
        places = {one.number: hits(one) if hits else () for one in classes}
        free = [one for one in classes if places[one.number] is None]
        placed = {n: where for n, where in places.items() if where is not None}
        rest = [one for one in classes if one.number in placed]
        distinct = _distinct(rest, placed, len(rest)) if hits else []
        taken = {one.number for one in distinct}
        groups: dict[int, _Kinds] = {0: _by_kind(distinct)}
        for kind, alike in _by_kind([o for o in rest if o.number not in taken]).items():
            groups.setdefault(len(kind), {})[kind] = alike
        ordered = [*free]
        for number in sorted(groups):
            kinds = groups[number]
            ordered += self._shared_out(kinds, len(rest), placed)
        return tuple(ordered)

    def _like_steps(self, found: Interleavings) -> Sequence[Interleaving]:
        """Find the interleaving with these steps, or those with faults of its names."""
        interpreter = Interpreter(found.protocol)
        for one in found.classes:
            if steps_of(interpreter, one.trace) == self.steps:
                return [one]
        names = [step.event for step in self.steps if step.fault]
        kinds = {one: faults_of(one) for one in found.classes}
        alike = [one for one, kind in kinds.items() if list(kind) == names]
        return alike or [o for o, kind in kinds.items() if len(kind) == len(names)]

    def _thinned(
        self, classes: tuple[Interleaving, ...], most: int, hits: Hits | None
    ) -> tuple[Interleaving, ...]:
        """Take every distinct place, and repetitions up to ``most``.

        Those that cannot be replayed are all taken: they cost nothing, and say why.
        """
        placed: dict[int, tuple[InjectionPoint, ...]] = {}
        kept: list[Interleaving] = []
        if hits is not None:
            for one in classes:
                where = hits(one)
                if where is None:
                    kept.append(one)
                else:
                    placed[one.number] = where
            classes = tuple(one for one in classes if one.number in placed)
        distinct = _distinct(classes, placed, most)
        taken = {one.number for one in distinct}
        numbers: dict[int, _Kinds] = {}
        for one in classes:
            if one.number not in taken:
                kind = faults_of(one)
                numbers.setdefault(len(kind), {}).setdefault(kind, []).append(one)
        fewest = sorted(
            numbers.values(), key=lambda kinds: sum(map(len, kinds.values()))
        )
        chosen = list(distinct)
        for done, kinds in enumerate(fewest):
            share = (most - len(chosen)) // (len(fewest) - done)
            several = any(len(kind) > 1 for kind in kinds)
            if several:
                share = max(share, most // 2 // len(fewest))
            mixed = self._mixed(kinds) if several else kinds
            chosen += self._shared_out(mixed, share, placed)
        return tuple(sorted([*kept, *chosen], key=lambda one: one.number))

    def _mixed(self, kinds: _Kinds) -> _Kinds:
        """Put kinds in an order of the seed's, those of different faults first."""
        names = list(kinds)
        random.Random(self.seed).shuffle(names)  # noqa: S311 - no secret
        names.sort(key=lambda kind: len(set(kind)) < len(kind))
        return {name: kinds[name] for name in names}

    def _shared_out(
        self, kinds: _Kinds, most: int, placed: Mapping[int, tuple[InjectionPoint, ...]]
    ) -> list[Interleaving]:
        """Take the same number of each kind, as far as each kind has that many.

        Of a kind, those come first that hit a place, or a batch, which no other does.
        """
        queues = []
        for alike in kinds.values():
            random.Random(self.seed).shuffle(alike)  # noqa: S311 - no secret
            queues.append(_new_first(alike, placed)[::-1])
        kept: list[Interleaving] = []
        while len(kept) < most and any(queues):
            for queue in queues:
                if queue and len(kept) < most:
                    kept.append(queue.pop())
        return kept


def faults_of(one: Interleaving) -> tuple[str, ...]:
    """Name the faults of an interleaving, in order."""
    return tuple(one.trace.events[at].name for at in one.faults)


def _by_kind(classes: Sequence[Interleaving]) -> _Kinds:
    """Group interleavings by the names of their faults."""
    kinds: _Kinds = {}
    for one in classes:
        kinds.setdefault(faults_of(one), []).append(one)
    return kinds


def _distinct(
    classes: Sequence[Interleaving],
    placed: Mapping[int, tuple[InjectionPoint, ...]],
    most: int,
) -> list[Interleaving]:
    """Take, of each kind of fault, one for each place that it is injected into.

    A place that the code reaches several times, be it in several batches, is taken at
    its first time and at its last. A place that only a second fault hits, such as code
    that repairs what a crash left, is taken after the first fault that leads there, and
    after the last. Of places in installed packages four
    times ``most`` are taken, of each kind of fault its share, and first times first.
    """
    alike: dict[tuple[tuple[str, ...], tuple[_Place, ...]], list[Interleaving]]
    alike = defaultdict(list)
    for one in classes:
        kind = faults_of(one)
        if len(kind) == 1 and one.number in placed:
            alike[kind, tuple(h.place for h in placed[one.number])].append(one)
    own: list[Interleaving] = []
    theirs: _Kinds = {}
    lasts: _Kinds = {}
    for ones in alike.values():
        first, last = _ends(ones, placed)
        ends = [first] if first is last else [first, last]
        if any(installed(hit.line) for hit in placed[first.number]):
            kind = faults_of(first)
            theirs.setdefault(kind, []).append(first)
            lasts.setdefault(kind, []).extend(ends[1:])
        else:
            own += ends
    queues = [[*theirs[kind], *lasts[kind]][::-1] for kind in theirs]
    room = _INSTALLED * most
    while room > 0 and any(queues):
        for queue in queues:
            if queue and room > 0:
                own.append(queue.pop())
                room -= 1
    return [*own, *_after_others(classes, placed, {at for _, at in alike})]


def _after_others(
    classes: Sequence[Interleaving],
    placed: Mapping[int, tuple[InjectionPoint, ...]],
    known: set[tuple[_Place, ...]],
) -> list[Interleaving]:
    """Take, for each place that only a later fault hits, the ends of what leads there.

    After the first point that leads to it a repair may have nothing to do, and after
    the last one it has the most: interleavings are numbered in the order of points.
    Which kind of fault leads there makes no difference; which one comes last does.
    """
    alone = {place for places in known for place in places}
    later: dict[tuple[str, _Place], list[Interleaving]] = defaultdict(list)
    for one in classes:
        for hit in placed.get(one.number, ()):
            if hit.place not in alone:
                later[faults_of(one)[-1], hit.place].append(one)
    found = {o.number: o for ones in later.values() for o in (ones[0], ones[-1])}
    return list(found.values())


def _ends(
    ones: Sequence[Interleaving], placed: Mapping[int, tuple[InjectionPoint, ...]]
) -> tuple[Interleaving, Interleaving]:
    """Return the first hit of a place in a whole run, and the last.

    The first batch finds nothing there yet, the last one has the most to lose.
    """

    def when(one: Interleaving) -> list[tuple[int, int, int]]:
        return [(hit.batch, hit.partition, hit.nth) for hit in placed[one.number]]

    latest = max(map(when, ones))
    at_last = [one for one in ones if when(one) == latest]
    return (
        min(ones, key=lambda one: (when(one), one.number)),
        min(at_last, key=lambda one: one.number),
    )


def _new_first(
    ones: Sequence[Interleaving], placed: Mapping[int, tuple[InjectionPoint, ...]]
) -> list[Interleaving]:
    """Put in front what hits a place in a batch that none before it hits."""
    known: set[object] = set()
    new: list[Interleaving] = []
    old: list[Interleaving] = []
    for one in ones:
        places = {
            (at, hit.place, hit.batch)
            for at, hit in enumerate(placed.get(one.number, ()))
        }
        (old if places <= known else new).append(one)
        known |= places
    return [*new, *old]
