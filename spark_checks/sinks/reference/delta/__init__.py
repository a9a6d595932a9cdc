"""Reference sinks on Delta Lake, one file each."""
