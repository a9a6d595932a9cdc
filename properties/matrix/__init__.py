"""The guarantee matrix: each composition of the library judged under each fault set."""
