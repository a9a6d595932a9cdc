"""Every protocol of the library is followed by orbits as it is by states."""

from __future__ import annotations

import re

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.durable_state import names_of
from onceproof.model.language.tracing.trace import trace
from tests.model.interleavings.both_ways import followed, same
from tests.model.library_variants import VARIANTS

# Each takes 10 s or more; of several that are alike, one runs before a change lands.
LONG = re.compile(
    r"two-phase-commit-sink|barrier-snapshot --set output=(over|trans|forget)"
    r"|approximate-results --set sketch|change-capture --set|chained-windows --set"
    r"|event-time(-| --set)"
)
BEFORE_LANDING = ("two-phase-commit-sink", "event-time --set windows=session-windows")


def _marked(one):
    text = str(one.values[0])
    if not LONG.search(text):
        return one
    mark = pytest.mark.ci if text in BEFORE_LANDING else pytest.mark.grid
    return pytest.param(*one.values, id=one.id, marks=[*one.marks, mark])


CASES = [_marked(one) for one in VARIANTS]


@pytest.mark.parametrize("variant", CASES)
def test_every_protocol_of_the_library_is_followed_alike(variant, monkeypatch):
    """By orbits or by states: the same classes and sizes, or the same refusal."""
    protocol = variant.protocol
    if len(names_of(trace(protocol))) < 2:
        pytest.skip("members are not interchangeable")
    if variant.name.startswith(("raft", "write-ahead-log")):
        pytest.skip("more than 100,000 classes")
    try:
        assert same(protocol, monkeypatch) >= 0
    except UsageError as by_state:
        with pytest.raises(UsageError, match=re.escape(str(by_state))):
            followed(protocol, monkeypatch, few=0)
