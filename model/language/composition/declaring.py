"""Class bodies of protocols and parts: what is lost as the class is made is refused."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.overrides import kind_of
from onceproof.model.language.source_location import here, in_model

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_MAKES_INIT = ("__dataclass_params__", "__dataclass_fields__", "__attrs_attrs__")


_OWN = "onceproof.model.language"
_NEEDED = frozenset(
    [
        "action",
        "always",
        "at_rest",
        "by_member",
        "channels",
        "epochs",
        "eventually",
        "fault",
        "leads_to",
        "lemma",
        "member_of",
        "network",
        "nobody_of",
        "observe",
        "one_of",
        "param",
        "part",
        "processes",
        "recoverable",
        "sometimes",
        "state",
        "step",
        "timers",
        "Sort",
    ]
)
"""Names of the language that a class body calls."""


class Body(dict[str, Any]):
    """The names of a class body, which refuses to declare one of them twice."""

    def __init__(self, owner: str) -> None:
        """Begin the body of the class ``owner``."""
        super().__init__()
        self._owner = owner
        self._lines: dict[str, str] = {}

    def __setitem__(self, name: str, value: object) -> None:
        """Give a name a value. Raises ``ModelError`` where that hides a declaration.

        A method that is declared twice is refused when the class is made.
        """
        old = self.get(name)
        if old is not value and not callable(old) and kind_of(old):
            message = (
                f"{name} is declared twice in {self._owner}, here and at "
                f"{self._lines[name]}, and only the last would count; "
                "choose another name"
            )
            raise ModelError(message, where=here())
        self._lines[name] = here()
        super().__setitem__(name, value)

    def __getitem__(self, name: str) -> Any:
        """Look a name up as the body runs.

        Raises ``ModelError`` for one that the language needs, and that the class has
        given to a declaration of its own.
        """
        found = super().__getitem__(name)
        own = isinstance(found, FunctionType | type) and (
            found.__module__.startswith(_OWN)
        )
        if name in _NEEDED and not own:
            message = (
                f"{name} is declared in {self._owner}, at {self._lines[name]}, and "
                f"hides the {name} of the language here; choose another name for it"
            )
            raise ModelError(message, where=here())
        return found


class Declaring(type):
    """The type of protocols and parts: watches over what their classes declare."""

    @classmethod
    def __prepare__(
        cls, name: str, bases: tuple[type, ...], /, **_: Any
    ) -> MutableMapping[str, object]:
        """Begin a class body."""
        del bases
        return Body(name)

    def __setattr__(cls, name: str, value: object) -> None:
        """Change a class.

        Raises ``ModelError`` if a dataclass is made of it, or if it is a method of a
        model that changes it.
        """
        if in_model() and not name.startswith("__"):
            message = (
                f"{cls.__name__}.{name} is no state of the model, and no judge would "
                f"see it change; declare it in the class, as {name} = state(...)"
            )
            raise ModelError(message, where=here())
        if name in _MAKES_INIT:
            message = (
                f"{cls.__name__} cannot be a dataclass: its fields would be arguments, "
                "and no state; take the decorator away, and declare each as "
                "NAME = state(...)"
            )
            raise ModelError(message, where=here())
        super().__setattr__(name, value)
