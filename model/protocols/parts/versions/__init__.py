"""Parts of a store that keeps versions of its rows."""
