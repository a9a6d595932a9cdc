"""A counterexample holds all that it was found with, and a reader guesses nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from onceproof.model.errors import UsageError
from onceproof.model.library import make, protocols
from onceproof.properties.counterexample.file import read
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.judges.by_search import every_parameter_of
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.cli.commands import explore
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)


@pytest.mark.parametrize("name", sorted(protocols()))
def test_a_protocol_is_made_again_from_its_parameters(name):
    """Nothing is left out that its default could stand in for some day."""
    protocol = make(name, {})

    found = every_parameter_of(protocol)

    again = make(name, {key: str(value) for key, value in found.items()})
    assert every_parameter_of(again) == found


@pytest.mark.parametrize("code", [(0, 0, 1), (1, 1, 1), (0, 1, 0)])
def test_the_model_of_a_users_sink_is_made_as_it_was(code, tmp_path):
    """What its code does is in the file, and is not tried out."""
    names = ("committer", "in_tasks", "on_driver")
    chosen = dict(zip(names, code, strict=True))
    protocol = InstrumentedMicroBatch(sink=UserCode(**chosen), BATCH=1, LINE=3)
    counterexample_of(protocol).write(tmp_path / "found.json")

    model = explore._of_own_code(read(tmp_path / "found.json"))

    assert every_parameter_of(model) == every_parameter_of(protocol)


def test_without_what_the_code_does_no_model_is_made(tmp_path):
    """An older file does not say, and another model would tell another story."""
    protocol = InstrumentedMicroBatch(sink=UserCode(on_driver=1), BATCH=1)
    file = tmp_path / "found.json"
    counterexample_of(protocol).write(file)
    data = json.loads(file.read_text())
    del data["digest"], data["parameters"]["sink.on_driver"]
    file.write_text(json.dumps(data))

    assert explore._of_own_code(read(file)) is None


def test_a_setting_of_a_part_is_named_by_its_path():
    """An unknown one is refused with the nearest, as any other."""
    with pytest.raises(UsageError, match="unknown parameter of sink of micro-batch"):
        make("micro-batch", {"sink": "append", "sink.nothing": "1"})
    with pytest.raises(UsageError, match="PARTITION of micro-batch is no part"):
        make("micro-batch", {"PARTITION.x": "1"})


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (
            ["check", "--symmetry", "--reduce", "--max-memory", "2G"],
            {
                "judge": "check",
                "engine": "native",
                "symmetry": True,
                "reduce": True,
                "max_states": None,
                "max_memory": 2 * 2**30,
            },
        ),
        (
            ["check", "--max-states", "5000"],
            {
                "judge": "check",
                "engine": "native",
                "symmetry": False,
                "reduce": False,
                "max_states": 5000,
                "max_memory": None,
            },
        ),
        (
            ["check", "--simulate", "50", "--depth", "40", "--seed", "7"],
            {
                "judge": "simulate",
                "walks": 50,
                "depth": 40,
                "seed": 7,
                "guided": False,
            },
        ),
        (
            ["check", "--simulate", "60", "--guided"],
            {
                "judge": "simulate",
                "walks": 60,
                "depth": 100,
                "seed": 0,
                "guided": True,
            },
        ),
        (
            ["prove", "--depth", "14", "--timeout", "50"],
            {
                "judge": "prove",
                "depth": 14,
                "timeout": 50,
                "infer": False,
                "induction_depth": 1,
            },
        ),
    ],
)
def test_a_file_of_a_model_says_how_it_was_found(words, options, tmp_path):
    """The search, the walks and their seed, or how far z3 looked."""
    model = ["micro-batch", "--set", "BATCH=1"]
    command = [*words, *model, "--property", "at-most-once"]

    CliRunner().invoke(main, [*command, "--output", str(tmp_path)])

    (file,) = tmp_path.glob("*.json")
    assert read(file).options == options


_NO_SETTINGS = {"protocol", "settings", "names", "output", "evidence", "as_json"}
"""What tells which model is judged, and what is made of the result."""


@pytest.mark.parametrize(
    ("words", "use"),
    [
        (["check"], "in a search of every state"),
        (["check", "--simulate", "50"], "with --simulate"),
        (["prove"], "in prove"),
    ],
)
def test_no_option_of_a_judge_is_left_out_of_its_files(words, use, tmp_path):
    """An option that is added some day has to be written, too."""
    command = main.get_command(None, words[0])
    [reads] = [one.reads for one in command.uses if one.what == use]
    model = ["micro-batch", "--set", "BATCH=1"]

    CliRunner().invoke(
        main,
        [*words, *model, "--property", "at-most-once", "--output", str(tmp_path)],
    )

    (file,) = tmp_path.glob("*.json")
    assert read(file).options.keys() - {"judge"} == set(reads) - _NO_SETTINGS


def test_every_command_that_writes_files_of_models_is_looked_at():
    """Those with ``--output`` that judge properties of a protocol."""
    names = {
        name
        for name in main.list_commands(None)
        if {"output", "protocol", "names"}
        <= {one.name for one in main.get_command(None, name).params}
    }

    assert names == {"check", "prove"}


def test_a_file_of_a_test_says_how_it_was_run(tmp_path):
    """Profile, seed and limits besides what its markers say, and no password."""
    test = RequestingTest(
        "tests/test_shop.py::test_shop",
        ("order",),
        ("postgresql://me:secret@host/shop",),
        profile="dev",
        most=60,
        seed=7,
        timeout=12.5,
    )
    found = counterexample_of(make("micro-batch", {}))

    replace(found, options=test.to_json()).write(tmp_path / "found.json")

    options = read(tmp_path / "found.json").options
    assert "secret" not in str(options)
    assert options | {"allow": [], "guarantees": []} == {
        "key": ["order"],
        "allow": [],
        "code": [],
        "guarantees": [],
        "profile": "dev",
        "most": 60,
        "seed": 7,
        "timeout": 13,
    }
    assert options["guarantees"] == [prop.name for prop in test.claims]
