"""What there is in the language, and which of it a file uses."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

from onceproof.model import language
from onceproof.model.language.declarations.elements import Chosen, Elements
from onceproof.model.language.parts.bags import Mailbag
from onceproof.model.language.parts.channels import End
from onceproof.model.language.parts.clocks import Epochs, Timers
from onceproof.model.language.parts.networks import Mail
from onceproof.model.language.parts.processes import Processes
from onceproof.model.language.sorts import Members
from onceproof.model.language.terms import terms as t
from onceproof.model.language.tracing.rest import rests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.language.composition.protocol import Protocol

PARTS: dict[str, tuple[type, ...]] = {
    "channels": (End,),
    "network": (Mail, Mailbag),
    "processes": (Processes,),
    "timers": (Timers,),
    "epochs": (Epochs,),
    "state": (Elements, Chosen),
    "Sort": (Members,),
}
FAMILIES = {"channels.only", "channels.send_where", "network.only"}
BINARY = {ast.Add: "+", ast.Sub: "-", ast.BitAnd: "&", ast.BitOr: "|"}
COMPARED = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
HELPERS = {
    "@property": "a property",
    "@staticmethod": "a static method",
    "helper": "a method of one's own",
    "__init__": "an __init__ of one's own",
}
MORE = {
    "fair_actions",
    "an effect before super()",
    "a size in the line of a class",
    "a record in state",
    "a record with other parts",
    "self.lose_volatile()",
    "self.lose_volatile(member)",
    "len(Sort)",
    "unary -",
    *HELPERS.values(),
}
TERMS = tuple(kind.__name__ for kind in t.Term.__args__)


def public() -> set[str]:
    """List every public construct: names, their options, and what parts can do."""
    found = set(language.__all__) | FAMILIES | MORE
    for name in language.__all__:
        what = getattr(language, name)
        if not callable(what) or name in ("Protocol", "Part", "Member"):
            continue
        for option in inspect.signature(what).parameters.values():
            if option.kind is option.KEYWORD_ONLY:
                found.add(f"{name}({option.name}=)")
    for name, kinds in PARTS.items():
        for kind in kinds:
            found |= {f"{name}.{a}" for a in vars(kind) if a.islower() and a[0] != "_"}
    found -= {"Sort.sort", "Sort.in_order"}
    return found | set(BINARY.values()) | set(COMPARED.values())


def used(source: str) -> set[str]:
    """List the public constructs that a file uses."""
    return set(_used(ast.parse(source))) & public()


def _used(tree: ast.Module) -> Iterator[str]:
    made = {
        node.targets[0].id: node.value.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
    } | {"S": "Sort"}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = [f"@{ast.unparse(mark)}" for mark in node.decorator_list]
            yield from (HELPERS.get(mark, "") for mark in marks)
            yield HELPERS.get("" if marks else node.name.rstrip("0123456789"), "")
        if isinstance(node, ast.ClassDef) and node.keywords:
            yield "a size in the line of a class"
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from (f"{node.func.id}({k.arg}=)" for k in node.keywords)
            if node.func.id == "len":
                yield "len(Sort)"
            if node.func.id == "state" and isinstance(node.args[0], ast.Call):
                named = getattr(node.args[0].func, "id", "")
                yield "a record in state" if named == "Entry" else ""
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "_replace":
                yield "a record with other parts"
            if ast.unparse(node.func.value) == "super()" and node.func.attr[0] != "_":
                yield "an effect before super()"
            if node.func.attr == "lose_volatile":
                yield f"self.lose_volatile({'member' if node.args else ''})"
        elif isinstance(node, ast.BinOp):
            yield BINARY.get(type(node.op), "")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield "unary -"
        elif isinstance(node, ast.Compare):
            yield from (COMPARED.get(type(op), "") for op in node.ops)
        if isinstance(node, ast.Attribute):
            yield f"{made.get(_base(node.value), '')}.{node.attr}"


def _base(node: Any) -> str:
    """Find the name of what is asked: ``queue`` in ``self.queue[a].head``."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name):
                return node.attr
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            node = node.value
    return ""


def terms_of(protocol: Protocol) -> set[str]:
    """List the classes of terms that a protocol leaves when it is traced."""
    from onceproof.model.language.tracing.trace import trace
    from onceproof.properties.judges.by_search import claims_of

    system = trace(protocol)
    roots = [rests(system)]
    for action in system.actions:
        roots.append(action.guard)
        roots += [write.value for write in action.writes]
    for prop in claims_of(protocol):
        for question in prop.questions(system):
            roots += [question.term, *([question.given] if question.given else [])]
    return {type(term).__name__ for root in roots for term in t.subterms(root)}
