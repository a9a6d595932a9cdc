"""Evidence says what it was found for; what has moved since is seen."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.files import locked
from onceproof.model.language import Protocol, action, always, state, when
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, variants
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.from_reports import records_of, subject_of
from onceproof.properties.evidence.record import file_name
from onceproof.properties.evidence.store import FORMAT, read, read_folder, remove, write
from onceproof.properties.guarantees import AT_MOST_ONCE, GUARANTEES
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check, claims_of, simulate
from onceproof.properties.property import Clause, Property

DAY = "2026-01-02"


@cache
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

    write([broken], tmp_path)

    assert read(tmp_path / "micro-batch.json") == (broken,)
    assert read_folder(tmp_path) == {broken.address: broken}
    assert (broken.verdict, broken.judge, broken.date) == ("refuted", "check", DAY)
    assert broken.coverage == {"states": 507, "depth": 28}
    assert broken.scope["BATCH"] == 2
    assert broken.fault_set == ("crash", "fail-task", "fail-job", "lose-contact")
    assert broken.trace is not None
    assert broken.trace.steps[broken.trace.fault_steps[0] - 1] == "fail_task(0, 0, 0)"


def test_a_trace_that_breaks_two_guarantees_is_in_the_file_once(tmp_path):
    """What breaks at-most-once breaks effectively-once: that record names the other."""
    found = records().values()

    write(found, tmp_path)

    path = tmp_path / "micro-batch.json"
    kept = {r["guarantee"]: r for r in json.loads(path.read_text())["records"]}
    once = kept["at-most-once"]
    assert isinstance(once["trace"]["steps"], list)
    assert kept["effectively-once"]["trace"]["steps"] == once["id"]
    assert {r.id: r for r in read(path)} == {r.id: r for r in found}


def test_a_second_run_differs_in_nothing_but_the_day(tmp_path):
    """So a newer record replaces the older one, and git shows a line."""
    report = check(make("micro-batch", {}))
    first = {r.id: r for r in records_of(report, day=DAY)}

    second = {r.id: r for r in records_of(check(make("micro-batch", {})), day="x")}

    assert {n: replace(r, date=DAY) for n, r in second.items()} == first


def test_each_scope_and_each_judge_has_a_record_of_its_own():
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

    names = [records_of(report, how=how)[0].id for report, how in reports]

    assert len(set(names)) == len(reports)
    assert names[0].startswith("agreement/check/")


def test_commands_make_the_same_record_again():
    """They name all sizes, and what was asked of the judge."""
    model = make("micro-batch", {"sink": "upsert", "BATCH": "1"})

    [record, *_] = records_of(check(model, symmetry=True), how={"symmetry": True})

    assert record.command == (
        "onceproof check micro-batch --set sink=upsert --set faults=1 --set BATCH=1 "
        "--set PARTITION=2 --set ATTEMPT=2 --set rescales=0 --symmetry --evidence"
    )


def test_a_proof_names_its_lemmas_and_its_solver():
    """And that it is of all sizes."""
    model = make("two-phase-commit", {})

    [record] = records_of(prove(model, claims_of(model)[:1]))

    assert (record.verdict, record.judge) == ("proved", "prove")
    assert "one-decision" in record.lemmas
    assert "every number of members of RM" in record.note
    assert record.versions["z3-solver"] != "missing"


def test_where_no_faults_are_modelled_a_record_has_none():
    """Whatever budget was set; with faults it has that budget."""
    model = make("two-phase-commit", {"RM": "2", "faults": "64"})
    [record] = records_of(check(model))

    assert (record.faults, record.fault_set) == (0, ())
    assert "faults" not in record.scope
    assert "faults" not in record.command
    assert records(BATCH="1")["durable"].faults == 1


def test_witnesses_are_assumptions_and_no_guarantees():
    """That a model is not idle is told, and promises nothing."""
    found = records()

    judged = {prop.name for prop in GUARANTEES} - {"batch-equivalence"}
    assert set(found) == judged
    lines = [a for a in found["durable"].assumptions if a.kind == "checked"]
    assert "all-done, died-in-a-batch, tried-again" in lines[0].text


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
    durable = records()["durable"].fingerprints

    result = subprocess.check_output(
        [sys.executable, "-c", code],
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )

    assert result.split() == [durable.model, durable.property]


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
    hashes = replace(
        records()["durable"].fingerprints, sources={"a.py": "1", "b.py": "2"}
    )

    now = replace(hashes, model="x", property="y", sources={"a.py": "3", "c.py": "4"})

    assert hashes.moved(hashes) == ()
    assert hashes.moved(now) == (
        "the model's terms have changed",
        "the property has changed",
        "a.py has changed",
        "b.py is gone, or no part of the sink any more",
        "c.py has become part of the sink",
    )


def changed(path, change):
    """Change what a file holds."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def first(change):
    """Change the first record of a file."""
    return lambda data: change(data["records"][0])


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (lambda d: d.update(format="x"), "no evidence of Onceproof"),
        (lambda d: d.update(schema=99), f"reads {FORMAT.schema}"),
        (lambda d: d.update(subject="another"), "belongs in another.json"),
        (lambda d: d.update(extra=1), "there is no 'extra'"),
        (lambda d: d.update(records={}), "'records' is not a list"),
        (lambda d: d.update(records=[]), "'records' is empty, out of order"),
        (lambda d: d.pop("digest"), "it has no 'digest'"),
        (lambda d: d["records"].pop(), "a record was lost or added"),
        (lambda d: d["records"].reverse(), "out of order"),
        (lambda d: d["records"].append(d["records"][-1]), "has a record twice"),
        (lambda d: d["records"].append(1), "'records[7]' is not an object"),
        (first(lambda d: d.update(id="x")), "its id is 'x'"),
        (first(lambda d: d.pop("id")), "'records[0]' has no 'id'"),
        (
            first(lambda d: d.pop("fingerprints")),
            "'records[0]' has no 'fingerprints'",
        ),
        (first(lambda d: d.update(verdict="fine")), "verdict' is 'fine', and not one"),
        (first(lambda d: d.update(verdict=[])), "verdict' is [], and not one of"),
        (first(lambda d: d.update(faults=True)), "faults' is not a whole number"),
        (first(lambda d: d.update(judge="hearsay")), "judge' is 'hearsay'"),
        (first(lambda d: d.update(date="yesterday")), "date' is not a day, such as"),
        (first(lambda d: d["fingerprints"].pop("model")), "has no 'model'"),
        (first(lambda d: d.update(subject="x")), "there is no 'subject'"),
        (
            first(lambda d: d["assumptions"][0].update(kind="hoped")),
            "'records[0].assumptions[0].kind' is 'hoped', and not one of checked",
        ),
        (first(lambda d: d["scope"].update(BATCH=3)), "edited after it was made"),
        (first(lambda d: d.update(scope=[])), "scope' is not an object"),
        (first(lambda d: d.update(fault_set=[{}])), "fault_set[0]' is not a text"),
        (
            first(lambda d: d["fingerprints"].update(sources={"a": 1})),
            "sources['a']\" is not",
        ),
        (
            lambda d: d["records"][2]["trace"].update(steps="x"),
            "'records[2].trace.steps' is not a list",
        ),
    ],
)
def test_damaged_evidence_is_refused(tmp_path, change, answer):
    """In a sentence that names the file, the place, and what was expected."""
    write(records().values(), tmp_path)
    changed(tmp_path / "micro-batch.json", change)

    with pytest.raises(UsageError) as refused:
        read_folder(tmp_path)

    assert answer in str(refused.value)
    assert "micro-batch.json" in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00", "[" * 10_000])
def test_what_is_no_evidence_is_refused(tmp_path, text):
    """Whatever it is; and it is not written over."""
    path = tmp_path / "micro-batch.json"
    path.write_text(text)

    for use in (lambda: read(path), lambda: write(records().values(), tmp_path)):
        with pytest.raises(UsageError, match=r"micro-batch\.json"):
            use()

    assert path.read_text() == text


def test_evidence_is_written_whole_or_not_at_all(tmp_path):
    """A folder that cannot be written to is said to be so; no draft is left."""
    record = records()["durable"]
    (tmp_path / "file").write_text("")

    write([record], tmp_path / "evidence")

    with pytest.raises(UsageError, match="cannot be written"):
        write([record], tmp_path / "file")
    assert [p.name for p in (tmp_path / "evidence").iterdir()] == ["micro-batch.json"]


def test_a_subject_has_one_file_and_a_claim_one_record(tmp_path):
    """A claim that is judged again replaces its own record, and no other."""
    found = records()
    write(found.values(), tmp_path)
    again = replace(found["durable"], date="2026-03-04")

    write([again], tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["micro-batch.json"]
    there = {r.guarantee: r for r in read_folder(tmp_path).values()}
    assert there == {**found, "durable": again}


def test_a_record_can_be_removed(tmp_path):
    """The others stay; with the last one the file goes."""
    one, two = (records()[name] for name in ("durable", "agreement"))
    write([one, two], tmp_path)

    remove(one, tmp_path)
    left = read_folder(tmp_path)
    remove(two, tmp_path)

    assert left == {two.address: two}
    assert list(tmp_path.iterdir()) == []


def test_no_two_subjects_share_a_file():
    """However alike they are, in whatever case, and as long as they may be."""
    alike = [
        *("a-b", "a/b", "a b", "A-b", "a--b", "-a-b", "a-b-", "a_b", "a-b.json"),
        *("a --set b=c", "a-b-c", "a=b", "\u00e4", "\u00f6", "..", "/", ""),
        *("x" * 300, "x" * 301, "y" + "x" * 300),
        file_name("a/b").removesuffix(".json"),
    ]

    names = [file_name(subject).lower() for subject in alike]

    assert len(set(names)) == len(alike)
    assert all(re.fullmatch(r"[\w-]{1,100}\.json", n, re.ASCII) for n in names)
    assert file_name("micro-batch") == "micro-batch.json"


WRITER = """
import sys
from pathlib import Path
from onceproof.properties.evidence.record import file_name
from onceproof.properties.evidence.store import read_folder, write

records = read_folder(Path(sys.argv[1])).values()
mine = [r for n, r in enumerate(records) if n % 3 == int(sys.argv[3])]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(3):
    for record in mine:
        write([record], Path(sys.argv[2]))
"""


def test_runs_that_write_at_once_lose_nothing(tmp_path):
    """Three processes write records of one subject, one at a time."""
    found, ours = tmp_path / "found", tmp_path / "ours"
    write(records().values(), found)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, found, ours, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for run in runs:
        run.stdout.readline()

    for run in runs:
        run.stdin.write("go\n")
        run.stdin.flush()

    for run in runs:
        with run:
            assert run.wait(60) == 0
    assert read_folder(ours) == read_folder(found)
    assert [path.name for path in ours.iterdir()] == ["micro-batch.json"]


def test_who_waits_too_long_for_another_run_says_so(tmp_path):
    """And what a run that died held is free again."""
    path = tmp_path / "x.json"
    (tmp_path / ".x.json.lock").write_text("left by a run that was killed")

    with (
        locked(path),
        pytest.raises(UsageError, match="written by another run for 0 seconds; wait"),
        locked(path, patience=0),
    ):
        pass

    with locked(path, patience=0):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_no_way_to_another_file(tmp_path):
    """A symbolic link in its place is refused."""
    (tmp_path / ".x.json.lock").symlink_to(tmp_path / "elsewhere")

    with (
        pytest.raises(UsageError, match="cannot be locked"),
        locked(tmp_path / "x.json"),
    ):
        pass

    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_of_a_file_for_each_claim_is_refused(tmp_path):
    """With the commands that make its evidence again, made fit to print."""
    for n in range(5):
        old = {"format": FORMAT.name, "schema": 2, "again": f"check {n}\x1b[2J"}
        (tmp_path / f"orders--{n}.json").write_text(json.dumps(old))
    (tmp_path / "orders--5.json").write_text(json.dumps({**old, "again": [1]}))

    with pytest.raises(UsageError) as refused:
        read_folder(tmp_path)

    assert str(refused.value) == (
        f"{tmp_path} holds evidence of schema 2, a file for each claim (orders--0.json "
        "and 5 more files), and this Onceproof reads schema 3, a file for each "
        "subject; delete them, and make the evidence again: check 0\\x1b[2J; "
        "check 1\\x1b[2J; check 2\\x1b[2J, and 2 more that their 'again' names"
    )
