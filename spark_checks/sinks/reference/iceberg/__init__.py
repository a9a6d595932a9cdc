"""Reference sinks on Iceberg, one file each."""
