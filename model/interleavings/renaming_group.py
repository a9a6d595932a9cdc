"""The renamings of a system's members as a group, by their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.renamings import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.renamings import Renaming

    Numbers = NDArray[np.int32]


class RenamingGroup:
    """Renamings, closed under doing one after the other; the first changes nothing.

    Renaming ``k`` takes event ``e`` to ``events[k, e]``; to do ``b`` and then ``a`` is
    ``product[a, b]``, and ``inverse[k]`` undoes ``k``.
    """

    def __init__(self, system: System, names: Sequence[Renaming]) -> None:
        """Work out all tables."""
        self.names = list(names)
        sizes = [(sort, len(way)) for sort, way in self.names[0].items()]
        first = np.cumsum([0, *(size for _, size in sizes)])
        moved = np.array(
            [
                [
                    at + to
                    for at, (s, _) in zip(first, sizes, strict=False)
                    for to in k[s]
                ]
                for k in self.names
            ],
            np.int64,
        ).reshape(len(self.names), -1)
        number = {row.tobytes(): k for k, row in enumerate(moved)}
        shape = len(self.names), len(self.names)
        self.product: Numbers = np.array(
            [[number[moved[a][b].tobytes()] for b in moved] for a in range(shape[0])],
            np.int32,
        ).reshape(shape)
        self.inverse: Numbers = np.argmin(self.product, axis=1).astype(np.int32)
        events = system.events()
        sorts = {a.name: tuple(p.type.sort for p in a.params) for a in system.actions}
        numbers = {(e.name, e.members): i for i, e in enumerate(events)}
        self.events: Numbers = np.array(
            [
                [numbers[e.name, renamed(e.members, sorts[e.name], k)] for e in events]
                for k in self.names
            ],
            np.int32,
        ).reshape(len(self.names), len(events))

    def __len__(self) -> int:
        """Count the renamings."""
        return len(self.names)
