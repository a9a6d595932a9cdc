"""Strategies of Hypothesis, and state machines, for a user's own tests."""
