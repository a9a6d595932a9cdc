"""Drivers with a JVM of their own, which a replay kills by SIGKILL."""
