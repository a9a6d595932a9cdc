"""Each rule of a write-ahead log keeps one violation away."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.zoo.entry import steps

RESTART = "crash restart redo redo begin_undo open"
STOLEN = """
    begin(0)  change(0, 0)  flush()  write_page(0)  crash()!  restart()  redo(0)
    redo(1)  begin_undo()  undo(0)  open()
"""


def test_a_change_that_did_not_commit_is_undone_from_the_log():
    """The page holds it as the database dies, and the log says that it does."""
    reference = Interpreter(make("write-ahead-log", {}))
    start = next(iter(reference.initial_states()))

    states = follow(reference, start, steps(STOLEN)).states

    died, opened = reference.look(states[5]), reference.look(states[-1])
    assert (died.on_disk[0, 0], died.cached[0, 0]) == (1, 0)
    assert (opened.on_disk[0, 0], opened.cached[0, 0]) == (1, 0)
    assert opened.record[0, 0].value == "undone"


@pytest.mark.ci
@pytest.mark.parametrize(
    ("slot", "choice", "breaks", "names"),
    [
        (
            "pages",
            "page-before-log",
            "at-most-once",
            f"begin change write_page {RESTART} begin change change commit flush hear",
        ),
        (
            "hearing",
            "heard-at-once",
            "durable",
            f"begin change change commit hear {RESTART} read",
        ),
        (
            "redoing",
            "redo-blindly",
            "at-most-once",
            f"begin change change commit flush write_page {RESTART} hear",
        ),
    ],
)
def test_without_a_rule_a_crash_breaks_a_guarantee(slot, choice, breaks, names):
    """The shortest counterexample has these steps."""
    report = check(make("write-ahead-log", {slot: choice}))

    found = next(f.trace for f in report.findings if f.property.name == breaks)

    assert found is not None
    assert [event.name for event in found.events] == names.split()


@pytest.mark.ci
def test_all_holds_where_a_restart_dies_as_well():
    """Redo and undo are repeated, and change nothing the second time."""
    verdicts = check(make("write-ahead-log", {"faults": "2"})).verdicts

    assert set(verdicts.values()) == {Verdict.EXHAUSTED}
