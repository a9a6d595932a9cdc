"""What injects faults into drivers and workers of a real run."""
