"""Exhaustive search over packed states, in native code made from terms."""
