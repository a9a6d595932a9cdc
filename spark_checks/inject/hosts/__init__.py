"""Processes that run a user's code: forked from a process that has run none of it."""
