"""Whatever text a counterexample file holds, it stays data in all that is made of it.

Files are valid, with another text in one of their places, and a digest that is right.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from click.testing import CliRunner

from onceproof.model.library import make
from onceproof.properties.counterexample.file import read
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.guarantees import AT_MOST_ONCE
from onceproof.properties.judges.by_search import check
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.session import session_pool
from tests.properties.explorer.runs import SPARK
from tests.robustness.nasty import NASTY, clean, elements, places, put, skeleton

OWN = "sinks/own.py::sink"


def of_spark() -> dict[str, Any]:
    """Give a file of a user's own sink in which every field is filled."""
    data = json.loads(SPARK.read_text())
    data |= {
        "sink": OWN,
        "protocol": "instrumented-micro-batch",
        "start": {"driver": "down"},
        "because": ["a reason"],
        "options": {"key": ["flight_id"], "allow": ["/tmp/x"]},
        "input": {
            "schema": "a string",
            "tasks": 1,
            "key": ["a"],
            "pieces": [['{"a": "1"}'], ['{"a": "2"}']],
        },
    }
    data["observed"]["strays"] = ["stray"] * len(data["observed"]["moments"])
    data["observed"]["rows"][0]["example"] = "an example"
    return data


def of_model() -> dict[str, Any]:
    """Give a file of a model's run."""
    protocol = make("micro-batch", {"sink": "append", "PARTITION": "1"})
    finding = check(protocol, [AT_MOST_ONCE]).findings[0]
    return json.loads(json.dumps(counterexample_of(protocol, finding).to_json()))


FILES = {"spark": of_spark(), "model": of_model()}
# Without a model a file is shown at once; that of a model has one.
QUICK = {"spark": FILES["spark"] | {"protocol": "unknown"}, "model": FILES["model"]}
PLACES = [
    # A file of a model is read with its model, which takes long.
    pytest.param(name, place, marks=[pytest.mark.ci] * (name == "model"))
    for name, data in FILES.items()
    for place in places(data)
]
LOOKED_AT = ("sink", "protocol", "property", "test")
KEYS = [("parameters",), ("versions",), ("start",), ("steps", 0, "changes")]


def signed(data: dict[str, Any]) -> dict[str, Any]:
    content = {n: v for n, v in data.items() if n not in ("format", "schema", "digest")}
    return {**data, "digest": of_data(content)}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Give a project with the sink that the file names, and no Spark to run it."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "sinks").mkdir()
    (tmp_path / "sinks" / "own.py").write_text("def sink(target):\n    pass\n")

    def start(*_, **__):
        pytest.fail("Spark was started")

    monkeypatch.setattr(session_pool, "WarmSession", start)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str):
    done = CliRunner().invoke(main, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert "Traceback" not in done.output
    return done


def made_of(project, data: dict[str, Any]) -> None:
    """Let everything be made of a file, and see that its texts stay data."""
    file = project / "file.json"
    file.write_text(json.dumps(signed(data)))
    shown = run("explore", "file.json")
    paged = run("explore", "file.json", "--html", "page.html")
    printed = run("explore", "file.json", "--json")
    exported = run("export", "file.json", "--to", "pytest", "--output", "tests")
    for done in (shown, paged, printed, exported):
        assert done.exit_code in (0, 2)
        assert clean(done.output)
    assert shown.exit_code == paged.exit_code == printed.exit_code
    if printed.exit_code == 0:
        json.loads(printed.stdout)
        found = elements((project / "page.html").read_text(encoding="utf-8"))
        assert found == elements(PAGES[bool(data["sink"])])
    if exported.exit_code == 0:
        (test,) = (project / "tests").iterdir()
        source = test.read_text(encoding="ascii")
        assert skeleton(source) in SKELETONS
        if data["sink"]:
            names: dict[str, Any] = {}
            head = source.partition("\ndef ")[0].partition("replay_file\n")[2]
            exec(head, names)
            (project / "again.json").write_text(names["COUNTEREXAMPLE"])
            again, before = read(project / "again.json"), read(file)
            assert (again.steps, again.sink) == (before.steps, before.sink)


PAGES: dict[bool, str] = {}
SKELETONS: set[str] = set()


@pytest.fixture(scope="module", autouse=True)
def _ordinary(tmp_path_factory):
    """Make everything of ordinary files first: nasty ones give nothing more."""
    folder = tmp_path_factory.mktemp("ordinary")
    (folder / "sinks").mkdir()
    (folder / "pyproject.toml").write_text("")
    (folder / "sinks" / "own.py").write_text("def sink(target):\n    pass\n")
    with contextlib.chdir(folder):
        for name, data in FILES.items():
            (folder / "file.json").write_text(json.dumps(signed(data)))
            assert run("explore", "file.json", "--html", "a.html").exit_code == 0
            PAGES[bool(data["sink"])] = (folder / "a.html").read_text()
            words = ("export", "file.json", "--to", "pytest", "--output", name)
            assert run(*words).exit_code == 0
            (test,) = (folder / name).iterdir()
            SKELETONS.add(skeleton(test.read_text()))


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("name", FILES)
def test_a_nasty_text_in_every_place_at_once_is_data(project, name, nasty):
    """But in those that name what is looked at, which have their own test."""
    data = QUICK[name]
    apart = {("format",), ("sink",), ("protocol",), ("digest",), ("test",)}
    for place in places(data):
        if place not in apart and place[:1] != ("input",):
            data = put(data, place, NASTY[nasty])
    for place in KEYS:
        data = put(data, place, {NASTY[nasty]: NASTY[nasty]})

    made_of(project, data)


EACH = "\n".join(text for name, text in NASTY.items() if name != "long")


@pytest.mark.parametrize(("name", "place"), PLACES, ids=str)
def test_nasty_texts_in_one_place_are_data(project, name, place):
    """All of them in one text."""
    made_of(project, put(QUICK[name], place, EACH))


# A model is traced for each; so the plain tests have most of them in one name.
NAMES = [
    *(pytest.param(f, EACH, id=f"{f}-all") for f in LOOKED_AT),
    *(
        pytest.param(
            f, text, id=f"{f}-{name}", marks=[pytest.mark.ci] * (f == "property")
        )
        for f in LOOKED_AT
        for name, text in NASTY.items()
    ),
]


@pytest.mark.parametrize(("field", "text"), NAMES)
def test_a_nasty_name_of_what_is_looked_at_is_data(project, field, text):
    """A file that names what there is not is refused, or shown without it."""
    for name, data in QUICK.items():
        if name == "spark" or field in ("protocol", "property"):
            made_of(project, data | {field: text})
        for one in (project / "tests").glob("*"):
            one.unlink()


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("field", LOOKED_AT)
def test_a_replay_of_what_there_is_not_is_refused(project, field, nasty):
    """In one sentence, before anything is run; an empty test is none."""
    if (field, nasty) == ("test", "empty"):
        pytest.skip("a file without a test is replayed by its sink")
    file = project / "file.json"
    file.write_text(json.dumps(signed(FILES["spark"] | {field: NASTY[nasty]})))

    done = run("replay", "file.json")

    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert clean(done.output)
