"""Reference sinks on DuckDB, one file each."""
