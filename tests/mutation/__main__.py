"""`python -m tests.mutation [WORD ...]`: makes each mutation, and sees who notices.

With words, only mutations whose file or meaning holds one of them; with `--missing`,
only those that the table does not hold yet or that survived. The table keeps the rows
of the others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutation import MUTATIONS
from tests.mutation.running import Warm
from tests.mutation.table import Row, read, write

if TYPE_CHECKING:
    from tests.mutation.mutation import Mutation


def main() -> int:
    """Run what was asked for; 1 if a mutation survives that changes behaviour."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--unchecked", action="store_true", help="start at once")
    parser.add_argument("--drawn", type=int, default=16, help="protocols compared")
    parser.add_argument("--timeout", type=int, default=900, help="seconds, for each")
    options = parser.parse_args()
    rows = read()
    chosen = [
        m
        for m in MUTATIONS
        if not m.equivalent
        and (
            not options.words
            or any(w in m.file or w in m.meaning for w in options.words)
        )
        and not (options.missing and rows.get(m.meaning, Row("", "")).killed)
    ]
    chosen.sort(key=lambda m: _first(m, options.words))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        warm = Warm(Path(folder), options.drawn, chosen, checked=not options.unchecked)
        for number, mutation in enumerate(chosen, 1):
            at = time.monotonic()
            found = warm.noticed(mutation, options.timeout)
            rows = read()  # another run may have written some since
            if found is None:
                rows.pop(mutation.meaning, None)
            else:
                rows[mutation.meaning] = Row(mutation.file, found)
            text = "no end" if found is None else found or "SURVIVED"
            print(
                f"{number}/{len(chosen)} {time.monotonic() - at:5.1f} s "
                f"{mutation.file}: {mutation.meaning}: {text}",
                flush=True,
            )
            write(rows)
    lived = [m for m in chosen if m.meaning not in rows or not rows[m.meaning].killed]
    seconds = time.monotonic() - began
    print(f"{len(chosen)} mutations in {seconds:.0f} s, {len(lived)} survived")
    return 1 if lived else 0


def _first(mutation: Mutation, words: list[str]) -> int:
    """Give the number of the first word that a mutation holds."""
    held = (w in mutation.file or w in mutation.meaning for w in words)
    return next((number for number, found in enumerate(held) if found), 0)


if __name__ == "__main__":
    sys.exit(main())
