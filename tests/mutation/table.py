"""The table of mutations, and who noticed each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.mutation import MUTATIONS

PATH = Path(__file__).parent / "table.md"
_HEAD = """\
# Mutations

Each row is a small change of what the code means, and the first test that fails where
it is made. `python -m tests.mutation` makes the table.

| file | what is wrong after it | noticed by |
| --- | --- | --- |
"""


@dataclass(frozen=True)
class Row:
    """A mutation's file, and the test that noticed it, or nothing."""

    file: str
    killed: str


def read() -> dict[str, Row]:
    """Give the rows of the table, by meaning."""
    found: dict[str, Row] = {}
    lines = PATH.read_text(encoding="utf-8").splitlines() if PATH.exists() else []
    for line in lines:
        if line.startswith("| `"):
            file, meaning, killed = (part.strip() for part in line.split(" | "))
            by = killed.rstrip("| ").strip("`")
            if by != "NOT RUN":
                found[meaning] = Row(file.strip("|` "), "" if by == "SURVIVED" else by)
    return found


def write(rows: dict[str, Row]) -> None:
    """Write the table: a row for each mutation, in their order."""
    lines = []
    for mutation in MUTATIONS:
        row = rows.get(mutation.meaning)
        if mutation.equivalent:
            by = f"nothing: {mutation.equivalent}"
        else:
            by = f"`{row.killed or 'SURVIVED'}`" if row else "`NOT RUN`"
        lines.append(f"| `{mutation.file}` | {mutation.meaning} | {by} |")
    PATH.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
