"""A verdict names the sizes that it is limited to, and a protocol has those given."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    not_,
    part,
    state,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.properties.judges.bounds import bounds_of, numbers_of


class Disk(Part):
    """A store with replicas of its own."""

    P = Sort("replica", size=2)

    full = state(False, per=P)

    @action(per=P)
    def fill(self, r: Member) -> None:
        """A replica is filled."""
        self.full[r] = True


class Hosts(Protocol):
    """Two sorts of one name."""

    P = Sort("process", size=3)
    disk = part(Disk)

    on = state(False, per=P)

    @action(per=P)
    def start(self, p: Member) -> None:
        """A process starts."""
        self.on[p] = True

    @always
    def not_all(self) -> bool:
        """Not all are on."""
        return not_(all_of(self.on[p] for p in self.P))


def test_two_sorts_of_one_name_have_a_size_each():
    """That of the part is named by its path, and neither hides the other."""
    protocol = Hosts(P=4)

    assert numbers_of(protocol) == {"P": 4, "disk.P": 2}
    assert bounds_of(trace(protocol)) == "P=4, disk.P=2; no faults"
    assert bounds_of(trace(protocol), without=[Hosts.P]) == "disk.P=2; no faults"


FORGETFUL = '''
"""A protocol that does not pass on what it is given."""

from onceproof.model.language import Protocol, Sort, action, state


class Forgetful(Protocol):
    """Two members, whatever is asked for."""

    P = Sort("member", size=2)
    on = state(False, per=P)

    def __init__(self, **given):
        super().__init__()

    @action(per=P)
    def go(self, p):
        """A member goes."""
        self.on[p] = True
'''


def test_a_size_that_was_not_taken_is_refused(tmp_path: Any):
    """It would be judged at another size than the one that was asked for."""
    path = tmp_path / "forgetful.py"
    path.write_text(FORGETFUL)

    assert make(str(path), {"P": "2"}).label() == "forgetful"
    with pytest.raises(UsageError, match=r"was given P=5, and did not take it"):
        make(str(path), {"P": "5"})
