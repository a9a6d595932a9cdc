"""The terminal view: it is led by keys, and shows what the view model tells."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shlex
import subprocess
import sys
import termios
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from onceproof.model.library import make
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.page.page import Origin
from onceproof.properties.explorer.terminal.app import Terminal
from onceproof.properties.explorer.terminal.text_renderer import plain_text
from onceproof.properties.explorer.view_builder import explored
from onceproof.spark_checks.cli import main
from tests.properties.explorer.runs import SPARK, broken, spark

HOSTILE = "[red]x[/red][/] \x1b]0;t\x07\x1b[2J\u202e\u2028\n</b>"


def model_run() -> Terminal:
    """Open the shortest run that appends twice."""
    return Terminal(broken("micro-batch", "at-most-once"), Origin("micro-batch"))


def spark_run() -> Terminal:
    """Open a run of real Spark."""
    return Terminal(explored(spark()), Origin(str(SPARK), file=True))


def screen(app: Terminal) -> str:
    """Give what is on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


def pressed(app: Terminal, *groups: str, size: tuple[int, int] = (80, 24)) -> list[str]:
    """Press keys; give the screen at first, and after each group of them."""

    async def drive() -> list[str]:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            shown = [screen(app)]
            for group in groups:
                await pilot.press(*group.split())
                await pilot.pause()
                shown.append(screen(app))
            return shown

    return asyncio.run(drive())


def here(shown: str) -> str:
    """Give the row of the step that is looked at."""
    return next(line for line in shown.split("\n") if line.startswith(">"))


def test_it_opens_where_the_trace_breaks_and_is_led_by_keys():
    """j and k, arrows, Home, End and b lead from step to step."""
    app = model_run()

    first, back, start, second, end, to = pressed(
        app, "k up", "home", "j down", "end", "home b"
    )

    assert "breaks here" in here(first)
    assert here(back).split()[1] == "6"
    assert "fault" in here(back)
    assert here(start).endswith("start")
    assert "driver = down" in start
    assert here(second).endswith("log_offsets(batch 0)")
    assert "offsets: 0 -> 1" in second
    assert "breaks here" in here(end)
    assert here(to) == here(end)


def test_what_is_shown_is_what_the_view_tells():
    """Lanes, differences, the strip with its first violation, and the reasons."""
    app = model_run()
    view = app.walk.trace

    first, why = pressed(app, "w")

    assert all(name in first for name in view.lanes)
    assert "sink.rows[batch 0, partition 0]: 1 -> 2" in first
    assert "at-most-once     · · · · · · · · ✕!" in first
    text = " ".join(why.split())
    assert all(" ".join(reason.split()) in text for reason in view.because)


def test_the_trace_is_left_and_come_back_to():
    """Enter takes what is chosen, r goes on to rest, Escape and Backspace come back."""
    app = model_run()

    _, at, left, rests, back, other, again = pressed(
        app, "k k k", "enter", "r", "escape", "l l enter", "backspace"
    )

    assert "Instead of fail_task(batch 0," in at
    assert "Off the trace since step 6" in left
    assert here(left).startswith(">   6~")
    assert here(left).endswith("start_task(partition 1, attempt 0)")
    assert "does not break" in " ".join(rests.split())
    assert "at rest" in rests
    assert "On the trace" in back
    assert here(back) == here(at)
    assert "crash()  crash" in here(other)
    assert here(again) == here(at)


def test_what_could_happen_says_what_becomes_of_the_property():
    """The chosen one is followed as the trace goes on, and then to rest."""
    app = model_run()

    _, before, other = pressed(app, "k k k", "l")

    assert "continued, it breaks after step" in before
    assert "does not" in other.partition("commit_task(partition 0, attempt")[2]


def test_a_walk_begins_in_any_first_state():
    """With f comes the next, and after the last the first again."""
    protocol = make("non-blocking-commit", {})
    app = Terminal(
        explored(counterexample_of(protocol), protocol), Origin("non-blocking-commit")
    )
    many = len(app.walk.starts)

    first, second, *_, last, again = pressed(app, *"f" * many)

    assert f"First state 1 of {many}" in first
    assert f"First state 2 of {many}" in second
    assert app.walk.begun == 0
    assert again == first
    assert last != first


