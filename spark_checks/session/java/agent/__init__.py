"""Byteman inside the JVM of Spark: it reports each durable step, and acts there."""
