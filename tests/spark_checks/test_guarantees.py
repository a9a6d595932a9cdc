"""A written sheet is checked against evidence, and evidence against what it is of."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from onceproof.model.errors import UsageError
from onceproof.model.language.trace import trace
from onceproof.properties import fingerprints
from onceproof.properties.evidence import Evidence, Hashes, Shown, read_folder
from onceproof.properties.guarantees import (
    AT_MOST_ONCE,
    EFFECTIVELY_ONCE,
    guarantees_of,
)
from onceproof.properties.records import fault_set, settings_of
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import sources
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.evidence import subject_of
from onceproof.spark_checks.library_claims import library_claims
from onceproof.spark_checks.settings import parsed, root_of, settings_at
from onceproof.spark_checks.sinks import reference_sinks
from onceproof.spark_checks.sinks.user_code import StruckInside, UserCode
from onceproof.spark_checks.sources import sources_of
from onceproof.spark_checks.staleness import stale

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "onceproof.schema.json").read_text())
PAGE_BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ORDERS = "sinks/orders.py::orders"

PYPROJECT = """
[tool.onceproof]
sheet = "GUARANTEES.md"

[[tool.onceproof.guarantees]]
subject = "sinks/orders.py::orders"
guarantee = "effectively-once"
assumptions = [{ text = "the table has a key", kind = "configured" }]
duties = ["wait for the batch"]

[[tool.onceproof.guarantees]]
subject = "two-phase-commit"
guarantee = "agreement"
"""

COUNTER = '''
from onceproof.model.language import Protocol, action, always, state, when

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
'''


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def recorded(root: Path, prop=EFFECTIVELY_ONCE, **changes) -> Evidence:
    """Give the evidence that a replay of the project's sink would leave."""
    protocol = StruckInside(sink=UserCode(on_driver=1), LINE=3)
    system = trace(protocol)
    told = {
        "subject": ORDERS,
        "guarantee": prop.name,
        "kind": "replay",
        "claim": prop.text,
        "scope": {"source": "flights", "batches": 2},
        "faults": 1,
        "fault_set": fault_set(system),
        "verdict": Verdict.HELD,
        "coverage": {"interleavings": "9 of 9"},
        "hashes": Hashes(
            fingerprints.of_system(system),
            fingerprints.of_property(prop, system),
            sources_of(ORDERS, root),
        ),
        "model": settings_of(protocol),
        "versions": {"pyspark": "4.1.4"},
        "date": "2026-01-02",
        "again": "pytest tests/test_orders.py --onceproof-evidence=.onceproof/evidence",
    }
    return Evidence(**{**told, **changes})


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project with a sink, its evidence, and its sheet."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "sinks").mkdir()
    (tmp_path / "sinks" / "names.py").write_text('TABLE = "orders"\n')
    (tmp_path / "sinks" / "orders.py").write_text(
        "from names import TABLE\n\n\ndef orders(target):\n    return TABLE\n"
    )
    (tmp_path / "sinks" / "other.py").write_text("")
    recorded(tmp_path).write(tmp_path / ".onceproof" / "evidence")
    monkeypatch.chdir(tmp_path)
    assert run("check", "two-phase-commit", "--evidence").exit_code == 0
    assert run("guarantees", "--output", "GUARANTEES.md").exit_code == 0
    return tmp_path


def test_a_sheet_that_follows_from_its_evidence_is_status_0(project):
    """It holds the claims as they were stated, and what they rest on."""
    checked = run("guarantees", "--check")

    told = (project / "GUARANTEES.md").read_text()
    assert (checked.exit_code, checked.stdout) == (
        0,
        "GUARANTEES.md follows from the evidence: 2 claims\n",
    )
    assert "| held | replay of 2026-01-02, interleavings 9 of 9" in told
    assert "| exhausted | check of " in told
    assert "- the table has a key (" not in told
    assert "- the table has a key" in told
    assert "- wait for the batch" in told


@pytest.mark.parametrize("name", ["orders", "names"])
def test_one_byte_of_a_sinks_code_is_noticed(project, name):
    """Of its own file, and of what it imports of its project; not of any other."""
    with (project / "sinks" / "other.py").open("a") as other:
        other.write(" ")
    assert run("guarantees", "--check").exit_code == 0
    with (project / "sinks" / f"{name}.py").open("a") as file:
        file.write(" ")

    checked = run("guarantees", "--check")

    assert checked.exit_code == 1
    assert f"is stale: sinks/{name}.py has changed; run pytest " in checked.stdout
    assert f"{ORDERS}, effectively-once" in checked.stdout


