"""A counterexample file runs the project's own code, and no other."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.trust import own_code
from onceproof.spark_checks.inputs.schemas import harmless
from onceproof.spark_checks.session import session_pool
from tests.robustness.harness import Case, refused
from tests.robustness.test_nasty_counterexamples import FILES, signed

# Running any of it leaves a file that no case may leave.
CODE = (
    "from pathlib import Path\n\nPath('{}').touch()\n\n\ndef sink(target):\n    pass\n"
)
INPUT = FILES["spark"]["input"]


def text(**fields: Any) -> str:
    return json.dumps(signed(FILES["spark"] | fields))


def code(folder: Path, place: str) -> None:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CODE.format(folder / "RAN"))


def outside(folder: Path) -> None:
    code(folder, "../evil.py")
    code(folder, "../os.py")


def linked(folder: Path) -> None:
    outside(folder)
    (folder / "pyproject.toml").touch()
    (folder / "link.py").symlink_to(folder.parent / "evil.py")
    (folder / "linked").symlink_to(folder.parent)


def hidden(folder: Path) -> None:
    for place in (".venv/lib/python3/evil.py", "lib/site-packages/evil.py"):
        code(folder, place)


def shared(folder: Path) -> None:
    code(folder, "evil.py")
    folder.chmod(0o1777)


def case(name: str, sentence: str, prepare=outside, files=(), **fields: Any) -> Case:
    return Case(
        f"replay of {name}",
        ("replay", "file.json"),
        sentence=sentence,
        files={"file.json": text(**fields), **dict(files)},
        prepare=prepare,
        left=(),
    )


def struct(kind: Any) -> str:
    field = {"name": "a", "nullable": True, "metadata": {}, "type": kind}
    return json.dumps({"type": "struct", "fields": [field]})


CLASS = {"type": "udt", "pyClass": "os.x", "sqlType": "string"}
LIST = {"type": "array", "elementType": CLASS, "containsNull": True}
MAP = {"type": "map", "keyType": "string", "valueType": CLASS}
NO_CLASS = "there is no type 'udt'"
SCHEMAS = (
    ("names a class of Python", struct(CLASS), NO_CLASS),
    ("names a class of Java", json.dumps({"type": "udt", "class": "x"}), NO_CLASS),
    ("hides a class in an array", struct(LIST), NO_CLASS),
    ("hides a class in a map", struct(MAP | {"valueContainsNull": True}), NO_CLASS),
    ("has more than a type has", struct(MAP), "a type 'map' has keyType"),
    ("is no struct", json.dumps(LIST | {"elementType": "long"}), "it is no struct"),
    ("is no JSON", '{"type": ', "Expecting value"),
    ("is nested too deeply", '{"type":' * 50_000, "maximum recursion"),
    ("has fields that are none", '{"type": "struct", "fields": [1]}', "its fields are"),
    ("has a type that there is not", struct("nope"), ""),
)
OUTSIDE = "it lies outside of the project's folder"
NO_FILE = "there is no such file of Python here"
CASES = (
    case("a sink above the project", OUTSIDE, sink="../evil.py::sink"),
    case("a test above the project", OUTSIDE, test="../evil.py::test_it"),
    case(
        "a sink behind dots",
        OUTSIDE,
        sink="./x/../../evil.py::sink",
        prepare=lambda f: (outside(f), (f / "x").mkdir()),
    ),
    case("a sink by its whole path", OUTSIDE, sink=f"{os.__file__}::system"),
    case("a test by its whole path", OUTSIDE, test=f"{os.__file__}::system"),
    case("a sink that is a link", OUTSIDE, linked, sink="link.py::sink"),
    case("a test that is a link", OUTSIDE, linked, test="link.py::test_it"),
    case("a sink below a linked folder", OUTSIDE, linked, sink="linked/evil.py::sink"),
    case(
        "a sink in a virtual environment",
        "installed or hidden",
        hidden,
        sink=".venv/lib/python3/evil.py::sink",
    ),
    case(
        "a sink of an installed package",
        "installed or hidden",
        hidden,
        sink="lib/site-packages/evil.py::sink",
    ),
    case(
        "a test of an installed package",
        "installed or hidden",
        hidden,
        test="lib/site-packages/evil.py::test_it",
    ),
    case(
        "a sink in a folder open to all",
        "is no project's folder",
        shared,
        sink="evil.py::sink",
    ),
    case("a module by its name", NO_FILE, sink="os::system"),
    case("a module with dots", NO_FILE, sink="os.path::join"),
    case("a file that is not Python", NO_FILE, sink="file.json::sink"),
    case(
        "a folder", NO_FILE, prepare=lambda f: (f / "x.py").mkdir(), sink="x.py::sink"
    ),
    case("a sink that is gone", NO_FILE, sink="gone.py::sink"),
    case("a test that is gone", NO_FILE, test="gone.py::test_it"),
    case("a test that is an option", NO_FILE, test="-pevil"),
    case("a test that is a file of arguments", NO_FILE, test="@file.json"),
    case("a test that is an option with a path", NO_FILE, test="--rootdir=/::x"),
    case(
        "a link that leads to itself",
        NO_FILE,
        prepare=lambda f: (f / "x.py").symlink_to(f / "x.py"),
        sink="x.py::sink",
    ),
    case(
        "a sink that writes elsewhere",
        "lets its sink write to '/etc'",
        files={"sinks/own.py": "def sink(target):\n    pass\n"},
        sink="sinks/own.py::sink",
        options={"key": [], "allow": ["/etc"]},
    ),
    *(
        case(
            f"events whose schema {name}",
            f"schema of the file's events is damaged: {sentence}",
            input=INPUT | {"schema": schema},
        )
        for name, schema, sentence in SCHEMAS
    ),
    case(
        "events without a batch",
        "its pieces are not whole batches",
        input=INPUT | {"pieces": []},
    ),
    Case(
        "export of a sink above the project",
        ("export", "file.json", "--to", "pytest"),
        sentence=OUTSIDE,
        files={"file.json": text(sink="../evil.py::sink")},
        prepare=outside,
    ),
    Case(
        "export of a model above the project",
        ("export", "file.json", "--to", "pytest"),
        sentence=OUTSIDE,
        files={
            "file.json": json.dumps(
                signed(FILES["model"] | {"protocol": "../evil.py:x"})
            )
        },
        prepare=outside,
    ),
)


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    def start(*_, **__):
        pytest.fail("Spark was started")

    monkeypatch.setattr(session_pool, "WarmSession", start)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_refused(case, there):
    """With exit status 2, before any of it is run."""
    refused(case, there)


def test_a_sink_of_the_project_is_its_own(tmp_path, monkeypatch):
    """The project's folder is that of its pyproject.toml, also from further below."""
    code(tmp_path, "sinks/own.py")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")

    assert own_code("../../sinks/own.py", "x") == tmp_path / "sinks" / "own.py"
    (tmp_path / "pyproject.toml").unlink()
    with pytest.raises(UsageError, match="outside of the project's folder"):
        own_code("../../sinks/own.py", "x")


