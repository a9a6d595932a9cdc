"""What Spark does: real runs, steered through interleavings."""
