"""A record that no judge can have made is refused as it is read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.evidence.contradictions import contradiction
from onceproof.properties.evidence.record import Evidence, Fingerprints, TraceEvidence
from onceproof.properties.evidence.store import read, write
from onceproof.properties.verdicts import Verdict

SHOWN = TraceEvidence(
    "it breaks", ("write(0)", "crash()"), (2,), "onceproof check counter"
)
REPLAY = Evidence(
    subject="orders",
    guarantee="durable",
    judge="replay",
    claim="it stays",
    scope={"batches": 2},
    faults=1,
    fault_set=("crash",),
    verdict=Verdict.HELD,
    coverage={"interleavings": "7 of 9", "interleavings that drift from the model": 0},
    fingerprints=Fingerprints("a", "b", {"orders.py": "c"}),
    parameters={"faults": 1},
    versions={},
    date="2026-01-02",
    command="pytest",
)
SEARCH = replace(
    REPLAY,
    judge="check",
    verdict=Verdict.EXHAUSTED,
    coverage={"states": 12, "depth": 3},
)
WALKS = replace(
    SEARCH,
    judge="simulate",
    verdict=Verdict.HELD,
    coverage={"walks": 3, "steps": 9, "states": 5},
)
REFUTED = {"verdict": Verdict.REFUTED, "trace": SHOWN}
TWICE = replace(SHOWN, fault_steps=(1, 2))


@pytest.mark.parametrize(
    "record",
    [
        REPLAY,
        SEARCH,
        WALKS,
        replace(REPLAY, **REFUTED),
        replace(SEARCH, **REFUTED),
        replace(SEARCH, verdict=Verdict.UNDECIDED, coverage={"states": 9, "depth": 1}),
        replace(
            REPLAY, verdict=Verdict.UNDECIDED, coverage={"interleavings": "0 of 0"}
        ),
        replace(SEARCH, faults=0, fault_set=(), parameters={"faults": 64}),
        replace(SEARCH, judge="prove", verdict=Verdict.BOUNDED, coverage={}),
    ],
)
def test_what_judges_find_is_read_back(tmp_path, record):
    """As it was written."""
    write([record], tmp_path)

    assert read(tmp_path / record.file_name) == (record,)


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        (replace(REPLAY, verdict=Verdict.PROVED), "a replay never says proved"),
        (replace(SEARCH, verdict=Verdict.HELD), "a check never says held"),
        (replace(WALKS, verdict=Verdict.EXHAUSTED), "simulate never says exhausted"),
        (replace(REPLAY, faults=3), "'faults' is 3, and its model has 1"),
        (replace(REPLAY, fault_set=()), "'faults' is 1, and its model has 0"),
        (replace(REPLAY, faults=-1, parameters={"faults": -1}), "fewer than no faults"),
        (replace(REPLAY, verdict=Verdict.REFUTED), "refuted, and has no trace"),
        (replace(REPLAY, trace=SHOWN), "it is held, and has a trace"),
        (replace(REPLAY, **{**REFUTED, "trace": TWICE}), "2 faults happen"),
        (
            replace(REPLAY, **{**REFUTED, "trace": replace(SHOWN, fault_steps=(3,))}),
            "does not number steps",
        ),
        (replace(REPLAY, coverage={}), "counts None interleavings"),
        (replace(REPLAY, coverage={"interleavings": "9 of 7"}), "counts '9 of 7'"),
        (replace(REPLAY, coverage={"interleavings": "0 of 9"}), "nothing was replayed"),
        (
            replace(REPLAY, coverage={"interleavings": "1 of 9", "not steered": 8}),
            "something could not be steered",
        ),
        (replace(SEARCH, coverage={"states": 0, "depth": 3}), "counts 0 states"),
        (replace(SEARCH, coverage={"states": 5}), "counts None depth"),
        (
            replace(SEARCH, coverage={"states": 5, "depth": 1, "stopped": "states"}),
            "the search was stopped",
        ),
        (replace(WALKS, coverage={"states": 5}), "counts None walks"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, record, answer):
    """With the reason, and though its digest is that of what it tells."""
    write([record], tmp_path)

    with pytest.raises(UsageError, match="is damaged") as refused:
        read(tmp_path / record.file_name)

    assert answer in contradiction(record)
    assert answer in str(refused.value)


def test_an_edit_is_seen_by_the_digest(tmp_path):
    """Of anything that the record says, where all of it could be true."""
    write([REPLAY], tmp_path)
    path = tmp_path / REPLAY.file_name
    data = json.loads(path.read_text())
    data["records"][0]["coverage"]["interleavings"] = "9 of 9"
    path.write_text(json.dumps(data))

    with pytest.raises(UsageError, match="edited after it was made"):
        read(path)


def test_records_under_another_name_are_refused(tmp_path):
    """Two files would tell of the same."""
    write([REPLAY], tmp_path)
    (tmp_path / "other.json").write_text((tmp_path / REPLAY.file_name).read_text())

    with pytest.raises(UsageError, match=r"belongs in orders\.json"):
        read(tmp_path / "other.json")


PROOF = replace(SEARCH, judge="prove", verdict=Verdict.PROVED, coverage={})
THIN = replace(REPLAY, coverage={"interleavings": "3 of 9"}, date="2026-02-03")
CHANGED = replace(THIN, fingerprints=Fingerprints("a", "b", {"orders.py": "d"}))


@pytest.mark.parametrize(
    ("there", "new", "stays"),
    [
        (REPLAY, THIN, True),
        (REPLAY, CHANGED, False),
        (THIN, REPLAY, False),
        (REPLAY, replace(REPLAY, date="2026-02-03"), False),
        (REPLAY, replace(THIN, **REFUTED), False),
        (replace(REPLAY, **REFUTED), replace(THIN, **REFUTED), True),
        (replace(REPLAY, **REFUTED), THIN, True),
        (SEARCH, replace(SEARCH, coverage={"states": 2, "depth": 1}), True),
        (PROOF, replace(PROOF, verdict=Verdict.UNDECIDED), True),
        (PROOF, replace(PROOF, date="2026-02-03"), False),
        (PROOF, replace(PROOF, **REFUTED), False),
    ],
)
def test_a_thinner_record_replaces_none_that_was_found_for_the_same(
    tmp_path, there, new, stays
):
    """Where a hash moved the newer one wins; what refutes is always written."""
    write([there], tmp_path)

    kept = write([new], tmp_path)

    assert kept == int(stays)
    assert read(tmp_path / there.file_name) == (there if stays else new,)
