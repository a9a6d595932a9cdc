"""Fair runs: cycles that starve no event, with symmetry and without."""
