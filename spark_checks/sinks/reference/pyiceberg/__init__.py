"""Reference sinks that write tables of Iceberg by pyiceberg, one file each."""
