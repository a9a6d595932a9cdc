"""A test that claims to judge a sink passes only by a verdict; no Spark is started."""

from __future__ import annotations

import pytest

# Stands in for the judge: a sink is a word that says how it comes out.
CONFTEST = """
from types import SimpleNamespace

import pytest
from onceproof.model.errors import UsageError
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.pytest_plugin import replayer


def judge(build, question, **_):
    if build == "no sink":
        raise UsageError("that is no sink")
    if build == "broken":
        raise RuntimeError("the harness broke")
    verdict = Verdict(build)
    report = SimpleNamespace(
        classes=SimpleNamespace(classes=[1, 2]), sink=SimpleNamespace(name=build)
    )
    return SimpleNamespace(
        verdict=verdict, holds=verdict.holds, headline=f"it is {build}", story="so",
        replayed=2, report=report, file="", guarantee="effectively-once", broken=(),
        short="", left_out=(),
    )


@pytest.fixture(autouse=True, scope="session")
def without_spark():
    patch = pytest.MonkeyPatch()
    patch.setattr(replayer, "judge", judge)
    patch.setattr(replayer, "bounds_of_replay", lambda _: "2 batches; Spark 4")
    yield
    patch.undo()
"""

TESTS = """
import asyncio
import threading
import unittest

import pytest

marked = pytest.mark.effectively_once(key="id")


@marked
def test_passed_held(onceproof_replay):
    onceproof_replay("held")


@marked
@pytest.mark.parametrize("sink", ["held", "held"])
def test_passed_of_several(onceproof_replay, sink):
    onceproof_replay(sink)


@marked
class TestPassedOfAClass:
    def test_passed_it(self, onceproof_replay):
        onceproof_replay("held")

    @pytest.mark.effectively_once(faults=2)
    def test_passed_with_the_words_of_its_class(self, onceproof_replay):
        onceproof_replay("held")


@pytest.fixture
def judged(onceproof_replay):
    onceproof_replay("held")


@marked
def test_passed_judged_by_a_fixture(judged):
    pass


def test_passed_unmarked():
    pass


def test_failed_unmarked_but_takes_it(onceproof_replay):
    pass


@marked
def test_failed_marked_alone():
    pass


@marked
def test_failed_never_calls(onceproof_replay):
    pass


@pytest.fixture
def patched(monkeypatch):
    monkeypatch.setattr(threading, "stack_size", None)


@marked
def test_failed_while_something_is_patched(onceproof_replay, patched):
    onceproof_replay("held")


@marked
def test_passed_while_the_environment_is_patched(onceproof_replay, monkeypatch):
    monkeypatch.setenv("A", "b")
    onceproof_replay("held")


@marked
def test_failed_refuted(onceproof_replay):
    onceproof_replay("refuted")


@marked
@pytest.mark.parametrize("verdict", ["refuted", "undecided", "vacuous", "no sink"])
def test_failed_swallowed(onceproof_replay, verdict):
    try:
        onceproof_replay(verdict)
    except BaseException:
        pass


@marked
def test_failed_swallowed_beside_one_that_holds(onceproof_replay):
    onceproof_replay("held")
    with pytest.raises(pytest.fail.Exception):
        onceproof_replay("refuted")


@marked
def test_failed_swallowed_before_one_that_holds(onceproof_replay):
    with pytest.raises(pytest.fail.Exception):
        onceproof_replay("no sink")
    onceproof_replay("held")


@marked
def test_failed_swallowed_break(onceproof_replay):
    with pytest.raises(RuntimeError):
        onceproof_replay("broken")


@marked
def test_failed_in_a_thread(onceproof_replay):
    def quiet():
        try:
            onceproof_replay("refuted")
        except BaseException:
            pass

    thread = threading.Thread(target=quiet)
    thread.start()
    thread.join()


@marked
def test_failed_skipped_after_a_verdict(onceproof_replay):
    try:
        onceproof_replay("refuted")
    except BaseException:
        pytest.skip("no")


@marked
def test_failed_async(onceproof_replay):
    async def later():
        onceproof_replay("held")

    later().close()


@marked
@pytest.mark.xfail
def test_failed_xfail_without_a_judgement(onceproof_replay):
    raise ValueError


@marked
@pytest.mark.xfail
def test_failed_xfail_of_what_is_no_sink(onceproof_replay):
    onceproof_replay("no sink")


@marked
@pytest.mark.xfail(strict=False)
def test_failed_xpass_without_a_judgement():
    pass


@marked
class TestFailed(unittest.TestCase):
    def test_failed_of_unittest(self):
        pass


@pytest.mark.effectively_once(key="id", faults=1)
@pytest.mark.effectively_once(key="other")
def test_failed_two_markers_of_one_place(onceproof_replay):
    onceproof_replay("held")


@pytest.mark.effectively_once(key="id", guarantees=())
def test_failed_claims_nothing(onceproof_replay):
    onceproof_replay("held")


@marked
@marked
@pytest.mark.parametrize("sink", [])
def test_errors_over_no_sinks(onceproof_replay, sink):
    onceproof_replay(sink)


@pytest.mark.skip
def test_skipped_it(onceproof_replay):
    pass


@marked
@pytest.mark.skipif(True, reason="not here")
def test_skipped_here(onceproof_replay):
    pass


@marked
def test_skipped_by_itself(onceproof_replay):
    pytest.skip("not today")


@marked
@pytest.mark.xfail
def test_xfailed_refuted(onceproof_replay):
    onceproof_replay("refuted")


@marked
@pytest.mark.xfail(run=False)
def test_xfailed_not_run(onceproof_replay):
    onceproof_replay("held")


@marked
def test_xfailed_by_itself(onceproof_replay):
    pytest.xfail("later")


@marked
@pytest.mark.xfail(strict=False)
def test_xpassed_held(onceproof_replay):
    onceproof_replay("held")
"""

