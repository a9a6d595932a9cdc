"""What a project states is read, or refused with the fix; the schema says the same."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.model.errors import UsageError
from onceproof.spark_checks.report.evidence.project_settings import (
    parsed,
    root_of,
    settings_at,
)
from tests.spark_checks.projects import PYPROJECT, made, run

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs" / "onceproof.schema.json").read_text())
PAGE_BLOCK = re.compile(r"^```toml[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path, monkeypatch):
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
        ('"two-phase-commit"', '"two-phase-commit --set RM"', "takes NAME=VALUE"),
        ('"two-phase-commit"', '"two-phase-commit --set M=2"', "mean 'RM'?"),
        ('"two-phase-commit"', '"two-phase-commit --set RM=x"', "a whole number"),
        ('"two-phase-commit"', '"two-phase-commit --set faults=2"', "faults = 2, and"),
        ('"two-phase-commit"', '"two-phase-commit --symmetry"', "not --symmetry"),
        ('"two-phase-commit"', '"two-phase-commit chandy-lamport"', "one subject"),
        ('"two-phase-commit"', '"two-phase-commit \'"', "No closing quotation"),
        ("sheet =", "library = 1\nsheet =", "takes library = true or false"),
        ("sheet =", "stores = 1\nsheet =", "takes stores = true, false or a list"),
        ("sheet =", "stores = [1]\nsheet =", "takes stores = true, false or a list"),
        ("sheet =", 'stores = ["postgre"]\nsheet =', "mean 'postgres'?"),
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
def test_bad_configuration_is_status_2_with_the_fix(project, old, new, answer):
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


def test_the_root_is_that_of_the_project_a_folder_belongs_to(project):
    """So that a test below it names sinks as claims do."""
    assert root_of(project / "sinks") == project


def test_a_folder_without_a_project_has_the_defaults(tmp_path):
    """Evidence lies below it, and nothing is claimed."""
    found = settings_at(tmp_path)

    assert found.evidence == tmp_path / ".onceproof" / "evidence"
    assert found.stated() == ()


def fits(data, schema) -> bool:
    """Say whether data fits a schema, as far as ours uses the language."""
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "boolean": bool,
    }
    if "enum" in schema:
        return data in schema["enum"]
    kind = kinds[schema["type"]]
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        return False
    if kind is str:
        return len(data) >= schema.get("minLength", 0)
    if kind is bool:
        return True
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
    "library": True,
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
        name = draw(
            st.sampled_from([*place, "extra", "faults", "expected", "kind", "library"])
        )
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
    page = (ROOT / "docs" / "how-to" / "guarantee-sheet.md").read_text()

    for name, text in {**SCHEMA["properties"], **claim}.items():
        assert text["description"]
        assert any(word in page for word in (f"`{name}`", f"{name} =", f".{name}]]"))
    [example] = [block for block in PAGE_BLOCK.findall(page) if "onceproof" in block]
    assert len(parsed(tomllib.loads(example)["tool"]["onceproof"], ROOT).claims) == 2
