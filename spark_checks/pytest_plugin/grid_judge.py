"""The fixture for queries: a query is judged in the grid for the test that runs now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.model.text import did_you_mean, printable
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.grid.grid_run import run_grid
from onceproof.spark_checks.pytest_plugin.judgements import judgements_of
from onceproof.spark_checks.pytest_plugin.known_failures import end_of, refuse_fixed
from onceproof.spark_checks.pytest_plugin.marked_request import texts
from onceproof.spark_checks.pytest_plugin.patched import refuse_patches
from onceproof.spark_checks.pytest_plugin.pytest_internals import sections_of
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.queries.query_spec import FIELDS, QuerySpec
from onceproof.spark_checks.sinks.user_sink import travels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.spark_checks.grid.grid_run import GridReport
    from onceproof.spark_checks.pytest_plugin.options import Options
    from onceproof.spark_checks.pytest_plugin.replayer import Replayer

SECTION = "onceproof"


class GridJudge:
    """Runs a query in the grid; fails the test where a guarantee breaks."""

    def __init__(self, replayer: Replayer, options: Options) -> None:
        """Use the session of the replays."""
        self._replayer = replayer
        self._options = options

    def __call__(
        self,
        query: QuerySpec | Callable[..., Any],
        *,
        configurations: str | Sequence[str] = ("default",),
        **fields: Any,
    ) -> GridReport:
        """Judge a streaming query with each fault, in each of these configurations.

        ``query`` is a ``QuerySpec``, or a function of a DataFrame of events that
        returns the result; the ``fields`` are then those of a ``QuerySpec``, such as
        ``mode="update"`` and ``key=("begin",)``. ``configurations`` are written as for
        ``--config``, such as ``"provider=rocksdb,changelog=on"``.
        Fails the test if what readers see differs from the run without a fault or from
        the batch run, if no restart brings the query back, and if that is undecided.
        """
        __tracebackhide__ = True
        item = self._replayer.item
        try:
            refuse_patches(item)
            spec = _spec_of(query, fields)
            travels(spec.run)
            report = run_grid(
                [spec],
                [parsed(text) for text in texts("configurations", configurations)],
                budget=self._options.budget,
                pool=self._replayer.pool,
            )
            return self._report(spec, report)
        except OnceproofError as error:
            wrong = printable(str(error), keep="\n")
            judgements_of(item).unserved.append(wrong.partition("\n")[0])
        except Exception as error:
            why = f"{type(error).__name__}: {error}".partition("\n")[0]
            judgements_of(item).unserved.append(why)
            raise
        pytest.fail(wrong, pytrace=False)

    def _report(self, query: QuerySpec, report: GridReport) -> GridReport:
        """Add the verdict to the test's report, and end the test accordingly."""
        __tracebackhide__ = True
        item, status = self._replayer.item, report.status()
        verdict = (Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED)[status]
        headline, guarantee = _headline(query, report)
        judged = sum(not cell.refusal for cell in report.cells)
        data = {
            "verdict": str(verdict),
            "interleavings": judged,
            "of": judged + len(report.not_replayed),
            "counted": "cells",
            "guarantee": guarantee,
            "bounds": f"one fault each; PySpark {report.pyspark}",
            "short": "".join(f"; left: {text}" for text in report.left),
        }
        ours = [p for p in item.user_properties if not p[0].startswith("onceproof_")]
        item.user_properties[:] = ours
        for name, value in data.items():
            if value != "":
                item.user_properties.append((f"onceproof_{name}", value))
        noted, known = judgements_of(item), self._options.expect
        if verdict is Verdict.HELD:
            noted.queries += 1
            refuse_fixed(known, item.nodeid, headline)
            return report
        noted.wrong.append(headline)
        sections = sections_of(item)
        sections[:] = [s for s in sections if s[1] != SECTION]
        item.add_report_section("call", SECTION, "\n".join(_story(report)))
        message = printable(headline, keep="\n")
        pytest.fail(
            message + end_of(known, item.nodeid, guarantee, headline), pytrace=False
        )


def _spec_of(query: Any, fields: dict[str, Any]) -> QuerySpec:
    """Return a query as data. Raises ``UsageError`` for what is none."""
    if isinstance(query, QuerySpec):
        if fields:
            message = (
                f"a QuerySpec has its {next(iter(fields))} already; change it there"
            )
            raise UsageError(message)
        return query
    if not callable(query):
        message = f"a query is a QuerySpec, or a function of events, not {query!r}"
        raise UsageError(message)
    for name in fields:
        if name not in FIELDS or name == "run":
            hint = did_you_mean(name, FIELDS, form="{}=")
            message = f"a query has no {name}=; {hint}"
            raise UsageError(message)
    given = {"name": getattr(query, "__name__", "query"), **fields}
    if "key" in given:
        given["key"] = texts("key", given["key"])
    return QuerySpec(run=query, **given)


def _headline(query: QuerySpec, report: GridReport) -> tuple[str, str]:
    """Return the verdict in a line that stands alone, and the guarantee it is about."""
    judged = sum(not cell.refusal for cell in report.cells)
    for cell in report.refuted:
        broken = [n for n, v in cell.verdicts.items() if v is Verdict.REFUTED]
        more = f"{len(report.refuted)} of {judged} cells are refuted"
        story = "; ".join(cell.story())
        return f"Not {', not '.join(broken)}: {cell.name}: {story} ({more})", broken[0]
    why = [f"{cell.name}: {cell.refusal}" for cell in report.not_replayed]
    why += report.left
    if why or not judged:
        return f"Undecided: {next(iter(why), 'nothing was judged')}", ""
    return f"{query.name} holds in {judged} cells", ""


def _story(report: GridReport) -> list[str]:
    found = []
    for cell in report.refuted:
        found += [f"{cell.name}:", *(f"  {line}" for line in cell.story())]
    found += [f"left: {text}" for text in report.left]
    return [printable(line) for line in found]
