"""The exhaustive search on Spark, for state spaces larger than one machine's memory."""
