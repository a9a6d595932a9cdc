"""Typed terms: what a traced method leaves, and what can be said of them."""
