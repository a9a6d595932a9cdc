"""Reference sinks on Hudi, by Spark."""
