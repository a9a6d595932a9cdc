"""A model in other forms: one file per format."""
