"""The explorer in a terminal, and as plain text."""
