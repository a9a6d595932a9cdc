"""Parts of a system that computes its results again from a log."""
