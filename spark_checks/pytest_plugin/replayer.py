"""The fixture: sinks are replayed for the test that runs now."""

from __future__ import annotations

import importlib
import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.model.files import writable, write_whole
from onceproof.model.text import printable, slug
from onceproof.properties.counterexample.file import read
from onceproof.properties.evidence.store import write
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.pytest_plugin.judgements import CURRENT, judgements_of
from onceproof.spark_checks.pytest_plugin.known_failures import end_of, refuse_fixed
from onceproof.spark_checks.pytest_plugin.marked_request import (
    Call,
    request_of,
    store_of,
    texts,
)
from onceproof.spark_checks.pytest_plugin.patched import refuse_patches
from onceproof.spark_checks.pytest_plugin.progress import shown_progress
from onceproof.spark_checks.pytest_plugin.pytest_internals import sections_of
from onceproof.spark_checks.pytest_plugin.session_settings import taken_over
from onceproof.spark_checks.report.assessment import (
    Assessment,
    AssessmentRequest,
    judge,
)
from onceproof.spark_checks.report.bounds import bounds_of_replay
from onceproof.spark_checks.report.evidence.project_settings import root_of
from onceproof.spark_checks.report.evidence.records import records_of_replay
from onceproof.spark_checks.report.replay_file import answered
from onceproof.spark_checks.report.rerun import ANSWER, RerunResults
from onceproof.spark_checks.report.stored_settings import (
    as_stored,
    choice_of,
    given_by,
    sizes_of,
)
from onceproof.spark_checks.session.session_pool import SessionPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from onceproof.properties.testing.event_batches import Case
    from onceproof.spark_checks.pytest_plugin.options import Options
    from onceproof.spark_checks.sinks.interface import Build
    from onceproof.spark_checks.stores.interface import SinkStore

SECTION = "onceproof"
_FIRST = 5
# Hypothesis takes another example.
_REJECTED = ("UnsatisfiedAssumption", "StopTest")


class UndecidedError(AssertionError):
    """An example could not be replayed, so it is no smaller form of a refuted one."""


