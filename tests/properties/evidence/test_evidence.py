"""Evidence says what it was found for; what has moved since is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.language import Protocol, action, always, state, when
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, variants
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.from_reports import records_of, subject_of
from onceproof.properties.evidence.record import SCHEMA
from onceproof.properties.evidence.store import read, read_folder, write
from onceproof.properties.guarantees import AT_MOST_ONCE, GUARANTEES
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check, claims_of, simulate
from onceproof.properties.property import Clause, Property

DAY = "2026-01-02"


def records(name="micro-batch", **settings):
    found = records_of(check(make(name, settings)), day=DAY)
    return {record.guarantee: record for record in found}


class Counter(Protocol):
    """Counts to two."""

    count = state(0, high=2)

    @action
    def step(self) -> None:
        """One more."""
        when(self.count < 2)
        self.count = self.count + 1

    @always
    def is_small(self) -> bool:
        """The count is small."""
        return self.count <= 2


class Told(Counter):
    """Counts to two, and is told in other words."""

    @action
    def step(self) -> None:
        """One more; the words differ, and the terms do not."""
        # So does the place.
        when(self.count < 2)
        self.count = self.count + 1


class Guarded(Counter):
    """Counts to one."""

    @action
    def step(self) -> None:
        """One more."""
        when(self.count < 1)
        self.count = self.count + 1


class Begun(Counter):
    """Counts from one."""

    count = state(1, high=2)


def hashed(kind, name="counter"):
    kind.label = classmethod(lambda cls: name)
    return fingerprints.of_system(trace(kind()))


def test_a_record_is_written_and_read_back_whole(tmp_path):
    """What it tells is what was found: verdict, coverage, scope, and its trace."""
    [broken] = [r for r in records().values() if r.guarantee == "at-most-once"]

    write(broken, tmp_path)

    assert read(tmp_path / broken.name) == broken
    assert read_folder(tmp_path) == {broken.name: broken}
    assert (broken.verdict, broken.kind, broken.date) == ("refuted", "check", DAY)
    assert broken.coverage == {"states": 507, "depth": 29}
    assert broken.scope["BATCH"] == 2
    assert broken.fault_set == ("crash", "fail-task", "fail-job", "lose-contact")
    assert broken.trace is not None
    assert broken.trace.steps[broken.trace.strikes[0] - 1] == "fail_task(0, 0, 0)"


def test_a_second_run_differs_in_nothing_but_the_day(tmp_path):
    """So a newer record replaces the older one, and git shows a line."""
    report = check(make("micro-batch", {}))
    first = {r.name: r for r in records_of(report, day=DAY)}

    second = {r.name: r for r in records_of(check(make("micro-batch", {})), day="x")}

    assert {n: replace(r, date=DAY) for n, r in second.items()} == first


def test_each_scope_and_each_judge_has_a_file_of_its_own():
    """Other sizes, other faults and other judges replace nothing."""
    model = make("two-phase-commit", {"RM": "2"})
    reports = [
        (check(model), {}),
        (check(model, symmetry=True), {"symmetry": True}),
        (check(make("two-phase-commit", {"RM": "3"})), {}),
        (simulate(model, walks=3, depth=5, seed=1), {}),
        (simulate(model, walks=3, depth=5, seed=2), {}),
        (prove(model, claims_of(model)[:1]), {"depth": 3}),
    ]

    names = [records_of(report, how=how)[0].name for report, how in reports]

    assert len(set(names)) == len(reports)
    assert names[0].startswith("two-phase-commit--agreement--check--")


def test_commands_make_the_same_record_again():
    """They name all sizes, and what was asked of the judge."""
    model = make("micro-batch", {"sink": "upsert", "BATCH": "1"})

    [record, *_] = records_of(check(model, symmetry=True), how={"symmetry": True})

    assert record.again == (
        "onceproof check micro-batch --set sink=upsert --set faults=1 --set BATCH=1 "
        "--set PARTITION=2 --set ATTEMPT=2 --set rescales=0 --symmetry --evidence"
    )


def test_a_proof_names_its_lemmas_and_its_solver():
    """And that it is of all sizes."""
    model = make("two-phase-commit", {})

    [record] = records_of(prove(model, claims_of(model)[:1]))

    assert (record.verdict, record.kind) == ("proved", "prove")
    assert "one-decision" in record.lemmas
    assert "every number of members of RM" in record.note
    assert record.versions["z3-solver"] != "missing"


def test_where_no_faults_are_modelled_a_record_has_none():
    """Whatever budget was set; with faults it has that budget."""
    model = make("two-phase-commit", {"RM": "2", "faults": "64"})
    [record] = records_of(check(model))

    assert (record.faults, record.fault_set) == (0, ())
    assert "faults" not in record.scope
    assert "faults" not in record.again
    assert records(BATCH="1")["durable"].faults == 1


def test_witnesses_are_assumptions_and_no_guarantees():
    """That a model is not idle is told, and promises nothing."""
    found = records()

    assert set(found) == {prop.name for prop in GUARANTEES}
    told = [a for a in found["durable"].assumptions if a.kind == "checked"]
    assert "all-done, died-in-a-batch, tried-again" in told[0].text


def test_variants_are_named_as_they_are_typed():
    """The name of a record's subject is the command line's."""
    for variant in variants():
        assert subject_of(variant.protocol) == str(variant)


def test_a_models_hash_is_that_of_its_terms():
    """Words and places may change; a guard, a start, a size may not."""
    base = hashed(Counter)

    assert hashed(Told) == base
    assert hashed(Guarded) != base
    assert hashed(Begun) != base
    two, three = (make("two-phase-commit", {"RM": n}) for n in "23")
    assert fingerprints.of_system(trace(two)) != fingerprints.of_system(trace(three))


@pytest.mark.parametrize("seed", ["1", "2"])
def test_hashes_are_the_same_in_every_process(seed):
    """Python's own hashes differ from one process to the next."""
    code = (
        "from onceproof.model.library import make\n"
        "from onceproof.model.language.tracing.trace import trace\n"
        "from onceproof.properties.evidence import fingerprints as f\n"
        "from onceproof.properties.guarantees import DURABLE\n"
        "s = trace(make('micro-batch', {}))\n"
        "print(f.of_system(s), f.of_property(DURABLE, s))"
    )
    durable = records()["durable"].hashes

    told = subprocess.check_output(
        [sys.executable, "-c", code],
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )

    assert told.split() == [durable.model, durable.property]


