"""The page of file formats has each field of the grid's report."""

from __future__ import annotations

from onceproof.spark_checks.grid.cell import GridCell
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.grid_run import GridReport
from onceproof.spark_checks.queries.catalogue import every_query
from onceproof.spark_checks.queries.configuration import parsed
from tests.test_house import ROOT


def test_each_field_of_the_report_is_on_the_page():
    """No more, and no less, in the order of the report."""
    query = next(iter(every_query().values()))
    cell = GridCell(query, parsed("default"), PlacedFault(GridFault.NONE))
    report = GridReport((cell,), (), "4.1.4").to_json()
    page = (ROOT / "docs/reference/file-formats.md").read_text(encoding="utf-8")
    part = page.partition("## Report of the grid")[2].partition("\n## ")[0]

    named = [
        name.strip("`")
        for line in part.splitlines()
        if line.startswith("| `")
        for name in line.split("|")[1].strip().split(", ")
    ]

    assert named == [*report, *report["cells"][0]]
