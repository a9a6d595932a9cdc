"""A cycle through a connected piece of states that is fair to every event."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import TypeAlias

Row = TypeVar("Row", bound="Hashable")
Happening = TypeVar("Happening")
if TYPE_CHECKING:
    # Where a path begins, and its steps: what happens, and what comes then.
    Way: TypeAlias = tuple[Row, list[tuple[Happening, Row]]]


class FairCycle(Generic[Row, Happening]):
    """Goes round a connected piece that has a fair run."""

    def __init__(
        self,
        fair: Sequence[Happening],
        able: Callable[[Row, Happening], bool],
        inner: Callable[[Row], Iterable[tuple[Happening, Row]]],
        path: Callable[[Row, Callable[[Row], bool]], Way[Row, Happening] | None]
        | None = None,
    ) -> None:
        """Take the fair events, where each can change something, and the steps.

        ``inner`` gives the steps from a state that stay in the piece, and ``path`` a
        shortest path in it, if there is a better way than to follow ``inner``.
        """
        self._fair = fair
        self._able = able
        self._inner = inner
        self._path = path or (lambda at, ends: shortest([at], ends, inner))

    def round_trip(self, home: Row) -> list[tuple[Happening, Row]]:
        """Go round the piece of ``home``, fair to every event, and come back."""
        rows = {home}
        trip: list[tuple[Happening, Row]] = []
        at = home
        for event in self._fair:
            idle = any(not self._able(row, event) for row in rows)
            if idle or any(e == event for e, _ in trip):
                continue
            more = self._to_satisfy(at, event)
            trip += more
            rows |= {row for _, row in more}
            at = trip[-1][1]
        if at != home:
            trip += self._within(at, lambda row: row == home)
        elif not trip:
            # Any cycle is as good, and a piece without one stays where it is.
            trip = self._some_cycle(home)
        return trip

    def _to_satisfy(self, at: Row, event: Happening) -> list[tuple[Happening, Row]]:
        def ends(row: Row) -> bool:
            return not self._able(row, event) or self._takes(row, event)

        way = self._within(at, ends)
        row = way[-1][1] if way else at
        if self._able(row, event):
            way.append(next(s for s in self._inner(row) if s[0] == event))
        return way

    def _some_cycle(self, home: Row) -> list[tuple[Happening, Row]]:
        for event, row in self._inner(home):
            return [(event, row), *self._within(row, lambda other: other == home)]
        return []

    def _takes(self, row: Row, event: Happening) -> bool:
        return any(e == event for e, _ in self._inner(row))

    def _within(
        self, at: Row, ends: Callable[[Row], bool]
    ) -> list[tuple[Happening, Row]]:
        way = self._path(at, ends)
        if way is None:
            message = "a connected piece is not connected"
            raise RuntimeError(message)
        return way[1]


def shortest(
    begins: Iterable[Row],
    ends: Callable[[Row], bool],
    steps: Callable[[Row], Iterable[tuple[Happening, Row]]],
) -> Way[Row, Happening] | None:
    """Return a shortest path from a beginning; of two, from the first found."""
    came: dict[Row, tuple[Row, Happening] | None] = dict.fromkeys(begins)
    queue = deque(came)
    while queue:
        row = queue.popleft()
        if ends(row):
            way: list[tuple[Happening, Row]] = []
            while (last := came[row]) is not None:
                way.append((last[1], row))
                row = last[0]
            return row, way[::-1]
        for event, to in steps(row):
            if to not in came:
                came[to] = (row, event)
                queue.append(to)
    return None
