"""Watches the lines that code runs, and injects faults there."""
