"""The page of mistakes, written from what came out of the runs."""

from __future__ import annotations

import inspect
import linecache
import re
import textwrap
from typing import TYPE_CHECKING, Any

from onceproof.properties.words.readers import AT_REST, at_moment
from tests.docs.mistakes import data_source, foreach_batch, foreach_writer, jobs, table
from tests.docs.mistakes.mistake import HERE, Mistake, how_it_breaks, judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from onceproof.spark_checks.report.assessment import Assessment
    from onceproof.spark_checks.session.session_pool import SessionPool

FAMILIES = {
    "Functions for foreachBatch": foreach_batch.MISTAKES,
    "ForeachWriters": foreach_writer.MISTAKES,
    "Python data sources": data_source.MISTAKES,
    "Jobs": jobs.MISTAKES,
}
HEAD = """\
# Mistakes

Sinks that look right, and what happens to events when one thing fails. Each sink is
judged on real PySpark: eight orders arrive in two batches of two partitions, and each
run has one fault, injected at any line of the sink's code. The table is generated from
these runs by `python -m tests.docs.mistakes > docs/mistakes.md`; a test compares it.

The failure shown is the smallest one that was found, and no other fault is needed.
(Spark calls `abort` only after an error. To kill a sink in `abort`, a run therefore
raises one first.) Most of these sinks work for weeks, because the fault must hit one
particular line. A fix *holds* in N of M failure interleavings: N were replayed, enough
to inject each kind of fault at each line. The last section lists what the page leaves
out.

| mistake | what goes wrong | the smallest failure | the fix |
| --- | --- | --- | --- |
"""
SHARED = """\
## What they share

```python
{}
```
"""
LEFT_OUT = """\
## What is left out

- Two faults in one interleaving: `faults=2` asks for them.
- What Spark does inside one call, such as `batch.write`: its own commit protocol is
  judged as the file sink of `onceproof replay parquet-manifest`.
- Loss of what was written: a disk that forgets, a database that takes back a commit.
"""


class Page:
    """Judges each sink once, though several mistakes may share a fix."""

    def __init__(self, pool: SessionPool, tell: Callable[[str], object] = str) -> None:
        """Judge nothing yet; ``tell`` hears how each sink came out."""
        self._pool = pool
        self._tell = tell
        self._known: dict[Any, Assessment] = {}

    def text(self) -> str:
        """Write the page."""
        return "".join(self._parts())

    def row(self, mistake: Mistake) -> str:
        """Write a mistake's row of the table."""
        wrong = self._judged(mistake.wrong[0], mistake)
        fixed = self._judged(mistake.fixed[0], mistake)
        broken = how_it_breaks(wrong, mistake.claims)
        link = f"[{mistake.title}](#{anchor(mistake.title)})"
        done = broken.moment == at_moment(AT_REST)
        seen = f"{broken.moment if done else 'after the fault'}, {broken.seen}"
        failure = "; ".join(in_words(how) for how in broken.failure)
        there = len(fixed.report.classes.classes)
        word = "holds" if fixed.holds else f"is {fixed.verdict}"
        fix = f"{mistake.fix} It {word}: {fixed.replayed} of {there} interleavings."
        return f"| {link} | {seen}: not {broken.guarantee} | {failure} | {fix} |\n"

    def _parts(self) -> Iterator[str]:
        yield HEAD
        for mistakes in FAMILIES.values():
            yield from map(self.row, mistakes)
        for family, mistakes in FAMILIES.items():
            yield f"\n## {family}\n"
            shown: set[str] = set()
            for mistake in mistakes:
                yield f"\n### {mistake.title}\n\n{_code(mistake.wrong)}\n"
                again = mistake.fixed[0].__name__
                if again in shown:
                    yield f"Fixed as above, in `{again}`.\n"
                else:
                    yield f"{mistake.fix}\n\n{_code(mistake.fixed)}"
                shown.add(again)
        source = inspect.getsource(table)
        yield "\n" + SHARED.format(source[source.index("ORDERS = ") :].rstrip())
        yield "\n" + LEFT_OUT

    def _judged(self, build: Any, mistake: Mistake) -> Assessment:
        key = (build, mistake.claims)
        if key not in self._known:
            self._known[key] = judged(build, mistake, self._pool)
            self._tell(f"{self._known[key].headline}\n")
        return self._known[key]


def anchor(title: str) -> str:
    """Name the place of a heading, as forges do."""
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def in_words(how: str) -> str:
    """Name lines by what stands there: their numbers change with every edit."""
    how = re.sub(
        r"line (\d+) of ([\w.]+), [^ ()]+\(\)(?:: .*?)?(?:, time (\d+))?"
        r"(?=(?: of task \d+)?, batch \d+$)",
        _line,
        how,
    )
    return re.sub(r"the return of (\w+)\(\) of [\w.]+", r"the return of `\1`", how)


def _line(found: re.Match[str]) -> str:
    number, file, time = found.groups()
    text = linecache.getline(str(HERE / file), int(number)).strip()
    return f"`{text}`" + (f" (time {time})" if time else "")


def _code(shown: tuple[Any, ...]) -> str:
    sources = (textwrap.dedent(inspect.getsource(what)).rstrip() for what in shown)
    code = "\n\n\n".join(re.sub(r" +# noqa.*", "", source) for source in sources)
    return f"```python\n{code}\n```\n"


def page_path() -> Path:
    """Give the place of the page."""
    return HERE.parents[2] / "docs" / "mistakes.md"
