"""Reference sinks on Paimon, by Spark."""
