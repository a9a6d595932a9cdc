"""A counterexample: its file, why it breaks, and which steps matter."""
