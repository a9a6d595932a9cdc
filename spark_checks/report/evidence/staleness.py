"""What has changed since evidence was made: fingerprints taken again, and compared.

No Spark is started, and nothing is searched: terms are traced and hashed, files read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.manifest import Manifest, ManifestDirectory
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.from_reports import settings_of
from onceproof.properties.evidence.record import OF_THE_GRID, Fingerprints
from onceproof.properties.evidence.sheet import Stale
from onceproof.properties.judges.by_search import claims_of
from onceproof.spark_checks import queries
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.report.evidence.source_files import (
    as_seen_from,
    known_sinks,
    sources_of,
)
from onceproof.spark_checks.report.evidence.subjects import undefined
from onceproof.spark_checks.sinks.exchange_model import (
    EXCHANGE_SORTS,
    InstrumentedExchanges,
)
from onceproof.spark_checks.sinks.reference import absent_clients
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.evidence.record import Evidence
    from onceproof.properties.property import Property


class Traces:
    """Traced protocols, each traced once; those made of the same parts share a trace.

    Tracing is most of what an assembled sheet costs.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[object, System] = {}

    def of(self, protocol: Protocol) -> System:
        """Return the trace of a protocol, or of one that is made just so.

        Raises ``ModelError`` for one that cannot be traced.
        """
        kinds = tuple(type(part) for part in protocol.all_parts())
        key = (kinds, repr(sorted(settings_of(protocol).items())))
        if key not in self._found:
            self._found[key] = trace(protocol)
        return self._found[key]


def stale(
    evidence: Mapping[str, Evidence], root: Path, traces: Traces | None = None
) -> dict[str, Stale]:
    """Say of each record what has changed since it was made; live ones are left out."""
    made: dict[str, _Made | _NotMade] = {}
    traces = traces or Traces()
    found = {}
    for name, record in evidence.items():
        key = fingerprints.of_data(
            [record.subject, record.judge == "replay", record.parameters]
        )
        if key not in made:
            made[key] = _made(record, root, traces)
        if why := _gone(record, root, made[key]):
            found[name] = Stale(record, why, gone=True)
        elif why := _moved(record, made[key]):
            found[name] = Stale(record, why)
    return found


def _of_queries(known: Mapping[str, str]) -> dict[str, str]:
    """Hash the files of the catalogue that a record of the grid rests on."""
    shelf = Path(queries.__file__).parent
    return {
        name: fingerprints.of_file(shelf / name.removeprefix("spark_checks/queries/"))
        for name in known
    }


class _NotInstalledError(UsageError):
    """A reference sink cannot be looked at, for a package is not installed."""


@dataclass(frozen=True)
class _Made:
    """A model that was made again, with all that is hashed of it and its sink."""

    system: System
    model: str
    sources: dict[str, str]
    properties: Mapping[str, Property]


def _gone(record: Evidence, root: Path, made: _Made | _NotMade) -> tuple[str, ...]:
    """Return why nothing can be claimed any more of what a record is about."""
    path, sign, function = record.subject.partition("::")
    if sign and (why := undefined(root / path, path, function)):
        return (why,)
    if isinstance(made, _NotMade):
        return (made.why,) if made.gone else ()
    if record.guarantee not in made.properties:
        return (f"{record.subject} has no property {record.guarantee} any more",)
    return ()


def _moved(record: Evidence, made: _Made | _NotMade) -> tuple[str, ...]:
    if isinstance(made, _NotMade):
        return (made.why,)
    prop = made.properties[record.guarantee]
    digest = fingerprints.of_property(prop, made.system)
    now = Fingerprints(made.model, digest, made.sources)
    return record.fingerprints.moved(now)


@dataclass(frozen=True)
class _NotMade:
    """Why a model cannot be made again; ``gone`` says that it is not there any more."""

    why: str
    gone: bool


def _made(record: Evidence, root: Path, traces: Traces) -> _Made | _NotMade:
    """Make the model again that a record is about, or say why that cannot be."""
    try:
        protocol, code = _protocol(record, root)
        system = traces.of(protocol)
        known = {prop.name: prop for prop in claims_of(protocol)}
        return _Made(system, fingerprints.of_system(system), code, known)
    except (OnceproofError, KeyError, TypeError) as error:
        text = as_seen_from(root, str(error))
        gone = isinstance(error, UsageError) and not isinstance(
            error, _NotInstalledError
        )
        return _NotMade(f"{record.subject} cannot be made again: {text}", gone)


def _protocol(record: Evidence, root: Path) -> tuple[Protocol, dict[str, str]]:
    settings = record.parameters
    outer = {k: v for k, v in settings.items() if "." not in k}
    if record.subject.startswith(OF_THE_GRID):
        parts = {k: str(v) for k, v in outer.items()}
        composed = make(parts.pop("model"), parts)
        return composed, _of_queries(record.fingerprints.sources)
    if record.judge != "replay":
        name, _, _ = record.subject.partition(" --set ")
        path = str(root / name) if ".py" in name else name
        return make(path, {k: str(v) for k, v in outer.items()}), {}
    code = sources_of(record.subject, root)
    if "::" in record.subject:
        inner = {k.partition(".")[2]: v for k, v in settings.items() if "." in k}
        sizes = {k: v for k, v in outer.items() if k != "sink"}
        for model in (Manifest, ManifestDirectory):
            if outer.get("sink") == model.label():
                return MicroBatch(sink=model, **sizes), code
        exchanges = not sizes.keys().isdisjoint(EXCHANGE_SORTS)
        engine = InstrumentedExchanges if exchanges else InstrumentedMicroBatch
        return engine(sink=UserCode(**inner), **sizes), code
    known = known_sinks()
    if not known:
        message = "PySpark is not installed"
        raise _NotInstalledError(message)
    if record.subject not in known:
        if absent := absent_clients():
            names = ", ".join(absent)
            message = f"some reference sinks need {names}, which is not installed"
            raise _NotInstalledError(message)
        message = "there is no such reference sink here"
        raise UsageError(message)
    from onceproof.spark_checks.plan.enumeration import protocol_of  # noqa: PLC0415

    numbers = Sizes(settings["BATCH"], settings["PARTITION"], 0, settings["ATTEMPT"])
    sink = known[record.subject]
    return protocol_of(sink, numbers, faults=record.faults), code
