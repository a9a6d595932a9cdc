"""Real runs, each steered through an interleaving; what was not as planned is seen."""
