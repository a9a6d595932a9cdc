"""The page is one file that opens no connection, and nothing shown in it is code."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from dataclasses import replace

from click.testing import CliRunner

from onceproof.model.language import Protocol, action, state
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.traces import Trace
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.page.page import Origin, page
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.guarantees import AT_MOST_ONCE
from onceproof.properties.judges.by_search import Finding
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)
from tests.properties.explorer.runs import SPARK, broken, spark

HOSTILE = "</script><img src=x onerror=\"alert('1')\">\u2028\u2029<!--&amp;@CODE@"


def data_of(text: str) -> dict:
    """Give what a page holds as data."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    return json.loads(found[1])


def hostile_page() -> str:
    """Write a page of which every text is hostile."""
    counterexample = spark()
    first = replace(
        counterexample.steps[0],
        event=HOSTILE,
        lane=HOSTILE,
        changes={HOSTILE: HOSTILE, "driver": "y" * 10_000_000},
    )
    harmful = replace(
        counterexample,
        protocol=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        sink=HOSTILE,
        clause=HOSTILE,
        steps=(first, *counterexample.steps[1:]),
        versions={HOSTILE: HOSTILE},
        because=(HOSTILE,),
        start={HOSTILE: HOSTILE},
    )
    return page(explored(harmful), Origin(HOSTILE, file=True))


def test_a_page_of_forty_steps_is_small():
    """It holds the model and the run, and is far below a megabyte."""
    found = broken("micro-batch", "at-least-once", sink="ledger-before")
    assert len(found.view.steps) >= 34

    text = page(found, Origin("micro-batch", {"sink": "ledger-before"}))

    assert len(text.encode()) < 300_000


def test_nothing_on_the_page_leads_anywhere():
    """Its policy forbids connections and all scripts but its own, by their digests."""
    text = page(explored(spark()), Origin(str(SPARK), file=True))

    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert found is not None
    policy = dict(rule.split(" ", 1) for rule in found[1].split("; "))
    assert policy["default-src"] == policy["connect-src"] == "'none'"
    assert policy["base-uri"] == policy["form-action"] == "'none'"
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'"
        for s in scripts
    ]
    assert policy["script-src"].split() == digests
    assert not re.search(r"https?:|\bsrc=|\burl\(|@import|<link|<iframe", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write", text)


def test_hostile_texts_are_data():
    """No text ends a script, none is HTML, and one that is too long is cut."""
    text = hostile_page()

    assert text.count("</script>") == 3
    assert "<img" not in text
    assert "\u2028" not in text
    assert len(text) < 300_000
    view = data_of(text)["view"]
    assert view["protocol"] == view["because"][0] == HOSTILE
    assert view["steps"][0]["changes"][0]["after"] == HOSTILE
    assert any("are cut" in note for note in view["notes"])


def test_hostile_names_of_a_model_are_data():
    """Nor does a field, an action or a value of a protocol become code."""

    def act(self):
        """</script><b>&"""
        setattr(self, HOSTILE, True)

    kind = type("Hostile", (Protocol,), {HOSTILE: state(False), "x": action(act)})
    vars(kind)[HOSTILE].__set_name__(kind, HOSTILE)

    text = page(explored(counterexample_of(kind()), kind()), Origin("hostile"))

    assert text.count("</script>") == 3
    assert "<img" not in text
    assert "\u2028" not in text


def test_the_command_writes_the_page(tmp_path):
    """Of a file, and of the shortest run that breaks a property of a protocol."""
    run, walk = tmp_path / "run.html", tmp_path / "deep" / "walk.html"

    first = CliRunner().invoke(main, ["explore", str(SPARK), "--html", str(run)])
    options = ["--property", "at-most-once", "--set", "PARTITION=1"]
    command = ["explore", "micro-batch", *options, "--html", str(walk)]
    second = CliRunner().invoke(main, command)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert (
        data_of(run.read_text())["copy"]["command"]
        == f"onceproof replay {shlex.quote(str(SPARK))}"
    )
    data = data_of(walk.read_text())
    assert data["view"]["fails_at"] == 8
    assert data["copy"]["command"] == (
        "onceproof check micro-batch --set PARTITION=1 --property at-most-once"
    )


def test_the_command_refuses_what_it_cannot_show(tmp_path):
    """An unknown property is named, and settings of a file are no use."""
    out = str(tmp_path / "x.html")

    unknown = CliRunner().invoke(
        main, ["explore", "micro-batch", "--property", "at-most", "--html", out]
    )
    both = CliRunner().invoke(
        main, ["explore", str(SPARK), "--set", "faults=2", "--html", out]
    )

    assert unknown.exit_code == both.exit_code == 2
    assert "did you mean 'at-most-once'?" in unknown.stderr
    assert "leave out --set" in both.stderr


def test_a_run_of_a_users_own_sink_can_be_stepped(tmp_path):
    """Its file names no protocol of the library; the model is made from its steps."""
    code = UserCode(on_driver=1)
    protocol = InstrumentedMicroBatch(
        sink=code, BATCH=1, PARTITION=1, ATTEMPT=1, LINE=3
    )
    reference = Interpreter(protocol)
    state, steps = next(iter(reference.initial_states())), []
    for _ in range(9):
        event, state = next(
            (e, s) for e, s in reference.successors(state) if s != state and not e.fault
        )
        steps.append((event, state))
    run = Trace(next(iter(reference.initial_states())), tuple(steps))
    counterexample = counterexample_of(
        protocol, Finding(AT_MOST_ONCE, Verdict.REFUTED, run)
    )
    counterexample.write(tmp_path / "own.json")
    out = tmp_path / "own.html"

    answer = CliRunner().invoke(
        main, ["explore", str(tmp_path / "own.json"), "--html", str(out)]
    )

    assert answer.exit_code == 0
    view = data_of(out.read_text())["view"]
    assert view["live"]
    assert "sink.run(batch 0)" in [step["text"] for step in view["steps"]]
