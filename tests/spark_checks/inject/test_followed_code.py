"""Which code has faults injected, and what is said of code that has none."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from onceproof.spark_checks.inject.tracing import followed_code
from onceproof.spark_checks.inject.tracing.followed_code import (
    ARCHIVED,
    COMPILED,
    GENERATED,
    LEFT_OUT,
    NO_SOURCE,
    Code,
    outside,
)
from onceproof.spark_checks.inject.tracing.injection_points import (
    MOST_INSTALLED,
    chosen,
    seen_in,
)
from onceproof.spark_checks.inject.tracing.line_trace import file_of
from onceproof.spark_checks.inject.tracing.unfollowed_packages import NAMED
from onceproof.spark_checks.sinks.code_points import (
    DRIVER,
    CodePoint,
    installed,
    place_of,
)

SITE = "venv/lib/python3.11/site-packages"


@pytest.fixture
def made(tmp_path):
    def make(place):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("def work():\n    return 1\n")
        return str(path)

    return make


def judged(made, place, module, *, roots=("project",), words=()):
    path = made(place)
    top = Path(path[: -len(place)])
    code = Code(tuple(str(top / root) for root in roots), words)
    return code.judge(path, module)


@pytest.mark.parametrize(
    ("place", "module", "follows", "why"),
    [
        ("project/sinks.py", "sinks", True, ""),
        ("project/src/deep/sinks.py", "deep.sinks", True, ""),
        # What is no part of the project, and installed nowhere: it is called.
        ("project-other/sinks.py", "sinks", True, ""),
        (f"{SITE}/mylib/sinks.py", "mylib.sinks", True, ""),
        (f"project/{SITE}/mylib/sinks.py", "mylib.sinks", True, ""),
        ("project/lib/python3/dist-packages/mylib.py", "mylib", True, ""),
        (f"{SITE}/psycopg/rows.py", "psycopg.rows", False, NAMED["psycopg"]),
        (f"{SITE}/psycopgology/rows.py", "psycopgology.rows", True, ""),
        (f"{SITE}/google/cloud/x.py", "google.cloud.x", False, "a storage client"),
        (f"{SITE}/google/mine/x.py", "google.mine.x", True, ""),
        (f"{SITE}/pyspark/sql/x.py", "pyspark.sql.x", False, ""),
        (f"{SITE}/onceproof_like/x.py", "onceproof_like.x", True, ""),
        # One's own module may have the name of a driver.
        ("project/redis.py", "redis", True, ""),
    ],
)
def test_what_is_not_pythons_or_sparks_or_a_drivers_is_followed(
    made, place, module, follows, why
):
    """Wherever it lies: only then are all lines of a sink's code reached."""
    found = judged(made, place, module)

    assert (found.follows, found.why) == (follows, why)


def test_own_code_is_told_from_code_that_is_called(made):
    """A root is a folder and not the beginning of a text."""
    own = judged(made, "project/sinks.py", "sinks")
    near = judged(made, "project-other/sinks.py", "sinks")
    site = judged(made, f"project/{SITE}/mylib/sinks.py", "mylib.sinks")

    assert (own.installed, own.shown) == (False, "sinks.py")
    assert (near.installed, near.shown) == (True, "sinks.py")
    assert (site.installed, site.shown) == (True, "mylib/sinks.py")


def test_a_root_may_be_reached_by_a_link(made, tmp_path):
    """A project lies behind a link, or its code does: both are one place."""
    path = Path(made("project/sinks.py"))
    (tmp_path / "link").symlink_to(tmp_path / "project")

    by_root = Code((str(tmp_path / "link"),)).judge(str(path), "sinks")
    by_file = Code((str(tmp_path / "project"),)).judge(
        str(tmp_path / "link" / "sinks.py"), "sinks"
    )

    assert by_root.follows
    assert not by_root.installed
    assert by_file == by_root


@pytest.mark.parametrize(
    ("words", "place", "module", "follows"),
    [
        (("psycopg",), f"{SITE}/psycopg/rows.py", "psycopg.rows", True),
        (("psycopg",), f"{SITE}/psycopg2/rows.py", "psycopg2.rows", False),
        (("-mylib",), f"{SITE}/mylib/sinks.py", "mylib.sinks", False),
        (("-mylib", "mylib.sinks"), f"{SITE}/mylib/sinks.py", "mylib.sinks", True),
        (("mylib", "-mylib.sinks"), f"{SITE}/mylib/sinks.py", "mylib.sinks", False),
        (("-mylib", "mylib"), f"{SITE}/mylib/sinks.py", "mylib.sinks", False),
        (("-sinks",), "project/sinks.py", "sinks", False),
        (("-{top}/project/vendor",), "project/vendor/x.py", "vendor.x", False),
        (("-{top}/project/vendor",), "project/vendored/x.py", "vendored.x", True),
    ],
)
def test_words_follow_and_leave_out(made, tmp_path, words, place, module, follows):
    """The most exact word counts; what is left out is said to be."""
    words = tuple(word.format(top=tmp_path) for word in words)

    found = judged(made, place, module, words=words)

    assert found.follows is follows
    assert (found.why == LEFT_OUT) is (not follows and "psycopg" not in module)
    assert not (follows and found.installed)


def test_pythons_own_code_is_passed_by(tmp_path):
    """Nobody need be told of it."""
    found = Code((str(tmp_path),)).judge(os.__file__, "os")

    assert (found.follows, found.why, found.standard) == (False, "", True)


