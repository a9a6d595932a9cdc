"""``onceproof check``: every reachable state of a protocol, searched."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onceproof.model.errors import UsageError
from onceproof.model.files import writable
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make, settings_of, variants_in
from onceproof.model.search.limits import Limits
from onceproof.spark_checks.cli.command import Command, Use
from onceproof.spark_checks.cli.evidence_option import evidence, leave
from onceproof.spark_checks.cli.options import (
    as_json_option,
    pairs,
    print_json,
    properties_of,
    property_option,
    say_nothing_is_claimed,
    set_option,
)
from onceproof.spark_checks.cli.output import console
from onceproof.spark_checks.cli.output.progress import search_progress
from onceproof.spark_checks.cli.refuted_files import write_refuted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.model.library import Variant
    from onceproof.properties.judges.by_search import Engine

_DIGITS = 15
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


_SEARCHED = ("protocol", "settings", "names", "output", "evidence", "as_json")
_ON_SPARK = ("master", "conf", "folder")
_USES = (
    Use(
        "with --all",
        ("everything", "markdown", "evidence", "as_json"),
        when=lambda given: given["everything"],
    ),
    Use(
        "with --mermaid",
        ("protocol", "settings", "mermaid"),
        when=lambda given: given["mermaid"],
    ),
    Use(
        "with --simulate",
        (*_SEARCHED, "walks", "depth", "seed", "guided"),
        when=lambda given: given["walks"] is not None,
    ),
    Use(
        "with --engine spark",
        (*_SEARCHED, "max_states", "symmetry", "engine", *_ON_SPARK),
        when=lambda given: given["engine"] == "spark",
    ),
    Use(
        "in a search of every state",
        (*_SEARCHED, "max_states", "max_memory", "symmetry", "reduce", "engine"),
    ),
)


@click.command(cls=Command, uses=_USES, apart=[("markdown", "as_json")])
@click.argument("protocol", required=False)
@set_option
@property_option
@click.option(
    "--all", "everything", is_flag=True, help="Judge the library, variants included."
)
@click.option(
    "--max-states",
    type=click.IntRange(1, 2**62),
    help="Stop soon after this many states.",
)
@click.option("--max-memory", help="Stop at this much memory, such as 500M or 2G.")
@click.option(
    "--symmetry",
    is_flag=True,
    help="Count states that differ only in the names of members once.",
)
@click.option(
    "--reduce",
    is_flag=True,
    help="Leave out orders of independent steps that no property needs.",
)
@click.option(
    "--engine",
    type=click.Choice(["native", "spark"]),
    default="native",
    show_default=True,
    help="Search in this process, or on Spark, for more states than fit in memory.",
)
@click.option(
    "--master",
    default="",
    metavar="URL",
    help="With --engine spark: the cluster; by default this machine.",
)
@click.option(
    "--conf",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --engine spark: a setting of Spark (repeatable).",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="With --engine spark: keep the states in this folder, which all executors "
    "share. A search that was killed goes on from the last level there.",
)
@click.option(
    "--simulate",
    "walks",
    type=click.IntRange(1, 10**9),
    help="Make this many random walks instead of a search, for large models.",
)
@click.option(
    "--depth",
    default=100,
    show_default=True,
    type=click.IntRange(1, 10**5),
    help="With --simulate: the most steps that a walk takes.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="With --simulate: the seed of the walks.",
)
@click.option(
    "--guided",
    is_flag=True,
    help="With --simulate: guide the walks to durable states that were not met yet.",
)
@click.option("--mermaid", is_flag=True, help="Print the state graph as Mermaid text.")
@click.option("--markdown", is_flag=True, help="With --all: print a page of tables.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for a counterexample file of each refuted property.",
)
@evidence
@as_json_option
def check(
    protocol: str | None,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    max_states: int | None,
    max_memory: str | None,
    walks: int | None,
    depth: int,
    seed: int,
    output: Path | None,
    evidence: str | None,
    engine: str,
    master: str,
    conf: tuple[str, ...],
    folder: Path | None,
    *,
    everything: bool,
    symmetry: bool,
    reduce: bool,
    guided: bool,
    mermaid: bool,
    markdown: bool,
    as_json: bool,
) -> int:
    """Search every reachable state of PROTOCOL and judge its properties.

    PROTOCOL is a name (see onceproof protocols) or a file, as FILE.py or FILE.py:NAME.
    --all judges every protocol and variant of the library at its standard size; the
    exit status is then 0 when each breaks exactly what its file states. A FILE.py is
    judged in the same way if it holds several protocols, or if one of its own classes
    states in `breaks` what it breaks.

    With --simulate, a property that is not refuted is "held", never more. --depth and
    --seed set the walks. With --guided they begin where earlier walks met something
    new that outlives a crash, and prefer steps to more of it.

    --max-memory counts all that a search holds: states, the table in which they are
    found again, successors, and what claims about runs need. A property that is not
    settled when the limit is reached is undecided.

    With --reduce, a search follows only some orders of independent steps. Verdicts, and
    the length of counterexamples, stay the same. If a property needs every state, all
    are searched, and the report says which: choose others with --property.

    With --engine spark, Spark holds the states, on this machine or on a cluster. Counts
    and verdicts are the same, except that claims about fair runs are undecided. The
    executors need the same version of Onceproof.

    Example: onceproof check two-phase-commit --set RM=5
    """
    from onceproof.properties.judges import by_search as judge  # noqa: PLC0415
    from onceproof.spark_checks.cli.commands.check_all import (  # noqa: PLC0415
        check_all,
        check_file,
    )

    if everything:
        return check_all(as_json=as_json, markdown=markdown, evidence=evidence)
    if protocol is None:
        message = "name a protocol, a file of one, or --all; see onceproof protocols"
        raise UsageError(message)
    limits = Limits(max_states, None if max_memory is None else _bytes(max_memory))
    on_spark = engine == "spark"
    how_searched = (symmetry, reduce, on_spark)
    of_one = (settings, names, walks, output, evidence, mermaid, *how_searched)
    several = [] if any(of_one) else variants_in(protocol)
    if _judged_together(several):
        return check_file(several, limits=limits, as_json=as_json)
    model = make(protocol, settings_of(settings))
    if mermaid:
        from onceproof.model.export.mermaid import mermaid as draw  # noqa: PLC0415
        from onceproof.model.language.tracing.trace import trace  # noqa: PLC0415
        from onceproof.properties.words.labels import Labels  # noqa: PLC0415

        click.echo(draw(trace(model), names=Labels(Interpreter(model))))
        return 0
    chosen = properties_of(model, names)
    if output is not None:
        writable(output)
    with ExitStack() as stack:
        on: dict[str, Any] = {}
        if on_spark:
            searching = searched_on_spark(master, pairs(conf, "--conf"), folder)
            on["engine"] = stack.enter_context(searching)
        progress = stack.enter_context(search_progress())
        if walks is None:
            report = judge.check(
                model,
                chosen,
                limits=limits,
                symmetry=symmetry,
                reduce=reduce,
                progress=progress,
                **on,
            )
        else:
            report = judge.simulate(
                model,
                chosen,
                walks=walks,
                depth=depth,
                seed=seed,
                progress=progress,
                guided=guided,
            )
    how: dict[str, Any] = {"judge": "simulate", "walks": walks}
    how |= {"depth": depth, "seed": seed, "guided": guided}
    if walks is None:
        how = {"judge": "check", "engine": engine}
        how |= {"symmetry": symmetry, "reduce": reduce}
        how |= {"max_states": limits.states, "max_memory": limits.memory}
    files = {} if output is None else write_refuted(report, protocol, output, how)
    searched: dict[str, Any] = {"symmetry": symmetry}
    searched |= {"engine": engine} if on_spark else {}
    if report.exploration is not None and report.exploration.reduced:
        searched["reduce"] = True
    leave(evidence, [report], protocol=protocol, how=searched)
    if as_json:
        print_json({**console.check_data(report), "files": files})
    else:
        console.show_check(report)
        console.show_files(files)
    say_nothing_is_claimed(report)
    return report.exit_status


def _judged_together(found: Sequence[Variant]) -> bool:
    """Return whether a file holds several protocols, or states itself what breaks.

    What a part of the library states, and one of the file inherits, does not count.
    """
    kinds = {type(variant.protocol) for variant in found}
    return len(kinds) > 1 or any(v.stated_breaks for v in found if not v.settings)


@contextmanager
def searched_on_spark(
    master: str, settings: Mapping[str, str], folder: Path | None
) -> Iterator[Engine]:
    """Start Spark, and give what searches on it. Raises ``UsageError``."""
    from onceproof.spark_checks.engine.progress_file import levels_in  # noqa: PLC0415
    from onceproof.spark_checks.engine.search import explore_on_spark  # noqa: PLC0415
    from onceproof.spark_checks.own_session import (  # noqa: PLC0415
        CONNECT,
        sentences,
        session,
    )

    if master.startswith(CONNECT):
        message = "a search needs a session of its own; --master takes no Spark Connect"
        raise UsageError(message)
    # Tasks run on this Python, unless the user names that of a cluster.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if folder is not None and levels_in(folder):
        found = f"{folder} has {levels_in(folder)} levels of a search"
        click.echo(f"{found}; if it is this one, it goes on from there", err=True)
    started = session(master, settings, name="check")
    try:
        with started as spark, sentences("Spark failed"):
            yield partial(explore_on_spark, spark, folder=folder)
    except KeyboardInterrupt:
        if folder is not None and levels_in(folder):
            kept = f"{folder} keeps {levels_in(folder)} levels"
            click.echo(f"{kept}; the same command goes on from there", err=True)
        raise


def _bytes(text: str) -> int:
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    plain = number.isascii() and number.isdigit() and len(number) <= _DIGITS
    if not plain or int(number) < 1 or (unit and unit not in _UNITS):
        whole = "a whole number of bytes, or of K, M or G, such as 500M"
        message = f"--max-memory takes {whole}, not {text[:40]!r}"
        raise UsageError(message)
    return int(number) * _UNITS.get(unit, 1)
