"""The table of mutations, and who noticed each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.mutation import MUTATIONS

PATH = Path(__file__).parent / "table.md"
_HEAD = """\
# Mutations

Each row is a small change of what the code means, and the first test that fails where
it is made. `python -m tests.mutation` makes the table. The last column is a hash of the
change: the row is of the mutation as it is written now.

| file | what is wrong after it | noticed by | change |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Row:
    """A mutation's file, and the test that noticed it, or nothing."""

    file: str
    killed: str


def read() -> dict[str, Row]:
    """Give the rows of the table, by meaning; those of other changes are left out."""
    digests = {mutation.meaning: mutation.digest for mutation in MUTATIONS}
    return {
        meaning: Row(file, "" if by == "SURVIVED" else by)
        for file, meaning, by, digest in written()
        if by != "NOT RUN" and digests.get(meaning) == digest
    }


def written() -> list[tuple[str, str, str, str]]:
    """Give the rows as they are written: file, meaning, who noticed, change."""
    lines = PATH.read_text(encoding="utf-8").splitlines() if PATH.exists() else []
    rows = (line.strip("| ").split(" | ") for line in lines if line.startswith("| `"))
    return [
        (file.strip("`"), meaning, by.strip("`"), digest.strip("`"))
        for file, meaning, by, digest in rows
    ]


def write(rows: dict[str, Row]) -> None:
    """Write the table: a row for each mutation, in their order."""
    lines = []
    for mutation in MUTATIONS:
        row = rows.get(mutation.meaning)
        if mutation.equivalent:
            by = f"nothing: {mutation.equivalent}"
        else:
            by = f"`{row.killed or 'SURVIVED'}`" if row else "`NOT RUN`"
        cells = (f"`{mutation.file}`", mutation.meaning, by, f"`{mutation.digest}`")
        lines.append(f"| {' | '.join(cells)} |")
    PATH.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