def test_a_models_term_that_moved_is_noticed(project):
    """Of a protocol in a file; its comments may change."""
    (project / "counter.py").write_text(COUNTER)
    claim = '\n[[tool.onceproof.guarantees]]\nsubject = "counter.py:counter"\n'
    (project / "pyproject.toml").write_text(
        PYPROJECT + claim + 'guarantee = "is-small"\n'
    )
    run("check", "counter.py", "--evidence")
    run("guarantees", "--output", "GUARANTEES.md")

    (project / "counter.py").write_text(COUNTER.replace("One more", "Another"))
    told_otherwise = run("guarantees", "--check")
    (project / "counter.py").write_text(COUNTER.replace("count < 2", "count < 1"))
    moved = run("guarantees", "--check")

    assert told_otherwise.exit_code == 0
    assert moved.exit_code == 1
    assert "stale: the model's terms have changed; run onceproof check" in moved.stdout


def test_a_property_that_moved_is_noticed(project, monkeypatch):
    """Its terms are what was claimed."""
    [agreement] = [p for p in guarantees_of_two_phase() if p.name == "agreement"]
    weaker = agreement.clauses[0].__class__(
        "at_rest", agreement.clauses[0].text, agreement.clauses[0].holds
    )

    monkeypatch.setitem(vars(agreement), "clauses", (weaker,))
    checked = run("guarantees", "--check")

    assert checked.exit_code == 1
    assert "stale: the property has changed" in checked.stdout


def guarantees_of_two_phase():
    from onceproof.model.library import make

    return guarantees_of(make("two-phase-commit", {}))


def test_a_claim_without_evidence_is_status_1_and_stands_in_the_sheet(project):
    """It says which, and the command that makes it."""
    for path in (project / ".onceproof" / "evidence").glob("two-phase-commit*"):
        path.unlink()
    run("guarantees", "--output", "GUARANTEES.md")

    checked = run("guarantees", "--check")

    assert checked.exit_code == 1
    assert checked.stdout == (
        "two-phase-commit, agreement: no evidence for at most 1 fault; run onceproof "
        "check two-phase-commit --evidence\n"
    )
    assert "unsupported" in (project / "GUARANTEES.md").read_text()


def test_a_refuted_claim_shows_its_trace_and_is_status_1(project):
    """Unless the project says that it knows."""
    shown = Shown("no effect is ever visible twice", ("crash()",), (1,), "again")
    found = recorded(project, verdict=Verdict.REFUTED, trace=shown)
    found.write(project / ".onceproof" / "evidence")
    run("guarantees", "--output", "GUARANTEES.md")

    surprised = run("guarantees", "--check")
    text = (project / "pyproject.toml").read_text()
    known = 'guarantee = "effectively-once"\nexpected = "refuted"'
    text = text.replace('guarantee = "effectively-once"', known)
    (project / "pyproject.toml").write_text(text)
    run("guarantees", "--output", "GUARANTEES.md")
    expected = run("guarantees", "--check")

    assert surprised.exit_code == 1
    assert "the evidence says refuted" in surprised.stdout
    assert "**crash()**" in (project / "GUARANTEES.md").read_text()
    assert expected.exit_code == 0


def test_a_sheet_that_was_edited_or_is_gone_is_status_1(project):
    """It names the line, and the command that writes it anew."""
    sheet = project / "GUARANTEES.md"
    sheet.write_text(sheet.read_text().replace("| held |", "| proved |"))

    edited = run("guarantees", "--check")
    sheet.unlink()
    gone = run("guarantees", "--check", "GUARANTEES.md")

    assert (edited.exit_code, gone.exit_code) == (1, 1)
    assert "from line 9 on; run onceproof guarantees --output" in edited.stdout
    assert "GUARANTEES.md is not there; run onceproof guarantees" in gone.stdout


def test_every_form_can_be_written_and_checked(project):
    """The ending of the file says which it is."""
    for name, begins in {"s.html": "<!DOCTYPE", "s.json": "{", "s.md": "#"}.items():
        run("guarantees", "--output", name)

        assert (project / name).read_text().startswith(begins)
        assert run("guarantees", "--check", name).exit_code == 0
    assert json.loads(run("guarantees", "--json").stdout)["schema"] == 1
    assert run("guarantees", "--html").stdout.startswith("<!DOCTYPE")


