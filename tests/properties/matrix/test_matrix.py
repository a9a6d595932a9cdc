"""The matrix judges what the library composes, and says what it does not."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from functools import cache
from pathlib import Path

import pytest

from onceproof.model.library import make
from onceproof.model.search.limits import Limits
from onceproof.properties.evidence.store import read_folder
from onceproof.properties.judges.by_search import check
from onceproof.properties.matrix import judging
from onceproof.properties.matrix.compositions import compositions
from onceproof.properties.matrix.judging import ALL, NONE, judge
from onceproof.properties.matrix.matrix import LOSES, ONCE, REPEATS, matrix_of
from onceproof.properties.matrix.opened import known, packed
from onceproof.properties.matrix.page import page, refuted
from onceproof.properties.matrix.source_code import of_modules, with_imports
from onceproof.properties.matrix.tables import anchor
from onceproof.properties.verdicts import Verdict

ROOT = Path(__file__).parents[3]


@cache
def listed():
    """List the compositions of the library: once, and not while tests are collected."""
    return compositions()


MOST, ONE = "at-most-once", "effectively-once"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))


def of(engine, **parts):
    """Return the composition of an engine and parts."""
    return next(
        c
        for c in listed().found
        if c.engine == engine and {**c.settings, **parts} == dict(c.settings)
    )


def test_what_fits_no_slot_and_what_shows_no_events_is_left_out_with_the_reason():
    """A sink of another kind is in no composition; a commit of one unit neither."""
    reasons = {one.what: one.why for one in listed().left_out}

    assert "does not observe" in reasons["two-phase-commit"]
    assert any("more specific kind" in why for why in reasons.values())
    narrow = {
        c.settings["sink"] for c in listed().found if "new-checkpoint" in c.engine
    }
    assert "upsert" not in narrow
    assert "upsert-recut" in narrow


def test_a_protocol_that_only_fills_slots_of_another_is_listed_once():
    """Event time with all parts of a variant is that variant, which is shorter."""
    same = {one.what: one.why for one in listed().same}
    found = {str(one) for one in (*listed().found, *listed().several)}

    long = (
        "event-time --set trigger=every-event --set panes=discarding "
        "--set store_=adding-store"
    )
    assert same[long] == "it is the same as event-time-deltas"
    assert "event-time-deltas" in found
    assert not found & set(same)
    # A number of its own makes it another protocol.
    assert "micro-batch-rescaled --set sink=upsert" in found
    assert all(len(one.changes) <= 1 for one in listed().found)


def test_what_two_parts_break_together_is_stated_of_the_two_alone():
    """State in place repeats; where a repeat shows nothing, it also loses."""
    every = (*listed().found, *listed().several)
    stated = {
        frozenset(c.changed.values()): c.stated
        for c in every
        if c.engine == "micro-batch-stateful"
    }

    assert "at-least-once" in stated[frozenset({"state-in-place", "new-rows"})]
    assert "at-least-once" not in stated[frozenset({"state-in-place"})]
    assert "at-least-once" not in stated[frozenset({"new-rows"})]


def test_a_result_that_is_never_shown_is_lost():
    """Where nothing is ever visible, nothing repeats, and each event is lost."""
    one = next(
        c
        for c in listed().several
        if c.engine == "micro-batch-stateful"
        and set(c.changed.values()) == {"state-in-place", "new-rows", "two-actions"}
    )

    (row,) = matrix_of([(one, judge(one))], ()).rows

    assert row.judged.verdicts["all"]["at-most-once"] == "vacuous"
    assert row.outcome() == "loses"


def test_time_that_is_over_leaves_compositions_undecided():
    """What was not judged is listed, and the status is that of what is undecided."""
    one = of("micro-batch", sink="upsert")

    made = matrix_of([(one, None)], ())

    assert made.not_judged == (one,)
    assert made.exit_status == 2
    assert made.to_json()["not_judged"] == [
        "onceproof check micro-batch --set sink=upsert"
    ]


def test_each_run_of_the_page_has_a_name_of_its_own():
    """No two compositions share the name under which the page finds how they break."""
    every = [*listed().found, *listed().several]

    assert len({anchor(one, ONE) for one in every}) == len(every)


def test_source_code_is_followed_into_what_it_imports():
    """A part that only a protocol's part imports is part of what a verdict rests on."""
    upsert = "onceproof.model.protocols.parts.sinks.upsert"

    read = with_imports(["onceproof.model.protocols.micro_batch_from"])

    assert upsert in read
    assert "onceproof.model.protocols.event_time" not in read
    assert of_modules([upsert]) != of_modules(["onceproof.model.protocols.event_time"])


