"""A brute force, written apart: it runs a protocol's methods on plain values.

Nothing here comes from a reader of the model: no terms, no packing, no graph, no
symmetry, no solver, and not the reference interpreter either. It has a store of its
own, its own visited set, its own idea of rest, of fair runs, of recovery and of what
a history is.
"""

from __future__ import annotations

import fnmatch
import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.language.declarations.decorators import ActionMark, ClaimMark
from onceproof.model.language.declarations.domains import Domain
from onceproof.model.language.fields import ByMember, OneOf, Param
from onceproof.model.language.sorts import AnyMember, Member
from onceproof.model.language.stores.store import running
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.ledger import of_protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onceproof.model.language.composition.protocol import Protocol

LOOK = ("always", "lemma", "at_rest", "sometimes", "recoverable")
RUNS = ("eventually", "leads_to")


class TooLargeError(Exception):
    """There are more states than the comparison is worth."""


class OffError(Exception):
    """The step cannot happen here."""


class Memory:
    """Where a protocol's state lives: a dictionary from element to value."""

    def __init__(self) -> None:
        self.cells: dict[Any, Any] = {}
        self.first: dict[Any, Any] = {}
        self.lost = False

    def read(self, field_: Any, indices: Any) -> Any:
        key = (field_.path, tuple(int(i) for i in indices))
        if key not in self.cells:
            raise OffError
        return self.cells[key]

    def read_old(self, field_: Any, indices: Any) -> Any:
        return self.first[field_.path, tuple(int(i) for i in indices)]

    def is_somebody(self, value: Any) -> bool:
        return value != -1

    def write(self, field_: Any, indices: Any, value: Any) -> None:
        key = (field_.path, tuple(int(i) for i in indices))
        assert key in self.cells, key
        self.cells[key] = self.fit(field_, value)

    def indexed(self, path: Any, sorts: Any, indices: Any) -> Any:
        return indices

    def write_all(self, *changes: tuple[Any, Any]) -> None:
        new = [
            (field_, at, rule(*(Member(i, s) for i, s in zip(at, sorts, strict=True))))
            for field_, rule in changes
            for sorts in [field_.sorts]
            for path, at in list(self.cells)
            if path == field_.path
        ]
        for field_, at, value in new:
            self.write(field_, at, value)
            self.lost = self.lost or field_.volatile

    def fit(self, field_: Any, value: Any) -> Any:
        low, high = (
            getattr(field_.type, "low", None),
            getattr(field_.type, "high", None),
        )
        if low is None:
            return value
        assert low <= value <= high, (field_.path, value)
        return int(value)

    def require(self, condition: Any, *, late: bool = False) -> None:
        if not condition:
            raise OffError

    def loop(self, ranges: Any, give: Any, frame: Any) -> Iterator[Any]:
        every = itertools.product(
            *([Member(i, sort) for i in range(size)] for sort, size in ranges)
        )
        return iter([give(each) for each in every])

    def uses_size(self, sort: Any) -> None:
        pass


@dataclass(frozen=True)
class Does:
    """An event: an action or fault for some members."""

    name: str
    members: tuple[int, ...]
    fault: bool
    fair: bool


