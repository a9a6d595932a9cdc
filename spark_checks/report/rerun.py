"""A counterexample that a test found: the test is run again, for that alone."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.properties.trust import own_code

if TYPE_CHECKING:
    from onceproof.properties.counterexample.file import Counterexample
    from onceproof.spark_checks.replay.events import Listener


@dataclass(frozen=True)
class RerunResult:
    """What replaying a counterexample file showed: FAILED, FIXED or ERROR."""

    file: str
    """The path of the file."""
    sink: str
    """The sink that it is about."""
    property: str
    """The guarantee that it breaks, or ``drift``."""
    answer: str
    """FAILED, FIXED or ERROR."""
    reason: str = ""
    """What the answer rests on, where the file alone does not say it."""
    folder: str = ""
    """The folder of the runs, if it is kept."""
    note: str = ""
    """What the test asks for now and the file did not; empty where they agree."""

    def status(self) -> int:
        """Return the exit status: 1, 0 or 2."""
        return {"FAILED": 1, "FIXED": 0}.get(self.answer, 2)

    def __str__(self) -> str:
        """Return the answer in a line; then what differs, and where to look."""
        lines = [f"{self.answer} {self.sink}: {self.reason or self.property}"]
        lines += [f"    {self.note}"] if self.note else []
        lines += [f"    left behind: {self.folder}"] if self.folder else []
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


ANSWER = "onceproof_answer"


class RerunResults:
    """Keeps the answer that the plugin gives while pytest runs."""

    def __init__(self, listener: Listener | None) -> None:
        """Forward the events of the replay to ``listener``, if there is one."""
        self.listener = listener
        self.answers: list[RerunResult] = []
        self.problems: list[str] = []
        self.stopped = False

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Note that Ctrl-C, or a signal that does the same, stopped the test."""
        self.stopped = self.stopped or isinstance(excinfo.value, KeyboardInterrupt)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take the answer, or the reason why a test could not be run."""
        results = [data for name, data in report.user_properties if name == ANSWER]
        self.answers += [RerunResult(**data) for data in results]
        self.pytest_collectreport(report)

    def pytest_collectreport(self, report: Any) -> None:
        """Take the reason why a file could not be read."""
        if report.failed:
            lines = str(report.longrepr).strip().splitlines()
            self.problems.append(lines[-1] if lines else "it fails")


def replay_test(
    path: Path,
    counterexample: Counterexample,
    listener: Listener | None = None,
    *,
    trust: bool = False,
    agent: bool = False,
    kill_drivers: bool = False,
) -> RerunResult:
    """Run the test that wrote a counterexample, for its interleaving alone.

    ``listener`` receives the events of the replay. With an ``agent``, faults are
    injected inside Spark. ``kill_drivers`` runs each query in a driver with a JVM of
    its own, which SIGKILL ends.

    Raises ``UsageError`` where there is no such test's file, or where it does not lie
    in the project and there is no ``trust``. Raises ``KeyboardInterrupt`` where the
    test is stopped: pytest itself ends with an exit status then.
    """
    import pytest  # noqa: PLC0415 - only files of tests need it

    name, sign, node = counterexample.test.partition("::")
    if not trust:
        own_code(name, path)
    elif not Path(name).is_file():
        message = (
            f"{path} is of the test {counterexample.test}; "
            "run this in its project's folder"
        )
        raise UsageError(message)
    results = RerunResults(listener)
    # An absolute path is never taken for an option.
    test = f"{Path(name).absolute()}{sign}{node}"
    options = [test, f"--onceproof-replay={path.resolve()}", "-q"]
    if agent:
        options.append("--onceproof-agent")
    if kill_drivers:
        options.append("--onceproof-kill-drivers")
    with redirect_stdout(io.StringIO()):
        pytest.main(options, plugins=[results])
    if results.stopped:
        raise KeyboardInterrupt
    if results.answers:
        return results.answers[0]
    problem = next(
        iter(results.problems), "the test does not replay that sink any more"
    )
    return RerunResult(
        str(path), counterexample.sink, counterexample.property, "ERROR", problem
    )
