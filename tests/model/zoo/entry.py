"""What an entry of the zoo states: a reported violation, its run, and its fixes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.language import Part
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.traces import Trace, follow
from onceproof.properties.counterexample.explanation.property_timeline import breaks
from onceproof.properties.judges.by_search import claims_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language import Protocol
    from onceproof.properties.property import Property

STEP = re.compile(r"([\w.]+)\(([\d, ]*)\)(!?)")
JIRA = "https://issues.apache.org/jira/browse/"
WIKI = "https://cwiki.apache.org/confluence/display/"
ADDRESSES = {
    "KIP-890": f"{WIKI}KAFKA/KIP-890%3A+Transactions+Server-Side+Defense",
    "FLIP-147": f"{WIKI}FLINK/FLIP-147%3A+Support+Checkpoints+After+Tasks+Finished",
    "PIP-254": "https://github.com/apache/pulsar/issues/19744",
    "Delta Lake's txnAppId": "https://docs.delta.io/latest/delta-streaming.html"
    "#idempotent-table-writes-in-foreachbatch",
}
REPOSITORIES = {
    "Delta": "delta-io/delta",
    "Iceberg": "apache/iceberg",
    "Paimon": "apache/paimon",
    "Pulsar": "apache/pulsar",
    "Redpanda": "redpanda-data/redpanda",
    "flink-cdc": "apache/flink-cdc",
}


@dataclass(frozen=True)
class BuggyCause:
    """Why violations of a kind happen."""

    title: str
    """The heading of the group."""
    text: str
    """The cause, in a few sentences."""


@dataclass(frozen=True)
class Made:
    """A protocol with parts in its slots, and sizes."""

    protocol: type[Protocol]
    """The protocol."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Its parts, sizes and numbers that are not the standard ones."""

    def instance(self) -> Protocol:
        """Make the protocol."""
        return self.protocol(**self.settings)

    def words(self) -> str:
        """Write it as it is typed after ``onceproof check``."""
        name = self.protocol.label()
        if not self.protocol.__module__.startswith("onceproof."):
            path = self.protocol.__module__.replace(".", "/")
            name = f"{path}.py:{name}"
        chosen = (
            f" --set {key}={value if isinstance(value, int) else value.label()}"
            for key, value in self.settings.items()
        )
        return f"{name}{''.join(chosen)}"

    def own_classes(self) -> set[type[Part]]:
        """Return the classes that are not the library's."""
        return {
            kind
            for part in self.instance().all_parts()
            for kind in type(part).__mro__
            if issubclass(kind, Part) and not kind.__module__.startswith("onceproof.")
        }


@dataclass(frozen=True)
class ZooFix:
    """A protocol without the violation."""

    text: str
    """What is different, in a sentence."""
    made: Made
    """The protocol, in which everything holds."""


@dataclass(frozen=True)
class ZooEntry:
    """A reported violation of a real system."""

    name: str
    """The name of its ticket, and which half it is if there are two."""
    tickets: tuple[str, ...]
    """The tickets that report it."""
    cause: BuggyCause
    """Why it happens."""
    text: str
    """What happens, in two or three sentences."""
    made: Made
    """The protocol that breaks."""
    breaks: frozenset[str]
    """All the claims that it breaks."""
    shows: str
    """The claim that the run breaks."""
    run: tuple[Event, ...]
    """A shortest run that breaks the claim."""
    fixes: tuple[ZooFix, ...]
    """What does not break."""
    reported: tuple[Event, ...] = ()
    """The run of the report, if it is longer than a shortest one."""
    unmet: frozenset[str] = frozenset()
    """The witnesses that no run meets in it."""
    same_faults: bool = False
    """Whether runs with other faults than those of the report are left out."""

    @property
    def file_name(self) -> str:
        """The name of its picture without the ending, and of its section's address."""
        return re.sub(r"[^\w -]", "", self.name.lower()).replace(" ", "-")

    def followed(self, events: tuple[Event, ...]) -> EntryRun:
        """Follow a run in plain Python."""
        protocol = self.made.instance()
        reference = Interpreter(protocol)
        claim = next(p for p in claims_of(protocol) if p.name == self.shows)
        start = next(iter(reference.initial_states()))
        return EntryRun(protocol, reference, claim, follow(reference, start, events))


@dataclass(frozen=True)
class EntryRun:
    """A run of an entry, followed in plain Python."""

    protocol: Protocol
    """The protocol that breaks."""
    reference: Interpreter
    """The protocol in plain Python."""
    claim: Property
    """The claim that the run breaks."""
    trace: Trace
    """The run, with the state after each step."""

    @property
    def clause(self) -> int:
        """The position of the clause that fails at the last step; 0 if none does."""
        states = self.trace.states
        failing = (
            number
            for number, clause in enumerate(self.claim.clauses)
            if breaks(self.claim, clause, self.reference, states)
        )
        return next(failing, 0)


def steps(text: str) -> tuple[Event, ...]:
    """Read the steps of a run; an exclamation mark follows a fault."""
    return tuple(
        Event(step, tuple(int(m) for m in members.split(",") if m), bool(fault))
        for step, members, fault in STEP.findall(text)
    )


def address(ticket: str) -> str:
    """Return where a ticket is published."""
    if ticket in ADDRESSES:
        return ADDRESSES[ticket]
    repository, sign, number = ticket.partition(" #")
    if sign:
        return f"https://github.com/{REPOSITORIES[repository]}/issues/{number}"
    return f"{JIRA}{ticket}"
