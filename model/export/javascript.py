"""A system as JavaScript, so that a page can step the model with no server behind it.

The source is one expression of ECMAScript 2020 that evaluates to an object. A state is
an array with a value for each element of each field, in the order of the fields:
``true`` and ``false``, whole numbers, of an enumeration the position of the value, and
of a sort the number of the member, -1 for nobody.
The object has

- ``fields`` with path, type, places and values; ``names`` of the elements; ``starts``,
  what each element may hold at first; ``initial()``, which yields every first state;
- ``events``: the actions and faults, with the sorts that their members are of;
- ``after(state, event, members, log)``: the state after an event, by its number, or
  null where it is not enabled. ``log`` takes what is written, in order;
- ``enabled(state)``, ``rests(state)`` and ``equal(state, state)``;
- ``questions``, each with ``holds(state)``, or of a step ``holds(before, after)``.
  "recoverable" can be evaluated only at rest. Claims about runs cannot: ``holds`` is
  null, and they are not judged here.

No text of a model becomes a name in the source; texts appear only as strings.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, assert_never

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.sorts import Member
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    MemberType,
    Value,
    encode,
    spelled,
)
from onceproof.model.text import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.stores.symbolic_store import FieldWrite
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery

_ESCAPES = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_ESCAPED = str.maketrans(_ESCAPES)


def literal(data: object) -> str:
    """Write plain data as a literal that is safe in a script, inside a page or not."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.translate(_ESCAPED)


def coded(type_: object, value: Value) -> bool | int:
    """Return a value as a state of the JavaScript holds it."""
    if isinstance(type_, BoolType):
        return bool(value)
    return encode(type_, value) if isinstance(type_, EnumType) else int(value)  # type: ignore[arg-type]


def source(system: System, questions: Sequence[SearchQuery] = ()) -> str:
    """Write a system, and questions about it, as one expression of JavaScript."""
    return _ScriptWriter(system).text(questions)


