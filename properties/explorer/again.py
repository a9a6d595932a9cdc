"""Where tests that were copied from an earlier explorer find what they call."""

from onceproof.properties import holds_along

__all__ = ["holds_along"]
