"""A user's own sink, judged: the engine's answer in the words of a test's report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.files import short_path
from onceproof.model.text import did_you_mean, printable, shell_word
from onceproof.properties.counterexample.file import read
from onceproof.properties.counterexample.lanes import as_text, lanes_of
from onceproof.properties.guarantees import EFFECTIVELY_ONCE, GUARANTEES, RECOVERABLE
from onceproof.properties.judges.by_history import broken
from onceproof.properties.verdicts import Verdict, weakest
from onceproof.properties.words.readers import (
    at_moment,
    breach,
    readers_see,
)
from onceproof.spark_checks.inputs.sizes import TIMEOUT, Sizes
from onceproof.spark_checks.inputs.user_events import own_events
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.run_plan import FAILED
from onceproof.spark_checks.replay import engine
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.report.causes import broken_besides
from onceproof.spark_checks.report.counterexamples import (
    RequestingTest,
    counterexample,
    keep_run,
    write_counterexamples,
    write_unread,
)
from onceproof.spark_checks.report.coverage import in_short, left_out_of, reader_errors
from onceproof.spark_checks.report.part_comparison import compare
from onceproof.spark_checks.sinks.user_sink import own_sink

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

    from onceproof.properties.counterexample.file import Counterexample
    from onceproof.properties.property import Property
    from onceproof.spark_checks.inputs.event_files import Input
    from onceproof.spark_checks.replay.events import Listener
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport
    from onceproof.spark_checks.report.part_comparison import PartComparison
    from onceproof.spark_checks.session.session_pool import SessionPool
    from onceproof.spark_checks.sinks.interface import Build, ModelledSink
    from onceproof.spark_checks.stores.interface import SinkStore

CLAIMED = (EFFECTIVELY_ONCE, RECOVERABLE)
MOST_LINES = 40
OFF, ON, RETAIN = "off", "on", "retain-on-failure"


@dataclass(frozen=True)
class AssessmentRequest:
    """What a test asks of a sink.

    ``code`` is the folder below which the user's code lies: every line of it that runs
    may be the last one. ``events`` and ``schema`` are as ``own_events`` takes them.
    ``given`` is the input of a file that is replayed. Counterexamples are written to
    ``artifacts``, with what is left of the run unless ``trace`` is off. With ``stop``
    nothing more is replayed once a claim is broken. The first run, to which nothing is
    done, may take ``timeout`` seconds.
    """

    code: Path
    artifacts: Path
    faults: int = 1
    """The budget of faults of an interleaving."""
    batches: int = 2
    """How many batches the events are cut into."""
    partitions: int = 2
    """How many partitions a batch is cut into."""
    events: Any = None
    schema: Any = None
    test: RequestingTest = field(default_factory=lambda: RequestingTest(claims=CLAIMED))
    """The test, with the options that a file of it holds."""
    choice: Choice = field(default_factory=Choice)
    """Which interleavings are replayed."""
    given: Callable[[SparkSession], Input] | None = None
    trace: str = RETAIN
    stop: bool = False
    timeout: float = TIMEOUT
    budget: float | None = None
    """After how many seconds no interleaving is begun; None for no limit."""
    kill_drivers: bool = False
    """Whether queries run in drivers with a JVM of their own, which SIGKILL ends."""
    every_point: bool = False
    """Whether crashes are injected even where they leave the same as another one."""
    store: SinkStore | None = None
    """The store that the sink writes to."""

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of the replay."""
        rows = getattr(self.events, "rows", None)
        if isinstance(rows, tuple) and rows:
            return Sizes(batches=len(rows), partitions=len(rows[0]))
        return Sizes(batches=self.batches, partitions=self.partitions)


@dataclass(frozen=True)
class Assessment:
    """The verdict on a sink: a self-contained headline, and the story behind it."""

    verdict: Verdict
    """The verdict."""
    headline: str
    """The verdict in one sentence."""
    story: str
    """The counterexample in plain text, or what was left out."""
    replayed: int
    """How many interleavings were replayed."""
    report: SinkReport
    """The report of the engine."""
    file: str = ""
    """The counterexample file, if one was written."""
    guarantee: str = ""
    """The name of the guarantee that is broken."""
    broken: tuple[int, ...] = ()
    """The numbers of the interleavings that break a claim."""
    short: str = ""
    """How many interleavings were not replayed, and why, in brackets."""
    left_out: tuple[str, ...] = ()
    """The same at length, with the code that had no fault injected."""
    drift: str = ""
    """Where readers first saw something else than the model part that the sink names
    says, in one sentence; empty where they did not, and where it names none."""
    unsettled: str = ""
    """Why a comparison with that part says less than a claim needs, if it does."""

    @property
    def holds(self) -> bool:
        """Whether the sink held in every interleaving that was replayed."""
        return self.verdict.holds


