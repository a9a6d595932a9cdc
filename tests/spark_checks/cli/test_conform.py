"""``onceproof conform`` answers in text and in JSON, and by its exit status."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main

HEADER = {"trace": 1, "protocol": "micro-batch", "set": {"sink": "batch-ledger"}}
QUIET = ("start_task", "write", "commit_task", "sink.write_batch")
BATCH = (
    {"step": "restart"},
    {"step": "log_offsets", "members": {"batch": 0}},
    {"step": "start_batch", "members": {"batch": 0}},
    {"step": "start_commit", "members": {"batch": 0}},
    {"step": "log_commit", "members": {"batch": 0}, "state": {"commits": 1}},
)


def conform(tmp_path, events, *words, header=HEADER):
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in (header, *events)))
    silent = [word for step in QUIET for word in ("--silent", step)]
    return CliRunner().invoke(main, ["conform", str(path), *silent, *words])


def test_a_trace_that_conforms_is_exit_status_0(tmp_path):
    shown = conform(tmp_path, BATCH)
    data = json.loads(conform(tmp_path, BATCH, "--json").stdout)

    assert shown.exit_code == 0
    assert "explains all 5 events" in shown.stdout
    assert data["conforms"] is True
    assert data["silent"] == sorted(QUIET)
    steps = [one["step"] for one in data["behaviour"] if one["line"]]
    assert steps == [
        "restart()",
        "log_offsets(batch 0)",
        "start_batch(batch 0)",
        "start_commit(batch 0)",
        "log_commit(batch 0)",
    ]


def test_a_trace_that_does_not_is_exit_status_1_with_the_part_that_fails(tmp_path):
    """The commit log before the sink's commit: the first event of it is named."""
    early = (*BATCH[:3], BATCH[4], BATCH[3])

    shown = conform(tmp_path, early)
    data = json.loads(conform(tmp_path, early, "--json").stdout)

    assert shown.exit_code == 1
    assert "event 4 (line 5) of 5, log_commit(batch 0) with commits == 1" in (
        shown.stdout
    )
    assert "driver == committing, but driver is running" in shown.stdout
    assert "no step" in shown.stdout
    assert data["conforms"] is False
    assert data["divergence"]["line"] == 5
    assert data["divergence"]["nearest"][0]["failed"][0]["guard"] is True


def test_a_limit_is_exit_status_2(tmp_path):
    shown = conform(tmp_path, BATCH, "--max-states", "3")

    assert shown.exit_code == 2
    assert "more than 3 states" in shown.stdout


def test_another_protocol_than_the_one_of_the_trace_may_be_asked(tmp_path):
    model = tmp_path / "wrong.py"
    model.write_text(
        "from onceproof.model.language import *\n"
        "from onceproof.model.protocols.micro_batch import MicroBatch\n\n\n"
        "class Hasty(MicroBatch):\n"
        '    """A driver that never starts."""\n\n'
        "    @action\n"
        "    def restart(self) -> None:\n"
        '        """Nothing is running, and that is so for ever."""\n'
        "        when(self.offsets > self.commits)\n"
    )

    shown = conform(tmp_path, BATCH, "--protocol", f"{model}:hasty")

    assert shown.exit_code == 1
    assert "restart() (" in shown.stdout
    assert "needs commits < offsets, but commits is 0, offsets is 0" in shown.stdout


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ({"trace": 1}, "names no protocol; help: --protocol NAME"),
        ({"trace": 1, "protocol": "evil.py"}, "names a file of code, 'evil.py'"),
        ({"trace": 1, "protocol": "micro-bach"}, "did you mean 'micro-batch'"),
        ({"trace": 7, "protocol": "micro-batch"}, "reads version 1 of traces"),
    ],
)
def test_what_cannot_be_read_is_exit_status_2_and_one_sentence(
    tmp_path, header, sentence
):
    shown = conform(tmp_path, BATCH, header=header)

    assert shown.exit_code == 2
    assert sentence in shown.stderr
    assert not shown.stdout
