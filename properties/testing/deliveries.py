"""Hypothesis strategies for what a source delivers, awkward in one way or another."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from onceproof.model.errors import UsageError
from onceproof.model.library import pick
from onceproof.properties.testing.event_batches import (
    DUPLICATED,
    EMPTY,
    KINDS,
    LATE,
    NULL,
    OUT_OF_ORDER,
    PLAIN,
    SKEWED,
    EventBatches,
    dealt_evenly,
    dealt_to_one,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from hypothesis.strategies import SearchStrategy

    from onceproof.properties.testing.event_batches import Row

MOST_REPEATS = 3

# A sum of a double is exact below this. With a base of 2 a row that is counted three
# times would make up for the loss of another.
EXACT = 2**53
MOST_BASE = 8
LEAST_BASE = 3
_MOST_WEIGHTS = 33

# The least rows, batches and partitions of each kind of delivery.
_LEAST = {
    PLAIN: (1, 1, 1),
    OUT_OF_ORDER: (2, 1, 1),
    DUPLICATED: (2, 1, 1),
    LATE: (2, 2, 1),
    EMPTY: (1, 1, 1),
    NULL: (1, 1, 1),
    SKEWED: (4, 1, 2),
}


def event_batches(
    row: SearchStrategy[Row],
    *,
    key: str | Sequence[str],
    batches: tuple[int, int] = (1, 4),
    partitions: int = 2,
    most_rows: int = 12,
    kinds: Sequence[str] | None = None,
    leaving_out: Sequence[str] = (),
    time: str | None = None,
    weights: str | None = None,
) -> SearchStrategy[EventBatches]:
    """Draw what a source delivers: rows in batches and partitions.

    ``row`` draws the rows; no two have the same ``key``. A "plain" delivery has them in
    the order of the field ``time`` (by default of the key), spread evenly. The other
    kinds are:

    - "out of order": some row arrives before an earlier one;
    - "duplicated": some row arrives again, in the same batch or a later one;
    - "late": some row arrives in a later batch than a row with a later time;
    - "empty": some batch has no rows, or all rows are in one partition;
    - "null": some fields outside the key are None;
    - "skewed": all rows, or all but one, are in one partition.

    ``kinds`` chooses among them. The default is every kind that the numbers allow,
    except those in ``leaving_out``. ``weights`` names a numeric field. Each event gets
    another power of one base in it, so that a sum shows how often each event was
    counted: up to seven times if the base is 8, less often if many rows need a smaller
    base. Shrinking prefers the plain kind, then few batches, then few rows.

    Raises ``UsageError`` for kinds that are unknown or that the numbers do not allow,
    and while drawing for rows without the named fields. A row in which nothing can be
    set to None is delivered as a plain one.
    """
    source = _Source(
        (key,) if isinstance(key, str) else tuple(key),
        batches,
        partitions,
        most_rows,
        time,
        weights,
    )
    chosen = [k for k in source.checked(kinds) if k not in leaving_out]
    return source.batches_of(row, chosen)


@dataclass(frozen=True)
class _Source:
    """The source of batches: their numbers, and what the fields of a row mean."""

    key: tuple[str, ...]
    batches: tuple[int, int]
    partitions: int
    most: int
    time: str | None
    weights: str | None

    def checked(self, kinds: Sequence[str] | None) -> list[str]:
        """Settle the kinds to draw from, the plain one first."""
        low, high = self.batches
        if not self.key:
            message = "key= names no field; name those that identify an event"
            raise UsageError(message)
        if not (1 <= low <= high <= self.most and self.partitions >= 1):
            message = (
                f"batches={self.batches}, partitions={self.partitions} and "
                f"most_rows={self.most} leave no plain delivery; let there be one of "
                "each or more, and no more batches than rows"
            )
            raise UsageError(message)
        if self.weights and _base(self.most) < LEAST_BASE:
            message = (
                f"most_rows={self.most} is too many for weights that a sum keeps "
                f"apart; choose {_MOST_WEIGHTS} or fewer"
            )
            raise UsageError(message)
        for kind in kinds or ():
            if not self._fits(pick(kind, KINDS, "kind of delivery")):
                rows, batches, partitions = _LEAST[kind]
                message = (
                    f"{kind!r} takes {rows} rows, {batches} batches and {partitions} "
                    "partitions at least; allow for them, or leave it out"
                )
                raise UsageError(message)
        return [k for k in KINDS if (k in kinds if kinds else self._fits(k))]

    def _fits(self, kind: str) -> bool:
        rows, batches, partitions = _LEAST[kind]
        least, most = self._numbers(kind)
        return (
            least <= most and self.most >= rows and self.partitions >= partitions
        ) and self.batches[1] >= batches

    def _numbers(self, kind: str) -> tuple[int, int]:
        """Return the least and the greatest number of batches of a kind."""
        low, high = self.batches
        return max(low, _LEAST[kind][1]), min(high, self.most - (kind == DUPLICATED))

    def batches_of(
        self, row: SearchStrategy[Row], kinds: list[str]
    ) -> SearchStrategy[EventBatches]:
        """Draw a kind, a number of batches, rows, then what is awkward about them."""

        @st.composite
        def deliveries(draw: st.DrawFn) -> EventBatches:
            kind = draw(st.sampled_from(kinds))
            number = draw(st.integers(*self._numbers(kind)))
            least = 0 if kind == EMPTY else max(number, _LEAST[kind][0])
            rows = st.lists(
                row,
                min_size=least - (kind == DUPLICATED and least > number),
                max_size=self.most - (kind == DUPLICATED),
                unique_by=self._key_of,
            )
            return self._delivered(draw, kind, number, self._in_order(draw(rows)))

        return deliveries()

    def _delivered(
        self, draw: st.DrawFn, kind: str, number: int, rows: list[Row]
    ) -> EventBatches:
        """Deal rows, which are in order, to batches in the way of a kind."""
        if kind == NULL and not _blank(draw, rows, {*self.key, self.weights}):
            kind = PLAIN
        if kind == OUT_OF_ORDER:
            shuffled = draw(st.permutations(rows))
            rows = [*rows[1:], rows[0]] if shuffled == rows else shuffled
        one_partition = False
        if kind == EMPTY:
            one_partition = self.partitions > 1 and (number == 1 or draw(st.booleans()))
            if number == self.partitions == 1:
                rows = []
        if kind == LATE:
            dealt = _dealt_late(draw, rows, number)
        elif kind == EMPTY and number > 1 and not one_partition:
            places = st.sampled_from(range(number))
            gaps = draw(st.sets(places, min_size=1, max_size=number - 1))
            dealt = dealt_evenly(rows, number - len(gaps))
            for gap in sorted(gaps):
                dealt.insert(gap, [])
        else:
            dealt = dealt_evenly(rows, number)
        if kind == DUPLICATED:
            _repeat(draw, dealt, self.most - len(rows))
        if kind == SKEWED or one_partition:
            hot = draw(st.integers(0, self.partitions - 1))
            strays = [None, *range(len(rows))] if kind == SKEWED else [None]
            stray = draw(st.sampled_from(strays))
            spread = dealt_to_one(dealt, self.partitions, hot, stray)
        else:
            spread = [dealt_evenly(batch, self.partitions) for batch in dealt]
        return EventBatches(
            tuple(
                tuple(tuple(dict(row) for row in partition) for partition in batch)
                for batch in spread
            ),
            self.key,
            kind,
        )

    def _key_of(self, row: Row) -> tuple[Hashable, ...]:
        self._check(row, self.key)
        return tuple(row[name] for name in self.key)

    def _check(self, row: Row, names: Iterable[str]) -> None:
        for name in names:
            if name not in row:
                has = ", ".join(sorted(map(str, row)))
                message = f"a row has no field {name!r}; it has {has}"
                raise UsageError(message)

    def _in_order(self, rows: list[Row]) -> list[Row]:
        """Put rows in order, as copies, each with the weight of its place."""
        first = (self.time,) if self.time else ()
        for row in rows:
            self._check(row, [*first, *([self.weights] if self.weights else [])])
        try:
            ordered = sorted(
                rows, key=lambda row: [row[name] for name in (*first, *self.key)]
            )
        except TypeError as error:
            message = (
                f"rows cannot be put in order by {', '.join((*first, *self.key))}: "
                f"{error}; draw values that compare, or name another time="
            )
            raise UsageError(message) from error
        if self.weights is None:
            return [dict(row) for row in ordered]
        base = _base(len(ordered))
        return [
            {**row, self.weights: _weight(self.weights, row[self.weights], base**place)}
            for place, row in enumerate(ordered)
        ]


def _base(rows: int) -> int:
    """Return the greatest base, 8 at most, whose sums of so many powers are exact."""
    return max(b for b in range(1, MOST_BASE + 1) if b**rows <= EXACT)


def _weight(name: str, before: object, power: int) -> object:
    """Return a power of the type that a field has; of a field without value, an int."""
    if before is None:
        return power
    if isinstance(before, bool) or not isinstance(before, int | float | Decimal):
        message = f"weights={name!r} is no number in a row, but {before!r}"
        raise UsageError(message)
    return type(before)(power)


def _dealt_late(draw: st.DrawFn, rows: Sequence[Row], number: int) -> list[list[Row]]:
    """Keep a row back until a batch after that of the row that should follow it."""
    others = dealt_evenly(rows[1:], number)
    early = sum(map(len, others[:-1]))
    which = draw(st.integers(0, early - 1))
    dealt = dealt_evenly([*rows[:which], *rows[which + 1 :]], number)
    follower = next(n for n, batch in enumerate(dealt) if rows[which + 1] in batch)
    dealt[draw(st.integers(follower + 1, number - 1))].append(rows[which])
    return dealt


def _repeat(draw: st.DrawFn, dealt: list[list[Row]], most: int) -> None:
    """Deliver some rows again, after they were first delivered."""
    first = [(n, row) for n, batch in enumerate(dealt) for row in batch]
    for _ in range(draw(st.integers(1, min(MOST_REPEATS, most)))):
        batch, row = draw(st.sampled_from(first))
        dealt[draw(st.integers(batch, len(dealt) - 1))].append(row)


def _blank(draw: st.DrawFn, rows: list[Row], kept: set[str | None]) -> bool:
    """Set some fields to None, one at least; say whether there is any to set."""
    done = False
    for row in rows:
        if fields := [name for name in row if name not in kept]:
            blank = st.sets(st.sampled_from(fields), min_size=0 if done else 1)
            row.update(dict.fromkeys(draw(blank)))
            done = True
    return done
