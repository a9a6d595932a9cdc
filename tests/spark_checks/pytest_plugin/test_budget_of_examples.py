"""An example of Hypothesis is one interleaving: a budget of time leaves none out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.spark_checks.pytest_plugin.marked_request import Call, request_of
from onceproof.spark_checks.pytest_plugin.options import options_of


@pytest.mark.parametrize(("drawn", "budget"), [(False, 5.0), (True, None)])
def test_an_example_has_no_budget(request, tmp_path, drawn, budget):
    """All other replays keep to it."""
    mark = SimpleNamespace(args=(), kwargs={"key": "id"})
    item = SimpleNamespace(
        nodeid="t",
        name="t",
        config=SimpleNamespace(rootpath=Path(tmp_path)),
        iter_markers_with_node=lambda _: [(None, mark)],
    )
    options = replace(options_of(request.config), budget=5.0)
    case = SimpleNamespace(faults=1, nth=3, events=None) if drawn else None
    call = Call(None, None, (), (), None)

    asked = request_of(item, options, call, case=case, artifacts=tmp_path, first=())

    assert asked.budget == budget
