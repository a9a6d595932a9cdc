"""Every reader of a model reads every term and every modality there is."""

from __future__ import annotations

import ast
import functools
import re
import typing
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import z3

from onceproof.model.conformance.term_text import text_of
from onceproof.model.errors import ModelError
from onceproof.model.export.formats import FORMATS
from onceproof.model.export.javascript import coded, source
from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    any_of,
    count,
    if_else,
    not_,
    state,
    when,
)
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.ranges import Ranges
from onceproof.model.language.terms.types import BoolType, spelled
from onceproof.model.language.tracing.evaluation import Meaning
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.queries import SearchQuery
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.counterexample.explanation.slicing import Evaluation
from onceproof.properties.judges.by_proof.connectives import asserted
from onceproof.properties.judges.by_proof.encode import Encoder
from onceproof.properties.judges.by_proof.fragment import fragment
from onceproof.properties.judges.by_proof.inference import grammar
from onceproof.properties.judges.by_proof.inference.evaluation import of_states
from onceproof.properties.judges.by_proof.inference.text import LemmaWriter
from onceproof.properties.judges.by_proof.smtlib import InductionText
from onceproof.properties.property import Clause
from tests.node import Node

ROOT = Path(__file__).parents[2]
ROOMS = ("model", "properties", "spark_checks")
TERMS = typing.get_args(t.Term)


class Colour(Enum):
    """What a lamp shows."""

    RED = "red"
    GREEN = "green"


class Lamps(Protocol):
    """A few lamps with one of each kind of field."""

    LAMP = Sort("lamp", size=2)

    lit = state(False, per=LAMP)
    shows = state(Colour.RED, per=LAMP)
    number = state(0, low=0, high=2)
    chosen = state(0, low=0, high=1)

    @action(per=LAMP)
    def light(self, lamp):
        """A lamp is lit."""
        when(not_(self.lit[lamp]), self.number < 2)
        self.lit[lamp] = True
        self.shows[lamp] = Colour.GREEN
        self.number += 1


SAMPLES = {
    t.Const: lambda p: p.number == 1,
    t.Var: lambda p: all_of(p.lit[lamp] for lamp in p.LAMP),
    t.Get: lambda p: any_of(p.shows[lamp] == Colour.GREEN for lamp in p.LAMP),
    t.Not: lambda p: not_(p.number == 1),
    t.And: lambda p: (p.number < 2) & any_of(p.lit[lamp] for lamp in p.LAMP),
    t.Or: lambda p: (p.number == 0) | all_of(p.lit[lamp] for lamp in p.LAMP),
    t.Eq: lambda p: p.number == p.chosen,
    t.Less: lambda p: p.chosen < p.number,
    t.Add: lambda p: p.number + p.chosen + 1 == 2,
    t.Sub: lambda p: p.number - p.chosen - 1 == 0,
    t.Ite: lambda p: if_else(p.number == 1, p.chosen, p.number) == 2,
    t.ForAll: lambda p: all_of(not_(p.lit[lamp]) for lamp in p.LAMP),
    t.Exists: lambda p: any_of(p.lit[lamp] for lamp in p.LAMP),
    t.Sum: lambda p: count(p.lit[lamp] for lamp in p.LAMP) == 1,
}
"""For each class of terms, a claim whose term holds one of it."""


@pytest.fixture(scope="module")
def reference():
    """Give the lamps in plain Python."""
    return Interpreter(Lamps())


@pytest.fixture(scope="module")
def node():
    """Give a process of Node for all examples."""
    running = Node()
    yield running
    running.close()


def states_of(reference):
    """List all states, by plain Python."""
    found = dict.fromkeys(reference.initial_states())
    todo = list(found)
    for before in todo:
        for _, after in reference.successors(before):
            if after not in found:
                found[after] = None
                todo.append(after)
    return list(found)


def elements(reference, plain):
    """Give what each element of a state holds."""
    pairs = zip(reference.places, plain, strict=True)
    return {(field.path, place): value for (field, place), value in pairs}


# Readers: each works a claim out in every one of some states -------------------------


def by_meaning(system, claim, reference, states, node):
    worth = Meaning(system.sizes).of(claim)
    found = []
    for plain in states:
        values: dict[str, dict[Any, Any]] = {}
        for (path, place), value in elements(reference, plain).items():
            values.setdefault(path, {})[place] = value
        found.append(worth({}, values, values))
    return found


def by_native_code(system, claim, reference, states, node):
    graph = VisitedStates(system, [SearchQuery("asked", Modality.ALWAYS, claim)])
    found = []
    for plain in states:
        rows = np.array([graph.layout.pack(plain)], np.int64)
        found.append(graph.expand_rows(rows).flags.holds(claim)[0])
    return found


def by_z3(system, claim, reference, states, node):
    encoder = Encoder(system, [claim])
    now = encoder.elements("now")
    formula = asserted(encoder.encode(claim, {}, now))
    found = []
    for plain in states:
        values = [
            (now[field.path, place], encoder.literal(field.type, code))
            for (field, place), value in zip(reference.places, plain, strict=True)
            for code in [encoder.code(field.type, value)]
        ]
        answer = z3.simplify(z3.substitute(formula, *values))
        assert z3.is_true(answer) or z3.is_false(answer), answer
        found.append(z3.is_true(answer))
    return found