def test_a_propertys_hash_is_that_of_its_clauses():
    """Other terms, other words, another moment: another property."""
    system = trace(make("micro-batch", {}))
    [clause] = AT_MOST_ONCE.clauses

    def altered(**changes):
        changed = Clause(**{**vars(clause), **changes})
        prop = Property("at-most-once", (changed,), needs=AT_MOST_ONCE.needs)
        return fingerprints.of_property(prop, system)

    def again(ledger):
        return clause.holds(ledger)

    same = altered(holds=again)

    assert same == fingerprints.of_property(AT_MOST_ONCE, system)
    assert altered(when="at_rest") != same
    assert altered(text="something else") != same
    assert altered(holds=lambda ledger: ledger.unexplained() == 0) != same


def test_what_moved_is_named():
    """Model, property, and each file that changed, came or went."""
    hashes = replace(records()["durable"].hashes, sources={"a.py": "1", "b.py": "2"})

    now = replace(hashes, model="x", property="y", sources={"a.py": "3", "c.py": "4"})

    assert hashes.moved(hashes) == ()
    assert hashes.moved(now) == (
        "the model's terms have changed",
        "the property has changed",
        "a.py has changed",
        "b.py is gone, or no part of the sink any more",
        "c.py has become part of the sink",
    )


def damage(data, change):
    """Give a record's data with something wrong in it."""
    data = json.loads(json.dumps(data))
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (lambda d: d.update(format="x"), "no evidence of Onceproof"),
        (lambda d: d.update(schema=99), f"reads {SCHEMA}"),
        (lambda d: d.pop("hashes"), "it has no 'hashes'"),
        (lambda d: d.update(verdict="fine"), "'fine' is not a valid Verdict"),
        (lambda d: d.update(faults=True), "'faults' is not a whole number"),
        (lambda d: d.update(kind="hearsay"), "'kind' is 'hearsay'"),
        (lambda d: d.update(date="yesterday"), "Invalid isoformat"),
        (lambda d: d["hashes"].pop("model"), "'hashes' has no 'model'"),
        (lambda d: d.update(extra=1), "there is no 'extra'"),
        (lambda d: d["assumptions"][0].update(kind="hoped"), "kind of an assumption"),
        (lambda d: d.update(subject="another"), "edited after it was made"),
        (lambda d: d["scope"].update(BATCH=3), "edited after it was made"),
        (lambda d: d.update(scope=[]), "'scope' is not an object"),
        (lambda d: d["trace"].update(steps="x"), "'trace.steps' is not a list"),
        (lambda d: d["trace"].update(steps=[1]), "'trace.steps[0]' is not a text"),
        (lambda d: d.update(fault_set=[{}]), "'fault_set[0]' is not a text"),
        (lambda d: d["hashes"].update(sources={"a": 1}), "sources['a']\" is not"),
    ],
)
def test_damaged_evidence_is_refused(tmp_path, change, answer):
    """In a sentence that names the file."""
    record = records()["at-most-once"]
    path = tmp_path / record.name
    path.write_text(damage(record.to_json(), change))

    with pytest.raises(UsageError) as refused:
        read_folder(tmp_path)

    assert answer in str(refused.value)
    assert record.name in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00", "[" * 10_000])
def test_what_is_no_evidence_is_refused(tmp_path, text):
    """Whatever it is."""
    path = tmp_path / "x.json"
    path.write_text(text)

    with pytest.raises(UsageError, match=r"x\.json"):
        read(path)


def test_evidence_is_written_whole_or_not_at_all(tmp_path):
    """A folder that cannot be written to is said to be so; no draft is left."""
    record = records()["durable"]
    (tmp_path / "file").write_text("")

    write(record, tmp_path / "evidence")

    with pytest.raises(UsageError, match="cannot be written"):
        write(record, tmp_path / "file")
    assert [p.name for p in (tmp_path / "evidence").iterdir()] == [record.name]
