"""The events that a replay reads."""
