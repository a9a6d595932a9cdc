"""Plain data becomes a dataclass, or is refused with its place."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Annotated

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.counterexample.file import Counterexample
from onceproof.properties.evidence.record import Evidence
from onceproof.properties.ledger import History
from onceproof.properties.schema import (
    Count,
    FileFormat,
    OtherSchemaError,
    Scalars,
    one_of,
    read_as,
    readers_of,
    stored,
)


class Colour(Enum):
    RED = "red"


@stored()
@dataclass(frozen=True)
class Inner:
    count: Count


@stored("note")
@dataclass(frozen=True)
class Outer:
    name: str
    colour: Colour
    inner: tuple[Inner, ...]
    scope: Scalars
    level: Annotated[str, one_of("low", "high")]
    maybe: Inner | None
    whole: int = 0
    note: tuple[str, ...] = field(default=())


FORMAT = FileFormat("onceproof outer", 2, "outer file", "make it again")
GOOD = {
    "name": "x",
    "colour": "red",
    "inner": [{"count": 1}, {"count": 0}],
    "scope": {"a": 1, "b": "c", "d": True},
    "level": "low",
    "maybe": None,
    "whole": -3,
}


def test_what_is_read_is_what_was_written():
    """Lists become tuples, values members of enumerations, objects dataclasses."""
    found = read_as(Outer, GOOD)

    assert found.inner == (Inner(1), Inner(0))
    assert found.colour is Colour.RED
    assert (found.maybe, found.whole, found.note) == (None, -3, ())
    assert read_as(Outer, {**GOOD, "maybe": {"count": 2}}).maybe == Inner(2)
    data = json.loads(json.dumps(asdict(found) | {"colour": "red"}))
    assert read_as(Outer, data) == found


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"name": 1}, "'name' is not a text"),
        ({"colour": "blue"}, "'colour' is 'blue', and not one of red"),
        ({"colour": {}}, "'colour' is {}, and not one of red"),
        ({"inner": {}}, "'inner' is not a list"),
        ({"inner": [{"count": True}]}, "'inner[0].count' is not a whole number"),
        ({"inner": [{"count": -1}]}, "'inner[0].count' is not a whole number from 0"),
        ({"inner": [{}]}, "'inner[0]' has no 'count'"),
        ({"inner": [{"cuont": 1}]}, "no 'cuont' in 'inner[0]'; did you mean 'count'?"),
        ({"scope": {"a": None}}, "scope['a']\" is not a text, a number, or true"),
        ({"level": "mid"}, "'level' is 'mid', and not one of low, high"),
        ({"maybe": []}, "'maybe' is not an object"),
        ({"\x1b[2J": 1}, "there is no '\\x1b[2J'"),
        ({"note": None}, "'note' is not a list"),
    ],
)
def test_what_has_another_form_is_refused_with_its_place(change, answer):
    """And with what was expected there; nothing of it reaches the terminal raw."""
    with pytest.raises(ValueError, match=re.escape(answer)):
        read_as(Outer, {**GOOD, **change})


@pytest.mark.parametrize("name", [n for n in GOOD if n != "note"])
def test_only_what_may_be_left_out_may_be_left_out(name):
    """A default is none of a file."""
    data = {k: v for k, v in GOOD.items() if k != name}

    with pytest.raises(ValueError, match=f"it has no '{name}'"):
        read_as(Outer, data)


def test_the_head_of_a_file_is_checked_in_one_place(tmp_path):
    """Format, then schema; another schema comes with what the file holds."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**FORMAT.head, "a": 1}))
    assert FORMAT.content(path) == {"a": 1}

    path.write_text(json.dumps({"format": "x", "schema": 2}))
    with pytest.raises(UsageError, match="no outer file of Onceproof; make it again"):
        FORMAT.content(path)
    for schema in (1, True, 2.0, [2], None):
        path.write_text(json.dumps({**FORMAT.head, "schema": schema, "a": 1}))
        with pytest.raises(OtherSchemaError, match="this Onceproof reads 2") as other:
            FORMAT.content(path)
        assert other.value.data == {"a": 1}
        assert other.value.schema == (1 if schema == 1 and schema is not True else None)


@pytest.mark.parametrize("kind", [Counterexample, Evidence, History])
def test_every_field_of_what_is_stored_has_a_reader(kind):
    """A field whose annotation none reads is found here, and not by a user."""
    assert readers_of(kind)
