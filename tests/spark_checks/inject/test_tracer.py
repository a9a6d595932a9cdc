"""A tracer notes the points that code comes to, and how it is left."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.inject.tracing.injection_points import MOST_POINTS, seen_in
from onceproof.spark_checks.inject.tracing.line_trace import Notes, file_of, read
from onceproof.spark_checks.sinks.code_points import DRIVER

NOTED = """
import sys
from contextlib import closing, contextmanager, suppress
from onceproof.spark_checks.plan.rules import LINES, Place, RuleSet, Rule
from onceproof.spark_checks.inject.tracing.tracer import Tracer, trace_none

folder, code, *twins = sys.argv[1:]
rule = Rule(LINES, "call", 0, "note", mark="points-driver-0")
plan = RuleSet((rule,), folder, "run", code=(code,))
known = {"closing": closing, "contextmanager": contextmanager, "suppress": suppress}
others = [dict(known) for _ in twins]
for place, names in zip([code, *twins], [known, *others]):
    exec(compile(open(code).read(), place, "exec"), names)
Tracer(plan, lambda _: Place(0, run="run")).install()
for names in others:
    names["work"]()
with suppress(ZeroDivisionError):
    known["work"]()
trace_none()
"""

PIECES = """
class Pieces:
    def __init__(self):
        self.left = 2
    def __iter__(self):
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
"""
HELD = """
@contextmanager
def held():
    with closing(open("/dev/null")) as file:
        yield file
"""


@pytest.fixture
def seen(tmp_path):
    def run(code, *twins):
        path = tmp_path / "code.py"
        path.write_text(code)
        words = [sys.executable, "-c", NOTED, str(tmp_path), str(path), *twins]
        subprocess.run(words, check=True, timeout=60)
        assert (tmp_path / file_of(DRIVER, 0)).exists()
        return seen_in(tmp_path, 1, callback=True)

    return run


@pytest.mark.parametrize(
    "body",
    [
        "    return",
        "    return 7",
        "    for piece in Pieces():\n        pass",
        "    with suppress(ZeroDivisionError): 1 / 0",
        "    try:\n        1 / 0\n    except ZeroDivisionError:\n        pass",
        "    with suppress(ZeroDivisionError):\n        1 / 0",
        "    try:\n        return 7\n    finally:\n        print()",
    ],
)
def test_a_return_is_the_end(seen, body):
    """Errors on the way, and iterators of one's own, change nothing about it."""
    found = seen(f"{PIECES}\ndef work():\n{body}\n")

    assert found.last[0].text == "the return of work() of code.py"


@pytest.mark.parametrize(
    "body",
    [
        "    1 / 0",
        "    with closing(open('/dev/null')):\n        1 / 0",
        "    try:\n        1 / 0\n    finally:\n        print()",
        "    try:\n        1 / 0\n    except ZeroDivisionError:\n        raise",
        "    for piece in Pieces():\n        pass\n    1 / 0",
    ],
)
def test_an_error_is_no_end(seen, body):
    """Whatever is still done on the way out."""
    found = seen(f"{PIECES}\ndef work():\n{body}\n")

    assert found.driver[0]
    assert not found.last


@pytest.mark.parametrize(
    "code",
    [
        "def work():\n    with closing(open('/dev/null')) as f:\n        f.read()",
        f"{HELD}\ndef work():\n    with held() as file:\n        file.read()",
    ],
)
def test_the_end_of_a_with_is_a_point_of_its_own(seen, code):
    """In a generator too, which comes to it as it goes on."""
    ends = [
        point.text
        for point in seen(code).driver[0]
        if point.text.startswith("the end of ") and "/dev/null" in point.text
    ]

    assert len(ends) == 1


def test_what_comes_after_very_many_lines_is_a_point(seen):
    """Beyond the notes that are written at once, each first and last time is kept."""
    lines = ["for n in range(15_000):", "    if n > 14_000:", "        print(n)"]
    body = "".join(f"    {line}\n" for line in [*lines, "print('the end')"])

    found = seen(f"def work():\n{body}")

    texts = {point.text.partition(": ")[2]: point.time for point in found.driver[0]}
    assert texts == {
        lines[0]: 15_001,
        lines[1].strip(): 15_000,
        lines[2].strip(): 999,
        "print('the end')": 1,
    }
    assert len(found.driver[0]) == MOST_POINTS
    assert found.passed == sum(texts.values()) - MOST_POINTS
    assert found.last[0].text == "the return of work() of code.py"


@pytest.fixture
def often():
    """Let threads take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often")
def test_notes_of_several_threads_are_all_kept(tmp_path, monkeypatch):
    """Beyond those written at once too, whichever of them flushes."""
    monkeypatch.setattr(line_trace, "MOST_NOTES", 0)
    path, made = tmp_path / "points", Notes()

    def write(number):
        for time in range(2, 10_000):
            made.write(path, f"line {number}", time)
            if time % 10 == 0:
                made.flush()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    made.flush()

    last = {note.text: note.time for note in read(path)}
    assert last == {f"line {n}": 9_999 for n in range(3)}


def test_what_reads_like_code_that_is_not_followed_is_followed(seen):
    """The same lines stand in another file, which has run before."""
    code = "def work():\n    here = 1\n    return here\n"

    [*lines] = seen(code, "/elsewhere/code.py").driver[0]

    assert [line.text.partition(": ")[2] for line in lines] == [
        "here = 1",
        "return here",
    ]


def test_a_function_is_followed_each_time_that_it_is_called(seen):
    """Not the first time alone."""
    code = "def put():\n    here = 1\n\ndef work():\n    put()\n    put()\n"

    lines = [str(point) for point in seen(code).driver[0]]

    assert [line for line in lines if "here = 1" in line] == [
        "line 2 of code.py, put(): here = 1",
        "line 2 of code.py, put(): here = 1, time 2",
    ]


def test_a_long_line_is_shown_in_part(seen):
    """And says so."""
    found = seen(f"def work():\n    return {list(range(40))}\n")

    [point] = found.driver[0]

    assert point.text.endswith("9, 10, 11,...")
    assert len(point.text.partition(": ")[2]) == 48
