"""How many planted violations guided walks find in a minute of processor time.

``python -m tests.benchmarks.swarm`` takes each variant of the library that breaks a
claim about states, and lets three searches look for it, each for at most ``--seconds``
of processor time: guided walks (``onceproof check --simulate --guided``), uniform walks
(``--simulate``), and Hypothesis, which draws the steps of a run one by one and
evaluates the protocol in plain Python. A row says how many of the violations each
found, the processor time that it took for all of them, and the found ones a minute.
``--faults`` and ``--set`` make the protocols larger; a variant whose states cannot be
searched within ``--states`` is left out, since nobody knows then what is planted.
Names of protocols limit it to these. ``--json`` prints each variant, too.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from onceproof.model.errors import OnceproofError
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, protocols, variants
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.judges.by_search import claims_of, simulate
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import State
    from onceproof.properties.property import Property

DEPTH = 200
FIRST_WALKS = 256


class FoundError(Exception):
    """A run met a state that breaks a claim."""


@dataclass(frozen=True)
class Planted:
    """A protocol with claims about states that it breaks, and the states that do."""

    protocol: Protocol
    claims: list[Property]
    bad: frozenset[State]
    states: int


def planted(protocol: Protocol, most: int) -> Planted | None:
    """Search for what a protocol breaks: None if nothing, or if it is too large."""
    system = trace(protocol)
    asked = {
        p: [q for q in p.questions(system) if _of_states(q)]
        for p in claims_of(protocol)
    }
    questions = list({q.name: q for each in asked.values() for q in each}.values())
    graph = VisitedStates(system, questions)
    graph.start()
    while graph.grow():
        if graph.count > most:
            return None
    broken: dict[str, list[int]] = {}
    for made in graph.sweep(0, graph.count):
        for question in questions:
            wrong = ~made.flags.holds(question.term)
            if question.when is Modality.AT_REST:
                wrong &= made.flags.rests
            rows = (made.lo + wrong.nonzero()[0]).tolist()
            broken.setdefault(question.name, []).extend(rows)
    claims = [p for p, qs in asked.items() if any(broken.get(q.name) for q in qs)]
    rows = sorted({row for each in broken.values() for row in each})
    bad = frozenset(graph.layout.unpack(graph.states[row].tolist()) for row in rows)
    return Planted(protocol, claims, bad, graph.count) if bad else None


def _of_states(question) -> bool:
    return question.when in (Modality.ALWAYS, Modality.AT_REST)


def walks(it: Planted, number: int, seconds: float, *, guided: bool) -> bool:
    """Make more and more walks until a claim is refuted, or time is up."""
    until, some = spent() + seconds, FIRST_WALKS
    while spent() < until:
        report = simulate(
            it.protocol, it.claims, walks=some, depth=DEPTH, seed=number, guided=guided
        )
        if Verdict.REFUTED in report.verdicts.values():
            return True
        some, number = 2 * some, number + 1000
    return False


def by_hypothesis(it: Planted, number: int, seconds: float) -> bool:
    """Let Hypothesis draw runs, until one meets a state that breaks a claim."""
    interpreter = Interpreter(it.protocol)
    starts = sorted(interpreter.initial_states(), key=str)
    kept: dict[State, list[State]] = {}
    until = spent() + seconds
    met: list[State] = []

    def after(state: State) -> list[State]:
        if state not in kept:
            kept[state] = [s for _, s in interpreter.successors(state)]
        return kept[state]

    @settings(
        max_examples=10**9,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def runs(data: st.DataObject) -> None:
        if spent() > until:
            raise TimeoutError
        state = data.draw(st.sampled_from(starts))
        for _ in range(DEPTH):
            if state in it.bad:
                met.append(state)
                raise FoundError
            choices = after(state)
            if not choices:
                return
            state = data.draw(st.sampled_from(choices))

    # It runs what it found again, when time may be up.
    with suppress(FoundError, TimeoutError, Flaky):
        seed(number)(runs)()
    return bool(met)


def spent() -> float:
    """Return the seconds of processors that this process and its children took."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="protocols; all by default")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--faults", type=int, help="how many faults may happen in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given_ = parser.parse_args()
    how: dict[str, Callable[[Planted, int, float], bool]] = {
        "guided": lambda it, n, s: walks(it, n, s, guided=True),
        "uniform": lambda it, n, s: walks(it, n, s, guided=False),
        "hypothesis": by_hypothesis,
    }
    for name in given_.names:
        if name not in protocols():
            parser.error(f"there is no protocol {name}; see onceproof protocols")
    rows = []
    numbers = Random(given_.seed)
    for variant in variants():
        if given_.names and variant.name not in given_.names:
            continue
        more = {} if given_.faults is None else {"faults": str(given_.faults)}
        try:
            it = planted(
                make(variant.name, {**variant.settings, **more}), given_.states
            )
        except OnceproofError as error:
            print(f"{variant}: left out: {error}", file=sys.stderr)
            continue
        if it is None:
            continue
        number, row = (
            numbers.randrange(10**6),
            {"variant": str(variant), "states": it.states},
        )
        for name, search in how.items():
            began = spent()
            found = search(it, number, given_.seconds)
            row[name] = {"found": found, "seconds": round(spent() - began, 3)}
        rows.append(row)
        print(f"{variant}: {row}", file=sys.stderr, flush=True)
    if not rows:
        sys.exit("none of these breaks a claim about states; name others")
    total = {
        name: {
            "found": sum(row[name]["found"] for row in rows),
            "of": len(rows),
            "processor_seconds": round(sum(row[name]["seconds"] for row in rows), 1),
        }
        for name in how
    }
    for each in total.values():
        each["found_a_minute"] = round(
            60 * each["found"] / each["processor_seconds"], 1
        )
    if given_.json:
        print(json.dumps({"all": total, "variants": rows}, indent=2))
        return
    print("search | found | of | processor seconds | found a minute")
    for name, each in total.items():
        print(" | ".join(map(str, (name, *each.values()))))


if __name__ == "__main__":
    main()
