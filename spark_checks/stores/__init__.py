"""Real databases that sinks write to: started once, with a fresh place for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.spark_checks.stores.interface import SinkStore

STORES: Mapping[str, Callable[[], SinkStore]] = {"postgres": Postgres}
"""Each kind of store that a machine can start by itself, by name."""
