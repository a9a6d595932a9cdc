"""Parts of a stream task: what it stores, and where its results go."""
