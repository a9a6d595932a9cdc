"""Partial-order reduction: which events of a state a search may leave out."""
