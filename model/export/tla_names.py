"""The names that a system's fields, sorts and actions have in a TLA+ module."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.model.language.terms.terms import Var
    from onceproof.model.language.tracing.system import System

_RESERVED = """
ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE
DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL
MODULE NEW OBVIOUS OMITTED OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE
STRONG SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES
WF_ WITH WITNESS TRUE FALSE BOOLEAN STRING Int Nat Real Init Next Spec Rest SumOver vars
f_ S_ e_ x_ Nobody
"""


class ModuleNames:
    """Names everything that a module of one system mentions; each name is given once.

    ``module`` is the module's own name. ``sorts``, ``fields`` and ``actions`` have
    those of the system, the last two by path and name.
    """

    def __init__(self, system: System) -> None:
        """Name the module, and what the system declares."""
        self._taken = set(_RESERVED.split())
        self.module = self.unique("".join(map(str.capitalize, words(system.name))))
        self.sorts = {s: self.unique(s.name.upper()) for s in system.sizes}
        self.fields = {f.path: self.unique(_lower(f.path)) for f in system.fields}
        self.actions = {
            a.name: self.unique("".join(w[:1].upper() + w[1:] for w in words(a.name)))
            for a in system.actions
        }
        self._variables: dict[str, str] = {}

    def unique(self, wanted: str) -> str:
        """Return a name like the wanted one that nothing else has."""
        name = re.sub(r"\W", "_", wanted)
        name = name if re.match(r"_*[A-Za-z]", name) else f"x{name}"
        while name in self._taken or name.startswith(("WF_", "SF_")):
            name += "_"
        self._taken.add(name)
        return name

    def variable(self, var: Var) -> str:
        """Return the name of a bound variable, or of a parameter."""
        if var.name not in self._variables:
            self._variables[var.name] = self.unique(_lower(var.name))
        return self._variables[var.name]


def words(name: str) -> list[str]:
    """Take a name apart into its words."""
    return [w for w in re.split(r"[^A-Za-z0-9]+", name) if w]


def _lower(path: str) -> str:
    return "_".join(words(path.replace("_", " ")))
