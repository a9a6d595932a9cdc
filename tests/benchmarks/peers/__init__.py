"""Two-phase commit, searched by other model checkers and by Onceproof."""