OUTCOMES = {
    "passed": "PASSED",
    "failed": "FAILED",
    "skipped": "SKIPPED",
    "errors": "ERROR",
    "xfailed": "XFAIL",
    "xpassed": "XPASS",
}


@pytest.mark.parametrize("more", [[], ["-n1"]], ids=["here", "xdist"])
def test_every_test_comes_out_as_its_name_says(pytester, more):
    """Passing needs a verdict; skipping and expecting a failure stay what they are."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_them=TESTS)

    result = pytester.runpytest_subprocess("-v", "-rA", *more)

    found = {}
    for line in result.outlines:
        words = line.split()
        for word in OUTCOMES.values():
            if word in words and any("::" in one for one in words):
                node = next(one for one in words if "::" in one)
                found[node.rpartition("::")[2].removeprefix("test_")] = word
    expected = {name: OUTCOMES[name.partition("_")[0]] for name in found}
    assert found == expected
    assert len(found) == TESTS.count("def test_") + 1 + 3
    message = result.stdout.str()
    assert "2 of 2 interleavings; 2 batches; Spark 4" in message
    assert "does not take onceproof_replay" in message
    assert "goes on after a verdict: it is undecided" in message
    assert "leave one out" in message


def test_a_file_that_is_about_another_sink_judges_nothing(pytester):
    """A test is green by --onceproof-replay only if it has that sink."""
    pytester.makeconftest(
        CONFTEST
        + """
told = SimpleNamespace(sink="another", faults=1, options={}, steps=())


@pytest.fixture(autouse=True, scope="session")
def without_a_file(without_spark):
    patch = pytest.MonkeyPatch()
    patch.setattr(replayer, "read", lambda path: told)
    patch.setattr(replayer, "given_by", lambda told: None)
    patch.setattr(replayer, "choice_of", lambda told: None)
    sizes = SimpleNamespace(batches=2, partitions=2)
    patch.setattr(replayer, "sizes_of", lambda told: sizes)
    yield
    patch.undo()
"""
    )
    pytester.makepyfile(
        test_them="""
import pytest


@pytest.mark.effectively_once(key="id")
def test_it(onceproof_replay):
    onceproof_replay("held")
"""
    )

    result = pytester.runpytest_subprocess("--onceproof-replay=x.json")

    result.assert_outcomes(failed=1)
    assert "no sink was judged: x.json is about another, not held" in (
        result.stdout.str()
    )


def test_a_file_is_replayed_with_its_own_options_whatever_the_marker_says(pytester):
    """What differs is part of the answer."""
    pytester.makeconftest(
        CONFTEST
        + """
from onceproof.spark_checks.report.rerun import RerunResult

told = SimpleNamespace(
    sink="held", faults=1, steps=(), options={"key": ["order"], "code": ["tools"]}
)


def answered(path, counterexample, report):
    asked = f"asked for {report.test.key} {report.test.code}"
    return RerunResult("x.json", "held", "effectively-once", "FAILED", asked)


def asking(build, question, **_):
    judged = judge(build, question)
    judged.report.test = question.test
    return judged


@pytest.fixture(autouse=True, scope="session")
def with_a_file(without_spark):
    patch = pytest.MonkeyPatch()
    sizes = SimpleNamespace(batches=2, partitions=2)
    fakes = {
        "read": lambda path: told,
        "given_by": lambda told: None,
        "choice_of": lambda told: None,
        "sizes_of": lambda told: sizes,
        "answered": answered,
        "judge": asking,
    }
    for name, fake in fakes.items():
        patch.setattr(replayer, name, fake)
    yield
    patch.undo()
"""
    )
    pytester.makepyfile(
        test_them="""
import pytest


@pytest.mark.effectively_once(key="id", code="tools")
def test_it(onceproof_replay):
    onceproof_replay("held")
"""
    )

    result = pytester.runpytest_subprocess("--onceproof-replay=x.json")

    result.assert_outcomes(failed=1)
    message = result.stdout.str()
    assert "FAILED held: asked for ('order',) ('tools',)" in message
    assert "replayed with the file's own key=order (now id)" in message


def test_a_known_failure_that_nobody_judged_is_named(pytester):
    """A test that is skipped, or is not there any more, shows no failure."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        test_them="""
import pytest

marked = pytest.mark.effectively_once(key="id")


@marked
def test_expected(onceproof_replay):
    onceproof_replay("refuted")


@marked
@pytest.mark.skip
def test_skipped(onceproof_replay):
    onceproof_replay("refuted")
"""
    )
    entries = [
        f"[[expected]]\ntest = '{test}'\nguarantee = 'effectively-once'\n"
        "reason = 'later'\nexpires = 2999-01-31\n"
        for test in (
            "test_them.py::test_expected",
            "test_them.py::test_skipped",
            "test_them.py::test_gone",
            "test_others.py::test_there",
        )
    ]
    (pytester.path / "onceproof_expect.toml").write_text("".join(entries))

    result = pytester.runpytest_subprocess()

    result.assert_outcomes(xfailed=1, skipped=1)
    message = [one for one in result.outlines if one.startswith("not judged: ")]
    assert [line.split()[2].rstrip(",") for line in message] == [
        "test_them.py::test_skipped",
        "test_them.py::test_gone",
    ]
