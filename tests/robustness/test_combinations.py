"""Options that exclude each other, and settings of a project, are refused."""

from __future__ import annotations

import pytest

from tests.robustness.harness import Case, refused

TPC = "two-phase-commit"


def of(name: str, *words: str, sentence: str, **more) -> Case:
    return Case(name, words, sentence=sentence, **more)


TOGETHER = (
    of("all of a protocol", "check", TPC, "--all", sentence="PROTOCOL has no effect"),
    of(
        "all with a size",
        "check",
        "--all",
        "--set",
        "RM=3",
        sentence="--set has no effect",
    ),
    of(
        "all with a property",
        "check",
        "--all",
        "--property",
        "agreement",
        sentence="--property has no effect",
    ),
    of(
        "all with a limit",
        "check",
        "--all",
        "--max-states",
        "9",
        sentence="--max-states has no effect",
    ),
    of(
        "all with output", "check", "--all", "--output", "o", sentence="--output has no"
    ),
    of(
        "all in two forms",
        "check",
        "--all",
        "--markdown",
        "--json",
        sentence="exclude each other",
    ),
    of("markdown alone", "check", TPC, "--markdown", sentence="only with --all"),
    of(
        "a picture as data",
        "check",
        TPC,
        "--mermaid",
        "--json",
        sentence="--json has no",
    ),
    of(
        "walks with symmetry",
        "check",
        TPC,
        "--simulate",
        "3",
        "--symmetry",
        sentence="--symmetry has no effect with --simulate",
    ),
    of(
        "walks with a limit",
        "check",
        TPC,
        "--simulate",
        "3",
        "--max-states",
        "9",
        sentence="--max-states has no effect with --simulate",
    ),
    of(
        "a seed without walks",
        "check",
        TPC,
        "--seed",
        "3",
        sentence="only with --simulate",
    ),
    of(
        "a depth without walks",
        "check",
        TPC,
        "--depth",
        "3",
        sentence="only with --simulate",
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
        sentence="--seed is given 2 times",
    ),
    of(
        "json twice",
        "check",
        TPC,
        "--json",
        "--json",
        sentence="--json is given 2 times",
    ),
    of("colour and none", "--color", "--no-color", "doctor", sentence="2 times"),
    of(
        "a page and data",
        "explore",
        TPC,
        "--html",
        "x",
        "--json",
        sentence="exclude each",
    ),
    of(
        "a limit without a property",
        "explore",
        TPC,
        "--max-states",
        "3",
        sentence="only for a protocol with --property",
    ),
    of(
        "sizes of a file", "explore", "x.json", "--set", "RM=3", sentence="--set has no"
    ),
    of(
        "faults of a file",
        "replay",
        "x.json",
        "--faults",
        "2",
        sentence="--faults has no",
    ),
    of(
        "output of a file",
        "replay",
        "x.json",
        "--output",
        "o",
        sentence="--output has no",
    ),
    of(
        "evidence of a file",
        "replay",
        "x.json",
        "--evidence",
        sentence="--evidence has no",
    ),
    of(
        "evidence of a part",
        "replay",
        "--only",
        "1",
        "--evidence",
        sentence="--evidence has no effect for some interleavings",
    ),
    of(
        "a store for the grid, which many other uses read",
        "replay",
        "--grid",
        "--store",
        "kafka",
        sentence="--store has no effect in the grid of queries; leave out --store",
    ),
    of(
        "trust in a protocol",
        "explore",
        TPC,
        "--trust",
        sentence="--trust has no effect",
    ),
    of(
        "sizes of a test",
        "export",
        "x.json",
        "--to",
        "pytest",
        "--set",
        "RM=3",
        sentence="--set has no effect with --to pytest",
    ),
    of(
        "a sheet in two forms",
        "guarantees",
        "--html",
        "--json",
        sentence="exclude each",
    ),
    of(
        "a sheet checked and written",
        "guarantees",
        "--check",
        "--output",
        "x.md",
        sentence="--output has no effect with --check",
    ),
    of(
        "a sheet of another ending",
        "guarantees",
        "--json",
        "--output",
        "x.md",
        sentence="is markdown by its ending",
    ),
)

SHEETS = (
    of(
        "no sheet to check",
        "guarantees",
        "--check",
        sentence="there is no sheet to check",
    ),
    of(
        "nothing claimed",
        "guarantees",
        "--check",
        "x.md",
        sentence="nothing is claimed",
    ),
    of(
        "no folder of evidence",
        "guarantees",
        "--evidence",
        "no",
        sentence="there is no folder no",
    ),
    of(
        "no TOML",
        "guarantees",
        sentence="cannot be read",
        files={"pyproject.toml": "[["},
    ),
    of(
        "TOML that is no text",
        "guarantees",
        sentence="is not UTF-8 text",
        files={"pyproject.toml": b"\xff\xfe"},
    ),
    of(
        "TOML that is a folder",
        "guarantees",
        "--check",
        sentence="no sheet to check",
        files={"pyproject.toml": None},
    ),
    of(
        "an unknown key",
        "guarantees",
        sentence="did you mean 'sheet'",
        files={"pyproject.toml": "[tool.onceproof]\nsheets = 'x'\n"},
    ),
    of(
        "a key of another type",
        "guarantees",
        sentence="takes library = true or false",
        files={"pyproject.toml": "[tool.onceproof]\nlibrary = 'yes'\n"},
    ),
    of(
        "a table that is none",
        "guarantees",
        sentence="must be a table",
        files={"pyproject.toml": "[tool]\nonceproof = 3\n"},
    ),
    of(
        "a claim without a subject",
        "guarantees",
        sentence="needs subject",
        files={"pyproject.toml": "[[tool.onceproof.guarantees]]\nguarantee = 'x'\n"},
    ),
    of(
        "a claim of nothing known",
        "guarantees",
        sentence="unknown guarantee",
        files={
            "pyproject.toml": "[[tool.onceproof.guarantees]]\n"
            "subject = 'two-phase-commit'\nguarantee = 'once'\n"
        },
    ),
    of(
        "a claim of a size twice",
        "guarantees",
        sentence="gives RM twice",
        files={
            "pyproject.toml": "[[tool.onceproof.guarantees]]\n"
            "subject = 'two-phase-commit --set RM=2 --set RM=3'\n"
            "guarantee = 'agreement'\n"
        },
    ),
    of(
        "a claim of too many faults",
        "guarantees",
        sentence="takes faults = 0 to",
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
