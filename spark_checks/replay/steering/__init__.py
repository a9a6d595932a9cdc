"""Real runs, each steered through an interleaving; deviations are reported."""
