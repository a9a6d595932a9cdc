"""Records: named tuples that state holds, each part of them in a field of its own.

So every reader of a model reads a record as it reads any state.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions.comparisons import equal
from onceproof.model.language.expressions.logic import not_
from onceproof.model.language.expressions.named_tuples import kind_of_tuple, parts_of
from onceproof.model.language.fields import Field
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.model.language.stores.store import StateStore


@dataclass(frozen=True)
class RecordFields:
    """The fields that hold the parts of a record, or of one per member."""

    path: str
    """The name of the record, with the path of its part."""
    kind: type
    """The named tuple that it is."""
    fields: Mapping[str, Field]
    """The field of each part, by name."""

    def taken_apart(self, record: Any) -> dict[str, Any]:
        """Return the parts of a record. Raises ``ModelError`` for what is no such."""
        if kind_of_tuple(record) is not self.kind:
            name = self.kind.__name__
            message = f"{self.path} holds {name}(...), not {record!r}"
            raise ModelError(message, where=here())
        return parts_of(record)


Held: TypeAlias = Field | RecordFields
"""Where a state lies: in one field, or, of a record, in a field for each part."""


def read(store: StateStore, held: Held, at: tuple[object, ...]) -> object:
    """Return the value of one element."""
    if isinstance(held, Field):
        return store.read(held, at)
    parts = (store.read(field, at) for field in held.fields.values())
    return comparable(held.kind)(*parts)


def write(store: StateStore, held: Held, at: tuple[object, ...], value: object) -> None:
    """Change one element."""
    if isinstance(held, Field):
        store.write(held, at, value)
        return
    for name, part in held.taken_apart(value).items():
        store.write(held.fields[name], at, part)


def write_all(store: StateStore, held: Held, rule: Callable[..., object]) -> None:
    """Change every element at once: the rule sees the values before."""
    if isinstance(held, Field):
        store.write_all((held, rule))
        return

    def part_of(name: str) -> Callable[..., object]:
        return lambda *at: held.taken_apart(rule(*at))[name]

    store.write_all(*((field, part_of(name)) for name, field in held.fields.items()))


@functools.lru_cache(maxsize=1024)
def comparable(kind: Any) -> Any:
    """Return a kind of named tuple like another, whose values are compared as a whole.

    Python would decide at once whether two tuples are equal, part by part.
    """

    def differs(self: object, other: object) -> bool:
        return not_(equal(self, other))

    def keeps(self: object, name: str, value: object) -> NoReturn:
        del self, value
        message = (
            f"a {kind.__name__} is a value, and its parts do not change; write the "
            f"whole, as in self.NAME = self.NAME._replace({name}=...)"
        )
        raise ModelError(message, where=here())

    body = {
        "__slots__": (),
        "__eq__": equal,
        "__ne__": differs,
        "__hash__": kind.__hash__,
        "__setattr__": keeps,
        "onceproof_record": kind,
    }
    return type(kind.__name__, (kind,), body)
