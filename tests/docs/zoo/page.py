"""The page of the zoo as Markdown, made from the entries."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING

from onceproof.properties.guarantees import GUARANTEES
from tests.model.zoo.causes import CAUSES
from tests.model.zoo.collected import CONTROLS, ENTRIES, OPPOSITES, REPORTED
from tests.model.zoo.entry import address
from tests.test_house import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.model.zoo.entry import BuggyCause, Made, ZooEntry, ZooFix

PAGE = ROOT / "docs" / "explanation" / "how-exactly-once-breaks.md"
PICTURES = ROOT / "docs" / "pictures" / "zoo"
WIDTH = 92
CODE, BLANK = re.compile(r"`[^`]*`"), "\0"


def zoo_page() -> str:
    """Write the whole page."""
    return "\n\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield "# How exactly-once breaks"
    yield _wrapped(
        f"This page shows {len(REPORTED)} real defects, each from a ticket or from the "
        "documentation of Flink, Kafka, Spark or another system. For each one there is "
        "a small model of the system with the same defect. Exhaustive search finds the "
        "violation in it, and finds none in the model with the fix. Each picture shows "
        "a shortest run that breaks a guarantee; a line between two lanes is a message."
    )
    yield _wrapped(
        "The violations are grouped by cause. Each cause can hit any pipeline that "
        "has the same mechanism, whatever the product."
    )
    yield _table(ENTRIES)
    yield _wrapped(
        "`python -m tests.docs.zoo` writes this page and its pictures from the entries "
        "in `tests/model/zoo/`, and tests compare both with them. An entry is a "
        "composition of parts of the library, or has at most 40 lines of its own."
    )
    for cause in CAUSES:
        yield f"## {cause.title}"
        yield _wrapped(cause.text)
        for entry in ENTRIES:
            if entry.cause == cause:
                yield from _section(entry)
    yield "## Opposite errors"
    yield _wrapped(
        "Some violations come in pairs, so that a rule against one of them alone makes "
        "the other one worse."
    )
    yield "\n".join(_item(_opposite(*pair)) for pair in OPPOSITES)
    yield "## Not violations"
    yield _wrapped(
        "These were reported or look dangerous, and break nothing. The search finds "
        "no violation in their models."
    )
    yield "\n".join(_item(_control(name, fix)) for name, fix in CONTROLS.items())


def _table(entries: Iterable[ZooEntry]) -> str:
    rows = [
        "| report | breaks | steps | faults | cause |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows += [
        f"| [{entry.name}](#{entry.file_name}) | {_first_broken(entry)} "
        f"| {len(entry.run)} | {sum(step.fault for step in entry.run)} "
        f"| {_lower(entry.cause)} |"
        for entry in entries
    ]
    return "\n".join(rows)


def _section(entry: ZooEntry) -> Iterator[str]:
    """Write what happens, the picture, and the facts of an entry."""
    yield f"### {entry.name}"
    yield _wrapped(entry.text)
    yield f"![{entry.name}, step by step](../pictures/zoo/{entry.file_name}.svg)"
    yield "\n".join(_item(fact) for fact in _facts(entry))


def _facts(entry: ZooEntry) -> Iterator[str]:
    reports = ", ".join(f"[{t}]({address(t)})" for t in entry.tickets)
    yield f"Report: {reports}."
    yield f"Breaks: {', '.join(_guarantees(entry))}."
    if entry.same_faults:
        yield "The run is a shortest one with the faults of the report."
    if entry.reported:
        yield (
            f"The run of the report has {len(entry.reported)} steps. The shortest one "
            f"in the model has {len(entry.run)}."
        )
    yield from (f"Fix: {_lower_first(fix.text)}" for fix in entry.fixes)
    yield f"Model: {_model(entry.made)}."
    yield f"See it: `onceproof explore {entry.made.words()} --property {entry.shows}`."


def _model(made: Made) -> str:
    """Say what the model has of its own, and where."""
    own = made.own_classes()
    if not own:
        return "a composition of parts of the library"
    lines = sum(len(inspect.getsource(kind).splitlines()) for kind in own)
    path = made.protocol.__module__.replace(".", "/")
    return f"{lines} lines in `{path}.py`"


def _opposite(one: str, other: str, text: str) -> str:
    names = {entry.name: entry for entry in ENTRIES}
    links = [f"[{names[n].name}](#{names[n].file_name})" for n in (one, other)]
    return f"{links[0]} and {links[1]}: {_lower_first(text)}"


def _control(name: str, fix: ZooFix) -> str:
    return f"[{name}]({address(name)}). {fix.text}"


def _guarantees(entry: ZooEntry) -> list[str]:
    """List the guarantees that an entry breaks, the one that is shown first."""
    broken = [g.name for g in GUARANTEES if g.name in entry.breaks]
    return sorted(broken, key=lambda name: name != entry.shows)


def _first_broken(entry: ZooEntry) -> str:
    return _guarantees(entry)[0]


def _lower(cause: BuggyCause) -> str:
    return _lower_first(cause.title)


def _lower_first(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def _item(text: str) -> str:
    """Wrap an item of a list; code stays on one line."""
    kept = CODE.sub(lambda code: code.group().replace(" ", BLANK), text)
    wrapped = textwrap.fill(
        kept,
        WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return wrapped.replace(BLANK, " ")
