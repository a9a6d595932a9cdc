"""Claims about the models of two-phase commit that the peers search."""

from __future__ import annotations

import pytest

from tests.benchmarks.peers import spin, tlc
from tests.benchmarks.peers.__main__ import by_onceproof


@pytest.mark.parametrize("peer", [spin, tlc])
def test_a_peer_finds_as_many_states_as_onceproof(peer, tmp_path):
    searches = peer.prepared(tmp_path, 3)
    if not searches:
        pytest.skip("it is not installed")

    assert {search()[0] for search in searches.values()} == {by_onceproof(3)[0]}
