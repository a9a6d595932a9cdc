"""Reference sinks that are restarted with a new, empty checkpoint."""