class Replayer:
    """Runs a sink through its failure interleavings; fails the test where it breaks.

    Call it with a function that builds the sink for a fresh and empty target: it is
    called for each run.
    """

    def __init__(
        self,
        config: pytest.Config,
        options: Options,
        session: SparkSession | None = None,
    ) -> None:
        """Start nothing yet; Spark starts at the first replay.

        It then has the settings of the user's own ``session``, if there is one.
        """
        self._config = config
        self._options = options
        self.pool = SessionPool(
            ENTRY_POINTS,
            options.spark,
            None if session is None else taken_over(session),
            agent=options.agent,
        )
        self.item: Any = config.stash.get(CURRENT, None)
        self._known: dict[tuple[str, ...], Assessment] = {}
        self._failing_since: float | None = None
        self._given = False
        self._left: Counter[str] = Counter()

    def begin(self, item: pytest.Item) -> None:
        """Replay for this test from now on."""
        self.item = item
        self._known.clear()
        self._left.clear()
        self._failing_since = None

    def __call__(
        self,
        build: Build,
        *,
        events: Any = None,
        schema: Any = None,
        allow: Sequence[str] = (),
        code: Sequence[str] = (),
        store: SinkStore | None = None,
        case: Case | None = None,
    ) -> Assessment:
        """Judge a sink, over flights or over ``events`` of your own.

        ``events`` is a schema (a ``StructType`` or a DDL text), a strategy of
        Hypothesis for a row, batches of events, or a sample: rows as dicts, a DataFrame
        of pandas or Spark, or a function of a session that gives one. ``allow`` names
        paths and addresses, as ``host:port``, that the sink may write to besides its
        target. ``code`` names packages and paths whose lines get faults as the test's
        own lines do; those with a ``-`` in front get none. ``store`` is where
        the sink writes, such as ``Postgres()``: each run has a fresh place in it, which
        is ``target.store``. A ``case``, drawn by ``strategies.replays``, is a single
        interleaving over events of its own.
        Fails the test if a guarantee is broken or undecided, and if the sink is wrong
        where nothing fails.
        """
        __tracebackhide__ = True
        try:
            refuse_patches(self.item)
            called = Call(
                events,
                schema,
                texts("allow", allow),
                texts("code", code),
                store_of(store),
            )
            question = request_of(
                self.item,
                self._options,
                called,
                case=case,
                artifacts=self._artifacts(),
                first=() if self._options.evidence else self._failed(),
            )
            if self._options.replay is not None:
                return self._again(build, question)
            self._given = case is not None
            if case is not None:
                return self._one_case(build, question, case)
            with shown_progress(self._config) as shown:
                judged = judge(build, question, pool=self.pool, listener=shown)
            self._leave(judged, question)
            return self._report(build, judged)
        except OnceproofError as error:
            wrong = printable(str(error), keep="\n")
            self._unserved(wrong)
        except Exception as error:
            if type(error).__name__ not in _REJECTED:
                self._unserved(f"{type(error).__name__}: {error}")
            raise
        pytest.fail(wrong, pytrace=False)

    def _unserved(self, why: str) -> None:
        """Note that a call ended without a verdict: the test cannot pass by it."""
        judgements_of(self.item).unserved.append(why.partition("\n")[0])

    def _again(self, build: Build, request: AssessmentRequest) -> Assessment:
        """Replay the interleaving of a file, and give its result."""
        path = self._options.replay or Path()
        counterexample = read(path)
        sizes = sizes_of(counterexample)
        test, differs = as_stored(request.test, counterexample)
        request = replace(
            request,
            test=test,
            faults=counterexample.faults,
            batches=sizes.batches,
            partitions=sizes.partitions,
            events=None,
            given=given_by(counterexample),
            choice=choice_of(counterexample),
            timeout=float(counterexample.options.get("timeout", request.timeout)),
            budget=None,
            trace="off",
        )
        plugins = self._config.pluginmanager.get_plugins()
        results = (p for p in plugins if isinstance(p, RerunResults))
        listener = next((p.listener for p in results), None)
        try:
            judged = judge(build, request, pool=self.pool, listener=listener)
        except UsageError as error:
            message = f"{error}; {differs}" if differs else str(error)
            raise UsageError(message) from None
        noted = judgements_of(self.item)
        if judged.report.sink.name != counterexample.sink:
            other = (
                f"{path} is about {counterexample.sink}, not {judged.report.sink.name}"
            )
            noted.beside.append(other)
            return judged
        found = answered(path, counterexample, judged.report)
        answer = replace(found, note=differs)
        self.item.user_properties.append((ANSWER, answer.to_json()))
        if answer.status():
            noted.wrong.append(str(answer).partition("\n")[0])
            pytest.fail(str(answer), pytrace=False)
        noted.held += 1
        return judged

    def _one_case(
        self, build: Build, request: AssessmentRequest, case: Case
    ) -> Assessment:
        """Judge one example; an example that was judged before is not run again.

        When the budget for making a failing example smaller is spent, examples that
        are new pass without a run: the smallest that was found stays.
        """
        if not case.events.count:
            importlib.import_module("hypothesis").reject()
        key = (repr(build), repr(case))
        judged = self._known.get(key)
        if judged is None:
            since = self._failing_since
            if since is not None and time.monotonic() - since > self._options.shrink:
                return next(iter(self._known.values()))
            judged = judge(build, request, pool=self.pool)
            if not judged.replayed and not judged.report.missed:
                # There is no failpoint for it: this is no example of anything.
                importlib.import_module("hypothesis").reject()
            self._known[key] = judged
            if not judged.holds and since is None:
                self._failing_since = time.monotonic()
        return self._report(build, judged)

    def _report(self, build: Build, judged: Assessment) -> Assessment:
        """Add the verdict to the test's report, and end the test accordingly."""
        __tracebackhide__ = True
        del build
        item, verdict = self.item, str(judged.verdict)
        there = len(judged.report.classes.classes)
        data = {"verdict": verdict, "interleavings": judged.replayed, "of": there}
        data |= {"guarantee": judged.guarantee, "file": judged.file}
        data["bounds"] = bounds_of_replay(judged.report)
        data |= {"short": judged.short, "left_out": "\n".join(judged.left_out)}
        ours = [p for p in item.user_properties if not p[0].startswith("onceproof_")]
        item.user_properties[:] = ours
        for name, value in data.items():
            if value != "":
                item.user_properties.append((f"onceproof_{name}", value))
        self._remember(judged)
        noted = judgements_of(item)
        if judged.holds:
            noted.held += 1
            refuse_fixed(self._options.expect, item.nodeid, judged.headline)
            if self._options.trace == "on":
                self._write(judged)
            return judged
        noted.wrong.append(judged.headline)
        sections = sections_of(item)
        sections[:] = [s for s in sections if s[1] != SECTION]
        item.add_report_section("call", SECTION, printable(judged.story, keep="\n"))
        message = printable(judged.headline, keep="\n") + end_of(
            self._options.expect, item.nodeid, judged.guarantee, judged.headline
        )
        if self._given:
            # Hypothesis makes examples smaller for errors, and wraps what is none.
            wrong = judged.verdict is Verdict.REFUTED
            raise (AssertionError if wrong else UndecidedError)(message)
        pytest.fail(message, pytrace=False)

    def _leave(self, judged: Assessment, request: AssessmentRequest) -> None:
        """Write a record of each guarantee that was claimed, if records are wanted.

        A second replay of a sink in one test is numbered, and leaves its own. What
        Hypothesis runs are examples, and leave none.
        """
        folder = self._options.evidence
        drawn = getattr(getattr(self.item, "obj", None), "is_hypothesis_test", False)
        if folder is not None and not drawn:
            self._left[judged.report.sink.name] += 1
            records = records_of_replay(
                judged.report,
                root=root_of(self._config.rootpath),
                claims=request.test.claims,
                files={judged.guarantee: judged.file},
                test=self.item.nodeid,
                into=folder,
                options=self._options.words,
                nth=self._left[judged.report.sink.name],
                unsettled=judged.drift or judged.unsettled,
            )
            write(records, folder)

    def _failed(self) -> tuple[int, ...]:
        """Return the interleavings that broke this test in its last run."""
        cache = getattr(self._config, "cache", None)
        found = cache.get(f"onceproof/{self._node()}", []) if cache is not None else []
        return tuple(n for n in found if isinstance(n, int))

    def _remember(self, judged: Assessment) -> None:
        cache = getattr(self._config, "cache", None)
        if cache is not None:
            cache.set(f"onceproof/{self._node()}", list(judged.broken[:_FIRST]))

    def _node(self) -> str:
        text = self.item.nodeid.removeprefix("tests/")
        return slug(text, keep=".", most=120)

    def _artifacts(self) -> Path:
        return self._options.artifacts / self._node()

    def _write(self, judged: Assessment) -> None:
        """Write down what held, and in which interleavings."""
        report = judged.report
        folder = self._artifacts()
        writable(folder)
        data = {
            "test": self.item.nodeid,
            "headline": judged.headline,
            "left_out": list(judged.left_out),
            "interleavings": {
                o.interleaving.number: list(o.failpoints) for o in report.replayed
            },
        }
        path = folder / "held.json"
        write_whole(path, json.dumps(data, indent=2) + "\n")
