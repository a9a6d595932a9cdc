"""The pictures that are drawn, by the names of their files."""

from __future__ import annotations

from tests.docs.drawn.cost_pictures import frequent_failures, one_failure
from tests.docs.drawn.guarantees_of_sinks import guarantees_of_sinks
from tests.docs.drawn.lost_update import lost_update
from tests.docs.drawn.state_graph import state_graph
from tests.test_house import ROOT

FOLDER = ROOT / "docs" / "pictures"
DRAWN = {
    "cost-frequent-failures.svg": frequent_failures,
    "cost-one-failure.svg": one_failure,
    "guarantees-of-sinks.svg": guarantees_of_sinks,
    "lost-update.svg": lost_update,
    "two-phase-commit.svg": state_graph,
}
