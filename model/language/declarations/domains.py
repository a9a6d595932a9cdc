"""What a claim is made for: members of a sort, or each value of a finite domain."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import Member, Sort
from onceproof.model.language.source_location import here
from onceproof.model.language.terms.types import MOST, TOO_LARGE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onceproof.model.language.terms.types import Value

MOST_VALUES = 4096
"""For how many tuples of values a claim may be made."""


@dataclass(frozen=True)
class Domain:
    """The values of an enumeration, of a range, or both truth values."""

    name: str
    """The name of a parameter that has such a value."""
    values: tuple[Value, ...]
    """The values, in their order."""


Per: TypeAlias = "type[Enum | bool] | Sort | range"
"""What a claim can be made for each of."""

Ranging: TypeAlias = Sort | Domain


def domains_of(per: Per | tuple[Per, ...]) -> tuple[Ranging, ...]:
    """Return the sorts and domains that a claim is made for.

    Raises ``ModelError`` for what is none, and where there are too many values.
    """
    found = tuple(map(_domain, per if isinstance(per, tuple) else (per,)))
    many = 1
    for one in found:
        many *= len(one.values) if isinstance(one, Domain) else 1
    if many > MOST_VALUES:
        message = (
            f"a claim would be made for {many:,} tuples of values, and {MOST_VALUES:,} "
            "is the most; choose a smaller range"
        )
        raise ModelError(message, where=here())
    return found


def _domain(per: object) -> Ranging:
    if isinstance(per, Sort):
        return per
    if per is bool:
        return Domain("value", (False, True))
    if isinstance(per, type) and issubclass(per, Enum) and list(per):
        type_of(next(iter(per)))
        return Domain(per.__name__.lower(), tuple(per))
    if isinstance(per, range) and per:
        if max(map(abs, (per[0], per[-1]))) > MOST:
            raise ModelError(TOO_LARGE, where=here())
        return Domain("number", tuple(per[: MOST_VALUES + 1]))
    message = (
        "per= of a claim takes a sort, an enumeration, bool or a range that is not "
        f"empty, or a tuple of these, not {per!r}"
    )
    raise ModelError(message, where=here())


def sorts_among(per: Sequence[Ranging]) -> tuple[Sort, ...]:
    """Return the sorts alone."""
    return tuple(one for one in per if isinstance(one, Sort))


def parameter_names(per: Sequence[Ranging]) -> list[str]:
    """Name the parameters of a method that is for some sorts and domains."""
    return [one.name.lower() for one in per]


def every(
    per: Sequence[Ranging], members: Callable[[Sort], Sequence[Any]]
) -> Iterator[tuple[Any, ...]]:
    """Yield all tuples of members and values, in order."""
    return itertools.product(
        *(one.values if isinstance(one, Domain) else members(one) for one in per)
    )


def each_value(
    per: Sequence[Ranging],
) -> Iterator[Callable[[Sequence[Any]], tuple[Any, ...]]]:
    """Yield, for each tuple of values, how members are put between them."""
    domains = [one for one in per if isinstance(one, Domain)]
    for values in itertools.product(*(one.values for one in domains)):

        def between(
            members: Sequence[Any], values: Sequence[Value] = values
        ) -> tuple[Any, ...]:
            left, right = iter(members), iter(values)
            return tuple(next(left if isinstance(o, Sort) else right) for o in per)

        yield between


def value_in_words(value: object) -> str:
    """Show a member, or a value of a domain, in the words of a claim."""
    if isinstance(value, Enum):
        return value.name
    return str(value) if isinstance(value, Member) else repr(value)
