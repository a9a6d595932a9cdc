"""An action or fault as terms: its guard, and what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.stores.symbolic_store import (
    FieldWrite,
    read_through,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.language.terms import terms as t


@dataclass(frozen=True)
class ActionTerm:
    """An action or fault as terms: for which members, when, and what it writes."""

    name: str
    """Its name, with the path of its part."""
    params: tuple[t.Var, ...]
    """The variables for the members it is for."""
    guard: t.Term
    """The condition under which it is enabled."""
    writes: tuple[FieldWrite, ...]
    """What it writes, in order."""
    fault: bool
    """Whether it is a fault."""
    doc: str
    """The first line of the method's docstring."""
    where: str
    """The line of its definition, ``file:line``."""
    fair: bool = False
    """Whether it is weakly fair."""

    def after(self, get: t.Get) -> t.Term:
        """Return what an element holds after the action, in terms of before."""
        return read_through(list(self.writes), get)

    @property
    def terms(self) -> Iterator[t.Term]:
        """The guard, the values that are written, and where."""
        yield self.guard
        for write in self.writes:
            yield from (write.value, *write.indices)

    @property
    def written(self) -> tuple[str, ...]:
        """The paths of the fields that the action may change."""
        return tuple(dict.fromkeys(w.field for w in self.writes))
