"""The page in a real browser: it is read, walked in, searched, copied and printed.

These tests need Chromium, and are skipped without it, unless ONCEPROOF_BROWSER says
that it is required.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from onceproof.model.library import make
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.export import as_test, command_of
from onceproof.properties.explorer.page.page import Origin, page
from onceproof.properties.explorer.position_text import position_text
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.explorer.walk import Walk
from tests.properties.explorer.runs import SPARK, broken, spark
from tests.properties.explorer.test_page import HOSTILE, hostile_page
from tests.properties.explorer.test_view import refuted

sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="Playwright for Python is not installed"
)
CHROMIUM = os.environ.get("ONCEPROOF_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
if CHROMIUM is None and os.environ.get("ONCEPROOF_BROWSER") != "required":
    pytest.skip(
        "no Chromium here; ONCEPROOF_CHROMIUM names one", allow_module_level=True
    )

sync_api.expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def browser():
    """Start a browser for all tests."""
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open pages from a folder; nothing may go wrong or leave the machine in them."""
    contexts, wrong = [], []

    def open_(text: str, at: str = "", **options: Any) -> Any:
        file = tmp_path / "run.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        shown = context.new_page()
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("console", lambda sentence: wrong.append(sentence.text))
        shown.on(
            "request",
            lambda asked: asked.url.startswith("file:") or wrong.append(asked.url),
        )
        shown.goto(f"{file.as_uri()}{at}")
        return shown

    yield open_
    for context in contexts:
        context.close()
    assert not wrong


def of_the_model() -> str:
    """Write the page of a run of the model."""
    return page(broken("micro-batch", "at-most-once"), Origin("micro-batch"))


def of_spark() -> str:
    """Write the page of a run of real Spark."""
    return page(explored(spark()), Origin(str(SPARK), file=True))


def test_a_run_is_read_by_keys_alone(opened):
    """j and k, arrows and End lead from step to step; the address says where."""
    shown = opened(of_the_model(), "#step=0")
    title = shown.locator("#step-title")

    shown.keyboard.press("j")
    shown.keyboard.press("ArrowDown")
    second = title.inner_text()
    shown.keyboard.press("k")
    at = shown.evaluate("location.hash")
    shown.keyboard.press("End")

    assert second == "Step 2: log_offsets(batch 0)"
    assert at == "#step=1"
    assert "breaks here" in shown.locator("#step-labels").inner_text()
    assert shown.locator("[role=option][aria-selected=true]").count() == 1
    changes = shown.locator("#changes tbody").inner_text().split("\n")
    written = ["sink.rows[batch 0, partition 0]", "1", "2"]
    assert any(line.split("\t") == written for line in changes)


def test_another_step_can_be_taken_and_a_link_reproduces_it(opened):
    """The page says what becomes of the property, and leads back to the trace."""
    shown = opened(of_the_model(), "#step=5")
    assert "On the trace" in shown.locator("#position-text").inner_text()

    shown.get_by_role("button", name="start_task(partition 1, attempt 0)").click()
    text = shown.locator("#position-text").inner_text()
    shown.locator("#to-rest").click()
    rested = shown.locator("#position-text").inner_text()
    address = shown.evaluate("location.hash")
    steps = shown.locator("#steps").inner_text()
    again = opened(of_the_model(), address)
    same = again.locator("#steps").inner_text()
    again.keyboard.press("Escape")

    assert "Off the trace since step 6" in text
    assert "So far it does not break at-most-once" in text
    assert "It is at rest, and does not break at-most-once" in rested
    assert address.startswith("#step=")
    assert "from=5&take=start_task,1,0" in address
    assert same == steps
    assert "off the trace" in same
    assert "On the trace" in again.locator("#position-text").inner_text()


def test_a_damaged_address_shows_the_trace(opened):
    """Steps that are unknown or not possible are left out; nothing is harmed."""
    for at in ("#step=zzz", "#from=2&take=crash;crash,7;%ff", "#step=1e9&from=-1"):
        shown = opened(of_the_model(), at)

        assert shown.locator("#title").inner_text() == "micro-batch breaks at-most-once"


def test_options_say_what_becomes_of_the_property(opened):
    """Whether it breaks at once, or after the trace's other steps, or not at all."""
    shown = opened(of_the_model(), "#step=7")

    found = sync_api.expect(shown.locator("#options"))

    found.to_contain_text("next on the trace")
    found.to_contain_text("continued, it breaks after step")