def test_a_run_off_the_trace_is_judged_as_the_trace_is():
    """What is taken and gone on with as the trace does still breaks, and is marked."""
    app = model_run()

    *_, on, rest = pressed(app, "k k k 1 enter", "g", "escape")

    assert "It still breaks at-most-once, after step 9" in " ".join(on.split())
    assert here(on).startswith(">   9~")
    assert "breaks here  write(batch 0, partition 0, attempt" in here(on)
    assert "On the trace" in rest
    assert app.walk.left is None


def test_taking_what_the_trace_takes_leads_back_onto_it():
    """A run that begins as the trace does and says no more is the trace."""
    app = model_run()

    pressed(app, "home j j 1 enter k")
    step = app.walk.view.steps[app.walk.step]
    left = app.walk.left
    asked = replace(app.walk.options()[0], code=app.walk.trace.steps[2].code)
    app.walk.take(asked)

    assert step.text == "crash()"
    assert left == 2
    assert app.walk.left is None
    assert app.walk.step == 3


def test_steps_are_found_by_action_and_by_process():
    """Matches are marked, n and N lead through them, Escape ends it."""
    app = model_run()

    found, following, by, none, over = pressed(
        app,
        "home slash w r i t e enter",
        "n",
        "slash t a s k space b y space p a r t enter",
        "slash x y z enter",
        "escape",
    )[1:]

    assert here(found).startswith(">*  5")
    assert here(following).startswith(">*  8")
    assert by.count("*  ") == 3
    assert "No step is found by xyz" in " ".join(none.split())
    assert not any(line[1:2] == "*" for line in over.split("\n"))


def test_the_nearest_passing_run_is_set_beside_the_trace_and_walked():
    """It shares what can be shared; Enter walks it from where it differs."""
    app = model_run()

    beside, walked = pressed(app, "p", "enter")[1:]

    assert "Steps 1 to 5 are the same" in beside
    assert "fail_task(batch 0, partition 0,…" in beside
    assert "(rest)" in beside
    assert "Off the trace since step 6" in walked
    assert "at rest" in walked


def test_the_run_is_copied_as_a_test_that_runs():
    """It is shown and kept to be printed; the test fails where the run breaks."""
    app = model_run()

    pressed(app, "y", "escape", "Y")

    test, command = app.copied
    assert command == "onceproof check micro-batch --property at-most-once"
    known: dict = {}
    exec(test, known)
    with pytest.raises(AssertionError):
        known["test_micro_batch_is_at_most_once"]()


def test_all_keys_are_told_at_eighty_by_twenty_four():
    """Neither the bar nor the help is cut or wrapped, and each binding is in it."""
    app = model_run()

    first, shown, closed = pressed(app, "question_mark", "escape")

    bar = first.split("\n")[-1]
    assert bar.rstrip().endswith("? keys")
    assert all(cell_len(line) <= 80 for line in first.split("\n"))
    lines = shown.split("\n")
    assert len(lines) == 24
    sheet = [line for line in lines if line.strip()]
    assert sheet[0].startswith("j k, down up")
    assert any("runs real Spark." in line for line in lines)
    starts = " ".join(line[:17] for line in lines)
    for key in "jkbhlgrnNpwvsuyY?/":
        assert f"{key} " in starts or f"{key}," in starts
    assert closed == first


def test_a_run_of_spark_is_labelled_and_readers_are_seen_to_look():
    """Steps are of real Spark until the trace is left, then of the model."""
    app = spark_run()

    folded, first, left = pressed(app, "u", "home j j j j enter", size=(100, 40))

    assert "14 routine steps, 1 to 14: restart()" in folded
    assert "start_batch(batch 0)" not in folded
    assert "a run of real Spark" in first
    assert "readers see 632 once, 210 twice  breaks here" in first
    assert "real Spark, matters, breaks here" in first
    assert "○" in first
    assert "This breaks at-most-once: the claim that no effect" in first
    assert "Off the trace since step 5: a run of the model" in left
    assert ", model" in left


def test_a_message_whose_delivery_is_unknown_is_dashed_and_so_is_a_dead_lane():
    """A message that is received is drawn whole."""
    found = broken("two-phase-commit-log-blocked", "is-decided")

    first, before = pressed(Terminal(found, Origin("x")), "k k")

    assert here(first).endswith("⇢ ?")
    assert "┊" in here(first)
    assert "delivery unknown" in " ".join(first.split())
    assert here(before).endswith("→ 4")