def test_a_fault_that_suffices_alone_opens_a_run_without_any_other():
    """The shortest run of all may have another fault, or fewer steps."""
    one = of("micro-batch-unreliable", sink="append")

    (row,) = matrix_of([(one, judge(one))], ()).rows

    assert len(row.breaking) > 1
    assert set(row.run_by) == set(row.breaking)
    assert ONE in row.run_by.values()
    for fault, name in row.run_by.items():
        assert set(row.runs[name].faults) == {fault}
    own = [name for name in row.run_by.values() if name != ONE]
    assert own
    commands = {
        found["counterexamples"][ONE]["explore"]
        for found in row.to_json()["fault_sets"]
        if ONE in found["counterexamples"]
    }
    assert {c.rpartition(" ")[2] for c in commands if "--fault" in c} >= {
        name.partition(" ")[2] for name in own
    }


def test_a_replay_whose_model_is_in_no_cell_is_listed_with_it():
    """This sink tries more often than the library's standard."""
    evidence = read_folder(ROOT / "docs" / "evidence").values()
    records = [
        r for r in evidence if r.subject in ("kafka-append-resent", "foreach-writer")
    ]
    one = of("micro-batch-rescaled", sink="partition-ledger")

    made = matrix_of([(one, judge(one))], (), records)

    (listed_apart,) = made.elsewhere
    assert listed_apart.what == "kafka-append-resent"
    assert "retries=9" in listed_apart.why


def test_evidence_of_a_protocol_is_beside_one_that_extends_it_to_the_same():
    """The sink was replayed as ``micro-batch`` with ``rescales=1``."""
    (record,) = [
        one
        for one in read_folder(ROOT / "docs" / "evidence").values()
        if one.subject == "foreach-writer" and one.guarantee == "durable"
    ]
    chosen = [
        of("micro-batch-rescaled", sink="partition-ledger"),
        of("micro-batch", sink="partition-ledger"),
    ]

    made = matrix_of([(c, judge(c)) for c in chosen], (), [record])

    same, other = made.rows
    assert record.verdict is Verdict.REFUTED
    assert same.spark["durable"].verdict is Verdict.REFUTED
    assert same.spark["durable"].sinks == ("foreach-writer",)
    assert set(same.spark) == {"durable"}
    assert not other.spark


@pytest.mark.ci
def test_each_fault_alone_is_judged_as_a_search_with_that_fault_alone_judges_it():
    """An append of whole batches repeats after a crash, and never without a fault."""
    found = judge(of("micro-batch", sink="append-whole"))

    assert found.verdicts[ALL][MOST] == Verdict.REFUTED
    assert found.verdicts[NONE][MOST] == Verdict.EXHAUSTED
    assert found.verdicts["fail_task"][MOST] == Verdict.EXHAUSTED
    assert found.verdicts["crash"][MOST] == Verdict.REFUTED
    none = check(make("micro-batch", {"sink": "append-whole", "faults": "0"}))
    expected = {n: v for n, v in none.verdicts.items() if n in found.verdicts[NONE]}
    assert found.verdicts[NONE] == expected


