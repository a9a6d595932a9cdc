"""Streams that are closed, full or unread, signals, encodings: a status says which."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.properties.explorer.runs import SPARK

COMMAND = [sys.executable, "-m", "onceproof.spark_checks.cli"]
QUICK = ("protocols", "--json")
# Prints signs that ASCII lacks.
SIGNS = ("explore", str(SPARK))
ENDLESS = """
from onceproof.model.language import Protocol, action, always, state, when


class Endless(Protocol):
    a = state(0, high=100_000)
    b = state(0, high=100_000)

    @action
    def one(self) -> None:
        when(self.a < 100_000)
        self.a = self.a + 1

    @action
    def other(self) -> None:
        when(self.b < 100_000)
        self.b = self.b + 1

    @always
    def fine(self) -> bool:
        "It is."
        return self.a >= 0
"""


def run(words, *, redirected="", environment=None, **options):
    """Run a command by a shell, which closes or redirects its streams."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirected}', "sh", *COMMAND, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **(environment or {})},
        timeout=120,
        check=False,
        **options,
    )


@pytest.mark.parametrize(
    ("redirected", "status", "sentence"),
    [
        (">&-", 2, "Error: stdout is closed"),
        (">/dev/full", 2, "Error: stdout cannot be written: No space left on device"),
        (">&- 2>&-", 2, ""),
        (">/dev/full 2>/dev/full", 2, ""),
        ("2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        ("<&-", 0, ""),
        ("<&- 2>&-", 0, ""),
    ],
)
def test_a_stream_that_is_closed_or_full_has_its_status(redirected, status, sentence):
    """An answer that nobody gets is no answer; without stderr it is one."""
    done = run(QUICK, redirected=redirected)

    assert done.returncode == status, done.stderr
    assert done.stderr.decode().startswith(sentence)
    assert len(done.stderr.splitlines()) == bool(sentence)
    assert bool(done.stdout) == (status == 0)


@pytest.mark.parametrize(
    "words", [QUICK, ("protocols",), SIGNS, (*SIGNS, "--json"), ("--help",)]
)
@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.grid)])
def test_a_reader_that_is_gone_ends_a_command_in_silence(words, unbuffered):
    """With 141, as SIGPIPE does: neither an answer, nor a counterexample."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)

    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        *(
            pytest.param(other, marks=pytest.mark.ci)
            for other in (
                {"PYTHONIOENCODING": "ascii:strict"},
                {"PYTHONIOENCODING": "latin-1"},
                {"LC_ALL": "POSIX"},
                {"LC_ALL": "nowhere"},
            )
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "words",
    [
        SIGNS,
        pytest.param(
            ("check", "micro-batch", "--property", "durable"), marks=pytest.mark.grid
        ),
    ],
)
def test_what_an_encoding_lacks_is_spelled_out(environment, words):
    """It is no reason to end."""
    done = run(words, environment=environment)

    assert done.returncode == 0, done.stderr
    assert b"Error" not in done.stderr


@pytest.fixture
def project(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "run.json").write_bytes(SPARK.read_bytes())
    return tmp_path


def few_bytes():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))


@pytest.mark.parametrize(
    "words",
    [
        ("explore", "run.json", "--html", "out/a.html"),
        ("export", "run.json", "--to", "pytest", "--output", "out"),
        ("export", "two-phase-commit", "--to", "tla", "--output", "out"),
        ("check", "micro-batch", "--set", "sink=append", "--output", "out"),
        ("guarantees", "--output", "out/sheet.html"),
        ("new", "order-intake", "--output", "out"),
    ],
    ids=lambda words: words[0],
)
def test_a_disk_that_is_full_leaves_nothing_half_written(project, words):
    """One sentence, status 2, and the files are as they were."""
    out = project / "out"
    out.mkdir()
    if words[0] == "check":
        # Compiled code is kept while it still fits.
        run(words[:-2], cwd=project)

    done = run(words, cwd=project, preexec_fn=few_bytes)

    assert done.returncode == 2, done
    assert done.stderr.decode().splitlines()[-1].endswith("File too large")
    assert b"Traceback" not in done.stderr
    assert list(out.iterdir()) == []


@pytest.fixture(scope="module")
def compiled():
    """Have the search compiled: no command below spends its time on that."""
    subprocess.run([*COMMAND, "check", "transaction-commit"], check=True, timeout=120)


@pytest.mark.parametrize(
    ("number", "ignored", "status"),
    [
        (signal.SIGINT, (), 130),
        (signal.SIGTERM, (), 143),
        pytest.param(signal.SIGHUP, (), 129, marks=pytest.mark.ci),
        pytest.param(signal.SIGTERM, (signal.SIGINT,), 143, marks=pytest.mark.ci),
        pytest.param(signal.SIGTERM, (signal.SIGHUP,), 143, marks=pytest.mark.ci),
    ],
)
@pytest.mark.usefixtures("compiled")
def test_a_signal_ends_a_search_with_its_number(project, number, ignored, status):
    """And in one line, whatever else is ignored."""

    def ignore():
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)

    search = subprocess.Popen(
        [*COMMAND, "check", "endless.py"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignore,  # noqa: PLW1509
    )
    searching(search.pid)

    search.send_signal(number)
    out, err = search.communicate(timeout=60)

    assert (search.returncode, out, err) == (status, b"", b"stopped\n")


SWALLOWS = """
import time

