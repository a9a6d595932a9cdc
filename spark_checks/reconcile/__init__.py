"""Reconciliation: a real source and a real sink, judged by the replays' properties."""

from onceproof.spark_checks.reconcile.circumstances import Circumstances
from onceproof.spark_checks.reconcile.page import page_of
from onceproof.spark_checks.reconcile.reconciliation import Reconciliation, reconcile

__all__ = ["Circumstances", "Reconciliation", "page_of", "reconcile"]
