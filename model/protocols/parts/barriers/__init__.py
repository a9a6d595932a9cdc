"""Parts of a job that snapshots by barriers."""