def test_damaged_evidence_is_status_2(project):
    """Nothing is told from it."""
    [path, *_] = sorted((project / ".onceproof" / "evidence").glob("*.json"))
    path.write_text(path.read_text()[:-9])

    checked = run("guarantees", "--check")

    assert checked.exit_code == 2
    assert "is not JSON" in checked.output


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("sheet =", "shete =", "did you mean 'sheet'?"),
        ("duties =", "dutys =", "did you mean 'duties'?"),
        ("kind =", "kinds =", "did you mean 'kind'?"),
        ('"configured"', '"configurd"', "did you mean 'configured'?"),
        ('"effectively-once"', '"efectively-once"', "mean 'effectively-once'?"),
        ('"agreement"', '"agrement"', "did you mean 'agreement'?"),
        ('"two-phase-commit"', '"two-phase-comit"', "mean 'two-phase-commit'?"),
        ("::orders", "::order", "did you mean 'orders'?"),
        ("sinks/orders.py:", "sinks/gone.py:", "sinks/gone.py cannot be read"),
        ('guarantee = "agreement"', "", "needs guarantee = a text"),
        ('guarantee = "agreement"', 'guarantee = ""', "takes guarantee = a text"),
        ('guarantee = "agreement"', "guarantee = 1", "takes guarantee = a text"),
        ("duties = [", "faults = -1\nduties = [", "takes faults = 0 to 64"),
        ("duties = [", "faults = true\nduties = [", "takes faults = 0 to 64"),
        ("duties = [", 'expected = "no"\nduties = [', "one of holds, refuted"),
        ('["wait for the batch"]', '"wait"', "takes duties = a list"),
        ("[tool.onceproof]", "tool.onceproof = 1\n[x]", "cannot be read"),
    ],
)
def test_bad_configuration_is_status_2_with_the_mend(project, old, new, answer):
    """In one sentence, whatever is wrong."""
    path = project / "pyproject.toml"
    path.write_text(path.read_text().replace(old, new, 1))

    refused = run("guarantees", "--check")

    assert isinstance(refused.exception, SystemExit)
    assert refused.exception.code == 2
    assert answer in refused.output


def test_a_claim_that_is_stated_twice_is_refused(project):
    """There would be two rows that say the same."""
    path = project / "pyproject.toml"
    claim = PYPROJECT.rpartition("\n\n")[2]
    path.write_text(path.read_text() + "\n" + claim)

    refused = run("guarantees")

    assert "claim 3, says again what claim 2 does" in refused.output


def test_replays_of_a_part_leave_no_evidence():
    """And a folder is not mistaken for a sink; nothing is run for that."""
    part = run("replay", "foreach-batch-append", "--only", "1", "--evidence", "e")
    sink = run("replay", "--evidence", "foreach-batch-append")

    assert "leave out --only" in part.output
    assert "put it last" in sink.output


def test_the_sources_of_reference_sinks_are_their_own_files():
    """With those of the shelf that they import, and not the engine's."""
    found = sources.of_reference(reference_sinks()["datasource-unprotected"])

    assert sorted(found) == [
        f"spark_checks/sinks/{name}.py"
        for name in ("sqlite", "staged_files", "staged_unprotected")
    ]
    assert all(len(value) == 64 for value in found.values())


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import helper", ["helper.py"]),
        ("from helper import x", ["helper.py"]),
        ("from . import helper", ["package/__init__.py", "package/helper.py"]),
        ("from .helper import x", ["package/helper.py"]),
        ("import package.deep.inner", ["package/deep/inner.py"]),
        ("from package.deep import inner", ["package/deep/inner.py"]),
        ("def f():\n    import helper", ["helper.py"]),
        ("import os, json, onceproof", []),
        ("from laid import out", ["src/laid.py"]),
        ("import helper as ours\nimport helper", ["helper.py"]),
    ],
)
def test_imports_of_a_project_are_followed(tmp_path, line, found):
    """As they are written: absolute, relative, inside functions, in packages."""
    deep = tmp_path / "package" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "src").mkdir()
    for place in ("helper.py", "src/laid.py", "package/__init__.py"):
        (tmp_path / place).write_text("")
    (tmp_path / "package" / "helper.py").write_text("")
    (deep / "inner.py").write_text("")
    name = "package/sink.py" if line.startswith("from .") else "sink.py"
    (tmp_path / name).write_text(line)

    told = sources.of_project(tmp_path / name, tmp_path)

    wanted = {name, *found}
    if any(place.startswith("package/deep") for place in found):
        wanted.add("package/__init__.py")
    assert set(told) == wanted


