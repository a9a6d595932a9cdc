"""Checks what z3 found against the search, the first judge, at small sizes.

z3 reads other formulas than the search does, so a defect in making them shows here.
How far the search goes is given in states and not in seconds: the same question is
always confirmed to the same extent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import Disagreement, OnceproofError, TooLargeError
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.limits import Limits
from onceproof.properties.judges.bounds import numbers_of
from onceproof.properties.judges.by_proof.fragment import open_sorts
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.exhaustive import Exploration
    from onceproof.model.traces import Trace
    from onceproof.properties.judges.by_search import Finding, Report
    from onceproof.properties.property import Property

MOST_STATES = 20_000
"""How many states a search may have that confirms a proof."""

SMALL = (1, 2, 3)
"""The sizes of sorts of any size at which a proof for every size is confirmed."""


@dataclass(frozen=True)
class SearchSummary:
    """What the search found at some sizes."""

    numbers: dict[str, int]
    """The sizes and numbers of the protocol that was searched."""
    report: Report
    """The findings."""
    given: bool
    """Whether these are the sizes given to z3."""

    @property
    def sizes(self) -> str:
        """All sizes and numbers of the protocol that was searched."""
        return ", ".join(f"{name}={n}" for name, n in self.numbers.items())

    @property
    def cut(self) -> str:
        """Why the search did not see every state, or nothing."""
        found = self.report.exploration
        return found.stopped if found else ""

    @property
    def states(self) -> int:
        """How many states the search saw."""
        found = self.report.exploration
        return found.distinct if found else 0

    def of(self, prop: Property) -> Finding | None:
        """Return what it found about a property, or None."""
        found = (f for f in self.report.findings if f.property is prop)
        return next(found, None)


class Searches:
    """Searches at small sizes, made once and compared with each finding of z3."""

    def __init__(
        self,
        system: System,
        every_size: Sequence[Property],
        given_sizes: Sequence[Property],
    ) -> None:
        """Search for the properties at the given sizes, and for some at others."""
        self._made: list[SearchSummary] = []
        self._beyond: list[str] = []
        protocol = system.protocol
        if every_size:
            for other in _resized(system):
                found = self._search(other, every_size, given=False)
                if found is None or found.cut:
                    break
        every = [*every_size, *given_sizes]
        if every:
            self._search(protocol, every, given=True)

    def _search(
        self, protocol: Protocol, chosen: Sequence[Property], *, given: bool
    ) -> SearchSummary | None:
        """Search, and keep what was found; nothing where a state is too large."""
        try:
            report = check(protocol, chosen, limits=Limits(states=MOST_STATES))
        except TooLargeError as error:
            numbers = numbers_of(protocol).items()
            sizes = ", ".join(f"{name}={n}" for name, n in numbers)
            self._beyond.append(f"not searched at {sizes}: {error}")
            return None
        self._made.append(SearchSummary(numbers_of(protocol), report, given))
        return self._made[-1]

    @property
    def given(self) -> Exploration | None:
        """Return the search at the sizes given to z3, if it saw every state."""
        whole = (m.report.exploration for m in self._made if m.given and not m.cut)
        return next(whole, None)

    def refutes(self, prop: Property) -> tuple[SearchSummary, Trace] | None:
        """Find a counterexample to a property, and where it was found."""
        for made in self._made:
            found = made.of(prop)
            if found and found.verdict is Verdict.REFUTED and found.trace:
                return made, found.trace
        return None

    def vacuous(self, prop: Property) -> str:
        """Return the given sizes if a property is vacuous there by the search."""
        for made in self._made:
            found = made.of(prop)
            if made.given and found and found.verdict is Verdict.VACUOUS:
                return made.sizes or "its only size"
        return ""

    def unmet(self, prop: Property) -> tuple[str, ...]:
        """Return of which clauses no state meets the premise, at the given sizes."""
        found = (made.of(prop) for made in self._made if made.given)
        return tuple(dict.fromkeys(why for f in found if f for why in f.unmet))

    def unseen(self, prop: Property) -> tuple[str, ...]:
        """Return of which clauses no search met the premise, and one was cut."""
        found = [f for f in (made.of(prop) for made in self._made) if f]
        if not found:
            return tuple(c.idle for c in prop.clauses if c.premise is not None)
        nowhere = [{*f.unmet, *f.unseen} for f in found]
        return tuple(sorted(set.intersection(*nowhere)))

    def settled(self, prop: Property) -> bool:
        """Return whether a property was searched for to the end, and is not vacuous."""
        found = (made.of(prop) for made in self._made)
        return any(f and f.verdict is Verdict.EXHAUSTED for f in found)

    def confirms(self, prop: Property) -> str:
        """Say at which sizes the search confirms what z3 found of a property."""
        mine = [made for made in self._made if made.of(prop)]
        whole = [made for made in mine if not made.cut]
        parts = []
        if whole:
            states = sum(made.states for made in whole)
            plural = "" if states == 1 else "s"
            where = f" at {_listed(whole)}" if whole[0].sizes else ""
            parts.append(f"confirmed by search{where} ({states:,} state{plural})")
        parts += [
            f"{'only ' if whole else 'not confirmed by search: only '}the first "
            f"{made.states:,} states were searched at {made.sizes or 'its only size'}, "
            "and agree"
            for made in mine
            if made.cut
        ]
        return "; ".join([*(parts or ["not confirmed by search"]), *self._beyond])

    def contradict(self, finding: Finding) -> None:
        """Raise ``Disagreement`` if the search refutes what z3 calls proved."""
        refuted = self.refutes(finding.property)
        if refuted is None:
            return
        made, trace_ = refuted
        steps = len(trace_.steps)
        message = (
            f"z3 calls {finding.property.name} {finding.verdict}, and the search "
            f"refutes it{f' at {made.sizes}' if made.sizes else ''} after {steps} "
            f"step{'' if steps == 1 else 's'} "
            f"({', '.join(map(str, trace_.events)) or 'in an initial state'})"
        )
        raise Disagreement(message)


def _listed(made: Sequence[SearchSummary]) -> str:
    """Name the sizes that differ, those of one sort together: ``RM=1, 2 and 3``."""
    if len(made) == 1:
        return made[0].sizes
    rows = sorted(tuple(one.numbers.items()) for one in made)
    differing = [pairs for pairs in zip(*rows, strict=True) if len(set(pairs)) > 1]
    if len(differing) == 1:
        values = [str(number) for _, number in differing[0]]
        return f"{differing[0][0][0]}={', '.join(values[:-1])} and {values[-1]}"
    return " and at ".join(
        ", ".join(f"{name}={number}" for name, number in one)
        for one in zip(*differing, strict=True)
    )


def _resized(system: System) -> Iterator[Protocol]:
    """Yield the protocol at small sizes of the sorts that may have any.

    None is yielded if the protocol cannot be made anew just as it is, and no size at
    which the model is refused.
    """
    protocol, given = system.protocol, system.sizes
    opened = open_sorts(system)
    if not _alike(_made_anew(protocol, given), system):
        return
    for size in SMALL:
        sizes = {s: size if s in opened else n for s, n in given.items()}
        if sizes == given:
            continue
        other = _made_anew(protocol, sizes)
        if other is not None and other.sizes == sizes and _traced(other) is not None:
            yield other


def _made_anew(protocol: Protocol, sizes: Mapping[Sort, int]) -> Protocol | None:
    """Make a protocol again, with sorts of other sizes; None if it takes more."""

    def arguments(part: Part) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, what in part.parameters().items():
            if isinstance(what, Sort):
                found[name] = sizes[what]
            elif isinstance(what, Param):
                found[name] = part.argument(what)
            else:
                inner = part.parts[name]
                found[name] = type(inner)(**arguments(inner))
        return found

    try:
        return type(protocol)(**arguments(protocol))
    except (OnceproofError, TypeError):
        return None


def _traced(protocol: Protocol | None) -> System | None:
    try:
        return None if protocol is None else trace(protocol)
    except OnceproofError:
        return None


def _alike(protocol: Protocol | None, system: System) -> bool:
    """Return whether a protocol takes the same steps over the same state."""
    other = _traced(protocol)
    return other is not None and (
        other.actions == system.actions
        and other.sizes == system.sizes
        and [(f.path, f.type) for f in other.fields]
        == [(f.path, f.type) for f in system.fields]
    )
