"""The library of protocols: one file each."""