try:
    time.sleep(60)
except BaseException:
    raise ValueError("an import failed") from None
"""


@pytest.mark.parametrize("ignored", [(), (signal.SIGINT,)])
def test_a_signal_that_becomes_another_error_ends_a_command_all_the_same(
    tmp_path, ignored
):
    """What compiled modules raise when they are interrupted is no answer."""

    def ignore():
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)

    (tmp_path / "swallows.py").write_text(SWALLOWS)
    search = subprocess.Popen(
        [*COMMAND, "check", "swallows.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignore,  # noqa: PLW1509
    )
    searching(search.pid)

    search.send_signal(signal.SIGTERM)
    out, err = search.communicate(timeout=60)

    assert (search.returncode, out, err) == (143, b"", b"stopped\n")


TWICE = """
import os, signal, sys
import click
from onceproof.spark_checks.cli import main

say = click.echo

def echo(*words, **how):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    say(*words, **how)

click.echo = echo
sys.argv = ["onceproof", "check", "endless.py"]
main()
"""


@pytest.mark.usefixtures("compiled")
def test_a_signal_that_comes_again_changes_nothing(project):
    """As from timeout, which signals the process and then its group."""
    search = subprocess.Popen(
        [sys.executable, "-c", TWICE],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    searching(search.pid)

    search.send_signal(signal.SIGTERM)
    out, err = search.communicate(timeout=60)

    assert (search.returncode, out, err) == (143, b"", b"stopped\n")


IN_A_STRING = """
import sys
from onceproof.spark_checks.session.interruption import Signals

signals = Signals()
with signals.heeded():
    try:
        exec("import os, time; os.kill(os.getpid(), 15); time.sleep(60)")
    except KeyboardInterrupt:
        pass
sys.exit(signals.status)
"""


def test_a_signal_in_code_that_was_a_string_keeps_its_number(tmp_path):
    """Python would kill itself by SIGINT at its end, whatever status it was to have."""
    (tmp_path / "stopped_in_a_string.py").write_text(IN_A_STRING)

    done = subprocess.run(
        [sys.executable, "-m", "stopped_in_a_string"],
        cwd=tmp_path,
        timeout=60,
        check=False,
    )

    assert done.returncode == 143


IN_AN_IMPORT = """
import os
import sys
import time
from importlib.machinery import ExtensionFileLoader
from onceproof.spark_checks.session.interruption import Signals


class Swallowing(ExtensionFileLoader):
    def exec_module(self, module):
        try:
            os.kill(os.getpid(), 15)
            time.sleep(0.5)
        except BaseException:
            pass


signals = Signals()
with signals.heeded():
    try:
        Swallowing("compiled", "compiled.so").exec_module(None)
        time.sleep(60)
    except KeyboardInterrupt:
        sys.exit(signals.status)
"""


def test_a_signal_in_the_import_of_a_compiled_module_comes_after_it():
    """Such a module may swallow whatever is raised meanwhile."""
    done = subprocess.run([sys.executable, "-c", IN_AN_IMPORT], timeout=30, check=False)

    assert done.returncode == 143


def test_a_signal_ends_both_processes_of_guided_walks(project):
    """Else the first would wait for the second, which has long to go."""
    walks = subprocess.Popen(
        [*COMMAND, "check", "endless.py", "--simulate", "1000000000", "--guided"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    searching(walks.pid)
    children = Path(f"/proc/{walks.pid}/task/{walks.pid}/children")
    deadline = time.monotonic() + 60
    while not (other := children.read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.05)

    walks.send_signal(signal.SIGTERM)
    out, err = walks.communicate(timeout=60)

    assert (walks.returncode, out, err) == (143, b"", b"stopped\n")
    assert not any(Path(f"/proc/{process}").exists() for process in other)


def test_a_signal_that_is_ignored_stays_so(project):
    """A search that was started by nohup outlives its terminal."""
    search = subprocess.Popen(
        [*COMMAND, "check", "endless.py"],
        cwd=project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509
    )
    searching(search.pid)

    search.send_signal(signal.SIGHUP)
    time.sleep(1)
    alive = search.poll() is None
    search.terminate()

    assert alive
    assert search.wait(60) == 143


def searching(process: int) -> None:
    """Wait until a search has its own handler of SIGTERM."""
    status, deadline = Path(f"/proc/{process}/status"), time.monotonic() + 60
    if not status.exists():
        pytest.skip("looks into /proc")
    while not caught(status.read_text(), signal.SIGTERM):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)


def caught(status: str, number: int) -> bool:
    (mask,) = (line.split()[1] for line in status.splitlines() if "SigCgt" in line)
    return bool(int(mask, 16) >> (number - 1) & 1)
