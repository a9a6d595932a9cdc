"""Parts of a service with an outbox, and of its consumer."""
