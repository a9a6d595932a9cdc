"""The processes beside a session: they fork, take orders, and report how they end."""
