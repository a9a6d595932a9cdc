"""Writes the parts of the pages that follow from the code, as plain Markdown."""
