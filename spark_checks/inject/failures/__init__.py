"""What is said of a failure in a run: its code, its reason, and no secrets."""
