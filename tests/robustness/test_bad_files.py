"""Files of a wrong form, in places where they cannot lie: refused with their place."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.pytest_plugin.known_failures import read_expected
from onceproof.spark_checks.session import session_pool
from tests.robustness.harness import Case, refused
from tests.robustness.nasty import put
from tests.robustness.test_nasty_counterexamples import FILES, signed
from tests.test_house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SPARK = FILES["spark"]
WHOLE = json.dumps(signed(SPARK)).encode()
READERS = (
    ("explore", "f.json"),
    ("explore", "f.json", "--json"),
    ("explore", "f.json", "--html", "out.html"),
    ("replay", "f.json"),
    ("export", "f.json", "--to", "pytest"),
)


def bad(
    name: str, content: bytes | None, sentence: str, number: int, **more: Any
) -> Case:
    """Give a file to one of the commands that read it, each in its turn."""
    words = READERS[number % len(READERS)]
    title = f"{words[0]} {words[-1][-6:]} of {name}"
    return Case(title, words, sentence=sentence, files={"f.json": content}, **more)


BYTES = (
    ("an empty file", b"", "f.json is not JSON"),
    ("a blank file", b" \n", "f.json is not JSON"),
    ("a file of zeros", b"\0" * 100, "f.json is not JSON"),
    ("a file that is cut off", WHOLE[: len(WHOLE) // 2], "f.json is not JSON"),
    ("a file that is there twice", WHOLE * 2, "Extra data"),
    ("a file with a comma too many", WHOLE[:-1] + b",}", "line 1, column"),
    ("a file with a byte order mark", b"\xef\xbb\xbf" + WHOLE, "byte order mark"),
    ("a file in UTF-16", WHOLE.decode().encode("utf-16"), "is not UTF-8 text: byte 1"),
    ("a file in Latin-1", WHOLE[:-1] + b', "\xe9": 1}', "is not UTF-8 text"),
    ("a file of deep lists", b"[" * 100_000, "nested too deeply"),
    ("a file of deep objects", b'{"a":' * 100_000, "nested too deeply"),
    ("a deep field", WHOLE[:-1] + b', "x": ' + b"[" * 100_000, "nested too deeply"),
    ("a field twice", b'{"sink": "a", ' + WHOLE[1:], "it gives 'sink' twice"),
    ("NaN", WHOLE[:-1] + b', "x": NaN}', "NaN is no number"),
    ("Infinity", WHOLE[:-1] + b', "x": Infinity}', "Infinity is no number"),
    ("a number beyond all", WHOLE[:-1] + b', "x": 1e400}', "1e400 is too large"),
    ("a number of many digits", WHOLE[:-1] + b', "x": ' + b"1" * 9_999 + b"}", "large"),
    ("a number of 64 bits", WHOLE[:-1] + b', "x": 9223372036854775808}', "too large"),
    ("a text", b'"onceproof"', "no counterexample file of Onceproof"),
    ("null", b"null", "no counterexample file of Onceproof"),
    ("a list of files", b"[" + WHOLE + b"]", "no counterexample file of Onceproof"),
    ("an image", b"\x89PNG\r\n\x1a\n\0\0", "is not UTF-8 text: byte 1"),
    ("a pickle", b"\x80\x04cos\nsystem\n.", "is not UTF-8 text: byte 1"),
    ("YAML", b"!!python/object/apply:os.system ['false']", "f.json is not JSON"),
    ("XML", b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]>", "is not JSON"),
    ("a file of 100 MB", b" " * 100_000_000, "is larger than 67,108,864 bytes"),
    ("a folder", None, "cannot be read: Is a directory"),
)
# What is in which place, and what the answer names.
FORMS: tuple[tuple[tuple[Any, ...], Any, str], ...] = (
    (("format",), "onceproof evidence", "no counterexample file of Onceproof"),
    (("schema",), 3, "has schema 3, and this Onceproof reads 2"),
    (("schema",), "1", "has schema '1'"),
    (("schema",), True, "has schema True"),
    (("schema",), "x" * 10_000, "has schema 'xxx"),
    (("protocol",), 1, "'protocol' is not a text"),
    (("parameters",), [], "'parameters' is not an object"),
    (("parameters", "BATCH"), None, "\"parameters['BATCH']\" is not a text, a number"),
    (("parameters", "BATCH"), [2], "\"parameters['BATCH']\" is not a text, a number"),
    (("property",), ["x"], "'property' is not a text"),
    (("clause",), None, "'clause' is not a text"),
    (("fails_at",), -1, "'fails_at' is not a whole number from 0 on"),
    (("fails_at",), 1.5, "'fails_at' is not a whole number"),
    (("fails_at",), 99, "'fails_at' is not the number of a moment"),
    (("steps",), {}, "'steps' is not a list"),
    (("steps", 0), "crash", "'steps[0]' is not an object"),
    (("steps", 3), None, "'steps[3]' is not an object"),
    (("steps", 0, "event"), 1, "'steps[0].event' is not a text"),
    (("steps", 0, "members"), "00", "'steps[0].members' is not a list"),
    (("steps", 1, "members"), [-1], "'steps[1].members[0]' is not a whole number from"),
    (("steps", 1, "members"), [True], "'steps[1].members[0]' is not a whole number"),
    (("steps", 0, "fault"), 0, "'steps[0].fault' is not true or false"),
    (("steps", 0, "changes"), [], "'steps[0].changes' is not an object"),
    (("steps", 0, "changes"), {"x": {}}, "steps[0].changes['x']\" is not a text, a nu"),
    (("steps", 0, "lane"), None, "'steps[0].lane' is not a text"),
    (("steps", 0, "evnt"), "x", "there is no 'evnt' in 'steps[0]'; did you mean 'even"),
    (("versions",), {"x": 1}, "\"versions['x']\" is not a text"),
    (("sink",), None, "'sink' is not a text"),
    (("interleaving",), "1", "'interleaving' is not a whole number"),
    (("faults",), True, "'faults' is not a whole number"),
    (("events",), -5, "'events' is not a whole number from 0 on"),
    (("failpoints",), "x", "'failpoints' is not a list"),
    (("failpoints",), [1], "'failpoints[0]' is not a text"),
    (("observed",), [], "'observed' is not an object"),
    (("observed",), {}, "'observed' has no 'moments'"),
    (("observed", "moments"), [], "'observed' does not cover every moment"),
    (("observed", "moments", 0), 1, "'observed.moments[0]' is not a text"),
    (("observed", "rows"), [[]], "'observed.rows[0]' is not an object"),
    (("observed", "rows", 0, "outcomes"), [], "'observed' does not cover every moment"),
    (
        ("observed", "rows", 0, "outcomes", 0),
        {},
        "'observed.rows[0].outcomes[0]' has no 'prom",
    ),
    (("observed", "rows", 0, "unit"), "0", "'observed.rows[0].unit' is not a whole"),
    (("observed", "unexplained"), [0] * 50, "'observed' does not cover every moment"),
    (("observed", "rested"), "yes", "'observed.rested' is not true or false"),
    (("expected", "rested"), None, "'expected.rested' is not true or false"),
    (("start",), None, "'start' is not an object"),
    (("looks",), [999], "'looks' names a step that does not exist"),
    (("input",), [], "'input' is not an object"),
    (("input", "tasks"), 0, "'input.tasks' is not a whole number from 1 on"),
    (("input", "pieces"), [[1]], "'input.pieces[0][0]' is not a text"),
    (("input", "step"), "os.system", "there is no 'step' in 'input'"),
    (("test",), 1, "'test' is not a text"),
    (("options",), {"allow": "/"}, "'options.allow' is not a list"),
    (("options",), {"environment": {}}, "there is no 'environment' in 'options'"),
    (("because",), [None], "'because[0]' is not a text"),
    (("loop",), 999, "'loop' is not the number of a step"),
    (("loop",), -1, "'loop' is not a whole number from 0 on"),
    (("output",), "/etc/passwd", "there is no 'output'"),
    (("\x1b]0;t\x07",), 1, "there is no '\\x1b]0;t\\x07'"),
    (("x" * 100_000,), 1, "there is no 'xxx"),
)
MISSING = ("protocol", "steps", "observed", "expected", "start", "versions", "faults")


def unix(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(folder):
        made.bind("f.json")


CLAIM = """
[[tool.onceproof.guarantees]]
subject = {}
guarantee = 'durable'
"""


def claims(text: str) -> dict[str, str]:
    return {"pyproject.toml": f"[tool.onceproof]\n{text}\n"}


EVIDENCE = min((ROOT / "docs" / "evidence").glob("*.json"))
RECORD = json.loads(EVIDENCE.read_text())


LOST = object()


def recorded(**changes: Any) -> Any:
    """Change the first record of the evidence; one that is LOST is left out."""
    first, *others = RECORD["records"]
    changed = {k: v for k, v in {**first, **changes}.items() if v is not LOST}
    return RECORD | {"records": [changed, *others]}


def evidence(name: str, data: Any, sentence: str, file: str = EVIDENCE.name) -> Case:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    return Case(
        f"evidence with {name}",
        ("guarantees", "--evidence", "e"),
        sentence=sentence,
        files={f"e/{file}": content},
    )


CASES = (
    *(bad(name, data, sentence, n) for n, (name, data, sentence) in enumerate(BYTES)),
    *(
        bad(
            f"{'.'.join(map(str, place))[:20]!a} = {json.dumps(value)[:20]}",
            json.dumps(signed(put(SPARK, place, value))).encode(),
            sentence,
            number,
        )
        for number, (place, value, sentence) in enumerate(FORMS)
    ),
    *(
        bad(
            f"a file without {name}",
            json.dumps(signed({k: v for k, v in SPARK.items() if k != name})).encode(),
            f"f.json is damaged: it has no '{name}'",
            number,
        )
        for number, name in enumerate(MISSING)
    ),
    Case(
        "explore of a file that is gone", ("explore", "g.json"), sentence="No such file"
    ),
    Case(
        "export of a file that is gone",
        ("export", "g.json", "--to", "pytest"),
        sentence="No such file",
    ),
    Case(
        "replay of a file that is gone", ("replay", "g.json"), sentence="No such file"
    ),
    Case(
        "replay of a socket",
        ("replay", "f.json"),
        sentence="cannot be read",
        prepare=unix,
    ),
    Case(
        "replay of a link to itself",
        ("replay", "f.json"),
        sentence="Too many levels of symbolic links",
        prepare=lambda folder: (folder / "f.json").symlink_to(folder / "f.json"),
    ),
    Case(
        "replay of a name that is too long",
        ("replay", f"{'x' * 300}.json"),
        sentence="File name too long",
    ),
    Case(
        "explore into a folder that is a file",
        ("explore", "f.json", "--html", "x/out.html"),
        sentence="x cannot be written to",
        files={"f.json": WHOLE, "x": ""},
    ),
    Case(
        "explore into a folder",
        ("explore", "f.json", "--html", "x"),
        sentence="is a directory",
        files={"f.json": WHOLE, "x": None},
    ),
    Case(
        "explore onto a full device",
        ("explore", "f.json", "--html", "/dev/full"),
        sentence="/dev/full cannot be written: No space left on device",
        files={"f.json": WHOLE},
    ),
    Case(
        "export into a file",
        ("export", "f.json", "--to", "pytest", "--output", "x"),
        sentence="'x' is a file",
        files={"f.json": json.dumps(signed(FILES["model"])), "x": ""},
    ),
    Case(
        "check with counterexamples below a file",
        ("check", "two-phase-commit", "--output", "x/y"),
        sentence="cannot be written to",
        files={"x": ""},
    ),
    Case(
        "guarantees into a folder that is a file",
        ("guarantees", "--library", "--output", "x/sheet.md"),
        sentence="x cannot be written to",
        files={"x": ""},
    ),
    evidence("no JSON", b"{", "is not JSON, so it is no evidence"),
    evidence("bytes that are no text", b"\xff", "is not UTF-8 text: byte 1"),
    evidence("a byte order mark", b"\xef\xbb\xbf{}", "byte order mark"),
    evidence("deep lists", b"[" * 100_000, "nested too deeply"),
    evidence("another format", RECORD | {"format": "x"}, "no evidence of Onceproof"),
    evidence("another schema", RECORD | {"schema": 9}, "has schema 9"),
    evidence("a schema that is a list", RECORD | {"schema": [2]}, "has schema [2]"),
    evidence("a field too many", RECORD | {"x": 1}, "there is no 'x'"),
    evidence(
        "a subject that is none", RECORD | {"subject": 1}, "'subject' is not a text"
    ),
    evidence(
        "a verdict that is none",
        recorded(verdict="fine"),
        "'records[0].verdict' is 'fine', and not one of proved",
    ),
    evidence(
        "another verdict", recorded(verdict="proved"), "a check never says proved"
    ),
    evidence(
        "a scope that is none",
        recorded(scope={"a": []}),
        "\"records[0].scope['a']\" is not a text, a number",
    ),
    evidence(
        "coverage that is none",
        recorded(coverage={"states": [None]}),
        "records[0].coverage['states']\" is not a text",
    ),
    evidence("a date that is none", recorded(date="soon"), "date' is not a day"),
    evidence("other words", recorded(claim="all is well"), "edited after it was made"),
    evidence("a claim too many", recorded(x=1), "there is no 'x' in 'records[0]'"),
    evidence("a name to print", recorded(**{"\x1b[2J": 1}), "no '\\x1b[2J' in 'reco"),
    evidence("an id to print", recorded(id="\x1b[2J"), "its id is '\\x1b[2J'"),
    evidence("a record without digest", recorded(digest=LOST), "has no 'digest'"),
    evidence(
        "no digest",
        {k: v for k, v in RECORD.items() if k != "digest"},
        "it has no 'digest'",
    ),
    evidence(
        "a record that was lost",
        RECORD | {"records": RECORD["records"][:-1]},
        "a record was lost or added",
    ),
    evidence(
        "a number that is none",
        b'{"format": "onceproof evidence", "schema": NaN}',
        "NaN is no number",
    ),
    evidence("another name", RECORD, "what it says belongs in", file="x.json"),
    evidence(
        "a file for each claim",
        {"format": RECORD["format"], "schema": 2, "again": "make \x1b[2J it"},
        "delete them, and make the evidence again: make \\x1b[2J it",
    ),
    Case(
        "evidence in a folder of that name",
        ("guarantees", "--evidence", "e"),
        sentence="cannot be read: Is a directory",
        files={"e/x.json": None},
    ),
    *(
        Case(
            f"settings that {name}",
            ("guarantees",),
            sentence=sentence,
            files={"pyproject.toml": text},
        )
        for name, text, sentence in (
            ("are no TOML", "[tool", "pyproject.toml cannot be read"),
            ("are no text", b"\xff\xfe", "is not UTF-8 text: byte 1"),
            ("are nested too deeply", "a = " + "[" * 100_000, "nested too deeply"),
            ("give a key twice", "a = 1\na = 2", "Cannot overwrite a value"),
            ("hold a huge number", "a = " + "9" * 5_000, "cannot be read"),
        )
    ),
    *(
        Case(
            f"settings where {name}",
            ("guarantees",),
            sentence=sentence,
            files=claims(text),
        )
        for name, text, sentence in (
            ("evidence is a number", "evidence = 1", "takes evidence = a text"),
            ("library is a text", "library = 'yes'", "library = true or false"),
            ("claims are a text", "guarantees = 'x'", "takes guarantees = a list"),
            ("a claim is a number", "guarantees = [1]", "must be a table"),
            ("a key is unknown", "evidnce = 'x'", "has no 'evidnce'"),
            (
                "a subject has escapes",
                CLAIM.format('"\\u001b[2J"'),
                "unknown subject",
            ),
            (
                "a subject is not there",
                CLAIM.format("'../../etc'"),
                "unknown subject '../../etc'",
            ),
            (
                "faults are endless",
                CLAIM.format("'micro-batch'") + "faults = 9999",
                "takes faults = 0 to 64",
            ),
        )
    ),
)


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    def start(*_, **__):
        pytest.fail("Spark was started")

    monkeypatch.setattr(session_pool, "WarmSession", start)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_refused(case, there):
    """With exit status 2, and nothing left behind."""
    refused(case, there)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("expected = 1", "expected must be a list of tables"),
        ("expected = [1]", "entry 1, is no table"),
        ("expected = [[]]", "entry 1, is no table"),
        ("[[expected]]\ntest = 1", "entry 1, needs test = a text"),
        ("[[expected]]\ntset = 'x'", "tset"),
        ("expcted = 1", "expcted"),
        ("expected = " + "[" * 100_000, "nested too deeply"),
        (
            "[[expected]]\ntest = 'a'\nguarantee = 'b'\nreason = 'c'\nexpires = 1",
            "a day",
        ),
    ],
)
def test_known_failures_of_a_wrong_form_are_refused(tmp_path, text, sentence):
    """With the entry that is wrong."""
    path = tmp_path / "onceproof_expect.toml"
    path.write_text(text)

    with pytest.raises(UsageError, match=r"onceproof_expect\.toml") as refusal:
        read_expected(path)

    assert sentence in str(refusal.value)


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_known_failures_that_cannot_be_read_are_not_taken_for_none(tmp_path, kind):
    """Only where there is no such file are there none."""
    path = tmp_path / "onceproof_expect.toml"
    assert read_expected(path) == ()
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "gone")

    with pytest.raises(UsageError, match="cannot be read"):
        read_expected(path)
