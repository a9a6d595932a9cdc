"""PostgreSQL: a server of our own or yours, with a schema for each interleaving."""
