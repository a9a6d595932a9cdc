"""Progress where stderr is no terminal: a line now and then, and no more."""

from __future__ import annotations

import itertools

from onceproof.spark_checks.cli.output import progress as module


def test_a_line_is_printed_every_half_minute(monkeypatch, capsys):
    seconds = itertools.count(0, 10)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(seconds))

    with module.progress("searching") as say:
        for number in range(1, 10):
            say(f"{number} of 9 judged")

    assert capsys.readouterr().err.splitlines() == [
        "3 of 9 judged",
        "6 of 9 judged",
        "9 of 9 judged",
    ]
