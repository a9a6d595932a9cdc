"""Numbers on the command line of a benchmark, such as how many rounds it takes."""

from __future__ import annotations

import argparse


def at_least_one(text: str) -> int:
    """Read a number; of no rounds there is no median."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        message = f"{text!r} is no whole number of 1 or more"
        raise argparse.ArgumentTypeError(message)
    return int(text)
