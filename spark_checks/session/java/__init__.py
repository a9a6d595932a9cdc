"""The JVM of a session: how it starts, the connection to it, its classes."""
