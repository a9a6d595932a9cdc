"""The sheet shows every claim beside what it rests on, and leaves nothing out."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.properties.evidence.problems import problems_of
from onceproof.properties.evidence.record import (
    ASSUMPTIONS,
    Assumption,
    Evidence,
    Fingerprints,
    TraceEvidence,
)
from onceproof.properties.evidence.sheet import PROTOCOLS, SINKS, Claim, Stale, assemble
from onceproof.properties.evidence.sheet_data import as_data
from onceproof.properties.evidence.sheet_page import as_page
from onceproof.properties.evidence.sheet_text import as_markdown
from onceproof.properties.evidence.sheet_words import verdict_cell
from onceproof.properties.verdicts import Verdict

TRACE = TraceEvidence(
    clause="no effect is ever visible twice",
    steps=("write(0)", "crash()", "write(0)"),
    fault_steps=(2,),
    command="onceproof replay orders --only 3",
    failpoints=("the process dies after the write",),
    outcome="after the query finished, readers see 4 of 8 events twice",
)
HELD = Evidence(
    subject="orders",
    guarantee="at-least-once",
    judge="replay",
    claim="all is there",
    scope={"source": "flights", "Spark": "4.1.4", "batches": 2},
    faults=1,
    fault_set=("crash",),
    verdict=Verdict.HELD,
    coverage={"interleavings": "7 of 9"},
    fingerprints=Fingerprints("a" * 64, "b" * 64, {"orders.py": "c" * 64}),
    parameters={},
    versions={"pyspark": "4.1.4"},
    date="2026-01-02",
    command="onceproof replay orders --evidence",
    assumptions=(Assumption("the source can be read again", "assumed"),),
)
REFUTED = replace(HELD, verdict=Verdict.REFUTED, trace=TRACE, guarantee="at-most-once")


def claim(guarantee="at-least-once", subject="orders", **words):
    message = {"text": f"{guarantee} it is", "command": f"onceproof replay {subject}"}
    return Claim(subject, guarantee, **{**message, **words})


def sheet(claims, *evidence, stale=None):
    named = {f"{number}.json": record for number, record in enumerate(evidence)}
    moved = {name: Stale(named[name], why) for name, why in (stale or {}).items()}
    return assemble(claims, named, moved)


def only(claims, *evidence, stale=None):
    [row] = sheet(claims, *evidence, stale=stale).rows
    return row


def test_a_row_holds_all_that_a_row_holds():
    """Sentence, scope, aspect, faults, assumptions, verdict, evidence, duties."""
    stated = claim(
        assumptions=(Assumption("acks = all", "configured"),), duties=("wait",)
    )

    [row] = as_data(sheet([stated], HELD))["rows"]

    assert row["claim"] == "at-least-once it is"
    assert (row["aspect"], row["verdict"], row["faults"]) == ("delivery", "held", 1)
    assert row["fault_set"] == ["crash"]
    assert row["duties"] == ["wait"]
    assert [a["kind"] for a in row["assumptions"]] == ["configured", "assumed"]
    [record] = row["evidence"]
    assert record["scope"] == HELD.scope
    assert record["fingerprints"]["sources"] == {"orders.py": "c" * 64}
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
    assert problem.fix == (
        f"state {there!r} if that is what is meant, or run onceproof replay orders"
    )


@pytest.mark.parametrize("form", [as_markdown, as_page])
def test_a_refuted_claim_shows_its_trace(form):
    """Steps, where the fault was injected, what readers saw, how to see it again."""
    shown = form(sheet([claim("at-most-once")], REFUTED))

    assert f"Trace {TRACE.name} breaks at-most-once" in shown
    for text in (*TRACE.steps, *TRACE.failpoints, TRACE.outcome, TRACE.command):
        assert text in shown
    assert "<strong>crash()</strong>" in shown


def test_a_trace_that_breaks_several_guarantees_is_given_once():
    """With what each of them sees of it."""
    other = replace(TRACE, clause="all is whole", outcome="after crash(), half is seen")
    torn = replace(REFUTED, guarantee="atomic-visibility", trace=other)

    shown = as_markdown(
        sheet([claim("at-most-once"), claim("atomic-visibility")], REFUTED, torn)
    )

    assert shown.count(f"Trace {TRACE.name}") == 1
    assert (
        f"breaks at-most-once ({TRACE.clause}: {TRACE.outcome}); atomic-visibility "
        "(all is whole: after crash(), half is seen)"
    ) in shown


def test_what_is_refuted_is_a_problem_unless_that_is_stated():
    """And what is stated to be refuted is one when it holds."""
    surprised = problems_of(sheet([claim("at-most-once")], REFUTED))
    stated = problems_of(sheet([claim("at-most-once", expected="refuted")], REFUTED))
    fixed = problems_of(sheet([claim(expected="refuted")], HELD))

    assert "the evidence says refuted" in str(surprised[0])
    assert stated == []
    assert 'state expected = "holds"' in str(fixed[0])


def test_stale_evidence_supports_nothing_and_says_why():
    """The claim is unsupported; what moved is named, with what fixes it."""
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
        ({"judge": "check"}, 1),
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

    shown = as_markdown(made)
    [problem] = problems_of(made)
    assert str(problem) == (
        "orders, at-most-once: 0.json, which refutes it, is stale: x; run onceproof "
        "replay orders --evidence, or, if that is no longer run, onceproof guarantees "
        "--drop 0.json"
    )
    assert "| ✓ held in 7 of 9; **✗ stale refutation** |" in shown
    assert "stale: x since it was refuted with source flights" in shown
    assert f"Trace {TRACE.name}, found before it changed, of 1 fault breaks" in shown
    assert "; has stale evidence</summary>" in shown
    [stale] = as_data(made)["rows"][0]["stale"]
    assert (stale["verdict"], stale["command"]) == ("refuted", REFUTED.command)


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
    """What two faults break is no word against one, and is shown beside it."""
    twice = replace(TRACE, fault_steps=(1, 2))
    more = replace(REFUTED, faults=2, trace=twice)
    held = replace(HELD, guarantee="at-most-once")

    row = only([claim("at-most-once")], held, more)

    assert row.verdict is Verdict.HELD
    assert only([claim("at-most-once", faults=2)], more).verdict is Verdict.REFUTED
    shown = as_markdown(sheet([claim("at-most-once")], held, more))
    assert "| ✓ held in 7 of 9; **✗ with 2 faults** |" in shown
    assert (
        f"Trace {twice.name}, with more faults than are claimed, of 2 faults" in shown
    )


def test_a_claim_at_sizes_rests_on_evidence_of_those_sizes():
    """Other sizes are evidence for which nothing is claimed."""
    small = replace(HELD, scope={**HELD.scope, "batches": 1})

    made = sheet([claim(sizes={"batches": 2})], HELD, small)

    assert list(made.rows[0].live) == ["0.json"]
    assert list(made.unclaimed) == ["1.json"]
    assert "| orders --set batches=2 |" in as_markdown(made)


def test_where_no_faults_are_modelled_none_are_claimed():
    """Such evidence supports a claim of none, and says so."""
    faultless = replace(HELD, faults=0, fault_set=())

    none = sheet([claim(faults=0)], faultless)
    some = sheet([claim()], faultless)

    assert "- Limits: no faults modelled," in as_markdown(none)
    assert problems_of(none) == []
    assert some.rows[0].verdict is None
    assert str(problems_of(some)[0]) == (
        "orders, at-least-once: no evidence for at most 1 fault: no faults are "
        "modelled; state faults = 0"
    )
    assert "held with 0 faults alone, which is too few" in as_markdown(some)


def test_a_claim_of_what_is_not_found_is_a_row_with_the_reason():
    """It is unsupported, and its sentence is that of its evidence."""
    gone = claim(text="", missing="orders.py has no function 'orders'")

    made = sheet([gone], HELD, stale={"0.json": ("orders.py has changed",)})

    [stale, lacking] = problems_of(made)
    assert "orders.py has changed" in str(stale)
    assert "orders.py has no function 'orders'; state what there" in str(lacking)
    assert "| at-least-once | delivery | All is there. |" in as_markdown(made)
    assert "is unsupported: orders.py has no function &#x27;orders" in as_markdown(made)


def test_evidence_for_which_nothing_is_claimed_is_listed_apart():
    """Nothing that was found is hidden."""
    made = sheet([claim()], HELD, REFUTED, stale={"1.json": ("it moved",)})

    shown = as_markdown(made)

    apart = shown.partition("## Evidence for which nothing is claimed")[2]
    assert "1.json: orders, at-most-once, refuted, stale: it moved" in apart
    assert as_data(made)["unclaimed"][0]["record"] == "1.json"
    assert problems_of(made) == []


def test_a_record_of_a_claim_that_is_no_more_is_a_problem():
    """Nothing rests on it, and nobody can make it again."""
    gone = {"1.json": Stale(REFUTED, ("orders has no property x any more",), gone=True)}

    made = assemble([claim()], {"0.json": HELD, "1.json": REFUTED}, gone)

    [problem] = problems_of(made)
    assert str(problem) == (
        "1.json: it is evidence of what is no more: orders has no property x any more; "
        "run onceproof guarantees --drop 1.json"
    )


def test_duties_follow_from_what_is_refuted_beside_a_claim():
    """Where an event may be visible twice, its reader has to look at the key."""
    made = sheet([claim(), claim("at-most-once", expected="refuted")], HELD, REFUTED)

    least, most = made.rows

    assert "deduplicate events by their key" in least.duties[0]
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

    shown = [e["record"] for row in data["rows"] for e in row["evidence"]]
    apart = [e["record"] for e in data["unclaimed"]]
    assert len(data["rows"]) == len(claims)
    assert sorted(shown + apart) == sorted(f"{n}.json" for n in range(len(evidence)))


def test_the_page_asks_nothing_of_any_network():
    """It is one file."""
    shown = as_page(sheet([claim()], HELD))

    assert not re.search(r"https?:|src=|<link|@import", shown)


VERDICTS = st.sampled_from(list(Verdict))
WORDS = st.sampled_from(["aleph", "beth", "gimel", "a | b", "<i>x</i>", "`daleth`"])
PLAIN = st.one_of(WORDS, st.integers(1111, 9999), st.booleans())


@st.composite
def evidence(draw, subject, guarantee):
    """Draw a record that no judge need have made."""
    verdict = draw(VERDICTS)
    return Evidence(
        subject=subject,
        guarantee=guarantee,
        judge=draw(st.sampled_from(["check", "simulate", "prove", "replay"])),
        claim=f"{guarantee} it is",
        scope=draw(st.dictionaries(WORDS, PLAIN, max_size=3)),
        faults=1,
        fault_set=tuple(draw(st.lists(WORDS, max_size=2))),
        verdict=verdict,
        coverage=draw(st.dictionaries(WORDS, PLAIN, max_size=2)),
        fingerprints=Fingerprints(draw(st.sampled_from("ab")) * 64, "c" * 64),
        parameters={},
        versions={"onceproof": draw(st.sampled_from("12"))},
        date=draw(st.sampled_from(["2026-01-02", "2026-01-03"])),
        command=f"make {draw(WORDS)}",
        assumptions=tuple(
            Assumption(text, draw(st.sampled_from(ASSUMPTIONS)))
            for text in draw(st.lists(WORDS, max_size=2))
        ),
        lemmas=tuple(draw(st.lists(WORDS, max_size=1))),
        note=draw(st.sampled_from(["", "a note"])),
        trace=TRACE if verdict is Verdict.REFUTED else None,
    )


@st.composite
def sheets(draw):
    """Draw claims of some subjects, with no record, one or two for each."""
    claims, records = [], []
    for subject in draw(st.lists(st.sampled_from("xyz"), min_size=1, unique=True)):
        group = draw(st.sampled_from([SINKS, PROTOCOLS]))
        names = st.sampled_from(["durable", "at-least-once", "its-own"])
        for name in draw(st.lists(names, min_size=1, unique=True)):
            claims.append(claim(name, subject, group=group))
            for _ in range(draw(st.integers(0, 2))):
                records.append(draw(evidence(subject, name)))  # noqa: PERF401
    return sheet(claims, *records)


def plain(shown: str) -> str:
    """Give what a reader of the Markdown sees."""
    return html.unescape(re.sub(r"</?(strong|code|li|ul|details|summary)>", "", shown))


@settings(max_examples=60, deadline=None)
@given(sheets())
def test_nothing_that_a_verdict_rests_on_is_left_out(made):
    """Whatever is said once for a table, every word of a record is on the page."""
    shown = plain(as_markdown(made)).replace("\\|", "|").replace("`", "")

    for row in made.rows:
        assert row.claim.command in shown or row.verdict is not None
        for one in row.live.values():
            if one.verdict is not row.verdict:
                continue
            sizes = [v for v in one.scope.values() if one.verdict != "proved"]
            for value in (*sizes, *one.coverage.values()):
                text = f"{value:,}" if type(value) is int else str(value)
                assert text.replace("`", "") in shown
            assumed = [a.text for a in one.assumptions]
            for text in (*assumed, *one.fault_set, *one.lemmas, one.command):
                assert text.replace("`", "") in shown
            assert one.fingerprints.model[:8] in shown
            assert one.versions["onceproof"] in re.search("Made with (.*)", shown)[1]


@settings(max_examples=60, deadline=None)
@given(sheets())
def test_only_what_holds_is_marked_as_holding(made):
    """Undecided, vacuous, refuted and unsupported claims never look like held ones."""
    [*lines] = as_markdown(made).split("\n")
    tables = [line for line in lines if re.match(r"\| [xyz] \|", line)]

    marks = sum(line.count("✓") for line in tables)

    holding = [r for r in made.rows if r.verdict is not None and r.verdict.holds]
    assert marks == len(holding)
    for row in made.rows:
        cell = verdict_cell(row)
        assert cell.text.startswith("✓") is (row in holding)
        assert (cell.kind == "holds") is (row in holding)


def test_what_held_in_some_interleavings_says_in_how_many():
    """A replay that left some out does not look like one of all."""
    whole = replace(HELD, coverage={"interleavings": "9 of 9"})

    assert verdict_cell(only([claim()], HELD)).text == "✓ held in 7 of 9"
    assert verdict_cell(only([claim()], whole)).text == "✓ held"
    assert verdict_cell(only([claim()], HELD, whole)).text == "✓ held"


def test_the_summary_counts_every_claim():
    """By kind of subject, with the versions and the days of the evidence."""
    newer = replace(HELD, subject="audit", date="2026-02-03", versions={"pyspark": "5"})
    claims = [
        claim(),
        claim("at-most-once"),
        claim(subject="audit"),
        claim("durable", "model", group=PROTOCOLS),
    ]

    shown = as_markdown(sheet(claims, HELD, REFUTED, newer))

    assert "| Sinks, on real Spark | 2 | 3 | 2 | 1 | 0 | 0 |" in shown
    assert "| Protocols, in their models | 1 | 1 | 0 | 0 | 0 | 1 |" in shown
    assert "| all | 3 | 4 | 2 | 1 | 0 | 1 |" in shown
    assert "holds for 1 of 3 subjects. **2 of 4 claims did not come out" in shown
    assert "pyspark 4.1.4 and 5, from evidence from 2026-01-02 to 2026-02-03" in shown


def test_a_subject_has_one_line_and_one_place_to_unfold():
    """Whatever it claims; limits that all share are said once."""
    names = ["at-most-once", "at-least-once", "durable"]
    other = replace(HELD, subject="audit", scope={**HELD.scope, "batches": 1})

    shown = as_markdown(
        sheet([*map(claim, names), claim(subject="audit")], HELD, other)
    )

    assert len(re.findall(r"^\| orders \|", shown, re.MULTILINE)) == 1
    assert shown.count("<summary><strong>orders</strong>") == 1
    assert "- Limits: at most 1 fault, Spark 4.1.4." in shown
    assert re.search(r"^\| audit \|.*\| batches 1 \|$", shown, re.MULTILINE)


def test_what_all_subjects_of_one_table_assume_is_shown():
    """Though another table of the same kind of subject does not."""
    assumed = (Assumption("clocks agree", "assumed"),)
    mine = replace(HELD, subject="b", guarantee="its-own", assumptions=assumed)
    claims = [claim(group=PROTOCOLS), claim("its-own", "b", group=PROTOCOLS)]

    shown = as_markdown(sheet(claims, HELD, mine))

    assert "assumed: clocks agree" in shown
    assert "assumed: the source can be read again" in shown
