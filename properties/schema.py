"""Plain data read into dataclasses: whatever differs is refused, with its place.

A reader takes a value and its place, such as ``steps[2].event``. It returns what the
value is read as, and raises ``ValueError`` for a value of another form. The form of a
file is stated once, by the annotations of its dataclass: ``read_as`` makes the reader
from them. ``FileFormat`` reads what all JSON files of Onceproof begin with.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from onceproof.model.errors import UsageError
from onceproof.model.files import read_json
from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any, str], Any]

_MOST_SHOWN = 60
_MAY_LACK = "__onceproof_may_lack__"


@dataclasses.dataclass(frozen=True)
class FileFormat:
    """A kind of JSON file: the format and the schema that its head names.

    ``what`` names such a file in messages, ``remedy`` says what to do about one that
    cannot be used.
    """

    name: str
    schema: int
    what: str
    remedy: str = ""

    @property
    def head(self) -> dict[str, Any]:
        """Give the keys that each file begins with."""
        return {"format": self.name, "schema": self.schema}

    def content(self, path: Path) -> dict[str, Any]:
        """Read a file, and give what follows its head.

        Raises ``UsageError`` for a file that is missing, no JSON or of another format,
        and ``OtherSchemaError`` for one of another schema.
        """
        data = read_json(path, self.what)
        if not isinstance(data, dict) or data.pop("format", None) != self.name:
            message = f"{path} is JSON, but no {self.what} of Onceproof"
            raise UsageError(self._with_remedy(message))
        schema = data.pop("schema", None)
        if type(schema) is not int or schema != self.schema:
            raise OtherSchemaError(path, schema, self.schema, data)
        return data

    def damaged(self, path: Path, why: object) -> UsageError:
        """Say that a file cannot be used, and why."""
        return UsageError(self._with_remedy(f"{path} is damaged: {why}"))

    def _with_remedy(self, message: str) -> str:
        return f"{message}; {self.remedy}" if self.remedy else message


class OtherSchemaError(UsageError):
    """A file is of another schema than this version of Onceproof reads."""

    def __init__(self, path: Path, schema: Any, known: int, data: Any) -> None:
        """Keep the schema and the content, for a reader that knows older ones."""
        self.schema, self.data = schema if type(schema) is int else None, data
        super().__init__(
            f"{path} has schema {shown(schema)}, and this Onceproof reads {known}; use "
            "the version that wrote it"
        )


def stored(*may_lack: str) -> Callable[[type[T]], type[T]]:
    """Mark a dataclass as a part of a file; the named fields may be left out there."""

    def mark(kind: type[T]) -> type[T]:
        setattr(kind, _MAY_LACK, may_lack)
        return kind

    return mark


def may_lack(kind: type) -> tuple[str, ...]:
    """Name the fields of a stored dataclass that a file may leave out."""
    found: tuple[str, ...] = getattr(kind, _MAY_LACK)
    return found


def read_as(kind: type[T], value: Any, place: str = "") -> T:
    """Read plain data as a stored dataclass.

    Raises ``ValueError`` for data of another form.
    """
    reader: Reader = record_of(kind)  # type: ignore[arg-type]
    found: T = reader(value, place)
    return found


def readers_of(kind: Any) -> dict[str, Reader]:
    """Make the readers of the fields of a stored dataclass, from its annotations."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: _reader(hints[one.name]) for one in dataclasses.fields(kind)}


@cache
def record_of(kind: Any) -> Reader:
    """Make the reader of a stored dataclass."""
    left_out, readers = may_lack(kind), readers_of(kind)
    inner = table(
        {name: reader for name, reader in readers.items() if name not in left_out},
        {name: readers[name] for name in left_out},
    )
    return lambda value, place: kind(**inner(value, place))


