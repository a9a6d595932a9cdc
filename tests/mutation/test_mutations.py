"""The table of mutations speaks of the code as it is."""

from __future__ import annotations

import ast

import pytest

from tests.mutation import MUTATIONS
from tests.mutation import mutation as making
from tests.mutation.table import read


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


def test_the_table_names_tests_that_are_there():
    """Who noticed a mutation is there still, and nothing that was run survived."""
    rows = read()

    for mutation in MUTATIONS:
        row = rows.get(mutation.meaning)
        if row is not None and not mutation.equivalent:
            assert row.killed, f"nothing notices: {mutation.meaning}"
            assert (making.ROOT / row.killed.partition("::")[0].split(" ")[0]).exists()
