"""Every example of the pages that are written by hand is run, or says why it is not."""

from __future__ import annotations

import pytest

from tests.docs.page_fixtures import GIVEN, nothing
from tests.docs.pages import pages
from tests.docs.session import Session, needs_spark
from tests.docs.shell import Shell
from tests.test_house import ROOT

# How the commands of a page end, where not all of them end well.
STATUSES = {
    "docs/how-to/conform.md": [0, 1],
    "README.md": [1],
    "docs/how-to/read-a-counterexample.md": [1],
    "docs/how-to/guarantee-sheet.md": [0, 1],
    "docs/how-to/data-source.md": [1, 0],
    "docs/how-to/delta.md": [1, 0],
    "docs/how-to/duckdb.md": [1],
    "docs/how-to/foreach-batch.md": [1, 0, 0, 0],
    "docs/how-to/iceberg.md": [1, 0],
    "docs/how-to/kafka.md": [1, 0, 1],
    "docs/how-to/lost-replies.md": [1, 0],
    "docs/how-to/name-a-model-part.md": [0, 1],
    "docs/how-to/own-server.md": [1],
    "docs/how-to/postgres.md": [1, 0],
    "docs/how-to/reconcile.md": [1, 1, 1, 0, 1, 1],
    "docs/how-to/s3.md": [1, 0],
    "docs/how-to/streaming-query.md": [0, 1],
    "docs/how-to/two-stores.md": [1, 0],
    "docs/tutorial/first-protocol.md": [0, 1, 0, 0, 0, 2, 0],
    "docs/tutorial/first-sink.md": [1, 1, 0, 1, 0],
}
READ_FIRST = {
    "README.md": [pytest.mark.ci],
}
"""Pages that start Spark and run more often than the others, which `grid` runs."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    shell = Shell(tmp_path_factory.mktemp("shell"))
    yield shell
    shell.close()


def names():
    for page in pages():
        name = str(page.relative_to(ROOT))
        marks = []
        if needs_spark(page):
            marks = [pytest.mark.spark, *READ_FIRST.get(name, [pytest.mark.grid])]
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(names()))
def test_a_page_does_what_it_says(name, tmp_path, shell):
    """Files are written as shown, commands print what stands below them."""
    session = Session(tmp_path, shell)

    with GIVEN.get(name, nothing)(tmp_path):
        session.run(ROOT / name)

    assert session.statuses == STATUSES.get(name, [0] * len(session.statuses))
