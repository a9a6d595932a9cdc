"""The protocols and parts that can be named: the library's, and those of a file."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import onceproof.model.protocols as shelf
from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.protocol import Protocol, broken_in
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.loading import load
from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

_LONG = 40


@dataclass(frozen=True)
class Variant:
    """A protocol at its standard size, with a part in a slot or none."""

    name: str
    """The name of the protocol on the command line."""
    protocol: Protocol
    """The protocol at its standard size."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The part in each slot that differs from the protocol's own, by name."""
    stated_in: str = ""
    """The module of a file whose own statements alone count, or nothing."""

    @property
    def stated_breaks(self) -> frozenset[str]:
        """Names the properties that are stated to break.

        A protocol of a file, as it is or with a part of that file, is excused by what
        classes of that file state of it, and not by what they inherit from the library.
        """
        stated = self.protocol.stated_breaks
        changed = {type(self.protocol.parts[p]).__module__ for p in self.settings}
        if not self.stated_in or (changed and self.stated_in not in changed):
            return stated
        own = frozenset(_stated_in(self.stated_in, self.protocol))
        return frozenset(n for n in stated if n in own or n.rpartition(".")[2] in own)

    def __str__(self) -> str:
        """Show the variant as it is typed after ``onceproof check``."""
        chosen = "".join(f" --set {k}={v}" for k, v in self.settings.items())
        return f"{self.name}{chosen}"


def _modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(shelf.__path__, f"{shelf.__name__}."):
        yield importlib.import_module(info.name)


def _classes(modules: Iterable[ModuleType]) -> Iterator[type[Part]]:
    for module in modules:
        for what in vars(module).values():
            if (
                isinstance(what, type)
                and issubclass(what, Part)
                and what.__module__ == module.__name__
            ):
                yield what


def protocols() -> dict[str, type[Protocol]]:
    """List the protocols of the library by name."""
    classes = (c for c in _classes(_modules()) if issubclass(c, Protocol))
    return dict(sorted(_by_label(classes).items()))


def parts(slot: Slot[Part], *modules: ModuleType) -> dict[str, type[Part]]:
    """List what can be put in a slot by name, from the library and ``modules``."""
    kind = slot.kind
    classes = (
        c
        for c in _classes((*_modules(), *modules))
        if issubclass(c, kind) and (c is not kind or slot.default is kind)
    )
    return dict(sorted(_by_label(classes).items()))


def slots_of_part() -> dict[str, list[tuple[str, str, type[Part]]]]:
    """List the library's parts by name: where each can be put, and its class.

    A place is a protocol and one of its slots, also one that it inherits. Two classes
    may have one name, in slots of different types.
    """
    found: dict[str, list[tuple[str, str, type[Part]]]] = {}
    for name, protocol in protocols().items():
        for place, slot in protocol.parameters().items():
            if isinstance(slot, Slot):
                for label, kind in parts(slot).items():
                    found.setdefault(label, []).append((name, place, kind))
    return dict(sorted(found.items()))


K = TypeVar("K", bound=type[Part])


def _by_label(classes: Iterable[K]) -> dict[str, K]:
    """Return classes by the names that are typed; refuse two of one name.

    Raises ``ModelError``.
    """
    found: dict[str, K] = {}
    for kind in classes:
        label = kind.label()
        other = found.setdefault(label, kind)
        if other is not kind:
            message = (
                f"{label} is the name of {kind.__module__}.{kind.__qualname__} and of "
                f"{other.__module__}.{other.__qualname__}; rename one of the classes"
            )
            raise ModelError(message)
    return found


def variants() -> Iterator[Variant]:
    """Yield each protocol of the library, and with each part in each of its slots.

    A slot is varied where it is declared, and not again in what inherits it.
    """
    for name, kind in protocols().items():
        yield from _variants_of(name, kind)


def variants_in(name: str) -> list[Variant]:
    """Return each protocol of a file, and with each part in each of its slots.

    Empty for the name of one protocol, of the library or of a file.
    """
    path, _, wanted = name.partition(":")
    if not path.endswith(".py") or wanted:
        return []
    module = load(Path(path))
    return [
        variant
        for label, kind in _protocols_in(module).items()
        for variant in _variants_of(f"{path}:{label}", kind, module)
    ]


def _stated_in(module: str, protocol: Protocol) -> Iterator[str]:
    """Yield what classes of a module state that a protocol made of them breaks."""
    every = [type(part) for part in (protocol, *protocol.all_parts())]
    for kind in dict.fromkeys(k for part in every for k in part.__mro__):
        if kind.__module__ == module and issubclass(kind, Part):
            yield from vars(kind).get("breaks", ())
            if "breaks_in" in vars(kind):
                yield from broken_in(kind, every)


def _protocols_in(module: ModuleType) -> dict[str, type[Protocol]]:
    return _by_label(c for c in _classes([module]) if issubclass(c, Protocol))


def _variants_of(
    name: str, kind: type[Protocol], *modules: ModuleType
) -> Iterator[Variant]:
    standard = kind()
    stated_in = "".join(m.__name__ for m in modules)
    yield Variant(name, standard, stated_in=stated_in)
    for place, slot in kind.parameters().items():
        if isinstance(slot, Slot) and _declares(kind, place):
            for label, chosen in parts(slot, *modules).items():
                if type(standard.parts[place]) is not chosen:
                    made = kind(**{place: chosen})
                    yield Variant(name, made, {place: label}, stated_in)


def _declares(kind: type[Protocol], place: str) -> bool:
    """Return whether a class is the first to declare something of that name."""
    return not any(place in vars(base) for base in kind.__mro__[1:])


