"""An induction over several steps as SMT-LIB text, for any solver."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onceproof.properties.judges.by_proof.relation import read_by
from onceproof.properties.judges.by_proof.smtlib import InductionText

if TYPE_CHECKING:
    from collections.abc import Iterator


class RunText(InductionText):
    """The scripts that a solver must refuse, all of them, for claims to be proved."""

    def scripts_over(self, number: int) -> Iterator[tuple[str, str]]:
        """Yield the scripts of an induction over several steps.

        The first are about the states that begin a run, the last about ``number`` steps
        through different states, of which only the last one breaks a claim.
        """
        tags = [f"s{at}" for at in range(number + 1)]
        read = read_by(self._system, self._invariants)
        lasting = [f for f in self._system.fields if self._steps or f.path in read]
        params: list[tuple[str, str]] = []
        steps = []
        for at, (now, after) in enumerate(itertools.pairwise(tags)):
            ways = []
            for which, action in enumerate(self._system.actions):
                lead = f"a{at}_{which}_"
                more, way = self._step(action, now, after, lasting, lead)
                params += more
                ways.append(way)
            steps.append(self._join("or", ways))
        begin = list(self._starts(tags[0]))
        broken = self._not_all(self._invariants, tags[0], tags[0])
        for at in range(number):
            asked = [*begin, *steps[:at], broken]
            yield f"step {at} of a run", self._script(asked, params, tags)
            broken = self._wrong(tags[at], tags[at + 1])
        body = list(self._typed(tags[0]))
        for at, tag in enumerate(tags[:-1]):
            body += [self._read(c, {}, tag, tag) for c in self._invariants]
            body += [self._moved(other, tag, lasting) for other in tags[:at]]
            if at:
                body.append(self._not(self._wrong(tags[at - 1], tag)))
        place = f"a run of {number} steps"
        yield place, self._script([*body, *steps, broken], params, tags)