@pytest.mark.parametrize(
    ("name", "code", "subject"),
    [
        ("foreach-batch-append", (), "foreach-batch-append"),
        ("elsewhere.py::orders", (".", "sinks/orders.py"), "sinks/orders.py::orders"),
        ("made.<locals>.orders", (".", "t.py"), "t.py::made.<locals>.orders"),
        ("made.<locals>.orders", (".",), "made.<locals>.orders"),
        ("orders", (".", "/elsewhere/t.py"), "t.py::orders"),
    ],
)
def test_sinks_are_named_as_seen_from_the_project(tmp_path, name, code, subject):
    """Wherever the test runs; no path of the machine gets into a record."""
    places = tuple(str(tmp_path / place) for place in code)

    report = SimpleNamespace(sink=SimpleNamespace(name=name, code=places))

    assert subject_of(report, tmp_path) == subject


def test_the_root_is_that_of_the_project_a_folder_belongs_to(project):
    """So that a test below it names sinks as claims do."""
    assert root_of(project / "sinks") == project


def test_the_library_claims_what_its_files_state():
    """Of each sink and each variant, all guarantees; refuted is what a file says."""
    claims = {(c.subject, c.guarantee): c.expected for c in library_claims()}

    sinks = reference_sinks()
    for name, sink in sinks.items():
        mine = {g: e for (s, g), e in claims.items() if s == name}
        assert {g for g, e in mine.items() if e == "refuted"} == sink.refuted
        assert {g for g, e in mine.items() if e == "undecided"} == sink.unseen
        assert "holds" in mine.values() or sink.refuted
    assert claims["chandy-lamport-unordered", "conserves"] == "refuted"
    assert claims["micro-batch --set sink=upsert", "atomic-visibility"] == "refuted"
    assert claims["micro-batch --set sink=upsert", "effectively-once"] == "holds"


def test_the_repositorys_own_sheet_follows_from_its_evidence(monkeypatch):
    """Fast, since nothing is searched; and every claim of the library is in it."""
    monkeypatch.chdir(ROOT)
    began = time.perf_counter()

    checked = run("guarantees", "--library", "--check")

    assert checked.stdout.startswith("docs/guarantees.md follows"), checked.stdout
    assert time.perf_counter() - began < 30
    told = (ROOT / "docs" / "guarantees.md").read_text()
    assert {f"## {claim.subject}" for claim in library_claims()} <= {*told.split("\n")}


def test_one_byte_of_a_reference_sink_is_noticed(monkeypatch):
    """In the repository's own sheet too."""
    monkeypatch.chdir(ROOT)
    real = fingerprints.of_file
    monkeypatch.setattr(
        sources, "of_file", lambda p: real(p)[::-1] if p.stem == "upsert" else real(p)
    )

    checked = run("guarantees", "--library", "--check")

    assert checked.exit_code == 1
    assert (
        "spark_checks/sinks/upsert.py has changed; run onceproof replay foreach-"
        in (checked.stdout)
    )


def test_neither_java_nor_pyspark_is_needed_to_check(project):
    """A sheet is checked where there is no Spark at all."""
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['pyspark', 'py4j', 'pandas']))\n"
        "from onceproof.spark_checks.cli import main\n"
        "main(['guarantees', '--check'])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "2 claims" in done.stdout


def test_evidence_of_what_is_gone_is_stale_and_no_error(project):
    """It says what cannot be made again."""
    other = recorded(project, subject="gone.py::sink", prop=AT_MOST_ONCE)
    lost = recorded(project, subject="no-such-protocol", kind="check")
    found = {one.name: one for one in (other, lost)}

    told = stale(found, project)

    assert "sinks/orders.py is gone" in " ".join(told[other.name])
    assert "cannot be made again: unknown protocol" in told[lost.name][0]


def test_a_folder_without_a_project_has_the_defaults(tmp_path):
    """Evidence lies below it, and nothing is claimed."""
    found = settings_at(tmp_path)

    assert found.evidence == tmp_path / ".onceproof" / "evidence"
    assert found.stated() == ()


# The schema -------------------------------------------------------------------