def pick(
    name: str, known: Iterable[str], what: str, *, otherwise: str | None = None
) -> str:
    """Check a name; an unknown one is answered with the nearest that is known.

    If none is near, ``otherwise`` is said, or else which names there are.

    Raises ``UsageError``.
    """
    names = list(known)
    if name in names:
        return name
    folder = ", which is a folder: name a file in it" if _is_folder(name) else ""
    hint = did_you_mean(name, names, otherwise=otherwise)
    message = f"unknown {what} {name!r}{folder}; {hint}"
    raise UsageError(message)


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # a name that is too long
        return False


def settings_of(given: Iterable[str]) -> dict[str, str]:
    """Read NAME=VALUE of each text, as --set takes it.

    Raises ``UsageError`` for what is not of that form, and for a name given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            missing = f"; {name} has no value" if name and sign else ""
            message = f"--set takes NAME=VALUE, not {text!r}{missing}"
            raise UsageError(message)
        if found.setdefault(name, value) != value:
            message = f"--set gives {name} twice: {found[name]} and {value}; choose one"
            raise UsageError(message)
    return found


def make(name: str, settings: Mapping[str, str]) -> Protocol:
    """Instantiate a protocol from what was typed: a name of the library, or a file.

    A file is named as ``FILE.py``, or ``FILE.py:NAME`` where it holds several. What a
    part is made with is named by its path, such as ``sink.committer``.
    Raises ``UsageError`` for an unknown protocol, parameter or value.
    """
    kind, *modules = find(name)
    made: Protocol = _made(kind, name, settings, modules)
    return made


def _made(
    kind: type[Part],
    name: str,
    settings: Mapping[str, str],
    modules: Sequence[ModuleType],
    given_before: Mapping[str, object] | None = None,
) -> Any:
    """Make a protocol, or a part of one, with its settings, and what it had before."""
    declared = kind.parameters()
    inside: dict[str, dict[str, str]] = {}
    arguments: dict[str, object] = {}
    for key, text in settings.items():
        first, dot, rest = key.partition(".")
        if first not in declared and not dot:
            _refuse_slot(declared, name, key, text, modules)
        what = declared[pick(first, declared, f"parameter of {name}")]
        if dot:
            inside.setdefault(first, {})[rest] = text
        elif isinstance(what, Slot):
            choices = parts(what, *modules)
            arguments[key] = choices[pick(text, choices, key)]
        else:
            arguments[key] = _number(key, text)
    for key, given in inside.items():
        what = declared[key]
        if not isinstance(what, Slot):
            message = f"{key} of {name} is no part, so it has no {next(iter(given))!r}"
            raise UsageError(message)
        standard = kind().parts[key]
        part: Any = arguments.get(key, type(standard))
        own = standard.made_with if key not in arguments else None
        arguments[key] = _made(part, f"{key} of {name}", given, modules, own)
    made = kind(**{**(given_before or {}), **arguments})
    for key, value in arguments.items():
        if _taken(made, declared[key], key) not in (value, type(value)):
            message = (
                f"{name} was given {key}={value}, and did not take it; help: let its "
                "__init__ hand what it is given to super().__init__"
            )
            raise UsageError(message)
    return made


def _refuse_slot(
    declared: Mapping[str, Sort | Param | Slot[Any]],
    name: str,
    key: str,
    text: str,
    modules: Sequence[ModuleType],
) -> None:
    """Name the slot of a part that was put into one that is not there.

    Raises ``UsageError`` if the part fits somewhere.
    """
    fitting = [
        place
        for place, slot in declared.items()
        if isinstance(slot, Slot) and text in parts(slot, *modules)
    ]
    if fitting:
        ways = " or ".join(f"--set {place}={text}" for place in fitting)
        message = f"unknown parameter of {name} {key!r}; did you mean {ways}?"
        raise UsageError(message)


def _taken(made: Part, what: Sort | Param | Slot[Any], key: str) -> object:
    """Return the size, the number, or the kind of part that was really taken."""
    if isinstance(what, Sort):
        return made.own_size(what)
    if isinstance(what, Param):
        return made.argument(what)
    return type(made.parts[key])


def find(name: str) -> tuple[type[Protocol], *tuple[ModuleType, ...]]:
    """Return the protocol of a name, and the module of its file if it is from one."""
    path, _, wanted = name.partition(":")
    if not path.endswith(".py"):
        own = _in_own_file(name)
        if own is not None:
            return (own,)
        known = protocols()
        return (known[pick(name, known, "protocol")],)
    module = load(Path(path))
    found = _protocols_in(module)
    if not found:
        message = f"{path} holds no class that derives from Protocol"
        raise UsageError(message)
    if not wanted and len(found) > 1:
        message = f"{path} holds {', '.join(found)}; choose one, as {path}:{min(found)}"
        raise UsageError(message)
    by_class = {kind.__name__: label for label, kind in found.items()}
    wanted = by_class.get(wanted, wanted) or next(iter(found))
    return found[pick(wanted, found, f"protocol of {path}")], module


def _in_own_file(name: str) -> type[Protocol] | None:
    """Return the protocol whose file is named after it; no other file is imported."""
    file = name.replace("-", "_")
    if file not in {info.name for info in pkgutil.iter_modules(shelf.__path__)}:
        return None
    module = importlib.import_module(f"{shelf.__name__}.{file}")
    return _protocols_in(module).get(name)


def _number(key: str, text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        message = f"{key} must be a whole number, not {_short(text)!r}"
        raise UsageError(message)
    return int(text)


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
