"""A composition judged under each fault set: by one search, and more where needed.

What holds whatever fails holds where less may fail: the runs are among those that were
searched. A counterexample without a fault, or with one, is also one wherever that
fault may happen. So only what is left is searched again, with fewer faults.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.code_cache import identity, keep, load
from onceproof.model.language.composition.protocol import Protocol
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.properties.evidence.fingerprints import of_property, of_system
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import FaultSets
from onceproof.properties.matrix.source_code import of_judges, of_modules
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.limits import Limits
    from onceproof.properties.judges.by_search import Finding
    from onceproof.properties.matrix.compositions import Composition
    from onceproof.properties.property import Property

ALL, NONE = "all", "none"
_FORM = "onceproof matrix 4"
_SAMPLES = 12
"""In how many states each composition is compared with plain Python: fewer than
``check`` takes, since most methods are those of many compositions."""


@dataclass(frozen=True)
class Refutation:
    """The shortest run that breaks a guarantee under a fault set."""

    clause: str
    """The part of the guarantee that fails."""
    steps: tuple[str, ...]
    """What happens, step by step; a fault ends in an exclamation mark."""
    faults: tuple[str, ...]
    """The faults among the steps, by name."""


@dataclass(frozen=True)
class Judged:
    """How a composition came out under each fault set."""

    faults: tuple[str, ...]
    """The faults that may happen, by name."""
    budget: int
    """How many faults may happen in a run."""
    states: int
    """How many states the search with all faults visited."""
    stated: tuple[str, ...]
    """The guarantees that the protocol and its parts state to break."""
    models: tuple[str, ...]
    """The fingerprints of the composition, by which evidence is found: under the name
    of its protocol, and of those that it extends, if they can be set to be the same."""
    terms: str
    """That of what is searched and claimed, whatever the protocol is called."""
    claims: Mapping[str, str]
    """The fingerprint of each guarantee: what it says of what is observed."""
    verdicts: Mapping[str, Mapping[str, str]]
    """The verdict on each guarantee, by fault set: all, none, or one fault."""
    refuted: Mapping[str, Mapping[str, Refutation]]
    """The counterexample to each refuted guarantee, by fault set."""
    kept: bool = False
    """Whether the verdicts come from the cache."""

    @property
    def broken(self) -> frozenset[str]:
        """The guarantees that are refuted where every fault may happen."""
        return frozenset(self.refuted[ALL])

    @property
    def unstated(self) -> frozenset[str]:
        """The guarantees that break though no part states it."""
        return self.broken - frozenset(self.stated)

    @property
    def decided(self) -> bool:
        """Whether every guarantee was settled under every fault set."""
        undecided = Verdict.UNDECIDED
        return all(undecided not in v.values() for v in self.verdicts.values())


def known(one: Composition, limits: Limits | None = None) -> Judged | None:
    """Return the verdicts that were kept, if no source code has changed since."""
    found = load(_by_source(one, limits))
    return None if found is None else _read(json.loads(found))


def judge(one: Composition, limits: Limits | None = None) -> Judged:
    """Judge a composition, or take the verdicts from the cache if nothing changed."""
    if (before := known(one, limits)) is not None:
        return before
    protocol = make(one.engine, one.changed)
    system = trace(protocol)
    claims = guarantees_of(protocol)
    stated = tuple(sorted(protocol.stated_breaks & {claim.name for claim in claims}))
    asked = {claim.name: of_property(claim, system) for claim in claims}
    # Two sinks may do the same, and readers see something else of them.
    terms = identity([of_system(system, name=""), *asked.values()]).hex()
    fresh: dict[str, Any] = {
        "stated": stated,
        "models": tuple(of_system(system, name=one) for one in _names(protocol)),
        "terms": terms,
        "claims": asked,
    }
    key = identity([_FORM, terms, of_judges(), repr(limits)])
    if (kept := load(key)) is not None:
        found = _read({**json.loads(kept), **fresh})
    else:
        found = Judged(**_judged(protocol, system, claims, limits), **fresh)
    if found.decided:
        whole = json.dumps(asdict(found)).encode()
        keep(key, whole)
        keep(_by_source(one, limits), whole)
    return found


def _names(protocol: Protocol) -> Iterator[str]:
    """Yield the name of a protocol, and of each that it extends."""
    for kind in type(protocol).__mro__:
        if issubclass(kind, Protocol) and kind is not Protocol:
            yield kind.label()


def _by_source(one: Composition, limits: Limits | None) -> bytes:
    """Return the name under which verdicts are kept until any source code changes."""
    code = of_modules(one.modules)
    return identity([_FORM, str(one), code, of_judges(), repr(limits)])


def _judged(
    protocol: Protocol,
    system: System,
    claims: Sequence[Property],
    limits: Limits | None,
) -> dict[str, Any]:
    faults = tuple(action.name for action in system.actions if action.fault)
    judge = FaultSets(protocol, claims)
    report = judge.check(faults, claims, limits=limits, samples=_SAMPLES)
    whole = {f.property.name: f for f in report.findings}
    verdicts = {ALL: {n: str(f.verdict) for n, f in whole.items()}}
    refuted = {ALL: _refutations(report.findings)}
    for chosen in (NONE, *faults):
        allowed = {chosen} - {NONE}
        shown = {
            name: one
            for name, one in refuted[ALL].items()
            if allowed.issuperset(one.faults)
        }
        left = [c for c in claims if c.name in refuted[ALL] and c.name not in shown]
        verdicts[chosen] = dict(verdicts[ALL])
        if left:
            again = judge.check(allowed, left, limits=limits).findings
            verdicts[chosen] |= {f.property.name: str(f.verdict) for f in again}
            shown |= _refutations(again)
        refuted[chosen] = shown
    exploration = report.exploration
    return {
        "faults": faults,
        "budget": protocol.argument(type(protocol).faults),
        "states": exploration.distinct if exploration else 0,
        "verdicts": verdicts,
        "refuted": refuted,
    }


def _refutations(findings: Sequence[Finding]) -> dict[str, Refutation]:
    return {
        f.property.name: Refutation(
            clause=f.property.clauses[f.clause].text,
            steps=tuple(f"{e}!" if e.fault else f"{e}" for e in f.trace.events),
            faults=tuple(sorted({e.name for e in f.trace.events if e.fault})),
        )
        for f in findings
        if f.verdict is Verdict.REFUTED and f.trace is not None
    }


def _read(data: dict[str, Any]) -> Judged:
    refuted = {
        chosen: {
            name: Refutation(one["clause"], tuple(one["steps"]), tuple(one["faults"]))
            for name, one in found.items()
        }
        for chosen, found in data["refuted"].items()
    }
    names = {key: tuple(data[key]) for key in ("faults", "stated", "models")}
    return Judged(**{**data, **names, "refuted": refuted, "kept": True})
