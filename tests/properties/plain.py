"""Claims settled in plain Python alone, and terms worked out without any reader."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.properties.judges.by_search import claims_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def states_of(reference: Interpreter) -> Iterator[Any]:
    """Yield the reachable states, the nearest first."""
    found = dict.fromkeys(reference.initial_states())
    todo = list(found)
    for before in todo:
        yield before
        for _, after in reference.successors(before):
            if after not in found:
                found[after] = None
                todo.append(after)


def settled(protocol: Any, *, most: int = 2000) -> dict[str, str] | None:
    """Settle the claims about states, steps and rest: refuted, vacuous or holds."""
    reference = Interpreter(protocol)
    states = list(itertools.islice(states_of(reference), most + 1))
    if len(states) > most:
        return None
    steps = [
        (before, after)
        for before in states
        for _, after in reference.successors(before)
        if after != before
    ]
    resting = [state for state in states if reference.resting(state)]
    spoken_of: dict[str, Any] = {
        "always": [(state,) for state in states],
        "sometimes": [(state,) for state in states],
        "step": steps,
        "at_rest": [(state,) for state in resting],
    }
    found = {}
    for prop in claims_of(protocol):
        kinds = []
        for clause in prop.clauses:
            if clause.when not in spoken_of:
                break
            held = [
                bool(clause.holds(*(prop.view(reference.look(s)) for s in seen)))
                for seen in spoken_of[clause.when]
            ]
            if clause.when == "sometimes":
                kinds.append("holds" if any(held) else "vacuous")
            else:
                good = "holds" if held else "vacuous"
                kinds.append(good if all(held) else "refuted")
        else:
            found[prop.name] = next(
                kind for kind in ("refuted", "vacuous", "holds") if kind in kinds
            )
    return found


class Values:
    """Works terms out in a state, by the book."""

    def __init__(self, reference: Interpreter, state: Any) -> None:
        self._sizes = reference.protocol.sizes
        self._values = {
            (field.path, place): value
            for (field, place), value in zip(reference.places, state, strict=True)
        }

    def of(self, term: t.Term, env: dict[t.Var, int]) -> Any:
        """Work a term out where variables stand for members."""
        if isinstance(term, t.Const):
            return term.value
        if isinstance(term, t.Var):
            return env[term]
        if isinstance(term, t.Get):
            assert not term.after
            at = tuple(int(self.of(i, env)) for i in term.indices)
            return self._values[term.field, at]
        if isinstance(term, t.ForAll | t.Exists | t.Sum):
            ranges = [range(self._sizes[v.type.sort]) for v in term.vars]
            each = [
                self.of(
                    term.body, {**env, **dict(zip(term.vars, members, strict=True))}
                )
                for members in itertools.product(*ranges)
            ]
            kinds: Any = {t.ForAll: all, t.Exists: any, t.Sum: sum}
            return kinds[type(term)](each)
        if isinstance(term, t.Ite):
            return self.of(term.then if self.of(term.test, env) else term.orelse, env)
        inner = [self.of(child, env) for child in t.children(term)]
        worked: Any = {
            t.Not: lambda: not inner[0],
            t.And: lambda: all(inner),
            t.Or: lambda: any(inner),
            t.Eq: lambda: inner[0] == inner[1],
            t.Less: lambda: inner[0] < inner[1],
            t.Add: lambda: inner[0] + inner[1],
            t.Sub: lambda: inner[0] - inner[1],
        }
        return worked[type(term)]()
