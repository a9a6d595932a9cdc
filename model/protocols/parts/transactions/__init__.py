"""Parts of a producer and its transactional log."""
