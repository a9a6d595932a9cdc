"""The entries of the zoo, one record each."""
