"""A system as a TLA+ module, so that others can check it with their own tools.

The module says what the terms say: a variable for each field, an operator for each
action, a definition for each claim. Members of a sort are the numbers from 0, values
of an enumeration are strings. Lamport, Specifying Systems, 2002.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from onceproof.model.export.tla_names import ModuleNames, words
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.sorts import NO_MEMBER, Member, Nobody
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.terms import number_of
from onceproof.model.language.terms.types import MemberType, member
from onceproof.model.language.tracing.rest import rests
from onceproof.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms.types import Value
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery

_NOBODY = "Nobody"


@dataclass(frozen=True)
class ClaimName:
    """A claim as the module names it."""

    question: SearchQuery
    """The claim."""
    name: str
    """The name of its definition in the module."""
    kind: str
    """INVARIANT or PROPERTY, as a configuration of TLC calls it."""
    witness: bool = False
    """Whether the module defines the negation, so that a counterexample is a witness.
    """


@dataclass(frozen=True)
class Module:
    """A TLA+ module and the claims in it."""

    name: str
    """The name of the module, and of its file."""
    text: str
    """The source of the module."""
    claims: tuple[ClaimName, ...]
    """The claims that the module defines."""
    left_out: tuple[SearchQuery, ...]
    """The claims that have no form in temporal logic, and are left out."""

    def configuration(self, claims: Iterable[ClaimName]) -> str:
        """Return the text of a configuration that has TLC check some claims."""
        lines = ["SPECIFICATION Spec"]
        lines += [f"{claim.kind} {claim.name}" for claim in claims]
        return "\n".join(lines) + "\n"


def module(
    system: System, questions: Sequence[SearchQuery], *, text: str = ""
) -> Module:
    """Write a system and questions about it as a module; ``text`` is its comment.

    A question whether rest can be reached once faults stop has no form in the logic
    of runs, and is left out.
    """
    return _ModuleWriter(system).module(questions, text)


class _ModuleWriter:
    """Writes one system."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._names = ModuleNames(system)
        # A guard or a claim may range over a sort that no field or action is per.
        self._used = {s for f in system.fields for s in f.sorts}
        self._sums = False
        self._rests = False
        self._nobody = False

    def module(self, questions: Sequence[SearchQuery], text: str) -> Module:
        """Write the whole module."""
        left_out = tuple(q for q in questions if q.when is Modality.RECOVERABLE)
        chosen = [q for q in questions if q not in left_out]
        claims, claimed = [], []
        for question in chosen:
            claim, lines = self._claim(question)
            claims.append(claim)
            claimed += ["", *lines]
        actions = [line for a in self._system.actions for line in self._action(a)]
        taken = [f"  \\/ {self._taken_by_some(a)}" for a in self._system.actions]
        rest = self._rest()
        starts = [f"  /\\ {self._start(f)}" for f in self._system.fields]
        names = ", ".join(self._names.fields.values())
        lines = [
            f"---- MODULE {self._names.module} ----",
            *_comment(text),
            *(
                f"\\* Left out, as no formula of runs says it: {q.name}"
                for q in left_out
            ),
            "EXTENDS Integers",
            "",
            *(
                f"{name} == 0..{self._system.sizes[sort] - 1}  \\* {sort.text}"
                for sort, name in self._names.sorts.items()
                if sort in self._used
            ),
            *([f"{_NOBODY} == {NO_MEMBER}"] if self._nobody else []),
            *(["", *_SUM] if self._sums else []),
            "",
            f"VARIABLES {names}",
            f"vars == <<{names}>>",
            "",
            "Init ==",
            *starts,
            *actions,
            "",
            "Next ==",
            *taken,
            "",
            "Spec ==",
            "  /\\ Init",
            "  /\\ [][Next]_vars",
            *(
                f"  /\\ {self._fair(a)}"
                for a in self._system.actions
                if a.fair and not a.fault
            ),
            *rest,
            *claimed,
            "====",
        ]
        return Module(
            self._names.module, "\n".join(lines) + "\n", tuple(claims), left_out
        )

    # What is bound --------------------------------------------------------------

    def _bound(self, variables: Iterable[t.Var]) -> str:
        bound = list(variables)
        self._used.update(v.type.sort for v in bound)
        return ", ".join(
            f"{self._names.variable(v)} \\in {self._names.sorts[v.type.sort]}"
            for v in bound
        )

    def _domain(self, sorts: Iterable[Sort]) -> str:
        return " \\X ".join(self._names.sorts[s] for s in sorts)

    # Start, actions, next ---------------------------------------------------------

    def _start(self, field: Field) -> str:
        name, sizes = self._names.fields[field.path], self._system.sizes
        starts = {}
        for place in field.places(sizes):
            members = tuple(
                Member(i, s) for i, s in zip(place, field.sorts, strict=True)
            )
            starts[place] = [self._value(v) for v in field.starts(members)]
        sets = {tuple(values) for values in starts.values()}
        if not field.sorts:
            return f"{name} \\in {_set(starts[()])}"
        domain = self._domain(field.sorts)
        if len(sets) == 1:
            return f"{name} \\in [{domain} -> {_set(next(iter(sets)))}]"
        every = dict.fromkeys(itertools.chain.from_iterable(sets))
        each = " /\\ ".join(
            f"f[{', '.join(map(str, place))}] \\in {_set(values)}"
            for place, values in starts.items()
        )
        return f"{name} \\in {{f \\in [{domain} -> {_set(every)}] : {each}}}"

    def _action(self, action: ActionTerm) -> list[str]:
        params = ", ".join(self._names.variable(p) for p in action.params)
        head = self._names.actions[action.name] + (f"({params})" if params else "")
        written = action.written
        kept = [n for path, n in self._names.fields.items() if path not in written]
        lines = ["", *_comment(action.doc), f"{head} =="]
        if action.guard != t.TRUE:
            lines += [f"  /\\ {self._term(c)}" for c in t.conjuncts(action.guard)]
        for path in written:
            name = self._names.fields[path]
            lines.append(f"  /\\ {name}' = {self._after(action, path)}")
        if kept:
            lines.append(f"  /\\ UNCHANGED <<{', '.join(kept)}>>")
        return lines

    def _after(self, action: ActionTerm, path: str) -> str:
        """Write what a field holds after an action: its writes, in order."""
        text = self._names.fields[path]
        for write in action.writes:
            if write.field != path:
                continue
            value = self._term(write.value)
            if not self._system.field(path).sorts:
                text = value
            elif write.whole:
                text = f"[{self._bound(write.vars)} |-> {value}]"
            else:
                at = ", ".join(self._term(i) for i in write.indices)
                text = f"[{text} EXCEPT ![{at}] = {value}]"
        return text

    def _taken_by_some(self, action: ActionTerm) -> str:
        name = self._names.actions[action.name]
        if not action.params:
            return name
        names = ", ".join(self._names.variable(p) for p in action.params)
        return f"\\E {self._bound(action.params)} : {name}({names})"

    def _fair(self, action: ActionTerm) -> str:
        name = self._names.actions[action.name]
        if not action.params:
            return f"WF_vars({name})"
        names = ", ".join(self._names.variable(p) for p in action.params)
        return f"(\\A {self._bound(action.params)} : WF_vars({name}({names})))"

    # Claims -----------------------------------------------------------------------

    def _claim(self, question: SearchQuery) -> tuple[ClaimName, list[str]]:
        several = words(question.name.replace("#", " "))
        name = self._names.unique("".join(map(str.capitalize, several)))
        term = self._claimed(question.term)
        match question.when:
            case Modality.ALWAYS:
                claim = ClaimName(question, name, "INVARIANT")
                text = term
            case Modality.STEP:
                claim = ClaimName(question, name, "PROPERTY")
                text = f"[][{term}]_vars"
            case Modality.AT_REST:
                self._rests = True
                claim = ClaimName(question, name, "INVARIANT")
                text = f"Rest => {term}"
            case Modality.SOMETIMES:
                claim = ClaimName(question, name, "INVARIANT", witness=True)
                comment = "\\* A run that breaks it is the witness."
                return claim, [comment, f"{name} == ~{term}"]
            case Modality.EVENTUALLY:
                claim = ClaimName(question, name, "PROPERTY")
                text = f"<>{term}"
            case Modality.LEADS_TO:
                claim = ClaimName(question, name, "PROPERTY")
                text = f"{self._claimed(question.given or t.TRUE)} ~> {term}"
            case Modality.RECOVERABLE:
                message = f"no formula of runs says {question.name}"
                raise ValueError(message)
            case _:
                assert_never(question.when)
        return claim, [f"{name} == {text}"]

    def _claimed(self, term: t.Term) -> str:
        """Write a claim as one of the state, even where it reads none."""
        if any(isinstance(inner, t.Get) for inner in t.subterms(term)):
            return self._term(term)
        # TLC 2.15 calls <>TRUE violated, and takes no invariant that is constant.
        name = next(iter(self._names.fields.values()))
        if isinstance(term, t.Const):
            return f"({name} {'=' if term.value else '#'} {name})"
        return f"({self._term(term)} /\\ ({name} = {name}))"

    def _rest(self) -> list[str]:
        if not self._rests:
            return []
        text = "\\* No action changes anything any more, faults apart."
        return ["", text, f"Rest == {self._term(rests(self._system))}"]

    # Terms ------------------------------------------------------------------------

    def _term(self, term: t.Term) -> str:
        match term:
            case t.Const():
                if isinstance(term.type, MemberType):
                    return self._value(member(number_of(term), term.type.sort))
                return self._value(term.value)
            case t.Var():
                return self._names.variable(term)
            case t.Get():
                name = self._names.fields[term.field] + ("'" if term.after else "")
                at = ", ".join(self._term(i) for i in term.indices)
                return f"{name}[{at}]" if at else name
            case t.Not():
                return self._negation(term.body)
            case t.And() | t.Or():
                sign = " /\\ " if isinstance(term, t.And) else " \\/ "
                return f"({sign.join(self._term(p) for p in term.parts)})"
            case t.ForAll() | t.Exists():
                sign = "\\A" if isinstance(term, t.ForAll) else "\\E"
                return f"({sign} {self._bound(term.vars)} : {self._term(term.body)})"
            case t.Sum():
                return self._sum(term)
            case t.Ite():
                test, then, orelse = (self._term(x) for x in t.children(term))
                return f"(IF {test} THEN {then} ELSE {orelse})"
            case t.Eq():
                return f"({self._term(term.left)} = {self._term(term.right)})"
            case t.Less():
                return f"({self._term(term.left)} < {self._term(term.right)})"
            case t.Add():
                return f"({self._term(term.left)} + {self._term(term.right)})"
            case t.Sub():
                return f"({self._term(term.left)} - {self._term(term.right)})"
            case _:
                assert_never(term)

    def _value(self, value: Value) -> str:
        if isinstance(value, Nobody):
            self._nobody = True
            return _NOBODY
        return _value(value)

    def _negation(self, body: t.Term) -> str:
        if isinstance(body, t.Eq):
            return f"({self._term(body.left)} # {self._term(body.right)})"
        if isinstance(body, t.Less):
            return f"({self._term(body.left)} >= {self._term(body.right)})"
        return f"~{self._term(body)}"

    def _sum(self, term: t.Sum) -> str:
        self._sums = True
        domain = self._domain(v.type.sort for v in term.vars)
        return (
            f"SumOver([{self._bound(term.vars)} |-> {self._term(term.body)}], {domain})"
        )


_SUM = (
    "RECURSIVE SumOver(_, _)",
    "SumOver(f_, S_) ==",
    "  IF S_ = {} THEN 0",
    "  ELSE LET e_ == CHOOSE x_ \\in S_ : TRUE IN f_[e_] + SumOver(f_, S_ \\ {e_})",
)


def _comment(text: str) -> list[str]:
    """Write a comment; what would end it, or begin another, is taken apart."""
    plain = text.replace("*)", "* )").replace("(*", "( *")
    lines = (printable(line) for line in plain.splitlines())
    return [f"(* {line} *)" for line in lines if line.strip()]


def _set(values: Iterable[str]) -> str:
    return "{" + ", ".join(values) + "}"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Enum):
        name = printable(value.name.replace("\\", "\\\\").replace('"', '\\"'))
        return f'"{name}"'
    number = int(value)
    return str(number) if number >= 0 else f"({number})"
