"""Where a protocol's state lives while one of its methods runs."""
