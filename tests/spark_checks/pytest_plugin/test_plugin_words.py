"""What the plugin is told, and what it refuses, before any Spark is started."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.pytest_plugin.known_failures import read_expected
from onceproof.spark_checks.pytest_plugin.options import options_of

TEST = """
import pytest
{marker}
def test_it(onceproof_replay):
    onceproof_replay(lambda target: None)
"""


REFUSED = {
    "": "needs a marker",
    "(fault=1)": "did you mean faults=?",
    "('id')": "takes its arguments by name",
    "(key='id', faults=9)": "must be 1 to 3",
    "(key='id', batches='2')": "must be 1 to 8",
    "(key='id', guarantees=['durabel'])": "did you mean 'durable'?",
    "(key='id', guarantees='durabel')": "did you mean 'durable'?",
    "(key=5)": "takes a text, or a tuple of texts",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Run one project with a test for each marker, and give what each test printed."""
    folder = tmp_path_factory.mktemp("markers")
    for number, words in enumerate(REFUSED):
        marker = words and f"@pytest.mark.effectively_once{words}"
        (folder / f"test_{number}.py").write_text(TEST.format(marker=marker))
    words = [sys.executable, "-m", "pytest", "--junitxml=found.xml"]
    ended = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    cases = ET.parse(folder / "found.xml").iter("testcase")
    return {case.get("classname"): case.findtext("failure") for case in cases}


@pytest.mark.parametrize(("marker", "answer"), REFUSED.items())
def test_what_the_marker_does_not_take_is_refused(answers, marker, answer):
    """In one sentence."""
    found = answers[f"test_{list(REFUSED).index(marker)}"]

    assert answer in found
    assert not re.search(r"pytest_plugin/\w+\.py", found)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--onceproof-faults=0"], "--onceproof-faults must be 1 to 3, not 0"),
        (["--onceproof-batches=1000"], "--onceproof-batches must be 1 to 8, not 1000"),
        (["--onceproof-most=-5"], "--onceproof-most must be at least 1, not -5"),
        (["--onceproof-timeout=-1"], "onceproof_timeout takes a time such as"),
        (
            ["--onceproof-budget=0"],
            "onceproof_budget takes a time above 0",
        ),
        (["--onceproof-budget=5 m"], "5m or 1h, not '5 m'"),
        (
            ["-o", "onceproof_budget=soon"],
            "90s, 5m or 1h, not 'soon'",
        ),
        (["--onceproof-profile=nightli"], "did you mean nightly?"),
        (["--onceproof-trace=sometimes"], "invalid choice: 'sometimes'"),
        (["-o", "onceproof_trace=sometimes"], "has no 'sometimes'"),
        (["-o", "onceproof_shrink_budget=long"], "5m or 1h, not 'long'"),
        (["-o", "onceproof_spark=jars"], "takes lines like spark.name = value"),
    ],
)
def test_options_that_there_are_not_are_refused(pytester, words, answer):
    """On the command line and in the ini file alike."""
    marker = "@pytest.mark.effectively_once(key='id')"
    pytester.makepyfile(TEST.format(marker=marker))

    result = pytester.runpytest_inprocess(*words)

    assert result.ret != 0
    assert answer in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (["--onceproof-budget=5m"], 300.0),
        (["--onceproof-budget=90"], 90.0),
        (["-o", "onceproof_budget=1h"], 3600.0),
        ([], None),
    ],
)
def test_a_budget_is_a_time_as_on_the_command_line(pytester, words, seconds):
    """A number alone is in seconds."""
    assert options_of(pytester.parseconfig(*words)).budget == seconds


@pytest.mark.parametrize(("variable", "profile"), [("1", "ci"), ("", "dev")])
def test_the_profile_is_chosen_by_itself_and_shown_where_sinks_are_judged(
    pytester, monkeypatch, variable, profile
):
    """Ci where CI is set; a line of its own only where the fixture is used."""
    monkeypatch.setenv("CI", variable)
    pytester.makepyfile(
        test_used="def test_it(onceproof_replay): pass",
        test_other="def test_it(): pass",
    )

    used = pytester.runpytest_subprocess("test_used.py", "--onceproof-seed=7")
    other = pytester.runpytest_subprocess("test_other.py")

    shown = f"onceproof: --onceproof-profile={profile} --onceproof-seed=7"
    assert shown in used.stdout.str()
    assert "onceproof: --" not in other.stdout.str()


def test_unused_it_imports_neither_spark_nor_z3_and_can_be_switched_off(pytester):
    """A test that asks for nothing pays nothing."""
    pytester.makepyfile(
        """
        import sys

        def test_it():
            heavy = {"pyspark", "z3", "llvmlite", "hypothesis"} & set(sys.modules)
            assert not heavy
        """
    )

    used = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    off = pytester.runpytest_subprocess("-p", "no:onceproof", "--markers")

    used.assert_outcomes(passed=1)
    assert "= onceproof =" not in used.stdout.str()
    assert "effectively_once" not in off.stdout.str()


def test_expected_failures_are_read(tmp_path):
    """Each speaks of a test, whatever its parameters, and of one guarantee."""
    path = tmp_path / "expect.toml"
    path.write_text(
        '[[expected]]\ntest = "t.py::a"\nguarantee = "durable"\n'
        'reason = "later"\nexpires = 2030-01-02\n'
    )

    [known] = read_expected(path)

    assert known.about("t.py::a[x]", "durable")
    assert not known.about("t.py::ab", "durable")
    assert not known.about("t.py::a", "effectively-once")
    assert not known.expired(dt.date(2030, 1, 2))
    assert known.expired(dt.date(2030, 1, 3))
    assert read_expected(tmp_path / "none.toml") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[expect]]", "did you mean expected?"),
        ("expected = 3", "must be a list of tables"),
        ('[[expected]]\ntests = "a"', "did you mean test?"),
        ('[[expected]]\ntest = "a"', "needs guarantee"),
        (
            (
                '[[expected]]\ntest = "a"\nguarantee = "durabel"\nreason = "b"\n'
                "expires = 2030-01-02"
            ),
            "guarantee has no 'durabel'; did you mean durable?",
        ),
        ("[[expected", "cannot be read"),
    ],
)
def test_expected_failures_that_say_nothing_are_refused(tmp_path, text, message):
    """With the entry, and the word that was perhaps meant."""
    path = tmp_path / "expect.toml"
    path.write_text(text)

    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        read_expected(path)
