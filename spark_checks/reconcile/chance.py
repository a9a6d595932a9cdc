"""Whether reading the rows again would give the same rows: no chance, and no part."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from pyspark.sql.utils import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OPTIMIZED = re.compile(r"== Optimized Logical Plan ==\n(.*?)\n== ", re.DOTALL)
_FUNCTIONS = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|"
    r"spark_partition_id)\("
)
_PARTS = re.compile(r"^[\s:+|-]*(Sample|GlobalLimit|LocalLimit|Offset)\b", re.MULTILINE)
_SORTED = re.compile(
    r"^[\s:+|-]*GlobalLimit .*\n.*LocalLimit .*\n(?:.*Project .*\n)?.*Sort ",
    re.MULTILINE,
)
_WORDS = {"Sample": "a sample", "Offset": "OFFSET"}


def by_chance(rows: DataFrame) -> str:
    """Name what in the rows chance decides; empty if nothing is found.

    Spark is asked for the plan that it would run, in which columns that nobody needs
    are gone. Through Spark Connect, a Python function that is not deterministic does
    not show in it.
    """
    plan = _plan(rows)
    if part := _PARTS.search(_SORTED.sub("", plan)):
        return _WORDS.get(part[1], "LIMIT")
    if function := _FUNCTIONS.search(plan):
        return f"{function[1]}()"
    if is_remote():
        return ""
    found: Any = rows
    optimized = found._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - no public name
    return "" if optimized.deterministic() else "a function of chance"


def _plan(rows: DataFrame) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        rows.explain(mode="extended")
    found = _OPTIMIZED.search(printed.getvalue())
    return found[1] if found else printed.getvalue()
