"""The page of the zoo and its pictures, made from the entries."""