@pytest.mark.parametrize(
    ("found", "origin"),
    [
        (lambda: broken("micro-batch", "at-most-once"), Origin("micro-batch")),
        (
            lambda: broken("two-phase-commit-log", "is-decided", stops=1),
            Origin("two-phase-commit-log", {"stops": "1"}),
        ),
        (lambda: explored(spark()), Origin(str(SPARK), file=True)),
        (
            lambda: explored(counterexample_of(make("non-blocking-commit", {}))),
            Origin("non-blocking-commit"),
        ),
    ],
    ids=["a break", "a run for ever", "real Spark", "several first states"],
)
def test_the_page_and_the_terminal_copy_the_same(opened, found, origin):
    """The test and the command are one text, on the trace and off it."""
    found = found()
    walk = Walk(found)
    shown = opened(page(found, origin), f"#step={walk.step}")

    def copied(what):
        shown.locator(f"#copy-{what}").click()
        return shown.locator("#copy-text").input_value()

    assert copied("test") == as_test(found, origin, walk.view)
    assert copied("command") == command_of(found, origin)
    if not found.view.sink:
        while not walk.options():
            walk.go(walk.step - 1)
        option = walk.options()[-1]
        shown.goto(f"{shown.url.partition('#')[0]}#step={walk.step}")
        walk.take(option)
        shown.locator("#options button").filter(
            has=shown.get_by_text(option.text, exact=True)
        ).click()
        assert copied("test") == as_test(found, origin, walk.view)


def test_a_page_begins_where_the_trace_does_whatever_its_values_are(opened):
    """A value that JSON has no word for, or that is cut, is no other value there."""
    protocol, finding = refuted("few")
    found = explored(counterexample_of(protocol, finding), protocol)

    shown = opened(page(found, Origin("switch.py")))

    assert "It breaks few after step 2" in shown.locator("#position-text").inner_text()
    assert len(page(found, Origin("switch.py"))) < 200_000


def test_a_link_whose_steps_cannot_be_taken_says_so(opened):
    """It stands where the steps end that can be taken."""
    shown = opened(of_the_model(), "#step=9&from=2&take=crash;crash;write,0,0,0")

    text = shown.locator("#position-text").inner_text()

    assert text.startswith("The last 2 steps of the link cannot be taken here.")


@pytest.mark.parametrize("slow", [False, True])
def test_the_page_and_the_terminal_foresee_the_same(opened, slow):
    """What becomes of each thing that could happen is said alike, off the trace too.

    On a slow machine, where each look at the clock is a second after the last, it is
    said later, but said.
    """
    found = broken("micro-batch", "at-most-once")
    walk = Walk(found)
    shown = opened(of_the_model())
    compared = 0
    if slow:
        shown.evaluate("let now = 0; performance.now = () => (now += 1000)")

    for step in range(walk.last + 1):
        walk.go(step)
        shown.goto(f"{shown.url.partition('#')[0]}#step={step}")
        for option in walk.options():
            row = shown.locator("#options li").filter(
                has=shown.get_by_text(option.text, exact=True)
            )
            sync_api.expect(row.locator(".said")).to_have_text(walk.outcome(option))
            compared += 1

    assert compared > 10


def test_actions_are_searched_by_name_and_by_process(opened):
    """Enter leads from match to match."""
    shown = opened(of_the_model(), "#step=0")

    shown.keyboard.press("/")
    shown.keyboard.type("write")
    shown.keyboard.press("Enter")
    found = shown.locator("#step-title").inner_text()
    matches = shown.locator("#matches").inner_text()
    shown.locator("#process").select_option("driver")

    assert found == "Step 5: write(batch 0, partition 0, attempt 0)"
    assert matches == "2 steps"
    assert shown.locator("#matches").inner_text() == "0 steps"


def test_what_is_copied_runs(opened, tmp_path):
    """The test that is copied is a test, and fails as long as the run breaks."""
    shown = opened(of_the_model())

    shown.locator("#copy-test").click()
    test = shown.locator("#copy-text").input_value()
    shown.locator("#copy-command").click()
    command = shown.locator("#copy-text").input_value()

    file = tmp_path / "test_copied.py"
    file.write_text(test, encoding="utf-8")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:onceproof", "--rootdir"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path), str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == 1, run.stdout
    assert "assert holds_along" in run.stdout or "holds_along(" in run.stdout
    assert command == "onceproof check micro-batch --property at-most-once"


