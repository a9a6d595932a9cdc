"""Native code of a model: from terms to a function that expands states."""
