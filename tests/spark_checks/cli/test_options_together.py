"""Every two options of a command are refused together, or stand in a table here.

An option that is added is in no pair of the table: this fails until each of its pairs
is thought of.
"""

from __future__ import annotations

import itertools

import click
import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main
from onceproof.spark_checks.cli.command import Command, Use

VALUES = {
    "--set": "RM=3",
    "--faults": "2",
    "--output": "out",
    "--batches": "2",
    "--max-memory": "1G",
    "--engine": "spark",
    "--to": "tla",
    "--property": "agreement",
    "--store": "postgres",
    "--budget": "5m",
    "--claim": "at-most-once",
    "PROTOCOL": "two-phase-commit",
    "PROTOCOL|FILE": "two-phase-commit",
    "FILE|PROTOCOL": "two-phase-commit",
    "NAME": "orders",
    "TRACE": "run.jsonl",
    "--protocol": "two-phase-commit",
    "--silent": "tm_commit",
    "SINK|FILE": "parquet-folder",
}
NEEDED = {
    "conform": ["TRACE"],
    "explore": ["FILE|PROTOCOL"],
    "export": ["PROTOCOL|FILE", "--to"],
    "interleavings": ["PROTOCOL"],
    "new": ["NAME"],
    "prove": ["PROTOCOL"],
    "reconcile": ["--source", "--sink", "--key"],
}

# What can be given together because both are read, by command. What takes part in a
# pair only with a third option is listed in `WITH`.
SEARCHED = ["PROTOCOL", "--set", "--property", "--output", "--evidence", "--json"]
TOGETHER = {
    "check": [
        ["--all", "--markdown", "--evidence"],
        ["--all", "--json", "--evidence"],
        ["PROTOCOL", "--set", "--mermaid"],
        [*SEARCHED, "--simulate", "--depth", "--seed", "--guided"],
        [*SEARCHED, "--max-states", "--max-memory", "--symmetry", "--reduce"],
        [
            *(*SEARCHED, "--max-states", "--symmetry"),
            *("--engine", "--master", "--conf", "--folder"),
        ],
    ],
    "conform": [
        ["TRACE", "--protocol", "--set", "--silent", "--max-states", "--json"],
    ],
    "prove": [
        [
            *("PROTOCOL", "--set", "--property", "--depth", "--timeout", "--infer"),
            "--induction-depth",
            *("--output", "--evidence", "--json"),
        ],
    ],
    "matrix": [
        [
            "--only",
            "--several",
            "--budget",
            "--max-states",
            "--jobs",
            "--evidence",
            "--html",
        ],
        [
            "--only",
            "--several",
            "--budget",
            "--max-states",
            "--jobs",
            "--evidence",
            "--json",
        ],
    ],
    "interleavings": [["PROTOCOL", "--set", "--faults", "--json"]],
    "replay": [
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--keep"),
            *("--output", "--json", "--evidence", "--store"),
        ],
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--keep"),
            *("--output", "--json", "--only", "--store", "--agent", "--kill-drivers"),
        ],
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--keep"),
            *("--output", "--json", "--budget", "--store", "--agent"),
            "--kill-drivers",
        ],
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--resume"),
            *("--output", "--json", "--budget", "--store", "--agent"),
            "--kill-drivers",
        ],
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--resume"),
            *("--output", "--json", "--budget", "--store", "--cluster"),
        ],
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--keep"),
            *("--output", "--json", "--budget", "--store", "--cluster"),
        ],
        [
            *("SINK|FILE", "--faults", "--batches", "--events", "--keep"),
            *("--output", "--json", "--only", "--store", "--cluster"),
        ],
        ["SINK|FILE", "--trust", "--keep", "--json", "--agent", "--kill-drivers"],
        [
            *("--grid", "--query", "--config", "--faults", "--budget", "--agent"),
            *("--output", "--resume", "--json"),
        ],
        [
            *("--grid", "--query", "--config", "--faults", "--output", "--json"),
            "--evidence",
        ],
    ],
    "reconcile": [
        [
            *("--source", "--sink", "--key", "--time", "--until", "--by", "--sum"),
            *("--source-repeats", "--claim", "--source-query", "--sink-query"),
            *("--source-option", "--sink-option", "--master", "--conf", "--json"),
            *("--html", "--evidence"),
        ],
    ],
    "explore": [
        ["FILE|PROTOCOL", "--set", "--property", "--max-states", "--fault", "--html"],
        ["FILE|PROTOCOL", "--set", "--property", "--max-states", "--fault", "--json"],
        ["FILE|PROTOCOL", "--set", "--property", "--max-states", "--fault", "--unfold"],
        ["FILE|PROTOCOL", "--trust", "--html"],
        ["FILE|PROTOCOL", "--trust", "--json"],
        ["FILE|PROTOCOL", "--trust", "--unfold"],
    ],
    "export": [
        ["PROTOCOL|FILE", "--to", "--set", "--output", "--json"],
        ["PROTOCOL|FILE", "--to", "--trust", "--output", "--json"],
    ],
    "guarantees": [
        ["--evidence", "--drop"],
        ["--library", "--evidence", "--check", "--json"],
        ["--library", "--evidence", "--output", "--json"],
        ["--library", "--evidence", "--output", "--html"],
    ],
    "protocols": [["NAME", "--json"]],
    "new": [["NAME", "--output"]],
    "doctor": [["--class-archive", "--clean", "--json"]],
}
WITH = {
    ("check", "--master"): ["--engine"],
    ("check", "--conf"): ["--engine"],
    ("check", "--folder"): ["--engine"],
    ("check", "--depth"): ["--simulate"],
    ("check", "--seed"): ["--simulate"],
    ("check", "--guided"): ["--simulate"],
    ("check", "--markdown"): ["--all"],
    ("explore", "--max-states"): ["--property"],
    ("explore", "--fault"): ["--property"],
    ("replay", "--trust"): ["SINK|FILE"],
    ("replay", "--query"): ["--grid"],
    ("replay", "--config"): ["--grid"],
}
# Values that another option asks for.
BESIDE = {
    ("guarantees", "--json"): {"--output": "x.json"},
    ("guarantees", "--html"): {"--output": "x.html"},
    ("explore", "--trust"): {"FILE|PROTOCOL": "x.json"},
    ("replay", "--trust"): {"SINK|FILE": "x.json"},
    ("export", "--trust"): {"--to": "pytest"},
}


