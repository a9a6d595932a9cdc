"""The guard sees what a path is relative to, and ends who leaves what is his own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from onceproof.spark_checks.plan.rules import EXIT_CODE

CODE = """
import os, shutil, sys
from pathlib import Path
from onceproof.spark_checks.inject import sandbox
from onceproof.spark_checks.plan.rules import RuleSet

own, other = map(Path, sys.argv[1:3])
marks = own / "run" / "marks"
marks.mkdir(parents=True)
words = dict(allowed=(str(own),), code=sys.argv[3:], sink="shop.py::shop")
sandbox.install([RuleSet((), str(marks), "run", **words)])
{act}
"""


SOCKET = "import socket; socket.socket(socket.AF_UNIX)"


@pytest.mark.parametrize(
    ("act", "status"),
    [
        ("shutil.rmtree(own / 'table')", 0),
        (
            "f = os.open(own / 'table', 0); os.rename('day', 'x', src_dir_fd=f)",
            EXIT_CODE,
        ),
        ("f = os.open(own / 'table', 0); os.mkdir('x', dir_fd=f)", 0),
        ("shutil.rmtree(other / 'table')", EXIT_CODE),
        ("os.rmdir('day', dir_fd=os.open(other / 'table', 0))", EXIT_CODE),
        ("os.chdir(other); os.mkdir('more')", EXIT_CODE),
        (f"{SOCKET}.connect(str(other / 'server'))", EXIT_CODE),
        (f"{SOCKET}.connect('\\0nobody' + str(os.getpid()))", 1),
    ],
)
def test_what_is_relative_to_an_open_folder_lies_in_it(tmp_path, act, status):
    """A folder of the sink's own can be removed whole, and another not at all."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        (folder / "table" / "day").mkdir(parents=True)

    done = subprocess.run(
        [sys.executable, "-c", CODE.format(act=act), str(own), str(other)], check=False
    )

    refused = [file.read_text() for file in (own / "run" / "marks").iterdir()]
    assert done.returncode == status
    assert len(refused) == (status == EXIT_CODE)
    for message in refused:
        assert message.startswith("shop writes to ")
    assert (other / "table" / "day").is_dir()


CALLING = """\
import json

def helper(path, rows):
    path.write_text(json.dumps(rows))

def write(path):
    helper(path, [1])
"""


def test_a_refusal_names_the_line_of_the_users_code(tmp_path):
    """Not the line of Python's own that opens the file for it."""
    own, other, code = (tmp_path / name for name in ("own", "other", "code"))
    for folder in (own, other, code):
        folder.mkdir()
    (code / "shop.py").write_text(CALLING)
    act = "sys.path.append(sys.argv[3]); import shop; shop.write(other / 'x.json')"
    words = [CODE.format(act=act), str(own), str(other), str(code)]

    subprocess.run([sys.executable, "-c", *words], check=False)

    [refused] = (own / "run" / "marks").iterdir()
    assert refused.read_text() == (
        f"shop writes to {other / 'x.json'} in line 4 of shop.py, helper(), which is "
        f'none of the sink\'s own places; help: if it may, give allow="{other}", in '
        "the marker or in the call of the fixture"
    )
