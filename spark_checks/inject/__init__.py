"""How a fault reaches a real run."""
