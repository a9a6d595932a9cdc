"""The reference sinks on several versions of Spark, in an environment each."""
