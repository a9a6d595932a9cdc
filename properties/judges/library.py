"""The library judged: every protocol and variant, against what its file states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.library import Variant, variants
from onceproof.properties.judges.by_search import Report, check
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onceproof.model.search.limits import Limits


@dataclass(frozen=True)
class VariantResult:
    """How a variant came out at its standard size, and whether that is as stated."""

    variant: Variant
    """The variant."""
    report: Report
    """The report of the search."""

    @property
    def broken(self) -> frozenset[str]:
        """Names the properties that are refuted, or witnesses that were not met."""
        refuted = self._named(Verdict.REFUTED)
        return refuted | (self._named(Verdict.VACUOUS) - self.vacuous)

    @property
    def vacuous(self) -> frozenset[str]:
        """Names the properties that say nothing: they neither hold nor break."""
        witnesses = (
            finding.property.name
            for finding in self.report.findings
            if all(c.when is Modality.SOMETIMES for c in finding.property.clauses)
        )
        return self._named(Verdict.VACUOUS) - frozenset(witnesses)

    def _named(self, verdict: Verdict) -> frozenset[str]:
        verdicts = self.report.verdicts.items()
        return frozenset(name for name, found in verdicts if found is verdict)

    @property
    def as_stated(self) -> bool:
        """Whether just that breaks which the protocol and its parts state to break.

        Of a protocol that claims nothing, nothing is known to be so.
        """
        as_they_are = self.broken == self.variant.stated_breaks
        return self.decided and not self.vacuous and as_they_are

    @property
    def not_as_stated(self) -> bool:
        """Whether something breaks that is not stated to, or holds that is."""
        stated = self.variant.stated_breaks
        more = self.broken | self.vacuous
        return not more <= stated or (self.decided and not self.as_stated)

    @property
    def decided(self) -> bool:
        """Whether there are properties, and every one was settled."""
        verdicts = self.report.verdicts.values()
        return bool(verdicts) and Verdict.UNDECIDED not in verdicts


def judge_library(
    *, progress: Callable[[str], None] | None = None
) -> list[VariantResult]:
    """Search each protocol and variant of the library at its standard size."""
    return judge_variants(variants(), progress=progress)


def judge_variants(
    chosen: Iterable[Variant],
    *,
    limits: Limits | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[VariantResult]:
    """Search some variants, each at its standard size."""
    found = []
    for variant in chosen:
        if progress is not None:
            progress(str(variant))
        found.append(VariantResult(variant, check(variant.protocol, limits=limits)))
    return found
