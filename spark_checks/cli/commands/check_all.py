"""``onceproof check --all``: the whole library, against what its files state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.table import Column, Table

from onceproof.model.errors import UsageError
from onceproof.model.text import shell_word
from onceproof.properties.judges.library import judge_library, judge_variants
from onceproof.spark_checks.cli.evidence_option import leave
from onceproof.spark_checks.cli.options import print_json, say_nothing_is_claimed
from onceproof.spark_checks.cli.output import console
from onceproof.spark_checks.cli.output.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.library import Variant
    from onceproof.model.search.limits import Limits
    from onceproof.properties.judges.library import VariantResult

_SIGNS = {"exhausted": "✓", "refuted": "✗", "vacuous": "never", "undecided": "?"}

_HEAD = """# Verdicts

Each protocol of the library and each of its variants, searched at its standard size.
Made by `onceproof check --all --markdown`.

✓ holds in every reachable state; ✗ is refuted; *never*: no run satisfies the witness.
Each protocol's file states what breaks, and the command checks that.
"""


def check_all(*, as_json: bool, markdown: bool, evidence: str | None = None) -> int:
    """Judge the whole library; 0 when all is as stated, 1 when not, 2 undecided."""
    with progress("searching") as say:
        found = judge_library(progress=say)
    if not found:
        message = "the library holds no protocol, so nothing is judged"
        raise UsageError(message)
    leave(evidence, (result.report for result in found))
    if as_json:
        print_json([result_data(s) for s in found])
    elif markdown:
        click.echo(verdict_table(found), nl=False)
    else:
        _show_results(found)
    return _status(found)


def check_file(variants: Sequence[Variant], *, limits: Limits, as_json: bool) -> int:
    """Judge all protocols of a file; 0 when all is as stated, 1 when not, 2 undecided.

    What breaks is shown with the command that shows how.
    """
    with progress("searching") as say:
        found = judge_variants(variants, limits=limits, progress=say)
    if as_json:
        print_json([result_data(s) for s in found])
    else:
        _show_results(found)
        for one in found:
            if one.broken:
                click.echo(f"  {_command(one.variant)}")
    return _status(found)


def _command(variant: Variant) -> str:
    chosen = [w for k, v in variant.settings.items() for w in ("--set", f"{k}={v}")]
    words = ("onceproof", "check", variant.name, *chosen)
    return " ".join(map(shell_word, words))


def _status(found: Sequence[VariantResult]) -> int:
    """Return 1 where something is not as stated, and 2 where that is not known.

    What claims nothing counts, unless another that was judged derives from it.
    """
    if any(one.not_as_stated for one in found):
        return 1
    return 0 if all(s.as_stated or _is_base(s, found) for s in found) else 2


def _is_base(result: VariantResult, found: Sequence[VariantResult]) -> bool:
    """Return whether a protocol claims nothing, and another that claims derives."""
    kind = type(result.variant.protocol)
    derived = (o for o in found if issubclass(type(o.variant.protocol), kind))
    return not result.report.findings and any(o.report.findings for o in derived)


def result_data(result: VariantResult) -> dict[str, Any]:
    """Return how a variant came out as plain data."""
    found = result.report.exploration
    return {
        "protocol": result.variant.name,
        "set": dict(result.variant.settings),
        "distinct": found.distinct if found else 0,
        "seconds": round(found.seconds + found.compile_seconds, 3) if found else 0,
        "properties": {n: str(v) for n, v in result.report.verdicts.items()},
        "expected_to_break": sorted(result.variant.stated_breaks),
        "as_expected": result.as_stated,
    }


def _show_results(found: Sequence[VariantResult]) -> None:
    table = Table(Column("protocol", no_wrap=True), "states", "breaks", "as stated")
    for one in found:
        run = one.report.exploration
        table.add_row(
            str(one.variant),
            f"{run.distinct:,}" if run else "",
            ", ".join(sorted(one.broken | {f"{n} (vacuous)" for n in one.vacuous})),
            _in_words(one),
        )
    console.stdout().print(table)
    claiming = [s for s in found if s.report.findings]
    for one in claiming:
        if not one.as_stated:
            click.echo(
                f"{one.variant}: stated to break "
                f"{sorted(one.variant.stated_breaks)}, and breaks "
                f"{sorted(one.broken)}"
            )
        for name in sorted(one.vacuous):
            stated = name in one.variant.stated_breaks
            click.echo(
                f"{one.variant}{' breaks' if stated else ':'} {name}: it is vacuous, "
                "so nothing shows that it breaks or holds"
            )
    for one in found:
        if not _is_base(one, found):
            say_nothing_is_claimed(one.report)
    as_stated = sum(one.as_stated for one in claiming)
    click.echo(f"{as_stated} of {len(claiming)} are as stated")


def _in_words(result: VariantResult) -> str:
    if not result.report.findings:
        return "claims nothing"
    return "yes" if result.as_stated else "[red]no[/red]"


def verdict_table(found: list[VariantResult]) -> str:
    """Return protocol, property and verdict as a Markdown page."""
    lines = _HEAD.splitlines()
    groups: dict[str, list[VariantResult]] = {}
    for one in found:
        groups.setdefault(one.variant.name, []).append(one)
    for name, members in groups.items():
        columns = list(dict.fromkeys(n for m in members for n in m.report.verdicts))
        lines += [
            "",
            f"## {name}",
            "",
            "| property | " + " | ".join(_chosen(m) for m in members) + " |",
            "| --- |" + " --- |" * len(members),
        ]
        for column in columns:
            cells = [
                _SIGNS.get(str(m.report.verdicts.get(column, "")), "") for m in members
            ]
            lines.append(f"| {column} | " + " | ".join(cells) + " |")
        states = [m.report.exploration for m in members]
        cells = [f"{s.distinct:,}" if s else "" for s in states]
        lines.append("| *states* | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _chosen(result: VariantResult) -> str:
    chosen = result.variant.settings
    return ", ".join(f"{k}={v}" for k, v in chosen.items()) or "as it is"
