"""The matrix: compositions with how they came out, each thing judged once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    EFFECTIVELY_ONCE,
)
from onceproof.properties.matrix.compositions import (
    SINK,
    SOURCE,
    Composition,
    LeftOut,
)
from onceproof.properties.matrix.judging import ALL, NONE, Judged
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onceproof.properties.evidence.record import Evidence
    from onceproof.properties.matrix.judging import Refutation

ONCE, REPEATS, LOSES, BOTH, OPEN = "once", "repeats", "loses", "both", "open"
"""What an event may meet: it counts once, twice, not at all, either, or who knows."""


@dataclass(frozen=True)
class OnSpark:
    """What replays on real Spark found of one guarantee of a composition."""

    verdict: Verdict
    """Whether it held in every run, or was refuted."""
    sinks: tuple[str, ...]
    """The reference sinks that were replayed."""


@dataclass(frozen=True)
class MatrixRow:
    """A composition, how it came out, and what real Spark says."""

    composition: Composition
    """The composition."""
    judged: Judged
    """The verdicts under each fault set."""
    spark: Mapping[str, OnSpark] = field(default_factory=dict)
    """The verdict of real Spark on each guarantee that was replayed."""

    @property
    def unstated(self) -> frozenset[str]:
        """The guarantees that break though no part states it."""
        return self.judged.unstated - self.composition.stated

    def outcome(self, chosen: str = ALL) -> str:
        """Say what may happen to an event under a fault set."""
        verdicts = self.judged.verdicts[chosen]
        most = Verdict(verdicts[AT_MOST_ONCE.name])
        least = Verdict(verdicts[AT_LEAST_ONCE.name])
        match most.holds, least.holds:
            case True, True:
                return ONCE
            case _ if (most, least) == (Verdict.VACUOUS, Verdict.REFUTED):
                # Nothing is ever visible, and so nothing twice.
                return LOSES
            case _ if Verdict.REFUTED not in (most, least):
                return OPEN
            case False, True:
                return REPEATS
            case True, False:
                return LOSES
            case _:
                return BOTH if most == least else OPEN

    @property
    def breaking(self) -> tuple[str, ...]:
        """The faults that each break effectively-once; ``none`` if it needs none."""
        name = EFFECTIVELY_ONCE.name
        if name in self.judged.refuted[NONE]:
            return (NONE,)
        return tuple(f for f in self.judged.faults if name in self.judged.refuted[f])

    @property
    def shown_by(self) -> dict[str, str]:
        """The guarantee whose shortest run is shown for each that breaks.

        Guarantees with a clause in common may break in the same run: it is shown once,
        for effectively-once if that is among them.
        """
        found = self.judged.refuted[ALL]
        first: dict[tuple[str, tuple[str, ...]], str] = {}
        names = sorted(found, key=lambda name: name != EFFECTIVELY_ONCE.name)
        return {
            name: first.setdefault((found[name].clause, found[name].steps), name)
            for name in names
        }

    @property
    def runs(self) -> dict[str, Refutation]:
        """The runs that are shown, each once, by name.

        A name is the guarantee that breaks; of a run with a single fault, which is not
        the shortest of all, the fault follows.
        """
        shown = dict.fromkeys(self.shown_by.values())
        found = {name: self.judged.refuted[ALL][name] for name in shown}
        for fault, name in self.run_by.items():
            claim = EFFECTIVELY_ONCE.name
            found.setdefault(name, self.judged.refuted[fault][claim])
        return found

    @property
    def run_by(self) -> dict[str, str]:
        """The name of the run that is shown for each fault that suffices alone."""
        claim = EFFECTIVELY_ONCE.name
        shortest = self.judged.refuted[ALL].get(claim)
        return {
            fault: claim
            if self.judged.refuted[fault][claim] == shortest
            else f"{claim} {fault}"
            for fault in self.breaking
        }

    @property
    def on_spark(self) -> tuple[str, ...]:
        """The guarantees that real Spark is quoted for: whether events count once.

        Of a query with state that is not judged, and what is replayed of it is.
        """
        name = EFFECTIVELY_ONCE.name
        return (name,) if name in self.spark else tuple(sorted(self.spark))

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        one, found = self.composition, self.judged
        return {
            "source": one.named(SOURCE),
            "engine": one.engine,
            "sink": one.named(SINK),
            "set": dict(one.changed),
            "command": f"onceproof check {one}",
            "outcome": self.outcome(),
            "as_stated": not self.unstated,
            "stated_to_break": sorted({*found.stated, *one.stated}),
            "states": found.states,
            "faults_in_a_run": found.budget,
            "from_cache": found.kept,
            "fault_sets": [
                {
                    "faults": self._faults(chosen),
                    "outcome": self.outcome(chosen),
                    "verdicts": dict(verdicts),
                    "counterexamples": {
                        name: {
                            "clause": one.clause,
                            "steps": list(one.steps),
                            "explore": explore_command(
                                self.composition,
                                name,
                                "" if one == found.refuted[ALL].get(name) else chosen,
                            ),
                        }
                        for name, one in found.refuted[chosen].items()
                    },
                }
                for chosen, verdicts in found.verdicts.items()
            ],
            "spark": {
                name: {"verdict": str(one.verdict), "sinks": list(one.sinks)}
                for name, one in self.spark.items()
            },
        }

    def _faults(self, chosen: str) -> list[str]:
        return {ALL: list(self.judged.faults), NONE: []}.get(chosen, [chosen])


@dataclass(frozen=True)
class Matrix:
    """All compositions that were judged, and what was left out."""

    rows: tuple[MatrixRow, ...]
    """The compositions."""
    same: tuple[LeftOut, ...]
    """Compositions that are the same as others, state by state and step by step."""
    left_out: tuple[LeftOut, ...]
    """What is no composition, or has nothing to judge."""
    not_judged: tuple[Composition, ...] = ()
    """The compositions that there was no time for: they are undecided."""
    twins: tuple[tuple[Composition, MatrixRow], ...] = ()
    """The compositions that are the same as another one, with that one's row."""
    elsewhere: tuple[LeftOut, ...] = ()
    """The replays on real Spark whose model is no composition that was judged."""

    @property
    def undecided(self) -> tuple[MatrixRow, ...]:
        """The compositions of which something was not settled."""
        return tuple(row for row in self.rows if not row.judged.decided)

    @property
    def unstated(self) -> tuple[MatrixRow, ...]:
        """The compositions that break more than their parts state."""
        return tuple(row for row in self.rows if row.unstated)

    @property
    def exit_status(self) -> int:
        """Return 1 if more breaks than is stated, 2 if something is undecided."""
        if self.unstated:
            return 1
        open_ = self.undecided or self.not_judged or not self.rows
        return 2 if open_ else 0

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "cells": [row.to_json() for row in self.rows],
            "not_judged": [f"onceproof check {one}" for one in self.not_judged],
            "same": [{"what": s.what, "why": s.why} for s in self.same],
            "left_out": [{"what": x.what, "why": x.why} for x in self.left_out],
            "replays_elsewhere": [
                {"what": x.what, "why": x.why} for x in self.elsewhere
            ],
        }


