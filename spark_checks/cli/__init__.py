"""The command line: ``onceproof``."""

from onceproof.spark_checks.cli.group import main

__all__ = ["main"]