class _ScriptWriter:
    """Writes one system. ``s`` is the state, ``z`` the one after it."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._bases: dict[str, int] = {}
        self._variables: dict[t.Var, str] = {}
        base = 0
        for field in system.fields:
            self._bases[field.path] = base
            base += len(field.places(system.sizes))

    def text(self, questions: Sequence[SearchQuery]) -> str:
        """Write the whole expression."""
        fields = [self._field(field) for field in self._system.fields]
        actions = self._system.actions
        steps = ",\n".join(self._action(action) for action in actions)
        claims = ",\n".join(self._claim(question) for question in questions)
        about = {
            "name": self._system.name,
            "fields": fields,
            "starts": [v for field in self._system.fields for v in self._starts(field)],
            "events": [self._event(action) for action in actions],
            "questions": [self._question(question) for question in questions],
        }
        return (
            f'(() => {{\n"use strict";\nconst about = {literal(about)};\n{_QUANTIFIERS}'
            f"const steps = [\n{steps}\n];\nconst claims = [\n{claims}\n];\n"
            f"{_RUNTIME}}})()"
        )

    # What there is ----------------------------------------------------------------

    def _field(self, field: Field) -> dict[str, Any]:
        found: dict[str, Any] = {
            "path": field.path,
            "at": self._bases[field.path],
            "dims": [self._system.sizes[sort] for sort in field.sorts],
            "sorts": [sort.name for sort in field.sorts],
            "volatile": field.volatile,
        }
        if isinstance(field.type, EnumType):
            values = [cut(spelled(member)) for member in field.type.members]
            return {**found, "type": "enum", "values": values}
        if isinstance(field.type, IntType):
            return {
                **found,
                "type": "int",
                "low": field.type.low,
                "high": field.type.high,
            }
        if isinstance(field.type, MemberType):
            return {**found, "type": "member", "sort": field.type.sort.name}
        return {**found, "type": "bool"}

    def _starts(self, field: Field) -> Iterable[list[bool | int]]:
        for place in field.places(self._system.sizes):
            members = (Member(i, s) for i, s in zip(place, field.sorts, strict=True))
            yield [coded(field.type, value) for value in field.starts(tuple(members))]

    def _event(self, action: ActionTerm) -> dict[str, Any]:
        sorts = [param.type.sort for param in action.params]
        return {
            "name": action.name,
            "fault": action.fault,
            "doc": cut(action.doc.split("\n")[0]),
            "sorts": [sort.name for sort in sorts],
            "sizes": [self._system.sizes[sort] for sort in sorts],
        }

    def _question(self, question: SearchQuery) -> dict[str, Any]:
        """Say how a claim is judged: JavaScript knows no modality by its name."""
        when = question.when
        return {
            "name": question.name,
            "judged": not when.of_runs,
            "ofSteps": when is Modality.STEP,
            "ofRest": when.of_rest,
            "witness": when is Modality.SOMETIMES,
        }

    # What happens -----------------------------------------------------------------

    def _action(self, action: ActionTerm) -> str:
        names = [self._variable(param) for param in action.params]
        writes = " ".join(self._write(write) for write in action.writes)
        guard = self._term(action.guard)
        return (
            f"(s, [{', '.join(names)}], put) => {{ if (!{guard}) return null; "
            f"const n = s.slice(); {writes} return n; }}"
        )

    def _write(self, write: FieldWrite) -> str:
        indices: Sequence[t.Term] = write.vars if write.whole else write.indices
        sizes = [self._system.sizes[var.type.sort] for var in write.vars]
        names = [self._variable(var) for var in write.vars]
        loops = "".join(
            f"for (let {name} = 0; {name} < {size}; {name}++) "
            for name, size in zip(names, sizes, strict=True)
        )
        value = self._term(write.value)
        return f"{loops}put(n, {self._place(write.field, indices)}, {value});"

    def _claim(self, question: SearchQuery) -> str:
        match question.when:
            case (
                Modality.ALWAYS
                | Modality.STEP
                | Modality.AT_REST
                | Modality.RECOVERABLE
                | Modality.SOMETIMES
            ):
                return f"(s, z) => {self._term(question.term)}"
            case Modality.EVENTUALLY | Modality.LEADS_TO:
                return "null"
            case _:
                assert_never(question.when)

    # Terms ------------------------------------------------------------------------

    def _variable(self, var: t.Var) -> str:
        return self._variables.setdefault(var, f"m{len(self._variables)}")

    def _place(self, path: str, indices: Sequence[t.Term]) -> str:
        """Write the number of an element among all of a state."""
        dims = [self._system.sizes[sort] for sort in self._system.field(path).sorts]
        place = ""
        for index, dim in zip(indices, dims, strict=True):
            written = self._term(index)
            place = f"({place}) * {dim} + {written}" if place else written
        base = self._bases[path]
        return f"{base} + {place}" if place else str(base)

    def _term(self, term: t.Term) -> str:
        match term:
            case t.Const():
                return literal(_constant(term))
            case t.Var():
                return self._variable(term)
            case t.Get():
                state = "z" if term.after else "s"
                return f"{state}[{self._place(term.field, term.indices)}]"
            case t.Not():
                return f"!{self._term(term.body)}"
            case t.And() | t.Or():
                sign = " && " if isinstance(term, t.And) else " || "
                return f"({sign.join(self._term(part) for part in term.parts)})"
            case t.ForAll():
                return self._quantified("every", term)
            case t.Exists():
                return self._quantified("some", term)
            case t.Sum():
                return self._quantified("sum", term)
            case t.Ite():
                test, then, orelse = (self._term(inner) for inner in t.children(term))
                return f"({test} ? {then} : {orelse})"
            case t.Eq():
                return f"({self._term(term.left)} === {self._term(term.right)})"
            case t.Less():
                return f"({self._term(term.left)} < {self._term(term.right)})"
            case t.Add():
                return f"({self._term(term.left)} + {self._term(term.right)})"
            case t.Sub():
                return f"({self._term(term.left)} - {self._term(term.right)})"
            case _:
                assert_never(term)

    def _quantified(self, how: str, term: t.Quantifier) -> str:
        written = self._term(term.body)
        for var in reversed(term.vars):
            size = self._system.sizes[var.type.sort]
            written = f"{how}({size}, {self._variable(var)} => {written})"
        return written


def _constant(term: t.Const) -> bool | int:
    """Code a constant. One of a sort is its index, and no number has a base here."""
    return coded(term.type, term.value)


_QUANTIFIERS = """\
const every = (size, claim) => {
  for (let i = 0; i < size; i++) if (!claim(i)) return false;
  return true;
};
const some = (size, claim) => {
  for (let i = 0; i < size; i++) if (claim(i)) return true;
  return false;
};
const sum = (size, number) => {
  let total = 0;
  for (let i = 0; i < size; i++) total += number(i);
  return total;
};
"""

_RUNTIME = """\
function* product(choices) {
  if (choices.some(c => c.length === 0)) return;
  const at = choices.map(() => 0);
  for (;;) {
    yield at.map((i, k) => choices[k][i]);
    let k = at.length - 1;
    while (k >= 0 && ++at[k] === choices[k].length) at[k--] = 0;
    if (k < 0) return;
  }
}
const upTo = size => Array.from({ length: size }, (_, i) => i);
const named = field => [...product(field.dims.map(upTo))].map(
  place => place.length ? `${field.path}[${place.join(", ")}]` : field.path);
const tuples = about.events.map(event => [...product(event.sizes.map(upTo))]);
const equal = (one, other) => one.every((value, i) => value === other[i]);
const put = (state, at, value) => { state[at] = value; };
const after = (state, event, members, log) => steps[event](state, members,
  log ? (n, at, value) => { n[at] = value; log.push([at, value]); } : put);
const enabled = state => {
  const found = [];
  tuples.forEach((all, event) => {
    for (const members of all) {
      const next = after(state, event, members);
      if (next !== null) found.push({ event, members, state: next });
    }
  });
  return found;
};
const moves = (state, event) => tuples[event].some(members => {
  const next = after(state, event, members);
  return next !== null && !equal(next, state);
});
const rests = state => !about.events.some((e, i) => !e.fault && moves(state, i));
const names = about.fields.flatMap(named);
about.questions.forEach((question, i) => { question.holds = claims[i]; });
return { ...about, names, initial: () => product(about.starts),
  after, enabled, rests, equal };
"""
