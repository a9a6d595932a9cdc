"""How many rounds a benchmark takes: given on its command line."""

from __future__ import annotations

import argparse


def at_least_one(text: str) -> int:
    """Read a number; of no rounds there is no median."""
    number = int(text)
    if number < 1:
        message = f"{number} is no number of rounds; give 1 or more"
        raise argparse.ArgumentTypeError(message)
    return number