def fits(data, schema) -> bool:
    """Say whether data fits a schema, as far as ours uses the language."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int}
    if "enum" in schema:
        return data in schema["enum"]
    kind = kinds[schema["type"]]
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        return False
    if kind is str:
        return len(data) >= schema.get("minLength", 0)
    if kind is int:
        return schema["minimum"] <= data <= schema["maximum"]
    if kind is list:
        return all(fits(one, schema["items"]) for one in data)
    known = schema["properties"]
    return (
        all(name in data for name in schema.get("required", ()))
        and all(name in known for name in data)
        and all(fits(value, known[name]) for name, value in data.items())
    )


WELL = {
    "evidence": "e",
    "sheet": "s.md",
    "guarantees": [
        {"subject": "two-phase-commit", "guarantee": "agreement"},
        {
            "subject": "micro-batch",
            "guarantee": "durable",
            "faults": 2,
            "expected": "refuted",
            "assumptions": [{"text": "t", "kind": "assumed"}],
            "duties": ["d"],
        },
    ],
}
_WRONG = st.sampled_from(
    ["", "x", 0, -1, 64, 65, True, None, 1.5, [], ["x"], [""], {}, [{}], "checked"]
)


@st.composite
def altered(draw):
    """Draw the settings with something put in, taken out, or replaced in them."""
    data = copy.deepcopy(WELL)
    places = [data, *data["guarantees"], data["guarantees"][1]["assumptions"][0]]
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.sampled_from(places))
        name = draw(st.sampled_from([*place, "extra", "faults", "expected", "kind"]))
        if draw(st.booleans()):
            place.pop(name, None)
        else:
            place[name] = draw(_WRONG)
    return data


@given(altered())
def test_the_schema_says_what_the_code_accepts(data):
    """Neither takes what the other refuses."""
    try:
        parsed(data, Path())
        accepted = True
    except UsageError:
        accepted = False

    assert accepted == fits(data, SCHEMA)


def test_every_key_of_the_schema_is_documented():
    """In its own words, and on the page, whose example is accepted."""
    claim = SCHEMA["properties"]["guarantees"]["items"]["properties"]
    page = (ROOT / "docs" / "guarantee-sheet.md").read_text()

    for name, told in {**SCHEMA["properties"], **claim}.items():
        assert told["description"]
        assert any(word in page for word in (f"`{name}`", f"{name} =", f".{name}]]"))
    [example] = [block for block in PAGE_BLOCK.findall(page) if "onceproof" in block]
    assert len(parsed(tomllib.loads(example)["tool"]["onceproof"], ROOT).claims) == 2


# With Spark -------------------------------------------------------------------

SINK = """
import pytest
from onceproof.spark_checks.sinks.interface import ForeachBatch

def flights(target):
    path = str(target.path / "flights")

    def write(batch, batch_id):
        batch.write.mode("append").parquet(path)

    return ForeachBatch(write, read=path)

@pytest.mark.effectively_once(key="flight_id", batches=1)
def test_flights(onceproof_replay):
    onceproof_replay(flights)
"""


@pytest.mark.spark
def test_the_plugin_leaves_evidence_that_a_sheet_is_made_of(pytester, monkeypatch):
    """Only where that is asked for; a second run leaves the very same."""
    pytester.makepyfile(test_flights=SINK)
    pytester.makepyprojecttoml(
        '[tool.onceproof]\nevidence = "kept"\n[[tool.onceproof.guarantees]]\n'
        'subject = "test_flights.py::flights"\nguarantee = "effectively-once"\n'
    )
    monkeypatch.chdir(pytester.path)

    pytester.runpytest_subprocess()
    without = (pytester.path / "kept").exists()
    pytester.runpytest_subprocess("--onceproof-evidence=kept")
    first = read_folder(pytester.path / "kept")
    pytester.runpytest_subprocess("-o", "onceproof_evidence=kept")
    second = read_folder(pytester.path / "kept")

    assert not without
    assert first == second
    assert sorted(r.guarantee for r in first.values()) == [
        "effectively-once",
        "recoverable",
    ]
    [broken] = [r for r in first.values() if r.verdict is Verdict.REFUTED]
    assert broken.trace.failpoints
    assert broken.scope["sink"] == "ForeachBatch"
    assert [*broken.hashes.sources] == ["test_flights.py"]
    told = run("guarantees").stdout
    assert "readers see" in told
    assert "onceproof replay .onceproof/" in told
    assert str(pytester.path) not in told
    with (pytester.path / "test_flights.py").open("a") as file:
        file.write("#")
    assert "test_flights.py has changed" in run("guarantees", "--check", "x.md").stdout
