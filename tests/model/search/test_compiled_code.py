"""Compiled code is used only if it is what was asked for, whole, and the user's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from onceproof.model import code_cache
from onceproof.model.code_cache import code_folder, identity, keep, load
from onceproof.model.language import Protocol, action, always, state, when
from onceproof.model.search.compiling.compiled import Compiled
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

SEARCH = """
import json
from onceproof.model.search.exhaustive import explore
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
names = ("transaction-commit", "two-phase-commit")
found = [explore(trace(make(name, {}))) for name in names]
print(json.dumps([[f.distinct, f.generated, f.depth] for f in found]))
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Keep compiled code in a folder of the test's own."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    return tmp_path


def counter(steps: int) -> Protocol:
    """Count up to a number; it is claimed that 3 is never met."""

    class Counter(Protocol):
        at = state(0, high=9)

        @action
        def count(self) -> None:
            when(self.at < steps)
            self.at = self.at + 1

        @always
        def below(self) -> bool:
            return self.at < 3

    return Counter()


def verdict(steps: int) -> Verdict:
    """Judge a counter by the search."""
    return check(counter(steps)).verdicts["below"]


def kept(folder: Path) -> list[Path]:
    """List the entries there are."""
    return sorted((folder / "code").iterdir())


def test_code_of_another_model_in_its_place_is_not_used(folder):
    """Each model has its own verdict, whatever lies under the other's name."""
    verdict(1)
    before = kept(folder)
    right = [verdict(2), verdict(5)]
    objects = [path for path in kept(folder) if path not in before]
    assert len(objects) == 2
    one, other = (path.read_bytes() for path in objects)

    objects[0].write_bytes(other)
    objects[1].write_bytes(one)

    assert right == [Verdict.EXHAUSTED, Verdict.REFUTED]
    assert [verdict(2), verdict(5)] == right
    assert [path.read_bytes() for path in objects] == [one, other]


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_damaged_entries_are_no_entries(folder, size):
    """A bit that is turned, an end that is cut off or added to: none is passed over."""
    name = identity(["what it is", str(size)])
    keep(name, os.urandom(size))
    (path,) = kept(folder)
    whole = path.read_bytes()
    spots = range(0, len(whole), max(1, len(whole) // 60))

    damaged = [whole + b"x", b""]
    damaged += [whole[:cut] for cut in spots]
    for at in spots:
        turned = bytes([whole[at] ^ (1 << at % 8)])
        damaged.append(whole[:at] + turned + whole[at + 1 :])

    assert load(name) is not None
    for data in damaged:
        path.write_bytes(data)
        assert load(name) is None


def test_an_entry_is_found_under_its_own_name_alone(folder):
    """Renaming an entry does not make it another."""
    one, other = identity(["one"]), identity(["other"])
    keep(one, b"content")

    (folder / "code" / one.hex()).rename(folder / "code" / other.hex())

    assert load(one) is None
    assert load(other) is None


def test_no_two_lists_of_parts_have_one_identity():
    """Where one part ends and the next begins makes a difference."""
    lists = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("abc\0",)]

    assert len({identity(parts) for parts in lists}) == len(lists)


def test_the_identity_of_code_holds_what_it_is_made_from(monkeypatch, folder):
    """Other source, another processor or another LLVM is other code."""
    source = "define void @{}() {{ ret void }}"
    Compiled(source.format("one"), "one")
    Compiled(source.format("two"), "two")
    monkeypatch.setattr("llvmlite.__version__", "0.0.0")
    Compiled(source.format("one"), "one")

    assert len(kept(folder)) == 3


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o722])
def test_a_folder_that_others_can_write_to_is_not_used(folder, mode):
    """Who can put a file there could have put code there."""
    name = identity(["entry"])
    keep(name, b"content")

    (folder / "code").chmod(mode)

    assert code_folder() is None
    assert load(name) is None
    assert verdict(5) is Verdict.REFUTED
    assert len(kept(folder)) == 1


def test_a_file_that_others_can_write_to_is_not_used(folder):
    """Nor is one that others can change, in a folder of the user's own."""
    name = identity(["entry"])
    keep(name, b"content")

    kept(folder)[0].chmod(0o622)

    assert load(name) is None


def test_what_belongs_to_another_user_is_not_used(monkeypatch):
    """It is not for this user to say what is in it."""
    name = identity(["entry"])
    keep(name, b"content")
    mine = os.getuid()

    monkeypatch.setattr(code_cache.os, "getuid", lambda: mine + 1)

    assert code_folder() is None
    assert load(name) is None


def test_symbolic_links_are_not_followed(folder, tmp_path_factory):
    """Neither the folder nor an entry may be a link to something else."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    name = identity(["entry"])
    keep(name, b"content")
    (path,) = kept(folder)

    path.rename(elsewhere / "entry")
    path.symlink_to(elsewhere / "entry")
    through_a_file = load(name)
    path.unlink()
    (elsewhere / "entry").rename(elsewhere / name.hex())
    (folder / "code").rmdir()
    (folder / "code").symlink_to(elsewhere)

    assert through_a_file is None
    assert code_folder() is None
    assert load(name) is None


def test_without_a_folder_code_is_made_each_time(folder):
    """Where nothing can be kept, models are judged all the same."""
    (folder / "code").write_text("in the way")

    assert code_folder() is None
    assert [verdict(2), verdict(5)] == [Verdict.EXHAUSTED, Verdict.REFUTED]


def searched() -> subprocess.Popen[str]:
    """Search two models in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", SEARCH],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> list[list[int]]:
    """Wait for a search, and give what it counted."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    found: list[list[int]] = json.loads(out)
    return found


def test_processes_that_start_together_and_damage_do_no_harm(folder):
    """Two write the same entries at once; then all entries are damaged."""
    together = [answer(process) for process in [searched(), searched()]]
    names = [path.name for path in kept(folder)]
    for path in kept(folder):
        data = path.read_bytes()
        path.write_bytes(data[:-100] + bytes(100))

    again = answer(searched())

    assert together[0] == together[1] == again
    assert [path.name for path in kept(folder)] == names
    assert all(len(name) == 64 for name in names)
    assert all(load(bytes.fromhex(name)) is not None for name in names)