@pytest.mark.parametrize("place", ["/", str(Path.home()), tempfile.gettempdir()])
def test_a_folder_of_everything_is_no_project(tmp_path, monkeypatch, place):
    """Of the root, of a home, and of /tmp nearly every file would be the project's."""
    monkeypatch.chdir(place)
    if (
        Path(place) == Path(tempfile.gettempdir())
        and not Path(place).stat().st_mode & 2
    ):
        pytest.skip("this folder for temporary files is the user's own")
    refusal = pytest.raises(UsageError, match="is no project's folder")
    with tempfile.NamedTemporaryFile(suffix=".py", dir=place) as file, refusal:
        own_code(file.name, "x")


def test_schemas_of_spark_are_taken():
    """All kinds of types, as Spark writes them."""
    types = pytest.importorskip("pyspark.sql.types")
    atoms = ("a string, b decimal(10,2), c timestamp_ntz, d interval day to second",)
    plain = types.StructType(
        [
            types.StructField("a", types.ArrayType(types.DecimalType(3, 1))),
            types.StructField(
                "b", types.MapType(types.StringType(), types.VarcharType(3))
            ),
            types.StructField(
                "c", types.StructType([types.StructField("d", types.NullType())])
            ),
            types.StructField("e", types.DayTimeIntervalType(), metadata={"x": "y"}),
        ]
    )

    assert harmless(plain.json()) == plain.json()
    assert harmless(atoms[0]) == atoms[0]


def test_a_digest_is_right_in_these_cases():
    """Else each would be refused for its digest alone."""
    data = json.loads(text(sink="x"))
    digest = data.pop("digest")

    assert digest == of_data(
        {k: v for k, v in data.items() if k not in ("format", "schema")}
    )
