"""The warm Spark session, its JVM, and the processes beside it."""
