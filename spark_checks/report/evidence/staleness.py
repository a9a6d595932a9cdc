"""What has moved since evidence was made: fingerprints taken anew, and compared.

No Spark is started, and nothing is searched: terms are traced and hashed, files read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.manifest import Manifest, ManifestDirectory
from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.record import Hashes
from onceproof.properties.judges.by_search import claims_of
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.report.evidence.source_files import (
    as_seen_from,
    known_sinks,
    sources_of,
)
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.evidence.record import Evidence
    from onceproof.properties.property import Property


def stale(evidence: Mapping[str, Evidence], root: Path) -> dict[str, tuple[str, ...]]:
    """Say of each record what has moved since it was made; live ones are left out."""
    made: dict[str, _Made | str] = {}
    found = {}
    for name, record in evidence.items():
        key = fingerprints.of_data(
            [record.subject, record.kind == "replay", dict(record.model)]
        )
        if key not in made:
            made[key] = _made(record, root)
        why = _moved(record, made[key])
        if why:
            found[name] = why
    return found


@dataclass(frozen=True)
class _Made:
    """A model that was made again, with all that is hashed of it and its sink."""

    system: System
    model: str
    sources: Mapping[str, str]
    properties: Mapping[str, Property]


def _moved(record: Evidence, made: _Made | str) -> tuple[str, ...]:
    if isinstance(made, str):
        return (made,)
    if record.guarantee not in made.properties:
        return (f"{record.subject} has no property {record.guarantee} any more",)
    prop = made.properties[record.guarantee]
    digest = fingerprints.of_property(prop, made.system)
    return record.hashes.moved(Hashes(made.model, digest, made.sources))


def _made(record: Evidence, root: Path) -> _Made | str:
    """Make the model again that a record speaks of, or say why that cannot be."""
    try:
        protocol, code = _protocol(record, root)
        system = trace(protocol)
        known = {prop.name: prop for prop in claims_of(protocol)}
        return _Made(system, fingerprints.of_system(system), code, known)
    except (OnceproofError, KeyError, TypeError) as error:
        text = as_seen_from(root, str(error))
        return f"{record.subject} cannot be made again: {text}"


def _protocol(record: Evidence, root: Path) -> tuple[Protocol, dict[str, str]]:
    settings = record.model
    outer = {k: v for k, v in settings.items() if "." not in k}
    if record.kind != "replay":
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
        return InstrumentedMicroBatch(sink=UserCode(**inner), **sizes), code
    known = known_sinks()
    if record.subject not in known:
        message = "there is no such reference sink here"
        raise UsageError(message)
    from onceproof.spark_checks.plan.enumeration import protocol_of  # noqa: PLC0415

    numbers = Sizes(settings["BATCH"], settings["PARTITION"], 0, settings["ATTEMPT"])
    sink = known[record.subject]
    return protocol_of(sink, numbers, faults=record.faults), code
