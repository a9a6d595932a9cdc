"""The table of mutations speaks of the code as it is."""

from __future__ import annotations

import ast

import pytest

from tests.mutation import MUTATIONS
from tests.mutation import mutation as making
from tests.mutation.table import written


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.meaning)
def test_a_mutation_can_be_made(mutation):
    """Its old text stands in its file once, and the new file is Python."""
    assert mutation.fits, f"{mutation.file} has changed: write the mutation anew"
    ast.parse(mutation.mutated)
    assert making.tests_for(mutation.file)


def test_each_mutation_has_a_meaning_of_its_own():
    """The table has a row for each."""
    meanings = [m.meaning for m in MUTATIONS]

    assert len(set(meanings)) == len(meanings) >= 60


def test_each_mutation_has_one_row_in_the_table():
    """In their order, and the table has no other rows."""
    rows = [(file, meaning) for file, meaning, _, _ in written()]

    assert rows == [(m.file, m.meaning) for m in MUTATIONS]


def test_each_row_is_of_the_change_as_it_is_written():
    """One that was written anew says nothing until it is made: see ``--missing``."""
    digests = {m.meaning: m.digest for m in MUTATIONS}

    others = [meaning for _, meaning, _, one in written() if one != digests[meaning]]

    assert not others


@pytest.mark.parametrize("row", written(), ids=lambda row: row[1])
def test_each_row_names_a_test_that_noticed_and_is_there(row):
    """Or why nothing can notice. None was not run, and none survived."""
    _, meaning, by, _ = row
    reasons = {m.meaning: m.equivalent for m in MUTATIONS}

    if reasons[meaning]:
        assert by == f"nothing: {reasons[meaning]}"
        return
    file, *names = by.partition(" ")[0].split("::")
    assert file.startswith("tests/"), f"nothing notices: {meaning}: {by}"
    path = making.ROOT / file
    assert path.exists()
    for name in names:
        function = name.partition("[")[0]
        assert f"def {function}(" in path.read_text(encoding="utf-8"), by
