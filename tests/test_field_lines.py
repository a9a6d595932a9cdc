"""Each public field of a public record has a line that says what it holds."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_house import ROOMS, ROOT

_BASES = {"NamedTuple", "TypedDict"}


def records(tree):
    """Yield each public class of a module whose fields are declared in its body."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            named = {ast.unparse(one).partition("(")[0] for one in node.decorator_list}
            bases = {ast.unparse(one) for one in node.bases}
            if "dataclass" in named or bases & _BASES:
                yield node


def fields(record):
    """Yield each public field with the node after it."""
    for node, after in zip(record.body, [*record.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            if not name.startswith("_") and "ClassVar" not in ast.unparse(
                node.annotation
            ):
                yield name, node, after


def unexplained(tree):
    """List the fields that neither a text below nor the class's docstring explains."""
    found = []
    for record in records(tree):
        about = ast.get_docstring(record) or ""
        for name, node, after in fields(record):
            below = (
                isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
                and len(after.value.value.split()) > 1
            )
            if not below and not re.search(rf"``{name}``", about):
                found.append(f"{node.lineno}: {record.name}.{name}")
    return found


MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


@pytest.mark.parametrize("room", ROOMS)
def test_each_field_of_a_record_is_explained(room):
    """Its docstring stands below it, or that of the class names it."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        if path.relative_to(ROOT).parts[0] == room
        for line in unexplained(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert not found


def test_a_field_without_a_line_is_found():
    """A text below one field does not explain the next."""
    text = '''
@dataclass(frozen=True)
class Pair:
    """Two things: ``second`` is the other one."""

    first: int
    """The first one."""
    second: int
    third: int
    _hidden: int = 0

class Row(NamedTuple):
    key: str
'''

    assert unexplained(ast.parse(text)) == ["9: Pair.third", "13: Row.key"]
