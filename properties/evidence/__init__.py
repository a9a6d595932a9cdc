"""Evidence of verdicts, and the guarantee sheet that is made of it."""
