"""From an interleaving to the runs, rules and marks that realise it."""
