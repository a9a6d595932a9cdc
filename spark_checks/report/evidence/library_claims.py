"""What the library claims of itself: read off what its own files state."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from onceproof.model.library import variants
from onceproof.properties.evidence.from_reports import fault_set, is_guarantee
from onceproof.properties.evidence.sheet import (
    HOLDS,
    PROTOCOLS,
    REFUTED,
    SINKS,
    STORES,
    UNDECIDED,
    Claim,
)
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import claims_of
from onceproof.spark_checks.inputs.sizes import DEFAULT
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.report.evidence.staleness import Traces
from onceproof.spark_checks.sinks.reference import (
    reference_folders,
    reference_sinks,
)
from onceproof.spark_checks.stores.known_stores import STORE_NAMES
from onceproof.spark_checks.stores.layered import breaks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from onceproof.spark_checks.sinks.interface import ModelledSink


def library_claims(
    traces: Traces | None = None, *, stores: bool | Collection[str] = True
) -> tuple[Claim, ...]:
    """Claim of each reference sink and protocol just what its file states.

    ``stores`` says whether the sinks that write to a store are among them: all, none,
    or those on the stores named. Those that need a new checkpoint and no store always
    are. There is no claim of a sink whose connections are broken. Raises
    ``ImportError`` where a package is not installed that some sinks need: their claims
    would be left out.
    """
    return (*_of_sinks(stores=stores), *_of_protocols(traces or Traces()))


def _of_sinks(*, stores: bool | Collection[str]) -> Iterator[Claim]:
    """Claim what a sink's ``refuted`` and ``unseen`` say; all else is to hold."""
    sinks = reference_sinks()
    for folder in reference_folders():
        store = folder.replace("_", "-")
        wanted = stores if isinstance(stores, bool) else store in stores
        if wanted or store not in STORE_NAMES:
            sinks |= reference_sinks(folder)
    for name, sink in sinks.items():
        # Which requests are cut depends on their timing, and so does what is settled.
        if sink.store is not None and breaks(sink.store):
            continue
        for prop in guarantees_of(protocol_of(sink, DEFAULT)):
            yield Claim(
                subject=name,
                guarantee=prop.name,
                text=prop.text,
                expected=_expected(sink, prop.name),
                duties=(_reading(sink),),
                command=f"onceproof replay {name} --batches 2 --evidence",
                group=SINKS if sink.store is None else STORES,
            )


def _expected(sink: ModelledSink, guarantee: str) -> str:
    if guarantee in sink.refuted:
        return REFUTED
    return UNDECIDED if guarantee in sink.unseen else HOLDS


def _reading(sink: ModelledSink) -> str:
    """Return how the sink is meant, in the words of the function that builds it."""
    text = (inspect.getdoc(sink.build) or "").split("\n")[0].rstrip(".")
    return f"write and read as the sink's file does: {text[:1].lower()}{text[1:]}"


def _of_protocols(traces: Traces) -> Iterator[Claim]:
    """Claim what a protocol and its parts say that they break; all else is to hold."""
    for variant in variants():
        protocol = variant.protocol
        faults = protocol.faults if fault_set(traces.of(protocol)) else 0
        for prop in claims_of(protocol):
            if is_guarantee(prop):
                yield Claim(
                    subject=str(variant),
                    guarantee=prop.name,
                    text=prop.text,
                    faults=faults,
                    expected=REFUTED if prop.name in protocol.stated_breaks else HOLDS,
                    command=f"onceproof check {variant} --evidence",
                    group=PROTOCOLS,
                )