@pytest.mark.ci
def test_verdicts_are_kept_until_the_model_changes(monkeypatch):
    """The second time nothing is searched; another part is another model."""
    first = judge(of("micro-batch-from", sink="upsert", source="read-once"))
    again = judge(of("micro-batch-from", sink="upsert", source="read-once"))
    monkeypatch.setattr(judging, "of_modules", lambda _: "another comment")
    traced = judge(of("micro-batch-from", sink="upsert", source="read-once"))
    other = judge(of("micro-batch-from", sink="upsert", source="replayable"))

    assert (first.kept, again.kept, other.kept) == (False, True, False)
    assert traced == again
    assert again.verdicts == first.verdicts
    assert again.refuted == first.refuted
    assert again.terms != other.terms


@pytest.mark.ci
def test_a_matrix_shows_what_is_the_same_once_and_opens_each_counterexample():
    """Rows, page and JSON say the same; a page of the explorer is there for a loss."""
    chosen = [
        of("micro-batch", sink="upsert"),
        of("micro-batch-from", sink="upsert", source="replayable"),
        of("micro-batch-from", sink="upsert", source="read-once"),
        of("micro-batch", sink="append-whole"),
    ]

    made = matrix_of([(c, judge(c)) for c in chosen], listed().left_out)

    assert [row.outcome() for row in made.rows] == [ONCE, LOSES, REPEATS]
    assert [one.what for one in made.same] == ["micro-batch-from"]
    assert made.exit_status == 0
    lost = refuted(made)
    shown = {str(r.composition): packed(r.composition, r.runs) for r in lost}
    written = page(made, shown)
    # Upserts count once, and readers see a part of a batch.
    assert [ONE in row.judged.broken for row in lost] == [False, True, True]
    assert "the same as" in written
    assert '"why">but not <a' in written
    assert '"why">also not <a' in written
    for row in lost:
        parts = json.loads(zlib.decompress(b64decode(shown[str(row.composition)].data)))
        assert parts["SCRIPTS"].split()[0] in written
        # Each guarantee that breaks has a run; what breaks in one run shares it.
        assert set(row.shown_by) == row.judged.broken
        assert set(parts["DATA"]) == set(row.runs) >= set(row.shown_by.values())
        for claim, data in parts["DATA"].items():
            assert f'"property":"{claim.partition(" ")[0]}"' in data
            assert written.count(f'id="{anchor(row.composition, claim)}"') == 1
            assert f'href="#{anchor(row.composition, claim)}"' in written
        assert known(row.composition, row.runs) == shown[str(row.composition)]
    assert lost[1].shown_by["at-least-once"] == ONE
    assert lost[1].shown_by["agreement"] == "agreement"
    assert json.loads(json.dumps(made.to_json()))["cells"][1]["outcome"] == LOSES


@pytest.mark.ci
def test_a_composition_that_is_undecided_is_never_one_that_holds():
    """A search that is stopped gives exit status 2, and keeps nothing."""
    one = of("micro-batch", sink="upsert")
    judged = judge(one, Limits(20))

    made = matrix_of([(one, judged)], ())

    assert made.rows[0].outcome() != ONCE
    assert made.exit_status == 2
    assert not judge(one, Limits(20)).kept


@pytest.mark.ci
def test_sinks_that_do_the_same_are_two_if_readers_see_something_else():
    """A folder that is read through its manifest hides what a listing of it shows."""
    chosen = [of("micro-batch", sink=s) for s in ("manifest", "manifest-directory")]
    judged = [judge(one) for one in chosen]

    made = matrix_of(list(zip(chosen, judged, strict=True)), ())

    assert judged[0].claims[ONE] != judged[1].claims[ONE]
    assert [row.outcome() for row in made.rows] == [ONCE, REPEATS]
    assert made.same == ()


@pytest.mark.grid
def test_the_whole_matrix_is_decided_and_breaks_only_what_is_stated():
    """Every composition of the library is judged, which takes minutes."""
    every = [*listed().found, *listed().several]
    made = matrix_of([(c, judge(c)) for c in every], listed().left_out)

    assert len(made.rows) > 1_000
    assert [str(row.composition) for row in made.unstated] == []
    assert [str(row.composition) for row in made.undecided] == []
    assert made.exit_status == 0
