"""Evidence of the grid: what its cells show of a query in a configuration, as records.

A record is about a composition of the library, so that the matrix has it beside the
model's verdict. Only cells count whose fault the model has, too.
"""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.text import shell_word
from onceproof.model.versions import versions_of
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.from_reports import fault_set, settings_of
from onceproof.properties.evidence.record import (
    ASSUMED,
    CONFIGURED,
    OF_THE_GRID,
    Assumption,
    Evidence,
    Fingerprints,
    TraceEvidence,
    today,
)
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.matrix.compositions import written
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import queries
from onceproof.spark_checks.grid.grid_faults import GridFault
from onceproof.spark_checks.grid.judged import JUDGED
from onceproof.spark_checks.grid.model_parts import engine_of, parts_of, unmodelled
from onceproof.spark_checks.queries import events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.properties.property import Property
    from onceproof.spark_checks.grid.cell import GridCell
    from onceproof.spark_checks.grid.grid_run import GridReport
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec


def records_of_grid(report: GridReport, *, day: str = "") -> tuple[Evidence, ...]:
    """Return a record for each guarantee of each query and configuration in a model.

    What the model does not have leaves none. Faults that do not exist in a query, such
    as those of tasks that it does not run, do not count.
    """
    cells: dict[tuple[str, str], list[GridCell]] = {}
    for cell in report.cells:
        if not unmodelled(cell.query, cell.configuration):
            of_both = (cell.query.name, cell.configuration.name)
            cells.setdefault(of_both, []).append(cell)
    found: list[Evidence] = []
    for mine in cells.values():
        missed = [cell for cell in mine if cell in report.not_replayed]
        there = [cell for cell in mine if not cell.refusal or cell in missed]
        found += _records(there, left=bool(report.left), day=day)
    return tuple(found)


def model_of(query: QuerySpec, configuration: QueryConfiguration) -> Protocol:
    """Return the composition that a query is in a configuration, as the matrix has it.

    It is named by the protocol that says what is done, with a part in each slot.
    """
    parts = parts_of(query, configuration)
    made = make(engine_of(query, configuration).protocol, parts)
    kind = written(type(made))
    filled = {
        name: made.parts[name].label()
        for name, what in kind.parameters().items()
        if isinstance(what, Slot)
    }
    return make(kind.label(), filled)


def _records(
    cells: Sequence[GridCell], *, left: bool, day: str
) -> tuple[Evidence, ...]:
    first = cells[0]
    query, configuration = first.query, first.configuration
    protocol = model_of(query, configuration)
    system = trace(protocol)
    asked = [p for p in JUDGED if p in guarantees_of(protocol)]
    command = (
        f"onceproof replay --grid --query {shell_word(query.name)} "
        f"--config {shell_word(configuration.name)}"
    )
    counted = [cell for cell in cells if cell.predicted]
    return tuple(
        Evidence(
            subject=f"{OF_THE_GRID}{query.name} {configuration.name}",
            guarantee=prop.name,
            judge="replay",
            claim=prop.text,
            scope={
                "query": query.name,
                "configuration": configuration.name,
                "Spark": versions_of("pyspark")["pyspark"],
                "batches": events.FIRST,
            },
            faults=protocol.faults,
            fault_set=fault_set(system),
            verdict=_verdict(cells, prop, left=left),
            coverage={"interleavings": f"{len(counted)} of {len(cells)}"},
            fingerprints=Fingerprints(
                fingerprints.of_system(system),
                fingerprints.of_property(prop, system),
                _sources(query),
            ),
            parameters={"model": protocol.label(), **settings_of(protocol)},
            versions=versions_of("onceproof", "pyspark"),
            date=day or today(),
            command=f"{command} --evidence",
            assumptions=(
                Assumption("the source gives the same events again", ASSUMED),
                Assumption("one fault in a run", CONFIGURED),
            ),
            note=_note(cells, prop, left=left),
            trace=_shown(counted, prop, command),
        )
        for prop in asked
    )


def _verdict(cells: Sequence[GridCell], prop: Property, *, left: bool) -> Verdict:
    verdicts = [cell.verdict(prop) for cell in cells if cell.predicted]
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.UNDECIDED if _note(cells, prop, left=left) else Verdict.HELD


def _note(cells: Sequence[GridCell], prop: Property, *, left: bool) -> str:
    """Say why nothing is held, if nothing is refuted."""
    counted = [cell for cell in cells if cell.predicted]
    verdicts = [cell.verdict(prop) for cell in counted]
    if Verdict.REFUTED in verdicts:
        return ""
    if left:
        return "time ran out before all faults"
    if not counted or Verdict.UNDECIDED in verdicts:
        return "some run was not judged"
    if any(c.verdict(prop) is Verdict.REFUTED for c in cells if not c.predicted):
        return "a fault refutes it that the model has not"
    if any(prop.name in cell.drift for cell in counted):
        return "Spark and the model differ"
    missed = [c.refusal for c in cells if c.refusal]
    return f"a fault could not be injected: {missed[0]}" if missed else ""


def _shown(
    cells: Sequence[GridCell], prop: Property, command: str
) -> TraceEvidence | None:
    for cell in cells:
        if cell.verdict(prop) is Verdict.REFUTED:
            what, *seen = cell.story()
            return TraceEvidence(
                clause=prop.clauses[0].text,
                steps=(what,),
                fault_steps=() if cell.placed.fault is GridFault.NONE else (1,),
                command=command,
                failpoints=(cell.placed.name,),
                outcome="; ".join(seen),
            )
    return None


def _sources(query: QuerySpec) -> dict[str, str]:
    """Hash the query's file, and that of its events, by their place in the package."""
    shelf = Path(queries.__file__).parent
    run = query.run
    while isinstance(run, functools.partial):
        run = run.func
    files = [Path(inspect.getfile(run)), Path(events.__file__)]
    return {
        f"spark_checks/queries/{file.relative_to(shelf).as_posix()}": (
            fingerprints.of_file(file)
        )
        for file in files
    }
