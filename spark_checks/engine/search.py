"""Exhaustive breadth-first search on Spark, level by level.

Each level is written before the next one begins, so a search that was killed goes on
where it was. States, counts and verdicts are those of the search on one machine, which
runs the same code. Claims about fair runs need the whole graph in one memory, and are
undecided here.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import numpy as np

from onceproof.model.errors import OnceproofError
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.search.exhaustive import Exploration
from onceproof.model.search.limits import Limits
from onceproof.model.search.native.portable import PortableExpander
from onceproof.model.search.queries import SearchResult, refuse_doubles
from onceproof.model.search.states.claim_flags import FlagNumbers
from onceproof.model.search.states.layout import Layout
from onceproof.model.search.symmetry import Symmetry
from onceproof.spark_checks.engine.backwards import Backwards
from onceproof.spark_checks.engine.level_jobs import (
    SUMMARY,
    LevelSummary,
    Sought,
    successors,
    summary,
)
from onceproof.spark_checks.engine.progress_file import (
    Progress,
    alone_in,
    identity_of,
    note_progress,
    read_progress,
)
from onceproof.spark_checks.engine.recovery import unable_to_recover
from onceproof.spark_checks.engine.state_table import StateTable, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.traces import Trace

_LIVELY = "claims about fair runs are not judged on Spark; leave out --engine spark"


class DamagedSearchError(OnceproofError):
    """The folder of a search does not hold the states that were noted."""


def explore_on_spark(
    spark: SparkSession,
    system: System,
    questions: Sequence[SearchQuery],
    *,
    folder: Path | None = None,
    limits: Limits | None = None,
    symmetry: bool = False,
    progress: Callable[[int, int, int], None] | None = None,
    keep: int = 0,
) -> Exploration:
    """Search every reachable state on Spark, and settle ``questions`` about them.

    ``folder`` holds the states, and must be one that the driver and all executors
    share. If it holds a search of the same, the search goes on from its last level;
    without it, a temporary folder serves. ``keep`` states, spread by their hash, come
    with the result. Raises ``UsageError`` for a folder of another search, and
    ``DamagedSearchError`` where states that were noted are gone.
    """
    refuse_doubles(questions)
    with _folder(folder) as where, alone_in(where):
        search = _Search(spark, system, questions, where, symmetry=symmetry)
        try:
            return search.run(limits or Limits(), progress, keep)
        finally:
            search.table.drop()


@dataclass(frozen=True)
class _Claim:
    """A question, and how its answer is looked for in a level."""

    question: SearchQuery
    sought: Sought | None


class _Search:
    """One search: what it asks, and where it is."""

    def __init__(
        self,
        spark: SparkSession,
        system: System,
        questions: Sequence[SearchQuery],
        folder: Path,
        *,
        symmetry: bool,
    ) -> None:
        began = time.perf_counter()
        self.interpreter = Interpreter(system.protocol)
        self.layout = Layout(system.fields, system.sizes)
        terms = [q.term for q in questions if not q.lively]
        self.symmetry = Symmetry(system, self.layout, terms) if symmetry else None
        flags = FlagNumbers(term for q in questions for term in q.terms)
        step_claims = [q.term for q in questions if q.when is Modality.STEP]
        self.expander = PortableExpander.of(
            system,
            self.layout,
            claims=flags.claims,
            flag_words=flags.words,
            step_claims=step_claims,
            symmetry=self.symmetry,
        )
        self.events = system.events()
        numbers = {term: n for n, term in enumerate(flags.claims, 1)}
        self.claims = [
            _Claim(question, _sought(question, numbers, step_claims))
            for question in questions
        ]
        self.numbers = numbers
        self.folder = folder
        initial = [self.layout.pack(s) for s in self.interpreter.initial_states()]
        self.initial = np.array(initial, np.int64).reshape(len(initial), -1)
        if self.symmetry is not None:
            self.symmetry.reduce(self.initial, len(self.initial))
        identity = identity_of(
            self.expander.source,
            repr(self.initial.tolist()),
            repr([(q.name, q.when, q.term, q.given) for q in questions]),
        )
        buckets = max(4, 2 * spark.sparkContext.defaultParallelism)
        self.progress = read_progress(folder, identity, buckets)
        own = spark.newSession()
        own.conf.set("spark.sql.shuffle.partitions", self.progress.buckets)
        # A task per bucket, so that Spark need not move the states found before.
        own.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
        self.table = StateTable(
            own,
            folder,
            words=self.layout.words,
            buckets=self.progress.buckets,
            name=identity[:12],
        )
        self._restore()
        # Compiled here first, so that an error shows before Spark runs a task.
        self.expander.expand(self.initial[:0])
        self.compile_seconds = time.perf_counter() - began

    def run(
        self,
        limits: Limits,
        progress: Callable[[int, int, int], None] | None,
        keep: int,
    ) -> Exploration:
        """Search until no state is new, or a limit is reached."""
        began = time.perf_counter()
        noted, result = self.progress, Exploration(compile_seconds=self.compile_seconds)
        if not noted.counts:
            noted.counts.append(self.table.add_initial(self.initial))
            note_progress(self.folder, noted)
        self._show(progress)
        while True:
            result.stopped = limits.exceeded(sum(noted.counts), 0)
            if result.stopped:
                break
            if len(noted.summaries) < len(noted.counts):
                self._summarise(noted)
            if not noted.counts[-1]:
                break
            self._next_level(noted)
            self._show(progress)
        seen = self._seen()
        result.distinct = sum(noted.counts)
        result.generated = len(self.initial) + seen.generated
        result.depth = sum(1 for count in noted.counts if count)
        result.kept = [
            self.layout.unpack(words)
            for words in self.table.sample(keep, of=result.distinct)
        ]
        happened = {self.events[number].name for number in seen.taken}
        result.never_taken = tuple(
            name for name in self.interpreter.steps if name not in happened
        )
        complete = not result.stopped
        result.answers = [self._answer(c, seen, complete=complete) for c in self.claims]
        result.seconds = time.perf_counter() - began
        return result

    def _show(self, progress: Callable[[int, int, int], None] | None) -> None:
        if progress:
            counts, generated = self.progress.counts, self._seen().generated
            made = len(self.initial) + generated
            progress(sum(counts), made, len(counts) - 1)

    def _restore(self) -> None:
        """Go back to the last level that was noted, and see that its states are there.

        Raises ``DamagedSearchError`` where they are not: the search would find too few.
        """
        noted = self.progress.counts
        self.table.keep_levels(len(noted))
        for level, count in enumerate(noted):
            found = self.table.level(level).count() if count else 0
            if found != count:
                message = (
                    f"{self.folder} should hold {count:,} states of level {level}, and "
                    f"holds {found:,}; delete it, and search again"
                )
                raise DamagedSearchError(message)

    def _summarise(self, noted: Progress) -> None:
        """Look at the states of the last level, and at the steps out of them."""
        level = len(noted.summaries)
        seen = LevelSummary()
        if noted.counts[level]:
            settled = self._seen().found
            sought = [
                c.sought
                for c in self.claims
                if c.sought is not None and c.sought.name not in settled
            ]
            states = self.table.level(level)
            for row in states.mapInArrow(
                summary(self.expander, sought), SUMMARY
            ).collect():
                seen.add(LevelSummary.of_json(row[0]))
        noted.summaries.append(seen.as_json())
        note_progress(self.folder, noted)

    def _next_level(self, noted: Progress) -> None:
        level = len(noted.counts)
        made = self.table.level(level - 1).mapInArrow(
            successors(self.expander), schema(self.table.columns)
        )
        noted.counts.append(self.table.add_level(made, level))
        note_progress(self.folder, noted)

    def _seen(self) -> LevelSummary:
        """Return what was seen in all levels; for a question the first level counts."""
        seen = LevelSummary()
        for text in self.progress.summaries:
            one = LevelSummary.of_json(text)
            one.found = {n: s for n, s in one.found.items() if n not in seen.found}
            seen.add(one)
        return seen

    def _level_of(self, name: str) -> int:
        """Return the first level in which a question is answered by a state."""
        for level, text in enumerate(self.progress.summaries):
            if name in LevelSummary.of_json(text).found:
                return level
        raise KeyError(name)

    def _trace_to(self, state: tuple[int, ...], level: int) -> Trace:
        backwards = Backwards(
            self.table,
            self.expander,
            self.layout,
            self.interpreter,
            self.events,
            self.symmetry,
        )
        return backwards.trace_to(state, level)

    def _answer(
        self, claim: _Claim, seen: LevelSummary, *, complete: bool
    ) -> SearchResult:
        question = claim.question
        if question.name in seen.found:
            level = self._level_of(question.name)
            trace = self._trace_to(seen.found[question.name], level)
            if question.when is Modality.STEP:
                trace = self._broken_step(question, trace)
            witness = question.when is Modality.SOMETIMES
            return SearchResult(question, "exhausted" if witness else "refuted", trace)
        if question.lively:
            return SearchResult(question, "undecided", note=_LIVELY)
        if not complete:
            return SearchResult(question, "undecided")
        match question.when:
            case Modality.ALWAYS:
                return SearchResult(question, "exhausted")
            case Modality.STEP:
                verdict = "exhausted" if seen.taken else "vacuous"
                return SearchResult(question, verdict)
            case Modality.AT_REST:
                verdict = "exhausted" if seen.rested else "vacuous"
                return SearchResult(question, verdict)
            case Modality.SOMETIMES:
                return SearchResult(question, "vacuous")
            case Modality.RECOVERABLE:
                return self._recoverable(question)
            case Modality.EVENTUALLY | Modality.LEADS_TO:
                raise AssertionError(question)
            case _:
                assert_never(question.when)

    def _recoverable(self, question: SearchQuery) -> SearchResult:
        calm = [n for n, event in enumerate(self.events) if not event.fault]
        lost = unable_to_recover(
            self.table,
            self.expander,
            flag=self.numbers[question.term],
            events=calm,
            folder=self.folder,
        )
        if lost is None:
            return SearchResult(question, "exhausted")
        *state, level = lost
        return SearchResult(question, "refuted", self._trace_to(tuple(state), level))

    def _broken_step(self, question: SearchQuery, trace: Trace) -> Trace:
        """Add to a trace the step from its end that breaks a claim about steps."""
        from onceproof.model.traces import Trace as Longer  # noqa: PLC0415

        number = [
            c.question for c in self.claims if c.question.when is Modality.STEP
        ].index(question)
        last = np.array([self.layout.pack(trace.states[-1])], np.int64)
        made = self.expander.expand(last)
        successor = int(made.broken[number, 1])
        event = self.events[int(made.events[successor])]
        after = self.interpreter.after(trace.states[-1], event)
        if after is None:
            message = f"{event} is not enabled in the state in which it was taken"
            raise RuntimeError(message)
        return Longer(trace.start, (*trace.steps, (event, after)))


def _sought(
    question: SearchQuery, numbers: dict[Term, int], step_claims: list[Term]
) -> Sought | None:
    """Say what state settles a question, or None where no single one does."""
    match question.when:
        case Modality.ALWAYS:
            return Sought(question.name, numbers[question.term])
        case Modality.SOMETIMES:
            return Sought(question.name, numbers[question.term], wanted=True)
        case Modality.AT_REST:
            return Sought(question.name, numbers[question.term], at_rest=True)
        case Modality.STEP:
            number = step_claims.index(question.term)
            return Sought(question.name, number, of_steps=True)
        case Modality.RECOVERABLE | Modality.EVENTUALLY | Modality.LEADS_TO:
            return None
        case _:
            assert_never(question.when)


@contextlib.contextmanager
def _folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="onceproof-search-") as made:
        yield Path(made)