def matrix_of(
    judged: Sequence[tuple[Composition, Judged | None]],
    left_out: Iterable[LeftOut],
    evidence: Iterable[Evidence] = (),
    same: Iterable[LeftOut] = (),
    *,
    whole: bool = True,
) -> Matrix:
    """Put together what was judged; what is the same as another is listed as such.

    None is for compositions that there was no time for. If these are not the ``whole``
    matrix, evidence of others is left aside.
    """
    first: dict[str, MatrixRow] = {}
    twins, same, evidence = [], list(same), tuple(evidence)
    replayed = _replayed(evidence)
    models = {model for _, found in judged if found for model in found.models}
    for one, found in judged:
        if found is None:
            continue
        row = MatrixRow(one, found, _on_spark_of(found, replayed))
        known = first.setdefault(found.terms, row)
        if known is not row:
            same.append(LeftOut(str(one), f"it is the same as {known.composition}"))
            twins.append((one, known))
    missed = tuple(one for one, found in judged if found is None)
    rows = tuple(first.values())
    return Matrix(
        rows,
        tuple(same),
        tuple(left_out),
        missed,
        tuple(twins),
        _elsewhere(evidence, models) if whole and not missed else (),
    )


def _elsewhere(
    evidence: Iterable[Evidence], models: Collection[str]
) -> tuple[LeftOut, ...]:
    """List the replays that stand beside no cell, each with its model."""
    found = {
        record.subject: ", ".join(f"{k}={v}" for k, v in record.parameters.items())
        for record in evidence
        if record.judge == "replay" and record.fingerprints.model not in models
    }
    return tuple(
        LeftOut(name, f"its model is no composition of the matrix: {numbers}")
        for name, numbers in sorted(found.items())
    )


def explore_command(one: Composition, guarantee: str, fault: str = "") -> str:
    """Return the command that shows how a guarantee breaks, by one fault alone."""
    words = str(one).replace(one.engine, f"onceproof explore {one.engine}", 1)
    alone = f" --fault {fault}" if fault else ""
    return f"{words} --property {guarantee}{alone}"


def _replayed(
    evidence: Iterable[Evidence],
) -> dict[tuple[str, str], dict[str, list[Evidence]]]:
    """Sort replays by the fingerprints of the model and of the guarantee."""
    found: dict[tuple[str, str], dict[str, list[Evidence]]] = {}
    for record in evidence:
        if record.judge == "replay":
            prints = record.fingerprints
            of_both = found.setdefault((prints.model, prints.property), {})
            of_both.setdefault(record.guarantee, []).append(record)
    return found


def _on_spark_of(
    found: Judged, replayed: Mapping[tuple[str, str], Mapping[str, Sequence[Evidence]]]
) -> dict[str, OnSpark]:
    """Return the verdicts of real Spark on a composition, by guarantee."""
    every = {
        name: [
            record
            for model in found.models
            for record in replayed.get((model, claim), {}).get(name, ())
        ]
        for name, claim in found.claims.items()
    }
    return {name: _on_spark(records) for name, records in every.items() if records}


def _on_spark(records: Sequence[Evidence]) -> OnSpark:
    verdicts = {record.verdict for record in records}
    for verdict in (Verdict.REFUTED, Verdict.HELD):
        if verdict in verdicts:
            mine = {r.subject for r in records if r.verdict is verdict}
            return OnSpark(verdict, tuple(sorted(mine)))
    return OnSpark(Verdict.UNDECIDED, tuple(sorted({r.subject for r in records})))
