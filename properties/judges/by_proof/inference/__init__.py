"""Lemmas for every size, found from the terms of a protocol and its claims."""