def by_javascript(system, claim, reference, states, node):
    asked = [SearchQuery("asked", Modality.ALWAYS, claim)]
    codes = [
        [coded(f.type, v) for (f, _), v in zip(reference.places, plain, strict=True)]
        for plain in states
    ]
    program = "({ source, states }) => states.map(eval(source).questions[0].holds)"
    return node(program, {"source": source(system, asked), "states": codes})


def by_slicing(system, claim, reference, states, node):
    found = []
    for plain in states:
        here = elements(reference, plain)
        assert all(spelled(value) is not None for value in here.values())
        found.append(Evaluation(system, [here]).of(claim, {})[0])
    return found


def by_text(system, claim, reference, states, node):
    """What is written for people is read by Python, which needs only the names."""
    text = text_of(claim, {})
    known = {"all_of": all, "any_of": any, "total": sum, "LAMP": range(2)}
    known["if_else"] = lambda test, then, orelse: then if test else orelse
    known.update({"true": True, "false": False, "red": "red", "green": "green"})
    found = []
    for plain in states:
        values: dict[str, Any] = {}
        for (path, place), value in elements(reference, plain).items():
            shown = value.value if isinstance(value, Colour) else value
            if place:
                values.setdefault(path, {})[place[0]] = shown
            else:
                values[path] = shown
        found.append(eval(text, {**known, **values}))
    return found


def by_many_states(system, claim, reference, states, node):
    return of_states(system, states).truth(claim, {})


def by_lemma(system, claim, reference, states, node):
    """What is written as a lemma of the model is read back, and then means the same."""
    writer = LemmaWriter(system)
    lemma = writer.property(writer.lemma("asked", claim))
    [question] = lemma.questions(system)
    return by_meaning(system, question.term, reference, states, node)


def by_smtlib(system, claim, reference, states, node):
    text = InductionText(system, [], [], frozenset())
    formula = text._read(claim, {}, "now", "next")
    found = []
    for plain in states:
        here = [
            f"(= {text._symbol(text._fields[field.path][0], place, 'now')} "
            f"{text._value(field.type, value)})"
            for (field, place), value in zip(reference.places, plain, strict=True)
        ]
        solver = z3.Solver()
        solver.from_string(text._script([*here, formula]))
        found.append(solver.check() == z3.sat)
    return found


READERS = {
    "model/conformance/term_text.py": by_text,
    "model/language/tracing/evaluation.py": by_meaning,
    "model/search/native/term_code.py": by_native_code,
    "model/export/javascript.py": by_javascript,
    "properties/judges/by_proof/encode.py": by_z3,
    "properties/judges/by_proof/smtlib.py": by_smtlib,
    "properties/judges/by_proof/inference/evaluation.py": by_many_states,
    "properties/judges/by_proof/inference/text.py": by_lemma,
    "properties/counterexample/explanation/slicing.py": by_slicing,
}
"""By its file, each reader that says what a term is worth in a state."""

OTHER_READERS = {
    "model/language/terms/terms.py",
    "model/language/terms/ranges.py",
    "model/export/tla.py",
    "properties/judges/by_proof/fragment.py",
    "properties/judges/by_proof/inference/grammar.py",
}
"""Those that say something else of terms: each has a test of its own, most of them
here."""


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("kind", TERMS, ids=lambda kind: kind.__name__)
def test_a_reader_reads_each_kind_of_term_as_python_does(kind, reader, reference, node):
    """A new class of terms needs a sample here, and each reader has to know it."""
    system = trace(reference.protocol)
    states = states_of(reference)
    claim = system.claim(SAMPLES[kind])
    assert any(isinstance(part, kind) for part in t.subterms(claim))

    found = reader(system, claim, reference, states, node)

    plain = [reference.evaluate(SAMPLES[kind], s) for s in states]
    assert list(map(bool, found)) == list(map(bool, plain))
    assert len(set(map(bool, plain))) == 2, "the sample distinguishes no two states"


@pytest.mark.parametrize("kind", TERMS, ids=lambda kind: kind.__name__)
def test_a_lemma_is_made_of_claims_without_connectives(kind, reference):
    """The parts of a claim say something that is true or false, and nothing is lost."""
    claim = trace(reference.protocol).claim(SAMPLES[kind])

    parts = list(grammar._parts(claim))

    assert parts
    assert not any(isinstance(part, t.Not | t.And | t.Or) for part in parts)
    assert all(isinstance(t.sort_of(part), BoolType) for part in parts)


@pytest.mark.parametrize("kind", TERMS, ids=lambda kind: kind.__name__)
def test_each_kind_of_term_is_rebuilt_bounded_and_classed(kind, reference):
    """Whatever takes a term to pieces puts the same term together again."""
    system = trace(reference.protocol)
    claim = system.claim(SAMPLES[kind])

    for part in t.subterms(claim):
        assert t.rebuild(part, t.children(part)) == part
        assert t.sort_of(part) is not None
        low, high = Ranges(system.sizes).bounds(part)
        assert low <= high
    assert all(isinstance(text, str) for text in fragment(system, [claim]))


