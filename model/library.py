"""The protocols and parts that can be named on the command line."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from typing import TYPE_CHECKING

import onceproof.model.protocols as shelf
from onceproof.model.errors import UsageError
from onceproof.model.language.protocol import Part, Protocol, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def _classes() -> Iterator[type[Part]]:
    prefix = f"{shelf.__name__}."
    for info in pkgutil.walk_packages(shelf.__path__, prefix):
        module = importlib.import_module(info.name)
        for what in vars(module).values():
            if (
                isinstance(what, type)
                and issubclass(what, Part)
                and what.__module__ == info.name
            ):
                yield what


def protocols() -> dict[str, type[Protocol]]:
    """List the protocols of the library by name."""
    found = {c.label(): c for c in _classes() if issubclass(c, Protocol)}
    return dict(sorted(found.items()))


def parts(kind: type[Part]) -> dict[str, type[Part]]:
    """List the parts of a kind by name."""
    found = {c.label(): c for c in _classes() if issubclass(c, kind) and c is not kind}
    return dict(sorted(found.items())) or {kind.label(): kind}


def pick(name: str, known: Iterable[str], what: str) -> str:
    """Check a name; an unknown one is answered with the nearest that is known.

    Raises ``UsageError``.
    """
    names = list(known)
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    message = f"unknown {what} {name!r}; {hint}"
    raise UsageError(message)


def make(name: str, settings: Mapping[str, str]) -> Protocol:
    """Instantiate a protocol of the library from what was typed.

    Raises ``UsageError`` for an unknown protocol, parameter or value.
    """
    known = protocols()
    kind = known[pick(name, known, "protocol")]
    declared = kind.parameters()
    arguments: dict[str, object] = {}
    for key, text in settings.items():
        what = declared[pick(key, declared, f"parameter of {name}")]
        if isinstance(what, Slot):
            choices = parts(what.kind)
            arguments[key] = choices[pick(text, choices, key)]
        else:
            arguments[key] = _number(key, text)
    return kind(**arguments)


def _number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        message = f"{key} must be a whole number, not {text!r}"
        raise UsageError(message) from None