def test_a_protocol_is_walked_in_from_its_start():
    """Without a claim each step that is possible can be taken."""
    protocol = make("micro-batch", {})
    app = Terminal(
        explored(counterexample_of(protocol), protocol), Origin("micro-batch")
    )

    first, taken = pressed(app, "enter")

    assert "A walk through the model" in first
    assert here(taken).startswith(">   1~")
    assert here(taken).endswith("restart()")


def hostile_run() -> Terminal:
    """Open a file of which every text is hostile, and some far too long."""
    counterexample = spark()
    changes = {HOSTILE: HOSTILE, "driver": "y" * 1_000_000}
    first = replace(
        counterexample.steps[0], event=HOSTILE, lane=HOSTILE, changes=changes
    )
    harmful = replace(
        counterexample,
        protocol=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        sink=HOSTILE,
        clause=HOSTILE,
        property=HOSTILE,
        steps=(first, *counterexample.steps[1:]),
        because=(HOSTILE, "z" * 1_000_000),
        start={HOSTILE: HOSTILE},
    )
    return Terminal(explored(harmful), Origin(HOSTILE, file=True))


def test_hostile_texts_are_shown_and_do_nothing():
    """Markup is text, control characters are spelled out, long values are cut."""
    app = hostile_run()

    shown = pressed(app, "home j", "w", "escape v", "escape s", "escape y", "escape p")
    plain = plain_text(app.walk.trace)

    assert "[red]x[/red][/] \\x1b]0;t\\x07" in shown[1]
    for text in (*shown, plain):
        assert all(c.isprintable() or c == "\n" for c in text)
    assert len(plain) < 100_000
    assert "1,000,000 characters in all" in plain


def test_without_a_model_the_file_is_shown_all_the_same():
    """No step can be taken, and that is said."""
    counterexample = replace(spark(), protocol="unknown")
    app = Terminal(explored(counterexample), Origin("x.json", file=True))

    first, after = pressed(app, "k enter r g p escape")

    assert "No other step can be taken here" in first
    assert app.walk.left is None
    assert here(after).split()[1] == "23"


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (200, 60), (20, 8)])
def test_every_size_is_drawn(size):
    """No line is longer than the terminal is wide."""
    app = spark_run()

    for text in pressed(app, "home", "j j j", "enter", "escape w", size=size):
        assert all(cell_len(line) <= size[0] for line in text.split("\n"))


def test_a_mouse_may_choose_a_step():
    """A click on a row leads to its step."""
    app = model_run()

    async def drive() -> int:
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await pilot.click("#lanes", offset=(20, 3))
            return app.walk.step

    assert asyncio.run(drive()) == 3


def test_where_nobody_can_press_a_key_plain_text_is_printed():
    """It has the lanes, the reasons and the notes; --json prints the view model."""
    plain = CliRunner().invoke(main, ["explore", str(SPARK)])
    data = CliRunner().invoke(main, ["explore", str(SPARK), "--json"])
    both = CliRunner().invoke(main, ["explore", str(SPARK), "--json", "--html", "x"])

    assert (plain.exit_code, data.exit_code, both.exit_code) == (0, 0, 2)
    assert "X fail_task(batch 1, partition 0, attempt 0)" in plain.stdout
    assert "= 632 once, 210 twice  <- breaks here" in plain.stdout
    assert "can be left out: steps 19 to 23\n" in plain.stdout
    assert "but it is claimed that" in plain.stdout
    assert json.loads(data.stdout) == json.loads(
        json.dumps(explored(spark()).view.to_json())
    )


def test_on_a_terminal_the_view_opens_and_prints_what_was_copied():
    """It runs as a program, without colour where none is wanted, and ends by q."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "explore"]
    variables = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    running = subprocess.Popen(
        [*command, str(SPARK)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=variables,
    )
    os.close(theirs)

    seen, keys = "", ["Y", "q", "q"]
    while True:
        try:
            seen += os.read(ours, 65536).decode(errors="replace")
        except OSError:
            break
        if keys and "? keys" in seen:
            os.write(ours, keys.pop(0).encode())

    assert running.wait(20) == 0
    assert (
        f"onceproof replay {shlex.quote(str(SPARK))}" in seen.split("\x1b[?1049l")[-1]
    )


def test_textual_is_loaded_only_where_it_is_used():
    """Neither the plain text nor any other command waits for it."""
    code = (
        "import sys; from onceproof.spark_checks import cli; "
        "cli.main(['explore', sys.argv[1]], standalone_mode=False)"
    )
    check = f"try:\n    {code}\nfinally:\n    print('textual' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", check, str(SPARK)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.rstrip().endswith("False")
