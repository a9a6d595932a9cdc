"""The sheet shows every claim beside what it rests on, and leaves nothing out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from onceproof.properties.evidence.record import Assumption, Evidence, Hashes, Shown
from onceproof.properties.evidence.sheet import Claim, assemble, problems_of
from onceproof.properties.evidence.sheet_page import as_page
from onceproof.properties.evidence.sheet_text import as_data, as_markdown
from onceproof.properties.verdicts import Verdict

TRACE = Shown(
    clause="no effect is ever visible twice",
    steps=("write(0)", "crash()", "write(0)"),
    strikes=(2,),
    again="onceproof replay orders --only 3",
    failpoints=("the process dies after the write",),
    seen="after the query finished, readers see 4 of 8 events twice",
)
HELD = Evidence(
    subject="orders",
    guarantee="at-least-once",
    kind="replay",
    claim="all is there",
    scope={"source": "flights", "Spark": "4.1.4", "batches": 2},
    faults=1,
    fault_set=("crash",),
    verdict=Verdict.HELD,
    coverage={"interleavings": "7 of 9"},
    hashes=Hashes("a" * 64, "b" * 64, {"orders.py": "c" * 64}),
    model={},
    versions={"pyspark": "4.1.4"},
    date="2026-01-02",
    again="onceproof replay orders --evidence",
    assumptions=(Assumption("the source can be read again", "assumed"),),
)
REFUTED = replace(HELD, verdict=Verdict.REFUTED, trace=TRACE, guarantee="at-most-once")


def claim(guarantee="at-least-once", subject="orders", **words):
    told = {"text": f"{guarantee} it is", "again": f"onceproof replay {subject}"}
    return Claim(subject, guarantee, **{**told, **words})


def sheet(claims, *evidence, stale=None):
    named = {f"{number}.json": record for number, record in enumerate(evidence)}
    return assemble(claims, named, stale or {})


def only(claims, *evidence, stale=None):
    [row] = sheet(claims, *evidence, stale=stale).rows
    return row


def test_a_row_holds_all_that_a_row_holds():
    """Sentence, scope, aspect, faults, assumptions, verdict, evidence, duties."""
    stated = claim(
        assumptions=(Assumption("acks = all", "configured"),), duties=("wait",)
    )

    [row] = as_data(sheet([stated], HELD))["rows"]

    assert row["claim"] == "At-least-once it is"
    assert (row["aspect"], row["verdict"], row["faults"]) == ("delivery", "held", 1)
    assert row["fault_set"] == ["crash"]
    assert row["duties"] == ["wait"]
    assert [a["kind"] for a in row["assumptions"]] == ["configured", "assumed"]
    [record] = row["evidence"]
    assert record["scope"] == HELD.scope
    assert record["hashes"]["sources"] == {"orders.py": "c" * 64}
    assert record["versions"] == {"pyspark": "4.1.4"}


def test_delivery_effect_and_visibility_are_rows_apart():
    """None says more than it claims."""
    names = ["at-most-once", "at-least-once", "effectively-once", "atomic-visibility"]

    rows = as_data(sheet([claim(name) for name in names], HELD))["rows"]

    assert [row["aspect"] for row in rows] == [
        "delivery",
        "delivery",
        "effect",
        "visibility",
    ]
    assert [row["verdict"] for row in rows] == [
        "unsupported",
        "held",
        "unsupported",
        "unsupported",
    ]


@pytest.mark.parametrize("form", [as_markdown, as_page])
def test_a_claim_without_evidence_is_shown_as_unsupported(form):
    """It is never left out, in either form."""
    made = sheet([claim(), claim("durable", "payments")], HELD)

    assert "payments" in form(made)
    assert re.search(r"Durable it is.*unsupported", form(made), re.DOTALL)
    [problem] = problems_of(made)
    assert str(problem) == (
        "payments, durable: no evidence for at most 1 fault; run onceproof replay "
        "payments"
    )


@pytest.mark.parametrize("there", ["shop/test_orders.py::orders", "ordres"])
def test_a_claim_of_a_name_that_is_nearly_right_is_told_so(there):
    """Where there is evidence of a subject that nothing is claimed of."""
    made = sheet([claim()], replace(HELD, subject=there))

    [problem] = problems_of(made)
    assert problem.mend == (
        f"state {there!r} if that is what is meant, or run onceproof replay orders"
    )


@pytest.mark.parametrize("form", [as_markdown, as_page])
def test_a_refuted_claim_shows_its_trace(form):
    """Steps, the failpoint that struck, what readers saw, and how to see it again."""
    told = form(sheet([claim("at-most-once")], REFUTED))

    assert f"trace {TRACE.name}" in told
    for shown in (*TRACE.steps, *TRACE.failpoints, TRACE.seen, TRACE.again):
        assert shown in told
    strong = "**crash()**" if form is as_markdown else "<strong>crash()</strong>"
    assert strong in told


def test_what_is_refuted_is_a_problem_unless_that_is_stated():
    """And what is stated to be refuted is one when it holds."""
    surprised = problems_of(sheet([claim("at-most-once")], REFUTED))
    stated = problems_of(sheet([claim("at-most-once", expected="refuted")], REFUTED))
    mended = problems_of(sheet([claim(expected="refuted")], HELD))

    assert "the evidence says refuted" in str(surprised[0])
    assert stated == []
    assert 'state expected = "holds"' in str(mended[0])


def test_stale_evidence_supports_nothing_and_says_why():
    """The claim is unsupported; what moved is named, with the mend."""
    made = sheet([claim()], HELD, stale={"0.json": ("orders.py has changed",)})

    [problem] = problems_of(made)

    assert made.rows[0].verdict is None
    assert str(problem) == (
        "orders, at-least-once: 0.json is stale: orders.py has changed; run "
        "onceproof replay orders --evidence"
    )
    assert "stale: orders.py has changed" in as_markdown(made)


@pytest.mark.parametrize(
    ("new", "problems"),
    [
        ({"faults": 2}, 0),
        ({"kind": "check"}, 1),
        ({"scope": {**HELD.scope, "batches": 1}}, 1),
    ],
)
def test_stale_evidence_is_replaced_by_what_looks_at_all_that_it_did(new, problems):
    """By the same judge, at the same scope, under as many faults."""
    stale = {"0.json": ("orders.py has changed",)}

    made = sheet([claim()], HELD, replace(HELD, **new), stale=stale)

    assert len(problems_of(made)) == problems
    assert ("stale: orders.py has changed" in as_markdown(made)) is bool(problems)


@pytest.mark.parametrize("scope", [HELD.scope, {**HELD.scope, "batches": 1}])
def test_a_stale_refutation_is_never_hidden(scope):
    """Another run that holds says nothing of it: the command that made it has to."""
    held = replace(HELD, guarantee="at-most-once", scope=scope, faults=2)

    made = sheet([claim("at-most-once")], REFUTED, held, stale={"0.json": ("x",)})

    told = as_markdown(made)
    [problem] = problems_of(made)
    assert str(problem) == (
        "orders, at-most-once: 0.json, which refutes it, is stale: x; run onceproof "
        "replay orders --evidence, or take the file out if that is run no more"
    )
    assert "stale: x since it was refuted with source: flights" in told
    assert f"before it changed, with 1 fault: trace {TRACE.name}" in told
    assert "What broke it before it changed:" in told
    [stale] = as_data(made)["rows"][0]["stale"]
    assert (stale["verdict"], stale["again"]) == ("refuted", REFUTED.again)


@pytest.mark.parametrize(
    ("records", "verdict"),
    [
        ([HELD, replace(HELD, verdict=Verdict.PROVED)], "proved"),
        ([HELD, replace(HELD, verdict=Verdict.UNDECIDED)], "held"),
        ([replace(HELD, verdict=Verdict.UNDECIDED)], "undecided"),
        ([HELD, replace(HELD, verdict=Verdict.REFUTED, trace=TRACE)], "refuted"),
        ([replace(HELD, faults=2)], "held"),
        ([replace(HELD, faults=0)], "unsupported"),
    ],
)
def test_verdicts_of_several_records(records, verdict):
    """Any that refutes, refutes; fewer faults than are claimed support nothing."""
    [row] = as_data(sheet([claim()], *records))["rows"]

    assert row["verdict"] == verdict


def test_a_trace_refutes_only_claims_of_as_many_faults():
    """What two faults break is no word against one, and is told beside it."""
    twice = replace(TRACE, strikes=(1, 2))
    more = replace(REFUTED, faults=2, trace=twice)
    held = replace(HELD, guarantee="at-most-once")

    row = only([claim("at-most-once")], held, more)

    assert row.verdict is Verdict.HELD
    assert only([claim("at-most-once", faults=2)], more).verdict is Verdict.REFUTED
    told = as_markdown(sheet([claim("at-most-once")], held, more))
    assert f"| beyond the claim, with 2 faults: trace {twice.name} |" in told
    _, _, beyond = told.partition("What breaks it under more faults than are claimed:")
    assert f"- with 2 faults, trace {twice.name} breaks that" in beyond
    assert "What breaks it:" not in told


def test_a_claim_at_sizes_rests_on_evidence_of_those_sizes():
    """Other sizes are evidence for which nothing is claimed."""
    small = replace(HELD, scope={**HELD.scope, "batches": 1})

    made = sheet([claim(sizes={"batches": 2})], HELD, small)

    assert list(made.rows[0].live) == ["0.json"]
    assert list(made.unclaimed) == ["1.json"]
    assert "## orders --set batches=2" in as_markdown(made)


def test_where_no_faults_are_modelled_none_are_claimed():
    """Such evidence supports a claim of none, and says so."""
    faultless = replace(HELD, faults=0, fault_set=())

    none = sheet([claim(faults=0)], faultless)
    some = sheet([claim()], faultless)

    assert "| none modelled | held |" in as_markdown(none)
    assert problems_of(none) == []
    assert some.rows[0].verdict is None
    assert str(problems_of(some)[0]) == (
        "orders, at-least-once: no evidence for at most 1 fault: no faults are "
        "modelled; state faults = 0"
    )
    assert "too few faults, 0: replay of 2026-01-02" in as_markdown(some)


def test_a_claim_of_what_is_not_found_is_a_row_with_the_reason():
    """It is unsupported, and its sentence is that of its evidence."""
    gone = claim(text="", lacks="orders.py has no function 'orders'")

    made = sheet([gone], HELD, stale={"0.json": ("orders.py has changed",)})

    [stale, lacking] = problems_of(made)
    assert "orders.py has changed" in str(stale)
    assert "orders.py has no function 'orders'; state what there" in str(lacking)
    assert "at-least-once: All is there" in as_markdown(made)
    assert "; orders.py has no function 'orders' |" in as_markdown(made)


def test_evidence_for_which_nothing_is_claimed_is_listed_apart():
    """Nothing that was found is hidden."""
    made = sheet([claim()], HELD, REFUTED, stale={"1.json": ("it moved",)})

    told = as_markdown(made)

    apart = told.partition("## Evidence for which nothing is claimed")[2]
    assert "1.json: orders, at-most-once, refuted, stale: it moved" in apart
    assert as_data(made)["unclaimed"][0]["file"] == "1.json"
    assert problems_of(made) == []


def test_duties_follow_from_what_is_refuted_beside_a_claim():
    """Where an event may be visible twice, its reader is told to look at the key."""
    made = sheet([claim(), claim("at-most-once", expected="refuted")], HELD, REFUTED)

    least, most = made.rows

    assert "tell events apart by their key" in least.duties[0]
    assert most.duties == ()


def test_nothing_in_a_sheet_is_markup_of_its_own():
    """What claims and evidence say stands as it is."""
    rude = claim(duties=("<script>alert(1)</script>", "a | b\n## c"))

    made = sheet([rude], HELD)

    assert "<script>" not in as_page(made)
    assert "<script>" not in as_markdown(made)
    assert "\n## c" not in as_markdown(made)


def test_every_claim_and_every_record_is_in_the_sheet():
    """However they are mixed, none is lost."""
    claims = [claim(g, s) for g in ("durable", "at-least-once") for s in "abc"]
    evidence = [replace(HELD, subject=s, guarantee=g) for s in "bcd" for g in "xy"]

    data = as_data(sheet(claims, *evidence))

    shown = [e["file"] for row in data["rows"] for e in row["evidence"]]
    apart = [e["file"] for e in data["unclaimed"]]
    assert len(data["rows"]) == len(claims)
    assert sorted(shown + apart) == sorted(f"{n}.json" for n in range(len(evidence)))


def test_the_page_asks_nothing_of_any_network():
    """It is one file."""
    told = as_page(sheet([claim()], HELD))

    assert not re.search(r"https?:|src=|<link|@import", told)
