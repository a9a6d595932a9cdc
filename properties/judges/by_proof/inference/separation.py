"""Clauses that hold in every state reached and exclude a state that is not.

A clause excludes a state if all of its literals are false there; it holds in the
reached states if it has a literal for each of them. So the clauses are the hitting
sets of the reached states, and the smallest come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_NODES = 3000


class ReachedRows:
    """Which atoms hold in which reached states, each combination once."""

    def __init__(self, atoms: NDArray[np.bool_]) -> None:
        """Take one row for each state and choice of members, one column an atom."""
        packed = np.packbits(atoms, axis=1)
        _, first = np.unique(packed, axis=0, return_index=True)
        self.rows = atoms[first]

    def clauses(
        self, excluded: NDArray[np.bool_], literals: int, most: int
    ) -> Iterator[tuple[int, ...]]:
        """Yield up to ``most`` sets of ``literals`` columns that make a clause.

        ``excluded`` says which atoms hold where the clause is false: a column stands
        for its atom where that is false, and for the negated atom where it is true.
        """
        hits = self.rows != excluded
        hits = _least(hits)
        allowed = np.ones(hits.shape[1], bool)
        budget = [_NODES, most]
        yield from _hitting(hits, np.arange(len(hits)), allowed, (), literals, budget)


def _least(hits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave out the rows that are hit whenever one of the hardest rows is."""
    order = np.argsort(hits.sum(axis=1), kind="stable")
    hits = hits[order]
    for number in range(min(24, len(hits))):
        if number >= len(hits):
            break
        above = (hits[number] <= hits).all(axis=1)
        above[: number + 1] = False
        hits = hits[~above]
    return hits


def _hitting(
    hits: NDArray[np.bool_],
    left: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    chosen: tuple[int, ...],
    more: int,
    budget: list[int],
) -> Iterator[tuple[int, ...]]:
    """Choose ``more`` columns so that each row that is ``left`` is hit."""
    if budget[0] <= 0 or budget[1] <= 0:
        return
    budget[0] -= 1
    if not len(left):
        if not more:
            budget[1] -= 1
            yield chosen
        return
    if not more:
        return
    rows = hits[left] & allowed
    row = rows[np.argmin(rows.sum(axis=1))]
    cover = rows.sum(axis=0)
    if np.sort(cover)[-more:].sum() < len(left):
        return
    allowed = allowed.copy()
    columns = np.flatnonzero(row)
    for column in columns[np.argsort(-cover[columns], kind="stable")].tolist():
        allowed[column] = False
        if more == 1 and cover[column] < len(left):
            continue
        rest = left[~hits[left, column]]
        yield from _hitting(hits, rest, allowed, (*chosen, column), more - 1, budget)
