"""The page on cost shows the figures that are stored, and the command measures them."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import pytest

from tests.benchmarks.cost import claims, page
from tests.benchmarks.cost.sinks import AT_LEAST_ONCE, SINKS
from tests.docs.reference.filled import parts
from tests.test_house import ROOT


def test_the_page_has_each_table_once():
    """A table that is made is shown. That it is up to date, test_reference.py sees."""
    text = page.PAGE.read_text(encoding="utf-8")

    shown = parts(text)

    assert sorted(shown) == [("cost", [name]) for name in sorted(page.MADE)]


@pytest.mark.parametrize("part", page.stored())
def test_a_figure_that_changes_changes_the_page(part):
    """No table is independent of what was measured."""
    other = copy.deepcopy(page.stored())
    rows = other[part].get("rows") or other[part]["frequency"]["rows"]
    row = rows[-1]
    names = {"sinks": "latency_ratio", "recovery": "next_batch_ratio"}
    name = names.get(part, "ratio")
    row.get("log", row)[name] = 77.7

    assert "77.7" not in page.tables(page.stored())
    assert "77.7" in page.tables(other)


def test_a_claim_falls_with_its_figures():
    """The verdict on a claim is computed: other figures give another."""
    found = copy.deepcopy(page.stored())
    calm = claims.snapshot_is_cheap(found)[1]
    local = claims.recovery_is_local(found)[1]
    for row in found["simulated"]["growth"]:
        row["snapshot"]["calm"]["seconds"] *= 2
        row["log"]["one_failure"]["bytes_restored"] *= 3
        row["log"]["calm"]["steps"]["apply"] //= 2

    assert calm != "no"
    assert claims.snapshot_is_cheap(found)[1] == "no"
    assert local == "yes"
    assert claims.recovery_is_local(found)[1] == "no"
    assert claims.log_costs_all(found)[1] == "no"


@pytest.mark.grid
@pytest.mark.spark
def test_the_command_measures_each_part():
    """A small run has every sink, every store, and every table."""
    command = [sys.executable, "-m", "tests.benchmarks.cost", "--quick", "--json"]

    done = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True
    )

    assert not done.returncode, done.stderr[-2000:]
    found = json.loads(done.stdout)
    ratios = {row["sink"]: row["latency_ratio"] for row in found["sinks"]["rows"]}
    assert set(ratios) == {one.sink.name for one in SINKS}
    assert min(ratios.values()) > 0
    for one in SINKS:
        if one.way == AT_LEAST_ONCE:
            assert ratios[one.sink.name] == 1
    assert all(row["next_batch_ratio"] > 0 for row in found["recovery"]["rows"])
    shown = page.tables(found)
    assert all(f"{name}\n|" in shown for name in page.MADE)
