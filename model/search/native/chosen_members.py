"""For which members of a sort an action can happen, worked out for all at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.terms import terms as t
from onceproof.model.search.native.lanes import MemberLanes, mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llvmlite import ir

    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.search.native.term_code import TermEmitter


@dataclass(frozen=True)
class ChosenMembers:
    """What chooses the members that the last parameter of an action stands for."""

    var: t.Var
    """The parameter."""
    lanes: MemberLanes
    """Writes claims about its members."""
    stride: int
    """How far apart their bits are."""
    before: tuple[t.Term, ...]
    """Conditions that do not depend on it."""
    at_once: tuple[t.Term, ...]
    """Conditions that have lanes of this stride."""
    one_by_one: tuple[t.Term, ...]
    """Conditions that are worked out for each member that is chosen."""
    change: t.Term | None
    """A claim that is true of each member whose event changes the state, at least;
    None where there is none that has such lanes."""

    @property
    def counts(self) -> bool:
        """Whether the lanes alone say how many events there are, and which matter."""
        return self.change is not None and not self.one_by_one

    def enabled(self) -> ir.Value:
        """Emit the lanes of the members that conditions with lanes allow."""
        return self.lanes.claim(t.conjunction(self.at_once), self.stride)

    def changing(self) -> ir.Value:
        """Emit the lanes of the members whose events may change the state."""
        if self.change is None:
            message = "nothing is known of what the action changes"
            raise ValueError(message)
        return self.lanes.claim(self.change, self.stride)


def chosen_at_once(
    emitter: TermEmitter, action: ActionTerm, conditions: Sequence[t.Term]
) -> ChosenMembers | None:
    """Say how the last members of an action are chosen at once, if they can be."""
    if not action.params:
        return None
    var = action.params[-1]
    lanes = MemberLanes(emitter, var)
    before = tuple(c for c in conditions if not mentions(c, var))
    inner = [c for c in conditions if c not in before]
    change = _change(emitter, action)
    if change is not None and not mentions(change, var):
        change = None
    ahead = None if change is None else lanes.stride(change)
    strides = Counter(s for c in inner if (s := lanes.stride(c)) is not None)
    if strides:
        # Of several the one that most conditions share, or what is written has.
        stride = max(strides, key=lambda s: (strides[s], s == ahead, -s))
    elif ahead is not None:
        stride = ahead
    else:
        return None
    at_once = tuple(c for c in inner if lanes.stride(c) == stride)
    one_by_one = tuple(c for c in inner if c not in at_once)
    known = change if ahead == stride else None
    return ChosenMembers(var, lanes, stride, before, at_once, one_by_one, known)


def _change(emitter: TermEmitter, action: ActionTerm) -> t.Term | None:
    """Return a claim that is true wherever the action changes the state."""
    if any(write.whole for write in action.writes):
        return None
    layout = emitter.layout
    return t.disjunction(
        t.negation(
            t.equality(
                t.Get(w.field, w.indices, layout.placements[w.field].field.type),
                w.value,
            )
        )
        for w in action.writes
    )
