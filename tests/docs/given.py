"""What lies in a reader's folder before the examples of a page are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.evidence.store import write
from tests.spark_checks.projects import recorded

if TYPE_CHECKING:
    from pathlib import Path


def two_sinks(folder: Path) -> None:
    """Two sinks; one has left evidence, and was changed since."""
    (folder / "sinks").mkdir()
    orders, audit = (folder / "sinks" / f"{name}.py" for name in ("orders", "audit"))
    orders.write_text("def orders(target):\n    return target\n")
    audit.write_text("def audit(target):\n    return target\n")
    command = (
        "pytest tests/test_orders.py::test_orders --onceproof-evidence=docs/evidence"
    )
    write([recorded(folder, command=command)], folder / "docs" / "evidence")
    orders.write_text("def orders(target):\n    return target.path\n")


GIVEN = {"docs/how-to/guarantee-sheet.md": two_sinks}
