"""Reference sinks on PostgreSQL, one file each."""
