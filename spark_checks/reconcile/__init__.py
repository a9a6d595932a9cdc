"""Reconciliation: a real source and a real sink, judged by the replays' properties."""

from onceproof.spark_checks.reconcile.reconciliation import Reconciliation, reconcile

__all__ = ["Reconciliation", "reconcile"]
