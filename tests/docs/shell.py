"""Runs pytest and onceproof as a reader's shell does, but in one warm Spark session.

``python -m tests.docs.shell`` is the process that runs them, one after the other. Most
of what a command takes by itself is the start of Java.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from tests.test_house import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HIDDEN = ("CI", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")


class Shell:
    """A process that runs commands; it starts with the first."""

    def __init__(self, folder: Path) -> None:
        """Keep what is printed below ``folder``."""
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def run(self, words: Sequence[str], where: Path) -> tuple[int, str, str]:
        """Run a command in a folder: its status, its output, and its errors."""
        if self.process is None:
            outside = {k: v for k, v in os.environ.items() if k not in HIDDEN}
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.docs.shell"],
                cwd=ROOT,
                env=outside,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        asked = {"words": words, "where": str(where), "kept": str(self.folder)}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the process that ran {words} is gone"
        out, err = (self.folder / name for name in ("out", "err"))
        return json.loads(answer), out.read_text(), err.read_text()

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(60)
            self.process.stdout.close()


def forget(folder: Path) -> None:
    """Let the modules of a folder be imported anew."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(folder):
            del sys.modules[name]


def _keep_warm() -> Callable[[], None]:
    """Give all replays one session pool, which stays open; give what closes it."""
    from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
    from onceproof.spark_checks.pytest_plugin import replayer

    make = replayer.SessionPool
    kept = make(ENTRY_POINTS)
    close, kept.close = kept.close, lambda **_: None
    replayer.SessionPool = lambda points, mine, taken, *, agent: (
        make(points, mine, taken, agent=agent) if mine or taken or agent else kept
    )
    return close


def _serve() -> None:
    replies = os.fdopen(os.dup(1), "w")
    own, path = Path.cwd(), list(sys.path)
    close = _keep_warm()
    for line in sys.stdin:
        asked = json.loads(line)
        for stream, name in enumerate(("out", "err"), 1):
            kept = os.open(
                f"{asked['kept']}/{name}", os.O_CREAT | os.O_TRUNC | os.O_RDWR
            )
            os.dup2(kept, stream)
            os.close(kept)
        os.chdir(asked["where"])
        sys.path[:] = [asked["where"], *path[1:]]
        status = _status(asked["words"])
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir(own)
        sys.path[:] = path
        forget(Path(asked["where"]))
        replies.write(f"{json.dumps(status)}\n")
        replies.flush()
    close()


def _status(words: list[str]) -> int:
    try:
        if words[0] == "pytest":
            import pytest

            return int(pytest.main(words[1:]))
        from onceproof.spark_checks.cli import main

        sys.argv = words
        main(words[1:])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - the next command is run all the same
        traceback.print_exc()
        return 70
    return 0


if __name__ == "__main__":
    _serve()
