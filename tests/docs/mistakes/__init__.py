"""Sinks that people get wrong, each with its counterexample and its fix."""
