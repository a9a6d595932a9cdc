"""Measurements: kept whole, refused when they contradict themselves, listed apart."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.evidence.measurements.measurement import (
    SUMS_AGREE,
    MeasuredCounts,
    MeasuredSum,
    Measurement,
    contradiction_of,
    hashes_now,
)
from onceproof.properties.evidence.measurements.store import keep, measurements
from onceproof.properties.evidence.sheet import Claim, Sheet, assemble
from onceproof.properties.evidence.sheet_data import as_data
from onceproof.properties.evidence.sheet_page import as_page
from onceproof.properties.evidence.sheet_text import as_markdown
from onceproof.properties.verdicts import Verdict

CLAIMS = ("at-most-once", "at-least-once", "effectively-once")
WELL = Measurement(
    source="parquet:landing",
    sink="jdbc:postgresql://host/db; dbtable=payments",
    key=("id",),
    owed="at <= 2026-01-31",
    by="day",
    source_repeats=False,
    began="2026-02-01T03:04:05Z",
    ended="2026-02-01T03:05:06Z",
    verdicts=dict.fromkeys((*CLAIMS, SUMS_AGREE), Verdict.HELD),
    problems=(),
    counts=MeasuredCounts(9, 9, 9, 0, 0, 0, 0, 2, 0),
    sums=(MeasuredSum("amount", "10.00", "10"),),
    properties=hashes_now(CLAIMS),
    command="onceproof reconcile --source parquet:landing --evidence",
)


def sheet(*found, hashes=None):
    return Sheet(
        (),
        measurements={f"{one.id}.json": one for one in found},
        hashes=hashes_now(CLAIMS) if hashes is None else hashes,
    )


def test_a_measurement_is_read_as_it_was_kept(tmp_path):
    """A newer one of the same takes its place, and one of another month does not."""
    path = keep(WELL, tmp_path)
    keep(replace(WELL, began="2026-02-01T03:05:00Z"), tmp_path)
    keep(replace(WELL, owed="at <= 2026-02-28"), tmp_path)

    found = measurements(tmp_path)

    assert len(found) == 2
    assert found[path.name] == replace(WELL, began="2026-02-01T03:05:00Z")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": {**vars(WELL.counts), "missing": 1}}, "at-least-once is held"),
        ({"counts": {**vars(WELL.counts), "duplicated": 1}}, "at-most-once is held"),
        ({"sums": [{"number": "a", "source": "1", "sink": "2"}]}, "sums-agree is held"),
        ({"sums": [{"number": "a", "source": "x", "sink": "2"}]}, "is no number"),
        ({"verdicts": {"at-most-once": "proved"}}, "not proved by counting"),
        ({"verdicts": {"at-most-once": "refuted"}}, "nothing is wrong"),
        ({"verdicts": {}}, "judges nothing"),
        ({"problems": ["null in a key"]}, "is held, and problems are"),
        ({"properties": {}}, "hashes are of other guarantees"),
        ({"began": "2026-02-01"}, "not a moment in UTC"),
        ({"sink": "another"}, "digest is of something else"),
    ],
)
def test_what_was_edited_is_refused(tmp_path, changes, words):
    """A count that was mended by hand is no count."""
    path = keep(WELL, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    with pytest.raises(UsageError, match=words):
        measurements(tmp_path)


def test_a_file_under_another_name_is_refused(tmp_path):
    """Two files of the same would be two lines."""
    path = keep(WELL, tmp_path)
    path.rename(path.with_name("copy.json"))

    with pytest.raises(UsageError, match="belongs in"):
        measurements(tmp_path)


def test_a_refutation_of_a_group_alone_is_none_of_the_total():
    """Sums may differ in two groups, and agree in total."""
    counts = replace(WELL.counts, wrong_groups=2)
    found = replace(
        WELL,
        counts=counts,
        verdicts={**WELL.verdicts, SUMS_AGREE: Verdict.REFUTED},
    )

    assert contradiction_of(found) == ""


@pytest.mark.parametrize("form", [as_markdown, as_page])
def test_a_sheet_lists_it_with_its_tables_and_its_moment(form):
    """The reader is told what it does not say."""
    text = form(sheet(replace(WELL, source="a **b** `c` <i>")))

    for words in (
        "Measurements of real tables",
        "No claim above rests on it",
        "dbtable=payments",
        "2026-02-01T03:04:05Z to 2026-02-01T03:05:06Z",
        "✓ held",
    ):
        assert words in text
    assert "<i>" not in text
    assert "<strong>b" not in text


def test_no_claim_rests_on_a_measurement():
    """The same sink may be claimed to hold: that stays without evidence."""
    claim = Claim(WELL.sink, "effectively-once", "")
    made = replace(assemble([claim], {}, {}), measurements=sheet(WELL).measurements)

    assert made.rows[0].verdict is None
    assert "unsupported" in as_markdown(made)
    assert as_data(made)["rows"][0]["evidence"] == []
    assert as_data(made)["measurements"][0]["digest"] == WELL.digest


def test_a_verdict_on_a_guarantee_that_has_changed_is_not_shown():
    """It was about other words."""
    text = as_markdown(sheet(WELL, hashes={}))

    assert "the property has changed since" in text
    assert text.count("✓ held") == 1
