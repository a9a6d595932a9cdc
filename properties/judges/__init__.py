"""The three judges of a property: by search, by proof, by history."""
