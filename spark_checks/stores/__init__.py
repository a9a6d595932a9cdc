"""Real databases that sinks write to: started once, with a fresh place for each run."""
