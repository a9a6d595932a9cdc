"""Each method of a model is run once on symbols, and leaves terms."""
