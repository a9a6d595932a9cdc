"""From the verdicts on its clauses to the verdict on a property."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.declarations.modality import Modality
from onceproof.properties.verdicts import Verdict, weakest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.search.queries import SearchResult
    from onceproof.properties.property import Property


def with_premise(verdict: str, met: str | None) -> str:
    """Return the verdict of a clause that holds as far as what it speaks of was met."""
    if met is None or not Verdict(verdict).holds or Verdict(met).holds:
        return verdict
    return met


def weighed(
    prop: Property, answers: list[SearchResult], unmet: Sequence[int]
) -> tuple[Verdict, str]:
    """Weigh the clauses of a property; say which of them say nothing.

    The weakest counts. But "what comes first leads to ..." is claimed of each member
    on its own, and may come up for some of them only: it is vacuous where it comes
    up for none.
    """
    verdicts = [(Verdict(a.verdict), a.question.when) for a in answers]
    idle = [n for n, one in enumerate(verdicts) if one[0] is Verdict.VACUOUS]
    some = any(w is Modality.LEADS_TO and v is not Verdict.VACUOUS for v, w in verdicts)
    counted = [v for v, w in verdicts if not (some and (v, w) == _IDLE)]
    whys = {
        prop.clauses[n].idle if n in unmet else _nothing(verdicts[n][1]) for n in idle
    }
    note = "; ".join(sorted(whys))
    if idle and len(idle) < len(verdicts):
        which = ", ".join(prop.clauses[n].text for n in idle[:_MOST_NAMED])
        more = f" and {len(idle) - _MOST_NAMED} more" if len(idle) > _MOST_NAMED else ""
        note = f"{note}, for: {which}{more}"
    reasons = sorted({a.note for a in answers if a.note})
    return weakest(counted), "; ".join(filter(None, [note, *reasons]))


_IDLE = (Verdict.VACUOUS, Modality.LEADS_TO)
_MOST_NAMED = 3


def _nothing(when: Modality) -> str:
    """Return what there is none of where a clause is vacuous."""
    match when:
        case Modality.SOMETIMES:
            return "no run meets it"
        case Modality.AT_REST:
            return "no state of rest can be reached"
        case Modality.STEP:
            return "no step is possible"
        case Modality.LEADS_TO:
            return "the premise is never met"
        case Modality.ALWAYS | Modality.RECOVERABLE | Modality.EVENTUALLY:
            return "it was never tested"
        case _:
            assert_never(when)
