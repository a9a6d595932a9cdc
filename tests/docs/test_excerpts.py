"""A page shows of a file what the file holds, and what it compares agrees."""

from __future__ import annotations

import re
import shutil
import textwrap

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests import tlc
from tests.docs.pages import Block, blocks, pages
from tests.model.oracles.lamport_mutex import LamportMutex
from tests.test_house import ROOT

EXCERPT = re.compile(r"an excerpt of (\S+)")
PAGE = ROOT / "docs" / "explanation" / "how-a-protocol-reads.md"
MODULES = PAGE.parent / "tla"
INVARIANTS = {
    "TwoPhaseCommit": "Agreement",
    "LamportMutex": "Excludes",
    "RaftElection": "ElectsOneLeaderATerm",
}
ROW = re.compile(r"\| (\w+) \| (.+) \| `(.+)` \| ([\d,]+) \|")


def excerpts() -> list[Block]:
    """List the blocks of all pages that show a part of a file."""
    return [b for page in pages() for b in blocks(page) if EXCERPT.match(b.mark)]


def rows() -> list[tuple[str, list[str], dict[str, str], int]]:
    """Return each protocol of the page, its sizes in both languages, and its states."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return [
        (
            name,
            re.findall(r"`([^`]+)`", constants),
            dict(one.split("=") for one in sizes.split()),
            int(states.replace(",", "")),
        )
        for name, constants, sizes, states in found
    ]


def found_by_search(name: str, sizes: dict[str, str]):
    """Search the protocol of the same name."""
    if name == "LamportMutex":
        return check(LamportMutex(**{key: int(value) for key, value in sizes.items()}))
    return check(make(re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower(), sizes))


def holds(path: str, text: str) -> bool:
    """Return whether a file has these lines, wherever they are indented to."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    wanted = text.strip("\n").splitlines()
    return any(
        textwrap.dedent("\n".join(lines[at : at + len(wanted)])).splitlines() == wanted
        for at in range(len(lines))
    )


@pytest.mark.parametrize("block", excerpts(), ids=lambda b: f"{b.mark}:{b.line}")
def test_an_excerpt_is_in_its_file(block):
    """Line by line, so that a page changes with what it shows."""
    (path,) = EXCERPT.findall(block.mark)

    assert holds(path, block.text)


def test_what_is_not_in_a_file_is_found():
    """A changed line is no excerpt, nor is one of another place."""
    path = "docs/explanation/tla/TwoPhaseCommit.tla"

    assert holds(path, 'TmAbort ==\n  /\\ tm = "init"\n')
    assert not holds(path, 'TmAbort ==\n  /\\ tm = "aborted"\n')


def test_each_module_is_on_the_page():
    """And no other."""
    assert {row[0] for row in rows()} == set(INVARIANTS)
    assert {path.stem for path in MODULES.glob("*.tla")} == set(INVARIANTS)


@pytest.mark.parametrize(("name", "_", "sizes", "states"), rows())
def test_the_search_finds_as_many_states_as_the_page_says(name, _, sizes, states):
    """Of a protocol of which all claims hold."""
    report = found_by_search(name, sizes)

    assert report.exploration.distinct == states
    assert Verdict.REFUTED not in report.verdicts.values()


@pytest.mark.tlc
@pytest.mark.parametrize(("name", "constants", "sizes", "states"), rows())
def test_tlc_accepts_the_module_and_finds_as_many(
    name, constants, sizes, states, tmp_path
):
    """As many states as the search, as far from the first."""
    shutil.copy(MODULES / f"{name}.tla", tmp_path)
    given = "\n".join(constants)
    text = f"INIT Init\nNEXT Next\nINVARIANT {INVARIANTS[name]}\nCONSTANTS\n{given}\n"
    (tmp_path / "Page.cfg").write_text(text, encoding="utf-8")

    answered = tlc.run(tmp_path, name, "Page")

    assert answered.answer == "holds", answered.output[-2000:]
    assert answered.distinct == states
    assert answered.depth == found_by_search(name, sizes).exploration.steps + 1