def test_hostile_texts_are_shown_and_do_nothing(opened):
    """They stand on the page letter by letter, and no element comes of them."""
    shown = opened(hostile_page())

    assert shown.locator("img").count() == 0
    assert shown.locator("h1").text_content().startswith(HOSTILE)
    assert shown.evaluate("document.scripts.length") == 3
    assert "are cut" in shown.locator("#notes").inner_text()


def test_no_connection_can_be_opened(browser, tmp_path):
    """Not even by a script of the page itself."""
    file = tmp_path / "run.html"
    file.write_text(of_the_model(), encoding="utf-8")
    context = browser.new_context()
    shown = context.new_page()
    shown.goto(file.as_uri())
    tried = """how => new Promise(done => {
      document.addEventListener("securitypolicyviolation",
        event => done(event.effectiveDirective));
      const to = "http://127.0.0.1:9/x";
      if (how === "image") new Image().src = to;
      else if (how === "fetch") fetch(to).catch(() => null);
      else document.body.append(Object.assign(
        document.createElement("script"), { textContent: "1" }));
    })"""

    blocked = [shown.evaluate(tried, how) for how in ("image", "fetch", "script")]

    context.close()
    assert blocked == ["img-src", "connect-src", "script-src-elem"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_it_fits_a_phone_and_a_desk_by_day_and_by_night(opened, width, scheme):
    """Nothing is wider than the screen, and text stands out from its ground."""
    size = {"width": width, "height": 800}
    shown = opened(of_spark(), viewport=size, color_scheme=scheme)

    wide = shown.evaluate("document.documentElement.scrollWidth")
    ink, ground = shown.evaluate(
        """() => ["color", "backgroundColor"].map(name => {
          const [r, g, b] = getComputedStyle(document.body)[name].match(/\\d+/g);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        })"""
    )

    assert wide <= width
    assert abs(ink - ground) > 150
    assert (ink > ground) == (scheme == "dark")


def test_it_is_printed_whole(opened):
    """Controls go, and the state differences of each step are there."""
    shown = opened(of_the_model())

    shown.emulate_media(media="print")

    assert not shown.locator(".bar").is_visible()
    printed = shown.locator("#printed").inner_text()
    assert "write(batch 0, partition 0, attempt 1)" in printed
    assert "sink.rows[batch 0, partition 0]: 1 to 2" in printed


def test_all_that_can_be_pressed_has_a_name(opened):
    """And each can be reached by Tab."""
    shown = opened(of_spark(), "#step=3")

    nameless = shown.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea")]
          .filter(one => !(one.textContent.trim() || one.labels?.length)).length"""
    )
    reached = set()
    for _ in range(40):
        shown.keyboard.press("Tab")
        reached.add(shown.evaluate("document.activeElement.id"))

    assert nameless == 0
    assert {"steps", "search", "process", "copy-test", "next"} <= reached


def test_a_protocol_is_walked_in_from_its_start(opened):
    """Each step that is taken is drawn, and the properties are judged along it."""
    found = explored(counterexample_of(make("two-phase-commit", {"RM": "2"})))
    shown = opened(page(found, Origin("two-phase-commit", {"RM": "2"})))

    shown.keyboard.press("1")
    shown.locator("#to-rest").click()

    assert "It is at rest" in shown.locator("#position-text").inner_text()
    assert "tm_abort()" in shown.locator("#steps").inner_text()
    cells = shown.locator("#strip tbody tr").last.inner_text()
    assert "✓" in cells


def test_messages_are_arrows_dashed_where_their_delivery_is_unknown(opened):
    """Solid ones lead to the step that takes the message."""
    found = broken("two-phase-commit-log-blocked", "is-decided")
    shown = opened(page(found, Origin("two-phase-commit-log-blocked")), "#step=4")

    arrows = shown.locator("#drawing path[data-sent]")
    dashed = shown.locator("#drawing path.unknown")

    assert (arrows.count(), dashed.count()) == (2, 1)
    style = "one => getComputedStyle(one).strokeDasharray"
    assert dashed.evaluate(style) != "none"
    assert "delivery unknown" in shown.locator("#step-messages").inner_text()


def test_a_walk_begins_in_any_first_state(opened):
    """The address says in which, and so does a copied test."""
    found = explored(counterexample_of(make("non-blocking-commit", {})))
    shown = opened(page(found, Origin("non-blocking-commit")))

    shown.locator("#start").select_option(label="votes_yes[0]=true, votes_yes[1]=true")
    shown.locator("#to-rest").click()
    shown.locator("#copy-test").click()
    address = shown.evaluate("location.hash")
    again = opened(page(found, Origin("non-blocking-commit")), address)

    test = shown.locator("#copy-text").input_value()
    assert 'start = {"votes_yes[0]": True, "votes_yes[1]": True}' in test
    assert "&start=3&from=0&take=" in address
    assert again.locator("#steps").inner_text() == shown.locator("#steps").inner_text()


def test_a_reason_leads_to_its_step(opened):
    """Each sentence that names a step is a way there."""
    shown = opened(of_the_model())

    shown.locator("#because button").first.click()

    assert "weakest guarantee" in shown.locator("#contradiction").inner_text()
    assert shown.evaluate("location.hash") == "#step=1"


def test_a_run_of_spark_is_labelled_and_off_it_the_model_is(opened):
    """What was seen of Spark is never mixed up with what the model says."""
    shown = opened(of_spark(), "#step=15")
    rows = shown.locator("#steps .source").count()
    spark_rows = shown.locator("#steps .source", has_text="real Spark").count()

    shown.get_by_role("button", name="commit_task(partition 0, attempt 0)").click()
    shown.locator("#copy-test").click()

    assert spark_rows == rows > 0
    assert "real Spark" not in shown.locator("#row-16").inner_text()
    assert "model" in shown.locator("#row-16").inner_text()
    assert "real Spark" in shown.locator("#row-15").inner_text()
    assert "holds_along" in shown.locator("#copy-text").input_value()
    shown.keyboard.press("Escape")
    assert not shown.locator("#copied").is_visible()
    shown.keyboard.press("Escape")
    shown.locator("#copy-test").click()
    assert "replay_file" in shown.locator("#copy-text").input_value()


def test_the_passing_run_can_be_walked(opened):
    """It is a run of its own then, which comes to rest and breaks nothing."""
    shown = opened(of_the_model())

    shown.locator("#passing-walk").click()

    text = shown.locator("#position-text").inner_text()
    assert "It is at rest, and does not break at-most-once" in text


def test_the_page_opens_with_the_story(opened):
    """What readers saw, which claim that breaks, and the few steps that led there."""
    found = explored(spark())
    story = found.view.story
    shown = opened(page(found, Origin(str(SPARK), file=True)))

    assert shown.locator("#story-saw").inner_text() == story.saw
    assert shown.locator("#story-why").inner_text() == story.why
    steps = shown.locator("#story-steps button")
    assert steps.count() == len(story.steps)
    steps.first.click()
    assert (
        shown.locator("#where")
        .inner_text()
        .startswith(f"step {story.steps[0].step} of")
    )
    above = shown.evaluate(
        """() => document.getElementById("story").getBoundingClientRect().bottom
        <= document.getElementById("diagram").getBoundingClientRect().top"""
    )
    assert above


def test_steps_of_routine_are_unfolded_by_a_click_or_by_stepping_in(opened):
    """Each fold is one row; what is inside is there once it is asked for."""
    found = explored(spark())
    (first, last), *others = found.view.folds
    shown = opened(page(found, Origin(str(SPARK), file=True)))
    rows = shown.locator("#steps [role=option]")
    folds = shown.locator("#steps li.fold button")

    hidden = sum(b - a + 1 for a, b in found.view.folds)
    assert folds.count() == 1 + len(others)
    assert rows.count() == len(found.view.steps) + 1 - hidden
    assert f"{last - first + 1} routine steps" in folds.first.inner_text()
    folds.first.click()
    assert folds.count() == len(others)
    assert shown.locator(f"#row-{first}").count() == 1
    shown.evaluate(f"location.hash = '#step={others[0][0]}'")
    sync_api.expect(folds).to_have_count(0)


def test_page_and_terminal_say_alike_where_a_reader_stands(opened):
    """On the trace at each step, and off it."""
    found = broken("micro-batch", "at-most-once")
    walk = Walk(found)
    shown = opened(of_the_model(), f"#step={walk.step}")

    assert shown.locator("#position-text").inner_text() == position_text(walk)
    walk.go(5)
    option = walk.options()[0]
    walk.take(option)
    shown.goto(f"{shown.url.partition('#')[0]}#step=5")
    shown.get_by_role("button", name=option.text).click()
    assert shown.locator("#position-text").inner_text() == position_text(walk)
    walk.to_rest()
    shown.locator("#to-rest").click()
    assert shown.locator("#position-text").inner_text() == position_text(walk)
