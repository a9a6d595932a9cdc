"""Where tests that were copied from an earlier explorer find what they call."""

from onceproof.spark_checks.report.replay_file import replay_file

__all__ = ["replay_file"]
