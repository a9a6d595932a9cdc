"""Typed terms, which tracing makes from methods, and functions over them."""