def judge(
    build: Build,
    request: AssessmentRequest,
    *,
    pool: SessionPool | None = None,
    listener: Listener | None = None,
) -> Assessment:
    """Replay a sink under its failure interleavings, and judge what readers saw.

    ``build`` is called with a fresh target for each. Raises ``UsageError`` for what is
    no sink, for one that fails or is wrong by itself, and for one that writes to what
    is not its own.
    """
    test = request.test
    sink = own_sink(
        build, request.code, allowed=test.allow, named=test.code, store=request.store
    )
    sizes = request.sizes
    given = request.given or own_events(
        request.events,
        test.key,
        sizes,
        schema=request.schema,
        seed=request.choice.seed,
    )
    replay_request = ReplayRequest(
        faults=request.faults,
        sizes=sizes,
        choice=request.choice,
        retain=request.trace != OFF,
        inspect=False,
        stop=request.stop,
        claims=test.claims,
        given=given,
        timeout=request.timeout,
        budget=request.budget,
        every_point=request.every_point,
        kill_drivers=request.kill_drivers,
    )
    listen = listener or (lambda _: None)

    def replayed(one: ModelledSink, asked: ReplayRequest) -> SinkReport:
        [report] = engine.replay([one], listen, asked, pool=pool)
        return report

    report = replayed(sink, replay_request)
    judged = _judged(report, request)
    if request.choice.steps or request.choice.nth is not None:
        # A file, or an example, is about one interleaving of the user's own code.
        return judged
    found = compare(report, test.claims, replay_request, replayed)
    return judged if found is None else _beside(judged, found)


def _beside(judged: Assessment, found: PartComparison) -> Assessment:
    """Add to a verdict how the sink compares with the part that its author names."""
    name, part = _name(judged.report), found.part
    how = f"in {found.compared} of {found.total} interleavings"
    lines = list(found.lines)
    if found.drift:
        drifts = f"{name} drifts from its model {part}: {found.drift}"
    elif found.unsettled:
        drifts = f"{name} is undecided: {found.unsettled}"
    else:
        drifts = f"readers saw what its model {part} expects {how}"
    left = (*judged.left_out, *lines)
    story = "\n".join([*judged.story.splitlines(), *lines])
    if judged.holds and not (found.drift or found.unsettled):
        headline = f"{judged.headline}; {drifts}"
        return replace(judged, headline=headline, left_out=left, story=story)
    if judged.holds:
        return replace(
            judged,
            verdict=Verdict.UNDECIDED,
            headline=f"{drifts}; {judged.headline}",
            left_out=left,
            story=story,
            drift=found.drift,
            unsettled=found.unsettled,
        )
    story = "\n".join([*judged.story.splitlines(), f"model:   {drifts}", *lines])
    left = (*judged.left_out, f"model: {drifts}", *lines)
    return replace(
        judged,
        left_out=left,
        story=story,
        drift=found.drift,
        unsettled=found.unsettled,
    )


def _judged(report: SinkReport, request: AssessmentRequest) -> Assessment:
    claims = request.test.claims
    verdict = weakest(report.concluded(prop) for prop in claims)
    replayed = len(report.replayed)
    if verdict is Verdict.REFUTED:
        return _refuted(report, request)
    lines = left_out_of(report, request.choice)
    judged = replayed - len(report.unobserved(*claims))
    how = f"in {judged} of {len(report.classes.classes)} interleavings"
    short = in_short(report, request.choice)
    if verdict.holds:
        headline = f"{_name(report)} held {how}{short}"
    else:
        why = _undecided(report, claims)
        headline = f"{_name(report)} is undecided: {why}; it held {how}{short}"
    file, story = "", lines
    if not verdict.holds and request.trace != OFF:
        file, story = _unread(report, request, lines)
    return Assessment(
        verdict,
        headline,
        "\n".join(story),
        replayed,
        report,
        file,
        short=short,
        left_out=tuple(lines),
    )


def _unread(
    report: SinkReport, request: AssessmentRequest, lines: list[str]
) -> tuple[str, list[str]]:
    """Write a file of a replay in which readers failed, and tell its story."""
    file = write_unread(report, request.artifacts, request.test)
    if not file:
        return "", lines
    file = short_path(file)
    ends = [*lines, *_commands(file, agent=report.agent)]
    return file, story_of(read(Path(file)), ends)


def _commands(file: str, *, agent: bool) -> list[str]:
    """Name a file, and the commands that show what is in it and run it again."""
    word = shell_word(file)
    return [
        f"file:    {file}",
        f"again:   onceproof replay {word}{' --agent' if agent else ''}",
        f"shown:   onceproof explore {word}",
    ]


