"""The language that protocols are written in: import everything from here."""

from onceproof.model.language.composition.old_values import old
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.part_families import part
from onceproof.model.language.composition.protocol import Protocol
from onceproof.model.language.declarations.decorators import (
    action,
    always,
    at_rest,
    eventually,
    fault,
    leads_to,
    lemma,
    observe,
    recoverable,
    sometimes,
    step,
)
from onceproof.model.language.declarations.state import state
from onceproof.model.language.expressions.choices import first_of, last_of
from onceproof.model.language.expressions.comparisons import equal, max_of, min_of
from onceproof.model.language.expressions.logic import (
    all_of,
    any_of,
    count,
    if_else,
    implies,
    not_,
    total,
)
from onceproof.model.language.fields import by_member, one_of, param
from onceproof.model.language.parts.channels import channels
from onceproof.model.language.parts.clocks import epochs, timers
from onceproof.model.language.parts.networks import network
from onceproof.model.language.parts.processes import processes
from onceproof.model.language.sorts import (
    Member,
    Sort,
    member_of,
    nobody,
    nobody_of,
)
from onceproof.model.language.stores.store import when

__all__ = [
    "Member",
    "Part",
    "Protocol",
    "Sort",
    "action",
    "all_of",
    "always",
    "any_of",
    "at_rest",
    "by_member",
    "channels",
    "count",
    "epochs",
    "equal",
    "eventually",
    "fault",
    "first_of",
    "if_else",
    "implies",
    "last_of",
    "leads_to",
    "lemma",
    "max_of",
    "member_of",
    "min_of",
    "network",
    "nobody",
    "nobody_of",
    "not_",
    "observe",
    "old",
    "one_of",
    "param",
    "part",
    "processes",
    "recoverable",
    "sometimes",
    "state",
    "step",
    "timers",
    "total",
    "when",
]
