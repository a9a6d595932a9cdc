"""Options that exclude each other, and settings of a project, are refused."""

from __future__ import annotations

import pytest

from tests.robustness.harness import Case, refused

TPC = "two-phase-commit"


def of(name: str, *words: str, said: str, **more) -> Case:
    return Case(name, words, said=said, **more)


TOGETHER = (
    of("all of a protocol", "check", TPC, "--all", said="PROTOCOL has no effect"),
    of(
        "all with a size", "check", "--all", "--set", "RM=3", said="--set has no effect"
    ),
    of(
        "all with a property",
        "check",
        "--all",
        "--property",
        "agreement",
        said="--property has no effect",
    ),
    of(
        "all with a limit",
        "check",
        "--all",
        "--max-states",
        "9",
        said="--max-states has no effect",
    ),
    of("all with output", "check", "--all", "--output", "o", said="--output has no"),
    of(
        "all in two forms",
        "check",
        "--all",
        "--markdown",
        "--json",
        said="exclude each other",
    ),
    of("markdown alone", "check", TPC, "--markdown", said="only with --all"),
    of("a picture as data", "check", TPC, "--mermaid", "--json", said="--json has no"),
    of(
        "walks with symmetry",
        "check",
        TPC,
        "--simulate",
        "3",
        "--symmetry",
        said="--symmetry has no effect with --simulate",
    ),
    of(
        "walks with a limit",
        "check",
        TPC,
        "--simulate",
        "3",
        "--max-states",
        "9",
        said="--max-states has no effect with --simulate",
    ),
    of(
        "a seed without walks", "check", TPC, "--seed", "3", said="only with --simulate"
    ),
    of(
        "a depth without walks",
        "check",
        TPC,
        "--depth",
        "3",
        said="only with --simulate",
    ),
    of(
        "a seed twice",
        "check",
        TPC,
        "--simulate",
        "3",
        "--seed",
        "1",
        "--seed",
        "2",
        said="--seed is given 2 times",
    ),
    of("json twice", "check", TPC, "--json", "--json", said="--json is given 2 times"),
    of("colour and none", "--color", "--no-color", "doctor", said="2 times"),
    of("a page and data", "explore", TPC, "--html", "x", "--json", said="exclude each"),
    of(
        "a limit without a property",
        "explore",
        TPC,
        "--max-states",
        "3",
        said="only for a protocol with --property",
    ),
    of("sizes of a file", "explore", "x.json", "--set", "RM=3", said="--set has no"),
    of("faults of a file", "replay", "x.json", "--faults", "2", said="--faults has no"),
    of("output of a file", "replay", "x.json", "--output", "o", said="--output has no"),
    of(
        "evidence of a file", "replay", "x.json", "--evidence", said="--evidence has no"
    ),
    of(
        "evidence of a part",
        "replay",
        "--only",
        "1",
        "--evidence",
        said="--evidence has no effect for some interleavings",
    ),
    of("trust in a protocol", "explore", TPC, "--trust", said="--trust has no effect"),
    of(
        "sizes of a test",
        "export",
        "x.json",
        "--to",
        "pytest",
        "--set",
        "RM=3",
        said="--set has no effect with --to pytest",
    ),
    of("a sheet in two forms", "guarantees", "--html", "--json", said="exclude each"),
    of(
        "a sheet checked and written",
        "guarantees",
        "--check",
        "--output",
        "x.md",
        said="--output has no effect with --check",
    ),
    of(
        "a sheet of another ending",
        "guarantees",
        "--json",
        "--output",
        "x.md",
        said="is markdown by its ending",
    ),
)

SHEETS = (
    of("no sheet to check", "guarantees", "--check", said="there is no sheet to check"),
    of("nothing claimed", "guarantees", "--check", "x.md", said="nothing is claimed"),
    of(
        "no folder of evidence",
        "guarantees",
        "--evidence",
        "no",
        said="there is no folder no",
    ),
    of("no TOML", "guarantees", said="cannot be read", files={"pyproject.toml": "[["}),
    of(
        "TOML that is no text",
        "guarantees",
        said="is not UTF-8 text",
        files={"pyproject.toml": b"\xff\xfe"},
    ),
    of(
        "TOML that is a folder",
        "guarantees",
        "--check",
        said="no sheet to check",
        files={"pyproject.toml": None},
    ),
    of(
        "an unknown key",
        "guarantees",
        said="did you mean 'sheet'",
        files={"pyproject.toml": "[tool.onceproof]\nsheets = 'x'\n"},
    ),
    of(
        "a key of another type",
        "guarantees",
        said="takes library = true or false",
        files={"pyproject.toml": "[tool.onceproof]\nlibrary = 'yes'\n"},
    ),
    of(
        "a table that is none",
        "guarantees",
        said="must be a table",
        files={"pyproject.toml": "[tool]\nonceproof = 3\n"},
    ),
    of(
        "a claim without a subject",
        "guarantees",
        said="needs subject",
        files={"pyproject.toml": "[[tool.onceproof.guarantees]]\nguarantee = 'x'\n"},
    ),
    of(
        "a claim of nothing known",
        "guarantees",
        said="unknown guarantee",
        files={
            "pyproject.toml": "[[tool.onceproof.guarantees]]\n"
            "subject = 'two-phase-commit'\nguarantee = 'once'\n"
        },
    ),
    of(
        "a claim of a size twice",
        "guarantees",
        said="gives RM twice",
        files={
            "pyproject.toml": "[[tool.onceproof.guarantees]]\n"
            "subject = 'two-phase-commit --set RM=2 --set RM=3'\n"
            "guarantee = 'agreement'\n"
        },
    ),
    of(
        "a claim of too many faults",
        "guarantees",
        said="takes faults = 0 to",
        files={
            "pyproject.toml": "[[tool.onceproof.guarantees]]\n"
            "subject = 'two-phase-commit'\nguarantee = 'agreement'\nfaults = 99\n"
        },
    ),
)

CASES = (*TOGETHER, *SHEETS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_refused(case, there):
    """With exit status 2, and nothing left behind."""
    refused(case, there)