def _reader(hint: Any) -> Reader:
    """Make the reader of what an annotation allows."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next(one for one in args[1:] if callable(one))  # type: ignore[no-any-return]
    if origin in (Union, types.UnionType):
        [one] = [arg for arg in args if arg is not type(None)]
        return maybe(_reader(one))
    if origin is tuple:
        return listed(_reader(args[0]), into=tuple)
    if origin in (dict, Mapping):
        return mapped(_reader(args[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return member(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    return record_of(hint)


def text(value: Any, place: str) -> str:
    """Read a text."""
    _require(place, "a text", holds=isinstance(value, str))
    return str(value)


def flag(value: Any, place: str) -> bool:
    """Read true or false."""
    _require(place, "true or false", holds=isinstance(value, bool))
    return bool(value)


def scalar(value: Any, place: str) -> Any:
    """Read a text, a number, or true or false."""
    what = "a text, a number, or true or false"
    _require(place, what, holds=isinstance(value, str | int | float))
    return value


def whole(least: int | None = 0) -> Reader:
    """Read a whole number, of at least so much; None allows any."""

    def read(value: Any, place: str) -> Any:
        _require(place, "a whole number", holds=type(value) is int)
        enough = least is None or value >= least
        _require(place, f"a whole number from {least} on", holds=enough)
        return value

    return read


def day(value: Any, place: str) -> str:
    """Read a day, as a text such as 2027-01-31."""
    try:
        dt.date.fromisoformat(text(value, place))
    except ValueError:
        _require(place, "a day, such as 2027-01-31", holds=False)
    return str(value)


def instant(value: Any, place: str) -> str:
    """Read a moment in UTC, as a text such as 2027-01-31T23:59:59Z."""
    try:
        dt.datetime.strptime(text(value, place), "%Y-%m-%dT%H:%M:%SZ")  # noqa: DTZ007
    except ValueError:
        _require(place, "a moment in UTC, such as 2027-01-31T23:59:59Z", holds=False)
    return str(value)


def one_of(*known: str) -> Reader:
    """Read one of some texts."""

    def read(value: Any, place: str) -> Any:
        if value not in known:
            choices = ", ".join(known)
            message = f"{place!r} is {shown(value)}, and not one of {choices}"
            raise ValueError(message)
        return value

    return read


def member(kind: type[Enum]) -> Reader:
    """Read a member of an enumeration, by its value."""
    inner = one_of(*(one.value for one in kind))
    return lambda value, place: kind(inner(value, place))


def maybe(inner: Reader) -> Reader:
    """Read nothing at all, written as null, or what ``inner`` reads."""
    return lambda value, place: None if value is None else inner(value, place)


def listed(inner: Reader, *, into: type[list[Any] | tuple[Any, ...]] = list) -> Reader:
    """Read a list of what ``inner`` reads."""

    def read(value: Any, place: str) -> Any:
        _require(place, "a list", holds=isinstance(value, list))
        return into(inner(one, f"{place}[{n}]") for n, one in enumerate(value))

    return read


def mapped(inner: Reader) -> Reader:
    """Read an object of whatever names, each for what ``inner`` reads."""

    def read(value: Any, place: str) -> Any:
        _require(place, "an object", holds=isinstance(value, dict))
        return {
            name: inner(one, f"{place}[{shown(name)}]") for name, one in value.items()
        }

    return read


def table(
    needed: Mapping[str, Reader], other: Mapping[str, Reader] | None = None
) -> Reader:
    """Read an object that has all the ``needed`` fields, and of ``other`` any."""
    known = {**needed, **(other or {})}

    def read(value: Any, place: str) -> Any:
        _require(place, "an object", holds=isinstance(value, dict))
        of = f"{place!r}" if place else "it"
        for name in value:
            if name not in known:
                hint = did_you_mean(name[:_MOST_SHOWN], known, otherwise="")
                where = f" in {place!r}" if place else ""
                message = f"there is no {shown(name)}{where}{hint and f'; {hint}'}"
                raise ValueError(message)
        for name in needed:
            if name not in value:
                message = f"{of} has no {name!r}"
                raise ValueError(message)
        return {
            name: known[name](one, f"{place}.{name}" if place else name)
            for name, one in value.items()
        }

    return read


def shown(value: object) -> str:
    """Show a value in a message: as Python writes it, and not at any length."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _require(place: str, what: str, *, holds: bool) -> None:
    if not holds:
        message = f"{place!r} is not {what}"
        raise ValueError(message)


Count: TypeAlias = Annotated[int, whole()]
"""A whole number from 0 on."""
Scalars: TypeAlias = Annotated[dict[str, Any], mapped(scalar)]
"""An object whose values are texts, numbers, true or false."""

_PLAIN: dict[Any, Reader] = {str: text, bool: flag, int: whole(None)}