def test_code_without_a_file_is_named(tmp_path):
    """What a dataclass makes, an archive holds, or nobody has the source of."""
    egg = tmp_path / "site-packages" / "lib.egg"
    egg.parent.mkdir()
    with zipfile.ZipFile(egg, "w") as archive:
        archive.writestr("lib/x.py", "")
    code = Code((str(tmp_path / "project"),))

    whys = [
        code.judge(file, module).why
        for file, module in (
            ("<string>", "orders"),
            (str(egg / "lib" / "x.py"), "lib.x"),
            (str(tmp_path / "gone.py"), "gone"),
            ("<string>", "namedtuple_Order"),
            ("<frozen os>", "os"),
        )
    ]

    assert whys == [GENERATED, ARCHIVED, NO_SOURCE, "", ""]


def test_compiled_code_is_named(tmp_path):
    """It makes no frames, so that no line of it can be reached."""
    code = Code((str(tmp_path),))
    suffix = sysconfig.get_config_var("EXT_SUFFIX")

    assert outside("fast._core", f"/x/site-packages/fast/_core{suffix}", code) == (
        "fast",
        COMPILED,
    )
    assert outside("_sqlite3", f"/lib/_sqlite3{suffix}", code) == ("", "")
    assert outside("duckdb", "/x/site-packages/_duckdb.so", code) == (
        "duckdb",
        NAMED["duckdb"],
    )


RUN = """
import sys
from onceproof.spark_checks.plan.rules import LINES, OUTSIDE, Place, RuleSet, Rule
from onceproof.spark_checks.inject.tracing.tracer import Tracer, trace_none

marks, project, *words = sys.argv[1:]
rules = (
    Rule(LINES, "call", 0, "note", mark="points-driver-0"),
    Rule(OUTSIDE, "call", 0, "note", mark="outside"),
)
sys.path.insert(0, project)
import sink
tracer = Tracer(
    RuleSet(rules, marks, "run", code=(project,), named=tuple(words)),
    lambda _: Place(0, run="run"),
)
tracer.install()
sink.put(7)  # not by the user's code: only the next call is
sink.write(7)
trace_none()
"""
SINK = """
import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from collections import namedtuple

import numpy
import sqlite3
from mylib.sinks import put
import outer_lib

Pair = namedtuple("Pair", "a b")


@dataclass
class Order:
    number: int


def write(number):
    order = Order(number)
    Pair(1, 2)
    numpy.sum(numpy.zeros(2))
    sqlite3.connect(":memory:").close()
    functools.partial(put, order)()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(outer_lib.call, put).result()
"""
MYLIB = """
def put(order):
    return _deep(order)


def _deep(order):
    return order
"""


@pytest.fixture
def traced(tmp_path):
    site = tmp_path / "env" / "site-packages"
    project, marks = tmp_path / "project", tmp_path / "marks"
    for folder in (site / "mylib", project, marks):
        folder.mkdir(parents=True)
    (site / "mylib" / "__init__.py").write_text("")
    (site / "mylib" / "sinks.py").write_text(MYLIB)
    (site / "outer_lib.py").write_text("def call(work):\n    return work(1)\n")
    (project / "sink.py").write_text(SINK)

    def run(*words):
        path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            [sys.executable, "-c", RUN, str(marks), str(project), *words],
            check=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": path},
        )
        return seen_in(marks, 1, callback=True)

    return run


def test_a_package_that_is_called_has_its_lines_injected_into(traced):
    """Through partial and a pool as well; all else that is called is named."""
    seen = traced()

    lines = {point.text for point in seen.driver[0]}
    assert any("mylib/sinks.py (installed), _deep()" in line for line in lines)
    assert any("outer_lib.py (installed), call()" in line for line in lines)
    assert dict(seen.outside) == {"numpy": NAMED["numpy"], "sink": GENERATED}


def test_what_is_left_out_is_named(traced):
    """Also where it is called through a package that is not."""
    seen = traced("-mylib")

    lines = {point.text for point in seen.driver[0]}
    assert not any("mylib" in line for line in lines)
    assert dict(seen.outside)["mylib"] == LEFT_OUT


def theirs(number):
    return place_of(number, "mylib/x.py", installed=True) + "work()"


def test_lines_of_packages_come_after_own_lines_and_before_repetitions():
    """Own lines are all there; of packages as many as there is room for."""
    own = [f"line {n} of x.py, write()" for n in range(30)]
    called = [theirs(n) for n in range(2 * MOST_INSTALLED)]
    times = [CodePoint(text, time) for time in (1, 2, 3) for text in [*own, *called]]

    kept = chosen(times)

    assert [p for p in kept if p.text in own and p.time in (1, 3)] == [
        CodePoint(text, time) for time in (1, 3) for text in own
    ]
    assert [p for p in kept if installed(p.text)] == [
        CodePoint(text, time) for time in (1, 3) for text in called[:MOST_INSTALLED]
    ]
    assert not [p for p in kept if p.time == 2]


def test_lines_beyond_the_room_are_counted(tmp_path):
    """Nobody takes them for injected into."""
    lines = [theirs(n) for n in range(MOST_INSTALLED + 3)]
    notes = [*lines, "the return of write()"]
    (tmp_path / file_of(DRIVER, 0)).write_text("".join(f"7.1\t{n}\n" for n in notes))

    seen = seen_in(tmp_path, 1, callback=True)

    assert seen.unlisted == 3


def test_our_own_frames_are_no_users(tmp_path):
    """They lie around a user's code, run as a script too, and are not followed."""
    worker = Path(followed_code.__file__).parents[1] / "worker.py"

    found = Code((str(tmp_path),)).judge(str(worker), "__main__")

    assert (found.follows, found.why) == (False, "")
