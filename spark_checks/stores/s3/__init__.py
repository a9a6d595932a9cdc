"""S3: a server of the replay's own, or the user's, and a prefix for each run."""
