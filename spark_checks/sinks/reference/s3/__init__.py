"""Sinks that write to S3."""
