"""Streaming queries and configurations as data, with the events that they read."""