@pytest.mark.parametrize("form", FORMATS)
def test_each_export_writes_each_kind_of_term(form, reference):
    """No export leaves a term out: each claim changes what is written of the model."""
    if not FORMATS[form].claims:
        pytest.skip(f"{form} shows states and steps, and no claims")
    system = trace(reference.protocol)
    claims = {kind: system.claim(SAMPLES[kind]) for kind in TERMS}

    written = {
        FORMATS[form].write(system, [SearchQuery("asked", Modality.ALWAYS, claim)])
        for claim in claims.values()
    }

    assert len(written) == len(set(claims.values()))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("modality", Modality)
def test_each_export_writes_each_modality(form, modality, reference):
    """An export knows each modality, and leaves out what it says that it leaves out."""
    system = trace(reference.protocol)
    term = system.claim(SAMPLES[t.Get])
    given = system.claim(SAMPLES[t.Not]) if modality is Modality.LEADS_TO else None

    text = FORMATS[form].write(system, [SearchQuery("asked#0", modality, term, given)])

    assert not FORMATS[form].claims or "asked" in text.lower()


def test_each_file_of_the_exports_is_registered():
    """A form that the registry does not know would be tested by nothing here."""
    files = {path.stem for path in (ROOT / "model" / "export").glob("*.py")}

    assert set(FORMATS) == files - {"__init__", "formats", "names", "tla_names"}


# The code says so itself ------------------------------------------------------------


@functools.cache
def modules():
    """Give each file of the rooms, parsed, with its path."""
    return [
        (str(path.relative_to(ROOT)), ast.parse(path.read_text()))
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
    ]


def _names(tree):
    """List the classes of terms and the modalities that some code names."""
    kinds = {kind.__name__ for kind in TERMS}
    for part in ast.walk(tree):
        if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "ast":
            continue  # Python's own syntax has a class Not, too
        name = part.attr if isinstance(part, ast.Attribute) else None
        name = part.id if isinstance(part, ast.Name) else name
        if name in kinds or (name in Modality.__members__):
            yield name


def _closed(match):
    """Say whether a match ends in ``case _: assert_never(...)``."""
    last = match.cases[-1]
    wild = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    return wild and "assert_never" in ast.dump(last.body[0])


def test_whoever_distinguishes_terms_or_modalities_is_complete():
    """``assert_never`` lets the type checker find each match that lacks a member."""
    loose = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Match)
        and any(True for case in node.cases for _ in _names(case.pattern))
        and not _closed(node)
    ]

    assert not loose, "these end without case _: assert_never(...)"


def test_no_chain_of_isinstance_distinguishes_terms():
    """A chain that forgets a class goes on in silence, so a match takes its place."""
    chains = []
    for path, tree in modules():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            asked = {
                name
                for call in ast.walk(function)
                if isinstance(call, ast.Call)
                and getattr(call.func, "id", "") == "isinstance"
                for name in _names(call.args[1])
            }
            if len(asked) > 4 or "[type(term)]" in ast.unparse(function):
                chains.append((path, function.name))

    # It looks for one shape of a claim, and does without where there is another.
    assert chains == [("model/search/native/term_code.py", "uniform")]


def test_each_reader_of_terms_is_among_those_tested_here():
    """A reader that handles every class of terms is found by its match."""
    kinds = {kind.__name__ for kind in TERMS}
    found = {
        path
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Match)
        and kinds <= {name for case in node.cases for name in _names(case.pattern)}
    }

    assert found == set(READERS) | OTHER_READERS


def test_no_text_takes_the_place_of_a_modality():
    """A text that is misspelled equals nothing, and the type checker cannot see it."""
    texts = set(Modality)
    found = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(
            isinstance(part, ast.Attribute) and part.attr == "when"
            for part in [node.left, *node.comparators]
        )
        and any(
            isinstance(part, ast.Constant) and part.value in texts
            for part in ast.walk(node)
        )
    ]

    assert not found, "compare with a member of Modality"


def test_no_script_names_a_modality():
    """Python says how each claim is judged; a name in JavaScript nobody checks."""
    known = "|".join(Modality)
    names = re.compile(rf"(?:[=!]==|[\[,])\s*[\"'`](?:{known})[\"'`]|\.when\b")
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.js"))
        for hit in names.finditer(path.read_text(encoding="utf-8"))
    ]

    assert not found


def test_a_clause_of_no_modality_is_refused():
    """It would break nowhere: no judge knows of which states it speaks."""
    with pytest.raises(ModelError, match="'alway'"):
        Clause("alway", "the lamps are lit", SAMPLES[t.Var])


def test_a_clause_takes_the_text_of_a_modality():
    """Who writes a property of their own need not import the enumeration."""
    clause = Clause("always", "the lamps are lit", SAMPLES[t.Var])

    assert clause.when is Modality.ALWAYS
