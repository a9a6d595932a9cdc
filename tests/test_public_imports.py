"""What the pages show to be imported can be, and so can what users import already."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
EARLIER = {
    "onceproof.model.interleavings": ("Interleaving", "Interleavings", "interleavings"),
    "onceproof.model.language": ("Protocol", "action", "always", "state", "when"),
    "onceproof.model.library": ("make",),
    "onceproof.model.protocols.micro_batch": ("MicroBatch",),
    "onceproof.model.protocols.two_phase_commit": ("TwoPhaseCommit",),
    "onceproof.properties": ("holds_along",),
    "onceproof.properties.explorer.again": ("holds_along",),
    "onceproof.properties.machine": ("machine",),
    "onceproof.properties.strategies": (
        "Case",
        "EventBatches",
        "drawn_rows",
        "event_batches",
        "interleavings",
        "on_spark",
        "replays",
    ),
    "onceproof.spark_checks": (
        "BatchJob",
        "Files",
        "Foreach",
        "ForeachBatch",
        "Format",
        "Query",
        "Target",
        "replay_file",
    ),
    "onceproof.spark_checks.artifacts": ("replay_file",),
    "onceproof.spark_checks.cli": ("main",),
    "onceproof.spark_checks.pytest_plugin": ("onceproof_replay", "onceproof_spark"),
}


def named(node: ast.ImportFrom, alias: ast.alias) -> list[str]:
    """List what an import names: of a star, what the module says that it has."""
    if alias.name != "*":
        return [alias.name]
    return list(importlib.import_module(node.module or "").__all__)


def shown() -> set[tuple[str, str]]:
    """List what the examples of the pages import of ours: a module, and a name."""
    found = set()
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            try:
                tree = ast.parse(block)
            except SyntaxError:
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module:
                    for alias in node.names:
                        found |= {(node.module, name) for name in named(node, alias)}
    return {(module, name) for module, name in found if module.startswith("onceproof")}


def test_the_pages_show_imports():
    """If none were found, the next test would pass in vain."""
    modules = {module for module, _ in shown()}

    assert {"onceproof.model.language", "onceproof.spark_checks"} <= modules


@pytest.mark.parametrize(
    ("module", "name"),
    sorted(shown() | {(m, n) for m, names in EARLIER.items() for n in names}),
)
def test_what_users_import_is_there(module, name):
    assert hasattr(importlib.import_module(module), name)


def test_the_plugin_is_loaded_without_spark_and_z3():
    """It is imported in every run of pytest, of whatever project."""
    code = (
        "import sys; import onceproof.spark_checks.pytest_plugin; "
        "sys.exit(bool({'pyspark', 'z3', 'llvmlite', 'hypothesis'} & {*sys.modules}))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
