"""``onceproof reconcile``: a real source and a real sink, at any size."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from onceproof.model.errors import UsageError
from onceproof.model.files import writable, write_whole
from onceproof.model.text import shell_word
from onceproof.model.versions import versions_of
from onceproof.spark_checks.cli import evidence_option
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.options import as_json_option, pairs, print_json

_CLAIMS = ("at-most-once", "at-least-once", "effectively-once")
_ANSWERS = ("html", "evidence", "as_json")
_TABLE = "FORMAT:PATH, table:NAME, jdbc:..., kafka:HOST:PORT/TOPIC, or a path.parquet"


@click.command(cls=Command)
@click.option(
    "--source", required=True, metavar="TABLE", help=f"Where the events are: {_TABLE}."
)
@click.option(
    "--sink", required=True, metavar="TABLE", help="Where they should arrive."
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    required=True,
    metavar="EXPR[=EXPR]",
    help="What identifies an event: a column or SQL expression over both tables, or "
    "SOURCE=SINK where they differ (repeatable).",
)
@click.option(
    "--time",
    "time_",
    default="",
    metavar="EXPR[=EXPR]",
    help="The time of an event, for --until. The sink need not have it.",
)
@click.option(
    "--until",
    default="",
    metavar="TIME",
    help="Events up to this time are owed; later ones may be in the sink, or not yet. "
    "Without it all are owed.",
)
@click.option(
    "--by",
    default="",
    metavar="EXPR",
    help="Count in groups: a column or an expression, such as 'to_date(at)'.",
)
@click.option(
    "--sum",
    "sums",
    multiple=True,
    metavar="EXPR[=EXPR]",
    help="Numbers, whole or decimal, whose sums must agree in each group (repeatable).",
)
@click.option(
    "--source-repeats",
    is_flag=True,
    help="The source may hold an event more than once, each time the same row.",
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    type=click.Choice(_CLAIMS),
    help="Judge this guarantee only (repeatable); by default all three.",
)
@click.option(
    "--source-query",
    default="",
    help="Read the source by this SQL, over a table named source.",
)
@click.option(
    "--sink-query",
    default="",
    help="Read the sink by this SQL, over a table named sink.",
)
@click.option(
    "--source-option",
    "source_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of Spark's reader for the source (repeatable).",
)
@click.option(
    "--sink-option",
    "sink_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of Spark's reader for the sink (repeatable).",
)
@click.option(
    "--master",
    default="",
    metavar="URL",
    help="The cluster, or Spark Connect as sc://HOST:PORT; by default this machine.",
)
@click.option(
    "--conf",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of Spark, such as spark.jars.packages=org.postgresql:"
    "postgresql:42.7.14 (repeatable).",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page of HTML to this file.",
)
@click.option(
    "--evidence",
    "evidence",
    is_flag=False,
    flag_value=evidence_option.STATED,
    default=None,
    metavar="[DIR]",
    help="Keep the counts as a measurement, in DIR or as pyproject.toml says. A "
    "guarantee sheet lists it.",
)
@as_json_option
def reconcile(
    source: str,
    sink: str,
    keys: tuple[str, ...],
    time_: str,
    until: str,
    by: str,
    sums: tuple[str, ...],
    claims: tuple[str, ...],
    source_query: str,
    sink_query: str,
    source_options: tuple[str, ...],
    sink_options: tuple[str, ...],
    master: str,
    settings: tuple[str, ...],
    html: Path | None,
    evidence: str | None,
    *,
    source_repeats: bool,
    as_json: bool,
) -> int:
    """Compare a real source with a real sink: which events are lost or repeated.

    Spark reads both, at any size, and the properties that judge models and replays
    judge them. Each event must have a key of its own. If data still arrives, say which
    events the sink must have by now: --time, and --until a time well before now.
    Neither table is written to. The exit status is 0 if every claim holds for what was
    read, 1 if one is refuted, and 2 if one is undecided or vacuous and none is refuted.

    Example: onceproof reconcile --source parquet:landing/payments --sink
    table:prod.payments --key payment_id --time created_at --until 2026-02-01
    """
    from onceproof.spark_checks.cli.output.reconcile_console import (  # noqa: PLC0415
        show,
        shown_progress,
    )
    from onceproof.spark_checks.own_session import session  # noqa: PLC0415
    from onceproof.spark_checks.reconcile.circumstances import (  # noqa: PLC0415
        Circumstances,
        now,
    )
    from onceproof.spark_checks.reconcile.measured import measurement_of  # noqa: PLC0415
    from onceproof.spark_checks.reconcile.page import page_of  # noqa: PLC0415
    from onceproof.spark_checks.reconcile.reconciliation import judge  # noqa: PLC0415
    from onceproof.spark_checks.reconcile.request import request_of  # noqa: PLC0415
    from onceproof.spark_checks.reconcile.tables import place_of  # noqa: PLC0415

    request = request_of(
        key=keys,
        time=time_,
        until=until,
        by=by,
        sums=sums,
        source_repeats=source_repeats,
        claims=claims,
    )
    ours = pairs(source_options, "--source-option")
    theirs = pairs(sink_options, "--sink-option")
    from_ = place_of("source", source, ours, source_query)
    to = place_of("sink", sink, theirs, sink_query)
    if from_.same_as(to) and all(p.source == p.sink for p in request.key):
        message = f"source and sink are the same: {from_.described}"
        raise UsageError(message)
    if html is not None:
        writable(html.parent)
    evidence_option.refuse_unreadable(evidence)
    conf = pairs(settings, "--conf")
    with session(master, conf, name="reconcile") as spark, shown_progress(spark):
        began = now()
        # Files of the sink are listed first: what they show has events by then.
        seen = to.read(spark)
        found = judge(from_.read(spark), seen, request)
        circumstances = Circumstances(
            source=from_.described,
            sink=to.described,
            began=began,
            ended=now(),
            master=master or "local[*]",
            command=_command(),
            versions={**versions_of("onceproof"), "Spark": spark.version},
        )
    if html is not None:
        write_whole(html, page_of(found, circumstances))
        click.echo(f"page: {html}", err=True)
    if evidence is not None:
        evidence_option.keep_measurement(evidence, measurement_of(found, circumstances))
    if as_json:
        print_json({"source": str(from_), "sink": str(to), **found.to_json()})
    else:
        show(found, source=str(from_), sink=str(to))
    return found.status


def _command() -> str:
    """Return the command as it was given, without passwords and where it writes to."""
    from onceproof.spark_checks.inject.failures.redaction import redacted  # noqa: PLC0415

    context = click.get_current_context()
    words = ["onceproof reconcile"]
    for param in context.command.params:
        name, value = str(param.name), context.params[str(param.name)]
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in _ANSWERS:
            continue
        several = value if isinstance(value, tuple) else (value,)
        for one in several:
            words.append(param.opts[0])
            if one is not True:
                words.append(shell_word(redacted(str(one))))
    return " ".join(words)