def _undecided(report: SinkReport, claims: Sequence[Property]) -> str:
    """Return why nothing was decided, though nothing was refuted."""
    failed = [o for o in report.missed if o.not_replayed]
    if failed:
        first = failed[0].not_replayed.splitlines()[0]
        return f"{len(failed)} {FAILED}, such as: {first}"
    if unread := report.unobserved(*claims):
        number, total = len(unread), len(report.replayed)
        first = reader_errors(unread)[0].splitlines()[0]
        return f"the reader failed in {number} of {total} replays: {first}"
    if any(report.unsteady.values()):
        return "what an interleaving broke it did not break again"
    if report.left:
        chosen = len(report.outcomes) + report.left
        return f"time ran out before {report.left} of {chosen} interleavings"
    if not report.replayed:
        return "no interleaving was replayed"
    if lines := report.never_hit:
        return f"no fault was injected before {len(lines)} lines, such as {lines[0]}"
    if lines := report.unforeseen:
        ran = f"{len(lines)} lines ran that did not run at first"
        return f"{ran}, so that no fault was injected there, such as {lines[0]}"
    if places := report.never_cut:
        return f"{len(places)} exchanges are not cut, such as {places[0]}"
    if number := report.unknown_exchanges:
        return f"{number} exchanges with the store are not cut"
    if names := report.differing:
        return f"{names[0]} differs from build to build, and a restart keeps its value"
    weak = [p.name for p in claims if not report.verdict(p).holds]
    return f"the model refutes {', '.join(weak)} at a moment when no replay looks"


def _refuted(report: SinkReport, request: AssessmentRequest) -> Assessment:
    test = request.test
    prop = next(p for p in test.claims if report.verdict(p) is Verdict.REFUTED)
    outcome = report.first_break(prop)
    if outcome is None or outcome.spark is None:
        message = f"{prop.name} is refuted, and by no interleaving"
        raise RuntimeError(message)
    clause, moment = broken(prop, outcome.spark) or (0, 0)
    seen = breach(prop, clause, readers_see(outcome.spark, moment))
    headline = f"{_name(report)} is not {prop.name}: {_when(outcome, moment)}, {seen}"
    made = counterexample(report, prop, outcome, test)
    file = ""
    if request.trace != OFF:
        file = write_counterexamples(report, request.artifacts, test)[prop.name]
        keep_run(report, outcome, Path(file))
        file = short_path(file)
    left_out = left_out_of(report, request.choice)
    besides = broken_besides(report, prop, outcome, test.claims)
    ends = [*(f"also:    {printable(line)}" for line in besides), *left_out]
    if any(run.caught for run in outcome.runs):
        ends.insert(0, "the lanes are the model's: there the error ends the run")
    if file:
        ends += _commands(file, agent=report.agent)[:2]
    numbers = tuple(
        o.interleaving.number
        for o in report.replayed
        if o.spark is not None and any(broken(p, o.spark) for p in test.claims)
    )
    story = "\n".join(story_of(made, ends))
    replayed = len(report.replayed)
    return Assessment(
        Verdict.REFUTED,
        headline,
        story,
        replayed,
        report,
        file,
        prop.name,
        numbers,
        short=in_short(report, request.choice),
        left_out=tuple(left_out),
    )


def _when(outcome: Outcome, moment: int) -> str:
    """Name a moment in words that stand without the rest of the report."""
    run = outcome.runs[moment]
    if not run.stop or not run.how:
        rested = outcome.spark is None or outcome.spark.rested
        return at_moment(run.moment, rested=rested)
    return f"after a fault ({'; '.join(run.how)})"


def story_of(counterexample: Counterexample, ends: Sequence[str]) -> list[str]:
    """Draw a counterexample in plain text: lanes, because, what is left to say.

    It has at most ``MOST_LINES`` lines: of the lanes some steps may be left out.
    """
    because = [f"  {sentence}" for sentence in counterexample.because]
    because = ["because", *because] if because else []
    room = MOST_LINES - len(because) - len(ends) - 2
    if room < MOST_LINES // 4:
        more = len(because) - (MOST_LINES - MOST_LINES // 4 - len(ends) - 2)
        because = [*because[: -more - 2], f"  ... {more + 1} more ...", because[-1]]
        room = MOST_LINES - len(because) - len(ends) - 2
    return [*because, *as_text(lanes_of(counterexample), most=room), *ends]


def _name(report: SinkReport) -> str:
    return report.sink.name.rpartition("::")[2]


def claims_named(names: Sequence[str]) -> tuple[Property, ...]:
    """Find guarantees by name.

    Raises ``UsageError`` for an unknown one.
    """
    known = {prop.name: prop for prop in GUARANTEES}
    for name in names:
        if name not in known:
            message = f"there is no guarantee {name!r}; {did_you_mean(name, known)}"
            raise UsageError(message)
    return tuple(known[name] for name in names)
