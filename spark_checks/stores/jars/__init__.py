"""Jars that stores need: which ones, and how they come from Maven Central."""
