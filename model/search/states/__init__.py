"""How states are packed into words, flagged, and kept in a hash table."""
