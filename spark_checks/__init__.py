"""What Spark does: real runs, steered through interleavings.

What can be put under test is imported from here, as ``ForeachBatch``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.spark_checks.report.replay_file import replay_file
    from onceproof.spark_checks.sinks.interface import (
        BatchJob,
        Files,
        Foreach,
        ForeachBatch,
        Format,
        Query,
        Target,
    )
    from onceproof.spark_checks.stores.postgres import Postgres, PostgresPlace
    from onceproof.spark_checks.stores.unreliable import Unreliable

__all__ = [
    "BatchJob",
    "Files",
    "Foreach",
    "ForeachBatch",
    "Format",
    "Postgres",
    "PostgresPlace",
    "Query",
    "Target",
    "Unreliable",
    "replay_file",
]


def __getattr__(name: str) -> object:
    """Import on first use: the plugin is loaded even where it is not used."""
    if name == "replay_file":
        from onceproof.spark_checks.report import replay_file as module  # noqa: PLC0415

        return module.replay_file
    if name.startswith("Postgres") and name in __all__:
        from onceproof.spark_checks.stores import postgres  # noqa: PLC0415

        return getattr(postgres, name)
    if name == "Unreliable":
        from onceproof.spark_checks.stores import unreliable  # noqa: PLC0415

        return unreliable.Unreliable
    if name in __all__:
        from onceproof.spark_checks.sinks import interface  # noqa: PLC0415

        return getattr(interface, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
