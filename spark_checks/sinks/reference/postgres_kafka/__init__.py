"""Reference sinks that write to PostgreSQL and to Kafka, one file each."""
