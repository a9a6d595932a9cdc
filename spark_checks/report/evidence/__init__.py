"""Evidence of replays, and what a project claims by it."""
