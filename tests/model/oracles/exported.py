"""Has TLC check what is exported of a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.export.tla import module
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_search import claims_of
from tests import tlc

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.model.language.composition.protocol import Protocol
    from tests.tlc import Told


def checked_by_tlc(protocol: Protocol, folder: Path) -> Told:
    """Write the module of a protocol, and have TLC check all that should hold."""
    system = trace(protocol)
    questions = [q for p in claims_of(protocol) for q in p.questions(system)]
    made = module(system, questions)
    (folder / f"{made.name}.tla").write_text(made.text, encoding="utf-8")
    holding = [claim for claim in made.claims if not claim.witness]
    text = made.configuration(holding)
    (folder / "Holds.cfg").write_text(text, encoding="utf-8")
    return tlc.run(folder, made.name, "Holds")
