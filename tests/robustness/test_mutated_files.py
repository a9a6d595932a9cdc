"""Files that are damaged at random are refused with their place, never half-believed.

A file whose digest is right but whose form is not was written by somebody, and may hold
anything. A file whose digest is wrong is damaged, and no command answers by it.
"""

from __future__ import annotations

import contextlib
import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.properties.counterexample.file import read
from onceproof.properties.evidence import store
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.session import session_pool
from tests.robustness.nasty import clean
from tests.robustness.test_nasty_counterexamples import FILES, signed
from tests.test_house import ROOT

EVIDENCE = sorted((ROOT / "docs" / "evidence").glob("*.json"))
COMMANDS = (
    ("explore", "file.json", "--json"),
    ("explore", "file.json"),
    ("explore", "file.json", "--html", "page.html"),
    ("export", "file.json", "--to", "pytest", "--output", "tests"),
    ("replay", "file.json"),
)

# Numbers are small, or none: a model of a size between is large, and not wrong.
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**62, -(2**62)]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["drift", "crash", "micro-batch", "atomic-visibility", "a.py::b"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def nodes(data: Any) -> list[Any]:
    """List the objects and lists in plain data that hold something."""
    found = [data] if data else []
    inner = data.values() if isinstance(data, dict) else data
    for one in inner:
        if isinstance(one, dict | list):
            found += nodes(one)
    return found


@st.composite
def mutated(draw: st.DrawFn, files: list[Any]) -> Any:
    """Change, remove, repeat, or add something in one to three places of a file."""
    data = copy.deepcopy(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 3))):
        node = draw(st.sampled_from(nodes(data)))
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = draw(st.sampled_from(keys))
        how = draw(st.sampled_from(["change", "remove", "add", "swap"]))
        if how == "change":
            node[key] = draw(VALUES)
        elif how == "remove" and len(node) > 1:
            del node[key]
        elif how == "add" and isinstance(node, dict):
            node[draw(st.text(max_size=6))] = draw(VALUES)
        elif how == "add":
            node.insert(key, draw(VALUES))
        elif how == "swap":
            other = draw(st.sampled_from(keys))
            node[key], node[other] = node[other], node[key]
    return data


class NoSpark:
    def __init__(self, *_: Any, **__: Any) -> None:
        raise OnceproofError("Spark is not started here")


@pytest.fixture(scope="module")
def project():
    """Give a project without a sink, and no Spark."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        Path(name, "pyproject.toml").touch()
        patch.setattr(session_pool, "WarmSession", NoSpark)
        with contextlib.chdir(name):
            yield Path(name)


def answer(*words: str) -> Any:
    done = CliRunner().invoke(main, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert "Traceback" not in done.output
    assert clean(done.output)
    return done


SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck)}
BASE = [data | {"protocol": "micro-batch", "test": ""} for data in FILES.values()]


@pytest.mark.ci
@settings(max_examples=60, **SETTINGS)
@given(mutated(BASE), st.sampled_from(COMMANDS))
def test_a_file_of_any_form_is_answered_or_refused(project, data, words):
    """With a right digest: no traceback, and nothing that only a replay could know."""
    with contextlib.suppress(TypeError):
        data = signed(data)
    Path("file.json").write_text(json.dumps(data))
    note(json.dumps(data))

    done = answer(*words)

    assert done.exit_code in ((2,) if words[0] == "replay" else (0, 2))
    if done.exit_code == 2:
        assert len(done.stderr.splitlines()) <= 1
        assert len(done.stderr) < 3_000


@settings(max_examples=60, **SETTINGS)
@given(mutated([signed(data) for data in BASE]), st.sampled_from(COMMANDS))
def test_a_file_that_was_damaged_answers_nothing(project, data, words):
    """Its digest is of something else; without one it is somebody's own file."""
    if data in [signed(one) for one in BASE] or "digest" not in data:
        return
    if data["digest"] is None:
        return
    Path("file.json").write_text(json.dumps(data))

    done = answer(*words)

    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "file.json" in done.stderr


@settings(max_examples=300, **SETTINGS)
@given(st.data())
def test_a_file_whose_bytes_are_damaged_answers_nothing(project, data):
    """One is lost, turned, repeated or cut off: it is refused, or it says the same."""
    whole = json.dumps(signed(data.draw(st.sampled_from(BASE))), indent=1).encode()
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = bytes([data.draw(st.integers(0, 255))])
    changed = data.draw(
        st.sampled_from(
            [
                whole[:at],
                whole[:at] + whole[at + 1 :],
                whole[:at] + byte + whole[at + 1 :],
                whole[:at] + byte + whole[at:],
                whole[:at] + whole[at:] * 2,
            ]
        )
    )
    file = Path("file.json")
    file.write_bytes(whole)
    before = read(file)
    file.write_bytes(changed)

    after = None
    with contextlib.suppress(UsageError):
        after = read(file)
    assert after in (None, before)


@settings(max_examples=300, **SETTINGS)
@given(
    mutated([json.loads(EVIDENCE[0].read_text()), json.loads(EVIDENCE[-1].read_text())])
)
def test_evidence_that_was_changed_is_refused(project, data):
    """Whatever was changed, and in one sentence."""
    known = [json.loads(path.read_text()) for path in (EVIDENCE[0], EVIDENCE[-1])]
    if data in known:
        return
    for path in (EVIDENCE[0], EVIDENCE[-1]):
        file = Path(path.name)
        file.write_text(json.dumps(data))
        with pytest.raises(UsageError, match=path.name):
            store.read(file)
        file.unlink()
