"""Reference sinks on Kafka, one file each."""