def spelled(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return param.opts[0]
    return param.make_metavar(click.Context(main)).strip("[].")


def pairs():
    for name, command in main.commands.items():
        names = [spelled(param) for param in command.params]
        for one, other in itertools.combinations(names, 2):
            yield name, one, other


def words(command: str, *given: str) -> list[str]:
    """Give a command line with these parameters, and those that they cannot do without.

    The third ones are added only where they can be given with both.
    """
    known = {spelled(p): p for p in main.commands[command].params}
    wanted = list(dict.fromkeys([*given, *NEEDED.get(command, ())]))
    for one in given:
        for other in WITH.get((command, one), ()):
            if other not in wanted and any(
                {*given, other} <= set(group) for group in TOGETHER[command]
            ):
                wanted.append(other)
    found = [command]
    for one in wanted:
        option = isinstance(known[one], click.Option)
        if option:
            found.append(one)
        if not (option and known[one].is_flag):
            asked = (BESIDE.get((command, other), {}).get(one) for other in given)
            found.append(next(filter(None, asked), VALUES.get(one, "9")))
    return found


@pytest.fixture
def parsed(monkeypatch):
    """Run command lines up to where the command itself would begin."""
    for command in main.commands.values():
        monkeypatch.setattr(command, "callback", lambda **_: 0)

    def run(given):
        return CliRunner().invoke(main, given)

    return run


def test_every_two_options_are_refused_or_both_read(parsed):
    """The table is right in both directions, for each pair of each command."""
    wrong = []
    seen = 0

    for command, one, other in pairs():
        together = any({one, other} <= set(group) for group in TOGETHER[command])
        found = parsed(words(command, one, other))
        seen += 1
        if (found.exit_code == 0) != together:
            wrong.append((command, one, other, together, found.output))

    assert not wrong
    assert seen > 150


def test_every_command_says_what_it_reads():
    """Each is one that refuses, and the table knows each, and no more."""
    assert all(isinstance(command, Command) for command in main.commands.values())
    assert set(TOGETHER) == set(main.commands)
    for name, groups in TOGETHER.items():
        known = {spelled(param) for param in main.commands[name].params}
        assert {word for group in groups for word in group} == known


@pytest.mark.parametrize(
    ("command", "param"),
    [
        (name, param)
        for name, command in main.commands.items()
        for param in command.params
    ],
    ids=lambda what: getattr(what, "name", what),
)
def test_nothing_is_given_twice_empty_or_unprintable(parsed, command, param):
    """Of an option that can be repeated not the same, of another not even that."""
    if isinstance(param, click.Argument) and param.nargs == 1:
        twice = None
    else:
        line = words(command, spelled(param))
        twice = parsed([*line, *line[1:]])
    empty = odd = None
    if not getattr(param, "is_flag", False):
        line = words(command, spelled(param))
        option = isinstance(param, click.Option)
        place = line.index(spelled(param)) + 1 if option else 1
        empty = parsed([*line[:place], "", *line[place + 1 :]])
        odd = parsed([*line[:place], "a\x1b[31m", *line[place + 1 :]])

    for found in (twice, empty, odd):
        if found is not None:
            assert found.exit_code == 2, found.output
            assert "\x1b" not in found.output
    if empty is not None:
        assert "is empty" in empty.output


def test_an_option_that_no_use_reads_is_no_command():
    """It cannot be made: the author of an option says who reads it."""

    def forgetful():
        click.command(cls=Command, uses=[Use("always", ("one",))])(
            click.option("--one")(click.option("--two")(lambda one, two: 0))
        )

    with pytest.raises(TypeError, match="two"):
        forgetful()
