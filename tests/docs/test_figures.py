"""The limits that the pages quote are those of the code."""

from __future__ import annotations

import re

import pytest

from onceproof.model.files import MOST_BYTES
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.properties.judges.by_proof.confirm import MOST_STATES
from onceproof.properties.testing.on_spark import on_spark
from onceproof.spark_checks.inject.tracing.injection_points import (
    MOST_INSTALLED,
    MOST_POINTS,
)
from onceproof.spark_checks.inputs.sizes import A_DAY, MOST, MOST_FAULTS, TIMEOUT
from onceproof.spark_checks.inputs.user_events import MOST_ROWS
from onceproof.spark_checks.pytest_plugin.marked_request import WORDS
from onceproof.spark_checks.pytest_plugin.options import PROFILES
from onceproof.spark_checks.session.session_pool import THREADS
from onceproof.spark_checks.sinks.reference import reference_sinks
from tests.test_house import ROOT

DEV = PROFILES["dev"].most
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
NUMBERS += ("nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen")
QUOTED = {
    "docs/tutorial/first-sink.md": [f"at most {DEV} runs of a sink"],
    "docs/how-to/foreach-batch.md": [
        f"all failures, not only {DEV} ",
        f"The first run may take {TIMEOUT:g} seconds",
    ],
    "docs/how-to/data-source.md": [f"makes {DEV} runs"],
    "docs/how-to/pytest-plugin.md": [f"makes {on_spark.max_examples} examples"],
    "docs/reference/plugin.md": [
        f"may hold, 1 to {MOST_FAULTS}",
        f"arrive in, 1 to {MOST['BATCH']}",
        f"a batch has, 1 to {MOST['PARTITION']}",
        f"{A_DAY} flights of 2013",
        f"the first {MOST_ROWS:,} rows",
        f"up to {MOST_POINTS} points for each batch and task",
        f"in installed packages the first {MOST_INSTALLED} count",
        f"replays more than {DEV} interleavings",
    ],
    "docs/reference/benchmarks.md": [f"replays {NUMBERS[THREADS]} at a time"],
    "docs/reference/file-formats.md": [f"at most {MOST_BYTES // 2**20} MB"],
    "docs/explanation/how-a-verdict-is-reached.md": [f"{MOST_STATES:,} states"],
    "docs/explanation/design-decisions.md": [f"{MOST_STATES:,} states"],
    "docs/explanation/interleavings.md": [
        f"Up to {MOST_POINTS} executions of a line",
        f"replays {DEV} interleavings",
    ],
}


@pytest.mark.parametrize("name", QUOTED)
def test_a_limit_that_a_page_quotes_is_that_of_the_code(name):
    """A constant is changed with the sentence that quotes it."""
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())

    assert [phrase for phrase in QUOTED[name] if phrase not in text] == []


def test_the_model_of_spark_has_the_faults_that_its_page_lists():
    """None is missing, and none is one too many."""
    text = (ROOT / "docs/explanation/the-model-of-spark.md").read_text(encoding="utf-8")
    steps = Interpreter(MicroBatch(rescales=1)).steps

    named = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)

    assert set(named) == {step.name for step in steps.values() if step.fault}


def test_the_table_of_the_marker_has_a_row_for_each_argument():
    """None is missing, and none is one too many."""
    text = (ROOT / "docs/reference/plugin.md").read_text(encoding="utf-8")
    table = text.partition("\n## The marker\n")[2].partition("\n## ")[0]

    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == WORDS


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("docs/index.md", "the {} reference sinks that need no database server"),
        (
            "docs/explanation/the-model-of-spark.md",
            "The {} reference sinks that need no store",
        ),
        ("docs/reference/benchmarks.md", "for the {} reference sinks"),
    ],
)
def test_the_number_of_reference_sinks_is_right(name, phrase):
    """A new sink is counted wherever a page says how many there are."""
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())

    assert phrase.format(NUMBERS[len(reference_sinks())]) in text
