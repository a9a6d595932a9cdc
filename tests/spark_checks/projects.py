"""A project with claims and a sink, and the evidence that a replay would leave."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from click.testing import CliRunner

from onceproof.model.language.tracing.trace import trace
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.from_reports import fault_set, settings_of
from onceproof.properties.evidence.record import Evidence, Fingerprints
from onceproof.properties.evidence.store import write
from onceproof.properties.guarantees import (
    EFFECTIVELY_ONCE,
)
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.report.evidence.source_files import sources_of
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)

if TYPE_CHECKING:
    from pathlib import Path

PYPROJECT = """
[tool.onceproof]
sheet = "GUARANTEES.md"

[[tool.onceproof.guarantees]]
subject = "sinks/orders.py::orders"
guarantee = "effectively-once"
assumptions = [{ text = "the table has a key", kind = "configured" }]
duties = ["wait for the batch"]

[[tool.onceproof.guarantees]]
subject = "two-phase-commit"
guarantee = "agreement"
"""


ORDERS = "sinks/orders.py::orders"

SMALL = '''
from onceproof.model.language import Protocol, Sort, action, always, not_, state, when

class Counter(Protocol):
    """Counts its members."""

    P = Sort("member", size=3)

    count = state(0, high=3)
    done = state(False, per=P)

    @action(per=P)
    def step(self, p) -> None:
        """One more."""
        when(not_(self.done[p]), self.count < 3)
        self.done[p] = True
        self.count = self.count + 1

    @always
    def is_small(self) -> bool:
        """The count stays below three."""
        return self.count < 3
'''


def run(*words: str):
    return CliRunner().invoke(main, list(words))


@functools.cache
def replayed() -> InstrumentedMicroBatch:
    """Give the model that such a replay is made from; it is traced once."""
    return InstrumentedMicroBatch(sink=UserCode(on_driver=1), LINE=3)


def recorded(root: Path, prop=EFFECTIVELY_ONCE, **changes) -> Evidence:
    """Give the evidence that a replay of the project's sink would leave."""
    protocol = replayed()
    system = trace(protocol)
    found = {
        "subject": ORDERS,
        "guarantee": prop.name,
        "judge": "replay",
        "claim": prop.text,
        "scope": {"source": "flights", "batches": 2},
        "faults": 1,
        "fault_set": fault_set(system),
        "verdict": Verdict.HELD,
        "coverage": {"interleavings": "9 of 9"},
        "fingerprints": Fingerprints(
            fingerprints.of_system(system),
            fingerprints.of_property(prop, system),
            sources_of(ORDERS, root),
        ),
        "parameters": settings_of(protocol),
        "versions": {"pyspark": "4.1.4"},
        "date": "2026-01-02",
        "command": (
            "pytest tests/test_orders.py --onceproof-evidence=.onceproof/evidence"
        ),
    }
    return Evidence(**{**found, **changes})


def made(folder: Path) -> None:
    """Make a project with a sink, and the evidence of a replay of it."""
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "sinks").mkdir()
    (folder / "sinks" / "names.py").write_text('TABLE = "orders"\n')
    (folder / "sinks" / "orders.py").write_text(
        "from names import TABLE\n\n\ndef orders(target):\n    return TABLE\n"
    )
    (folder / "sinks" / "other.py").write_text("")
    write([recorded(folder)], folder / ".onceproof" / "evidence")