@dataclass(frozen=True)
class Clause:
    """One thing that is claimed: of which property, when, and how to ask.

    Where no state meets its ``premise``, it says nothing.
    """

    property: str
    number: int
    when: str
    ask: Callable[..., Any] = field(compare=False)
    premise: Callable[..., Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Settled:
    """What became of a clause; ``shortest`` is the length of the shortest trace."""

    verdict: str
    shortest: int | None = None


class Brute:
    """All states of a protocol, found by running it."""

    def __init__(self, protocol: Protocol, most: int = 10_000) -> None:
        self.protocol = protocol
        self._memory, self._later = Memory(), Memory()
        self._here = protocol.bound(self._memory)
        self._after = protocol.bound(self._later)
        self._fields = list(protocol.all_fields())
        self._limits: dict[str, int] = {}
        self.events = self._events()
        self.keys = [
            (f.path, at)
            for f in self._fields
            for at in itertools.product(*(range(protocol.sizes[s]) for s in f.sorts))
        ]
        self.keys += [(name, ()) for name in self._limits]
        self.sorts = {f.path: f.sorts for f in self._fields}
        self.states: list[tuple[Any, ...]] = []
        self.far: list[int] = []
        self.steps: list[list[tuple[int, int]]] = []
        self.stutters: list[list[int]] = []
        self.crashes: set[str] = set()
        self._search(most)
        self.rests = [all(self.events[e].fault for e, _ in out) for out in self.steps]
        self.clauses = self._clauses()
        self._asked: dict[Clause, list[Any]] = {}

    # What can happen ----------------------------------------------------------

    def _events(self) -> list[Does]:
        found = []
        self._how: dict[str, tuple[str, tuple[str, ...], Any]] = {}
        for owner in self._here.all_parts():
            for name, what in owner.declared().items():
                mark = getattr(what, "onceproof_mark", None)
                if not isinstance(mark, ActionMark):
                    continue
                path = owner.path_to(name)
                limits = {}
                if mark.fault:
                    limits["faults"] = self.protocol.faults
                    own = mark.at_most
                    if own is not None:
                        limits[f"faults.{path}"] = (
                            owner.argument(own) if isinstance(own, Param) else own
                        )
                if 0 in limits.values():
                    continue
                self._limits.update(limits)
                sorts = (*owner.part_sorts, *mark.per)
                self._how[path] = (name, tuple(limits), sorts)
                ranges = (range(self.protocol.sizes[s]) for s in sorts)
                fair = mark.fair or (not mark.fault and self._named_fair(path))
                found += [
                    Does(path, members, mark.fault, fair)
                    for members in itertools.product(*ranges)
                ]
        return found

    def _named_fair(self, path: str) -> bool:
        return any(
            fnmatch.fnmatch(path, owner.path_to(name))
            for owner in self._here.all_parts()
            for name in owner.fair_actions
        )

    def _starts(self) -> Iterator[tuple[Any, ...]]:
        by_path = {f.path: f for f in self._fields}
        choices = []
        for path, at in self.keys:
            if path in self._limits:
                choices.append([0])
                continue
            start = by_path[path].initial
            if isinstance(start, ByMember):
                sorts = self.sorts[path]
                members = [Member(i, s) for i, s in zip(at, sorts, strict=True)]
                start = start.rule(*members[by_path[path].for_part :])
            values = list(start.values) if isinstance(start, OneOf) else [start]
            values = [
                one
                for some in values
                for one in (
                    [
                        Member(i, some.sort)
                        for i in range(self.protocol.sizes[some.sort])
                    ]
                    if isinstance(some, AnyMember)
                    else [some]
                )
            ]
            choices.append([v for i, v in enumerate(values) if v not in values[:i]])
        yield from itertools.product(*choices)

    def _search(self, most: int) -> None:
        number: dict[tuple[Any, ...], int] = {}

        def seen(state: tuple[Any, ...], far: int) -> int:
            if state not in number:
                if len(number) >= most:
                    raise TooLargeError
                number[state] = len(self.states)
                self.states.append(state)
                self.far.append(far)
            return number[state]

        self.generated = 0
        for state in self._starts():
            self.generated += 1
            seen(state, 0)
            if self.generated > 50 * most:
                raise TooLargeError
        self.starts = len(self.states)
        at = 0
        while at < len(self.states):
            out, idle = [], []
            for e in range(len(self.events)):
                after = self._run(self.states[at], e)
                if after is None:
                    continue
                self.generated += 1
                if after == self.states[at]:
                    idle.append(e)
                else:
                    out.append((e, seen(after, self.far[at] + 1)))
            self.steps.append(out)
            self.stutters.append(idle)
            at += 1
        self.number = number

    def _run(self, state: tuple[Any, ...], event: int) -> tuple[Any, ...] | None:
        does = self.events[event]
        name, limits, per = self._how[does.name]
        memory = self._memory
        memory.cells = cells = dict(zip(self.keys, state, strict=True))
        memory.first = dict(cells)
        memory.lost = False
        if any(cells[limit, ()] >= self._limits[limit] for limit in limits):
            return None
        members = [Member(i, s) for i, s in zip(does.members, per, strict=True)]
        holders = does.name.split(".")[:-1]
        try:
            with running(memory):
                found, own = self._here.part_at(holders, tuple(members))
                getattr(found, name)(*own)
        except OffError:
            return None
        if does.fault and memory.lost:
            self.crashes.add(does.name)
        for limit in limits:
            cells[limit, ()] += 1
        return tuple(cells.values())

    # What is claimed ----------------------------------------------------------

    def _clauses(self) -> list[Clause]:
        found = []
        for prop in guarantees_of(self._here):
            for number, clause in enumerate(prop.clauses):
                found.append(
                    Clause(
                        prop.name,
                        number,
                        clause.when,
                        lambda *p, c=clause: c.holds(*map(of_protocol, p)),
                        clause.premise
                        and (lambda p, c=clause: c.premise(of_protocol(p))),
                    )
                )
        for owner in self._here.all_parts():
            for name, what in owner.declared().items():
                mark = getattr(what, "onceproof_mark", None)
                if isinstance(mark, ClaimMark):
                    path = owner.path_to(name)
                    found += self._own(path, mark, (*owner.part_sorts, *mark.per))
        return found

    def _own(self, path: str, mark: ClaimMark, per: Any) -> Iterator[Clause]:
        *holders, name = path.split(".")

        def asked(members: Any, before: Any, *after: Any) -> Any:
            part, own = before.part_at(holders, members)
            later = (one.part_at(holders, members)[0] for one in after)
            return getattr(part, name)(*own, *later)

        tuples = list(
            itertools.product(
                *(
                    s.values
                    if isinstance(s, Domain)
                    else [Member(i, s) for i in range(self.protocol.sizes[s])]
                    for s in per
                )
            )
        )
        if per and mark.when in ("always", "step", "at_rest"):

            def every(before: Any, *after: Any) -> bool:
                return all(asked(m, before, *after) for m in tuples)

            yield Clause(path.replace("_", "-"), 0, mark.when, every)
            return
        for number, members in enumerate(tuples):

            def ask(before: Any, *after: Any, members: Any = members) -> Any:
                return asked(members, before, *after)

            yield Clause(path.replace("_", "-"), number, mark.when, ask)

    def ask(self, clause: Clause, *states: int) -> Any:
        """Ask a clause of one state, or of the two of a step."""
        views = [self._here, self._after][: len(states)]
        memories = [self._memory, self._later]
        for memory, state in zip(memories, states, strict=False):
            memory.cells = dict(zip(self.keys, self.states[state], strict=True))
        found = clause.ask(*views)
        if isinstance(found, tuple):
            return tuple(bool(x) for x in found)
        return bool(found)

    def everywhere(self, clause: Clause) -> list[Any]:
        """Ask a clause of every state."""
        if clause not in self._asked:
            states = range(len(self.states))
            self._asked[clause] = [self.ask(clause, i) for i in states]
        return self._asked[clause]

    def settle(self, clause: Clause) -> Settled:
        """Settle a clause by looking at everything, what it speaks of as well."""
        settled = self._settle(clause)
        if settled.verdict == "exhausted" and clause.premise:
            premise = replace(clause, ask=clause.premise)
            if not any(self.ask(premise, i) for i in range(len(self.states))):
                return Settled("vacuous")
        return settled

    def _settle(self, clause: Clause) -> Settled:
        if clause.when == "step":
            return self._settle_steps(clause)
        if clause.when in RUNS:
            return self._settle_runs(clause)
        truth = self.everywhere(clause)
        states = range(len(self.states))
        if clause.when == "always":
            return self._first(i for i in states if not truth[i])
        if clause.when == "at_rest":
            if not any(self.rests):
                return Settled("vacuous")
            return self._first(i for i in states if self.rests[i] and not truth[i])
        if clause.when == "sometimes":
            met = self._first(i for i in states if truth[i])
            if met.verdict == "exhausted":
                return Settled("vacuous")
            return Settled("exhausted", met.shortest)
        assert clause.when == "recoverable"
        can = {i for i in states if self.rests[i] and truth[i]}
        while True:
            more = {
                i
                for i in states
                if i not in can
                and any(
                    to in can and not self.events[e].fault for e, to in self.steps[i]
                )
            }
            if not more:
                break
            can |= more
        return self._first(i for i in states if i not in can)

    def _first(self, bad: Iterator[int]) -> Settled:
        lengths = [self.far[i] for i in bad]
        return Settled("refuted", min(lengths)) if lengths else Settled("exhausted")

    def _settle_steps(self, clause: Clause) -> Settled:
        lengths, any_step = [], False
        for i, out in enumerate(self.steps):
            for _, to in out:
                any_step = True
                if not self.ask(clause, i, to):
                    lengths.append(self.far[i] + 1)
        if lengths:
            return Settled("refuted", min(lengths))
        return Settled("exhausted" if any_step else "vacuous")

    # Runs that go on for ever ---------------------------------------------------

    def _settle_runs(self, clause: Clause) -> Settled:
        holding = self.everywhere(clause)
        if clause.when == "eventually":
            begins = [i for i in range(self.starts) if not holding[i]]
            good = holding
        else:
            if not any(given for given, _ in holding):
                return Settled("vacuous")
            begins = [
                i for i, (given, then) in enumerate(holding) if given and not then
            ]
            good = [then for _, then in holding]
        near, todo = set(begins), list(begins)
        while todo:
            for _, to in self.steps[todo.pop()]:
                if not good[to] and to not in near:
                    near.add(to)
                    todo.append(to)
        bad = any(self.fair_for_ever(piece) for piece in self._pieces(near))
        return Settled("refuted" if bad else "exhausted")

    def fair_for_ever(self, piece: set[int]) -> bool:
        """Say whether a run may stay among these states for ever, and be fair.

        A fair event must happen among them, or be unable to change something in one.
        """
        for e, does in enumerate(self.events):
            if not does.fair or does.fault:
                continue
            able = all(any(e == f for f, _ in self.steps[i]) for i in piece)
            happens = any(
                e == f and to in piece for i in piece for f, to in self.steps[i]
            )
            if able and not happens:
                return False
        return True

    def _pieces(self, among: set[int]) -> Iterator[set[int]]:
        """Yield the strongly connected pieces (Kosaraju, twice over)."""
        order: list[int] = []
        seen: set[int] = set()
        for root in among:
            if root in seen:
                continue
            seen.add(root)
            stack = [(root, iter(self.steps[root]))]
            while stack:
                at, out = stack[-1]
                for _, to in out:
                    if to in among and to not in seen:
                        seen.add(to)
                        stack.append((to, iter(self.steps[to])))
                        break
                else:
                    stack.pop()
                    order.append(at)
        back: dict[int, list[int]] = {i: [] for i in among}
        for i in among:
            for _, to in self.steps[i]:
                if to in among:
                    back[to].append(i)
        placed: set[int] = set()
        for root in reversed(order):
            if root in placed:
                continue
            piece, todo = {root}, [root]
            placed.add(root)
            while todo:
                for i in back[todo.pop()]:
                    if i not in placed:
                        placed.add(i)
                        piece.add(i)
                        todo.append(i)
            yield piece

    # Names of members -------------------------------------------------------------

    def renamed(self, state: tuple[Any, ...], names: dict[Any, tuple[int, ...]]) -> Any:
        """Rename members in a state: element ``i`` becomes element ``names[i]``."""
        moved = {}
        for (path, at), value in zip(self.keys, state, strict=True):
            sorts = self.sorts.get(path, ())
            new = tuple(
                names[s][i] if s in names else i for i, s in zip(at, sorts, strict=True)
            )
            if isinstance(value, Member) and value != -1 and value.sort in names:
                moved[path, new] = Member(names[value.sort][value], value.sort)
            else:
                moved[path, new] = value
        return tuple(moved[key] for key in self.keys)

    def alike(self, sort: Any) -> bool:
        """Say whether nothing that happens tells the members of a sort apart."""
        size = self.protocol.sizes[sort]
        per = {name: how[2] for name, how in self._how.items()}
        index = {(e.name, e.members): i for i, e in enumerate(self.events)}
        for one in range(size - 1):
            swap = list(range(size))
            swap[one], swap[one + 1] = one + 1, one
            names = {sort: tuple(swap)}
            event = [
                index[
                    e.name,
                    tuple(
                        swap[m] if s is sort else m
                        for m, s in zip(e.members, per[e.name], strict=True)
                    ),
                ]
                for e in self.events
            ]
            image = [self.number.get(self.renamed(s, names)) for s in self.states]
            if None in image:
                return False
            if {image[i] for i in range(self.starts)} != set(range(self.starts)):
                return False
            for i, out in enumerate(self.steps):
                there = image[i]
                assert there is not None
                if {(event[e], image[to]) for e, to in out} != set(self.steps[there]):
                    return False
        return True

    def namings(self, sorts: list[Any]) -> list[dict[Any, tuple[int, ...]]]:
        """List all ways to rename the members of some sorts."""
        ways = [
            list(itertools.permutations(range(self.protocol.sizes[s]))) for s in sorts
        ]
        return [dict(zip(sorts, way, strict=True)) for way in itertools.product(*ways)]

    # Histories ----------------------------------------------------------------------

    def durable(self, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give what of a state outlives a crash."""
        volatile = {f.path for f in self._fields if f.volatile}
        return tuple(
            None if path in volatile or path in self._limits else value
            for (path, _), value in zip(self.keys, state, strict=True)
        )

    def histories(self, most: int) -> dict[Any, int] | None:
        """Count the failure runs to rest by what they leave; None if there is no end.

        A history is the durable state at first, those before and after each crash,
        and that at rest.
        """
        waiting = [0] * len(self.states)
        for out in self.steps:
            for _, to in out:
                waiting[to] += 1
        ready = [i for i, n in enumerate(waiting) if not n]
        durable = [self.durable(s) for s in self.states]
        runs: list[dict[Any, int]] = [{} for _ in self.states]
        for i in range(self.starts):
            runs[i][(durable[i],), False] = 1
        held = 0
        for i in ready:
            for e, to in self.steps[i]:
                does = self.events[e]
                crash = does.name in self.crashes
                for (past, failed), times in runs[i].items():
                    longer = (*past, (durable[i], durable[to])) if crash else past
                    key = (longer, failed or does.fault)
                    runs[to][key] = runs[to].get(key, 0) + times
                waiting[to] -= 1
                if not waiting[to]:
                    ready.append(to)
                    held += len(runs[to])
                    if held > most:
                        raise TooLargeError
        if len(ready) < len(self.states):
            return None
        found: dict[Any, int] = {}
        for i in ready:
            if self.rests[i]:
                for (past, failed), times in runs[i].items():
                    if failed:
                        key = (*past, durable[i])
                        found[key] = found.get(key, 0) + times
        return found

    def canonical(self, history: Any, namings: list[Any]) -> Any:
        """Give the least of a history under all namings, in one order."""

        def moved(part: Any, naming: Any) -> Any:
            if part and isinstance(part[0], tuple):
                return tuple(self.renamed(state, naming) for state in part)
            return self.renamed(part, naming)

        return min(
            repr(tuple(moved(part, naming) for part in history)) for naming in namings
        )
