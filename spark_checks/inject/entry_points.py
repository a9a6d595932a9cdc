"""What the processes of a replay's session run: a host's orders, and our daemon.

They are text, for those processes import them afresh.
"""

from __future__ import annotations

from onceproof.spark_checks.session.processes.entry_points import EntryPoints

ENTRY_POINTS = EntryPoints(
    host="onceproof.spark_checks.inject.hosts.orders:live",
    worker="onceproof.spark_checks.inject.worker",
)
