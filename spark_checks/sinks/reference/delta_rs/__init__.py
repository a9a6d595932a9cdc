"""Reference sinks that write tables of Delta Lake by delta-rs, one file each."""
