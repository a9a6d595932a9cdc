"""Measurements of real tables: what one is, and the files that keep them."""
