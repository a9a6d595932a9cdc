"""Kafka: a broker of our own or yours, with topics for each interleaving."""
