"""Names of the language, which a class of a model may not give to anything else."""

from __future__ import annotations

from onceproof.model.errors import ModelError
from onceproof.model.language.fields import Param
from onceproof.model.language.source_location import defined_at, here

OF_PROTOCOLS = frozenset(["faults", "role", "settle", "stated_breaks"])
"""Names that protocols have and parts do not: in a part they would mislead."""

_CHOSEN: dict[str, tuple[type, ...]] = {
    "breaks": (tuple, list, frozenset),
    "breaks_in": (dict,),
    "fair_actions": (tuple, list, frozenset),
    "role": (str,),
    "faults": (Param,),
}
"""The names of the language that a protocol may give a value of its own."""


def names_of(kind: type) -> frozenset[str]:
    """List the names that a class of the language uses itself, ``parts`` among them."""
    return frozenset(n for n in {*dir(kind), "parts"} if not n.startswith("__"))


def refuse_reserved(cls: type, reserved: frozenset[str]) -> None:
    """Refuse a class that gives a name of the language to something of its own."""
    for name, what in vars(cls).items():
        if name in reserved and not isinstance(what, _CHOSEN.get(name, ())):
            where = getattr(what, "where", "")
            where = where or (defined_at(what) if callable(what) else here())
            message = f"{name!r} is a name of the language; choose another"
            if isinstance(what, str) and tuple in _CHOSEN.get(name, ()):
                message = f'{name} takes several names, as {name} = ("...",)'
            raise ModelError(message, where=where)
