"""Stores whose tables are files in a folder: table formats and embedded databases."""
