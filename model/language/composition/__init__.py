"""Protocols, and the parts that they are composed of."""
