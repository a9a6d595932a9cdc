"""Named tuples: messages, and the records that state holds, as their parts by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.fields import ByMember, OneOf, Param
from onceproof.model.language.sorts import Member, SizeBound, Sort
from onceproof.model.language.source_location import here
from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.model.language.fields import Bound


def is_named_tuple(value: object) -> bool:
    """Return whether a value is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def parts_of(value: Any) -> dict[str, Any]:
    """Return the parts of a named tuple by name.

    Raises ``ModelError`` where one of them is such a tuple itself.
    """
    found = dict(zip(value._fields, value, strict=True))
    for name, part in found.items():
        if is_named_tuple(part):
            message = (
                f"{name} is a {kind_of_tuple(part).__name__}, and a record holds no "
                "other; declare its parts as parts of the whole"
            )
            raise ModelError(message, where=here())
    return found


def kind_of_tuple(value: object) -> type:
    """Return the class of a tuple as it is declared, also of one that state holds."""
    return getattr(type(value), "onceproof_record", type(value))


def pairs_of(one: Any, other: Any) -> list[tuple[Any, Any]]:
    """Pair the parts of two tuples of one class and length.

    Raises ``ModelError`` for others, and for what is no tuple.
    """
    same = kind_of_tuple(one) is kind_of_tuple(other)
    if not (same and len(one) == len(other)):
        message = f"cannot compare {one!r} with {other!r}; their shapes differ"
        raise ModelError(message, where=here())
    return list(zip(one, other, strict=True))


def put_together(alike: list[Any], parts: Iterable[Any]) -> Any:
    """Return a tuple of some parts, like others; of one that state holds, if it is."""
    held = [one for one in alike if hasattr(type(one), "onceproof_record")]
    like = (held or alike)[0]
    return type(like)(*parts) if is_named_tuple(like) else tuple(parts)


def bounds_of(
    option: str,
    given: Bound | Mapping[str, Bound] | None,
    sample: Mapping[str, object],
) -> dict[str, Bound | None]:
    """Return the bound of each part like ``sample``, where it is an integer.

    Raises ``ModelError`` for what is no bound, or bounds no integer among the parts.
    """
    if not isinstance(given, Mapping):
        bound = checked_bound(option, given, sample)
        return {n: bound if _is_number(v) else None for n, v in sample.items()}
    for name, bound in given.items():
        if name not in sample:
            hint = did_you_mean(str(name), sample)
            message = f"{option} bounds {name!r}, and there is no such part; {hint}"
            raise ModelError(message, where=here())
        if not _is_number(sample[name]):
            message = f"{option} bounds {name!r}, which is no integer; leave it out"
            raise ModelError(message, where=here())
        checked_bound(f"{option} of {name}", bound)
    return {name: given.get(name) for name in sample}


def checked_bound(
    option: str, given: object, parts: Iterable[str] = ()
) -> Bound | None:
    """Return what can bound an integer. Raises ``ModelError`` for what cannot."""
    if isinstance(given, bool | Member) or not isinstance(
        given, int | Param | Sort | SizeBound | None
    ):
        message = (
            f"{option} takes a whole number, a parameter, or a sort for its size, "
            f"not {given!r}"
        )
        for name in list(parts)[:1]:
            message += f'; or one by the name of each part, as {option}{{"{name}": 1}}'
        raise ModelError(message, where=here())
    return given


def _is_number(sample: object) -> bool:
    """Return whether a sample is an integer, or may be one."""
    if isinstance(sample, OneOf):
        return _is_number(sample.values[0])
    number = isinstance(sample, int) and not isinstance(sample, bool | Member)
    return isinstance(sample, ByMember) or number
