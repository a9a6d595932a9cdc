"""``onceproof replay``: real sinks, replayed under every failure interleaving."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.model.files import writable
from onceproof.model.library import pick
from onceproof.spark_checks.cli.command import Command, Use
from onceproof.spark_checks.cli.duration import DURATION
from onceproof.spark_checks.cli.evidence_option import (
    evidence,
    leave_grid,
    leave_replays,
    refuse,
)
from onceproof.spark_checks.cli.options import as_json_option, print_json, trust_option
from onceproof.spark_checks.inputs.sizes import (
    A_DAY,
    A_YEAR,
    DEFAULT,
    MOST,
    MOST_FAULTS,
    Sizes,
)
from onceproof.spark_checks.stores.known_stores import STORE_NAMES

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import ModelledSink

_REPLAYED = ("sinks", "keep", "as_json")
_CHOSEN = ("store", "faults", "batches", "events", "output")
_USES = (
    Use(
        "in the grid of queries",
        (
            *("grid", "query", "config", "faults", "budget", "agent"),
            *("output", "resume", "evidence", "as_json"),
        ),
        when=lambda given: bool(given["grid"]),
    ),
    Use(
        "for a counterexample file",
        (*_REPLAYED, "agent", "kill_drivers", "trust"),
        when=lambda given: any(map(_is_file, given["sinks"])),
    ),
    Use(
        "with --resume",
        ("sinks", *_CHOSEN, "agent", "kill_drivers", "budget", "resume", "as_json"),
        when=lambda given: given["resume"] and not given["cluster"],
    ),
    Use(
        "with --resume on a cluster",
        ("sinks", *_CHOSEN, "cluster", "budget", "resume", "as_json"),
        when=lambda given: given["resume"],
    ),
    Use(
        "for some interleavings",
        (*_REPLAYED, *_CHOSEN, "agent", "kill_drivers", "cluster", "only"),
        when=lambda given: bool(given["only"]),
    ),
    Use(
        "within a budget",
        (*_REPLAYED, *_CHOSEN, "agent", "kill_drivers", "cluster", "budget"),
        when=lambda given: given["budget"] is not None,
    ),
    Use(
        "with an agent",
        (*_REPLAYED, *_CHOSEN, "agent", "kill_drivers"),
        when=lambda given: given["agent"],
    ),
    Use(
        "on a cluster",
        (*_REPLAYED, *_CHOSEN, "cluster"),
        when=lambda given: given["cluster"],
    ),
    Use(
        "with drivers that are killed",
        (*_REPLAYED, *_CHOSEN, "kill_drivers"),
        when=lambda given: given["kill_drivers"],
    ),
    Use(
        "for all interleavings",
        (*_REPLAYED, *_CHOSEN, "evidence"),
    ),
)


@click.command(cls=Command, uses=_USES)
@click.argument("sinks", nargs=-1, metavar="[SINK|FILE]...")
@click.option(
    "--faults",
    default=1,
    show_default=True,
    type=click.IntRange(1, MOST_FAULTS),
    help="The most faults in one interleaving.",
)
@click.option(
    "--batches",
    default=DEFAULT.batches,
    show_default=True,
    type=click.IntRange(1, MOST["BATCH"]),
    help="How many micro-batches the events arrive in, with two partitions each.",
)
@click.option(
    "--events",
    default=DEFAULT.events,
    show_default=True,
    type=click.IntRange(8),
    help=f"How many flights to read: {A_DAY} for one day, {A_YEAR} for a year.",
)
@click.option(
    "--only",
    multiple=True,
    type=click.IntRange(1),
    help="Replay only interleaving N (repeatable).",
)
@click.option(
    "--budget",
    type=DURATION,
    help="Begin no interleaving after this time, such as 90s, 5m or 1h. Several sinks "
    "share it. The interleavings that differ most come first; if some are left, a "
    "claim that is not refuted is undecided.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with a replay of the same that was killed, stopped, or out of time: "
    "what it has replayed is not replayed again.",
)
@click.option(
    "--grid",
    is_flag=True,
    help="Judge streaming queries in several configurations with each fault, and no "
    "sinks; see --query and --config.",
)
@click.option(
    "--query",
    multiple=True,
    metavar="NAME",
    help="With --grid: only this query, or your own as MODULE:NAME or FILE.py:NAME "
    "(repeatable).",
)
@click.option(
    "--config",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="With --grid: only this configuration, such as provider=rocksdb,changelog=on, "
    "or default (repeatable).",
)
@click.option(
    "--store",
    type=click.Choice(STORE_NAMES),
    help="Replay the reference sinks that write to this store; Onceproof starts it.",
)
@click.option(
    "--agent",
    is_flag=True,
    help="Inject faults inside Spark too, by Byteman in its JVM: tasks of Spark's own "
    "file writer can then outlive their attempt.",
)
@click.option(
    "--kill-drivers",
    is_flag=True,
    help="Run each query in a driver with a JVM of its own, and end it by SIGKILL "
    "where the driver dies. Each start of a query then takes some seconds.",
)
@click.option(
    "--cluster",
    is_flag=True,
    help="Run tasks on a standalone cluster of two workers, which Onceproof starts on "
    "this machine: where a task dies, SIGKILL ends its executor, and a task that is "
    "given up is a slow one, of which Spark runs a copy.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the scratch folder, which holds the data of all runs.",
)
@click.option(
    "--output",
    default=".onceproof",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where counterexamples are written.",
)
@trust_option
@evidence
@as_json_option
def replay(
    sinks: tuple[str, ...],
    faults: int,
    batches: int,
    events: int,
    only: tuple[int, ...],
    output: Path,
    store: str | None,
    evidence: str | None,
    budget: float | None,
    query: tuple[str, ...],
    config: tuple[str, ...],
    *,
    resume: bool,
    grid: bool,
    agent: bool,
    kill_drivers: bool,
    cluster: bool,
    keep: bool,
    trust: bool,
    as_json: bool,
) -> int:
    """Run real PySpark sinks through every failure interleaving, and judge them.

    SINK is a reference sink. If you name none, all reference sinks are replayed that
    need neither a store nor a new checkpoint, or with --store all that write to that
    store. FILE is a counterexample file, and the answer is FAILED, FIXED or ERROR.
    Replaying FILE runs the sink or the test that it names. These must lie below the
    project's folder, unless you give --trust, which also lets them write where FILE
    says.

    The exit status is 0 if each sink gets the verdicts that its own file states, and
    readers saw what its model expects in every run. With --only or --faults it is 0 if
    nothing is refuted beyond what the file states, and 2 if a run could not be steered.
    With --budget it is 2 if time ran out before all was replayed.

    What is replayed is noted below OUTPUT as it goes. If a replay does not come to its
    end, the same command with --resume goes on from there. All is replayed anew if
    Onceproof, an installed package or the environment has changed since.

    With --grid, streaming queries of the catalogue are run in each configuration with
    each fault, and compared with a batch run over the same events. --resume goes on
    with that, too.
    """
    refuse(evidence)
    if grid:
        return _grid(
            query,
            config,
            faults,
            budget,
            output,
            evidence,
            resume=resume,
            agent=agent,
            as_json=as_json,
        )
    from onceproof.spark_checks.cli.output import (  # noqa: PLC0415
        replay_console,
        replay_progress,
    )
    from onceproof.spark_checks.plan.choice import Choice  # noqa: PLC0415
    from onceproof.spark_checks.replay import (  # noqa: PLC0415
        engine,
        request,
        sink_report,
    )
    from onceproof.spark_checks.replay.journal import journals  # noqa: PLC0415
    from onceproof.spark_checks.report import (  # noqa: PLC0415
        counterexamples,
        replay_file,
    )

    if cluster and (agent or kill_drivers):
        message = (
            "--cluster goes with neither --agent nor --kill-drivers; replay once with "
            "each"
        )
        raise UsageError(message)
    if any(map(_is_file, sinks)):
        if len(sinks) > 1:
            message = "a counterexample file is replayed alone; name nothing else"
            raise UsageError(message)
        with replay_progress.file_view() as view:
            path = Path(sinks[0])
            answer = replay_file.replay_file(
                path,
                view,
                keep=keep,
                trust=trust,
                agent=agent,
                kill_drivers=kill_drivers,
            )
        if as_json:
            print_json(answer.to_json())
        else:
            click.echo(str(answer))
        return answer.status()
    known = _known(store, named=bool(sinks))
    chosen = [known[pick(name, known, "sink")] for name in sinks or known]
    writable(output)
    with replay_progress.replay_view() as view:
        reports = engine.replay(
            chosen,
            view,
            request.ReplayRequest(
                faults=faults,
                sizes=Sizes(batches=batches, events=events),
                choice=Choice(only=frozenset(only) if only else None),
                keep=keep,
                budget=budget,
                agent=agent,
                kill_drivers=kill_drivers,
                journals=journals.Journals(output, resume=resume),
                cluster=cluster,
            ),
        )
    files = {
        r.sink.name: counterexamples.write_counterexamples(r, output) for r in reports
    }
    leave_replays(evidence, reports)
    if as_json:
        print_json(replay_console.replay_data(reports, files))
    else:
        replay_console.show_replay(reports, files)
    whole = not only and faults == 1 and not any(r.left for r in reports)
    return sink_report.status(reports, whole=whole)


def _grid(
    queries: tuple[str, ...],
    configurations: tuple[str, ...],
    faults: int,
    budget: float | None,
    output: Path,
    evidence: str | None,
    *,
    resume: bool,
    agent: bool,
    as_json: bool,
) -> int:
    """Run the grid; return its exit status. Raises ``UsageError``."""
    from onceproof.spark_checks.cli.output import (  # noqa: PLC0415
        grid_console,
        grid_progress,
    )
    from onceproof.spark_checks.grid.grid_run import run_grid  # noqa: PLC0415
    from onceproof.spark_checks.queries import (  # noqa: PLC0415
        catalogue,
        configuration,
    )
    from onceproof.spark_checks.replay.journal import journals  # noqa: PLC0415
    from onceproof.spark_checks.sinks.user_sink import travels  # noqa: PLC0415

    writable(output)
    if faults != 1:
        message = f"the grid injects one fault, not {faults}; leave out --faults"
        raise UsageError(message)
    asked = [catalogue.named(name) for name in queries or catalogue.every_query()]
    for query in asked:
        travels(query.run)
    with grid_progress.grid_view() as view:
        report = run_grid(
            asked,
            [configuration.parsed(text) for text in configurations]
            or configuration.CONFIGURATIONS,
            budget=budget,
            agent=agent,
            listener=view.judged,
            journals=journals.Journals(output, resume=resume),
            changed=view.changed,
            begun=view.begun,
        )
    leave_grid(evidence, report)
    if as_json:
        print_json(report.to_json())
    else:
        grid_console.show_grid(report)
    return report.status()


def _known(store: str | None, *, named: bool) -> dict[str, ModelledSink]:
    """Find the sinks of a store, or those without one; where some are named, all.

    Raises ``StoreError`` where this machine lacks what the store needs, ``UsageError``
    where the sinks need a package that it lacks.
    """
    from onceproof.spark_checks.sinks.reference import (  # noqa: PLC0415
        every_reference_sink,
        reference_sinks,
    )
    from onceproof.spark_checks.stores.interface import refuse_missing  # noqa: PLC0415
    from onceproof.spark_checks.stores.known_stores import STORES  # noqa: PLC0415

    if store is None:
        return every_reference_sink() if named else reference_sinks()
    refuse_missing(STORES[store]())
    try:
        return reference_sinks(store)
    except ImportError as error:
        message = (
            f"the reference sinks on {store} need the package {error.name}, and it is "
            f"not installed; help: pip install {error.name}"
        )
        raise UsageError(message) from None


def _is_file(name: str) -> bool:
    """Return whether what was named is a counterexample file, and no sink."""
    return name.endswith(".json") or Path(name).is_file()
