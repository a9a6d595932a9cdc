"""Archives on the path are read again once they have changed, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import importlib, importlib.util, os, sys, time, zipfile, zipimport
from onceproof.spark_checks.engine.state_table import function_of
from onceproof.spark_checks.engine.zip_archives import keep_unchanged_archives

archive = os.path.join(sys.argv[1], "library.zip")

def write(*names):
    with zipfile.ZipFile(archive, "w") as made:
        for name in names:
            made.writestr(f"{name}.py", f"text = {name!r}")

def reads():
    before = len(read)
    importlib.invalidate_caches()
    return len(read) - before

def is_there(name):
    return importlib.util.find_spec(name) is not None

write("one", "unused")
time.sleep(2.1)
sys.path.insert(0, archive)
import one
read, plain = [], zipimport._read_directory
zipimport._read_directory = lambda place: read.append(place) or plain(place)
"""
KEPT = """
list(function_of([], 1))
patched = zipimport.zipimporter.invalidate_caches
keep_unchanged_archives()
assert zipimport.zipimporter.invalidate_caches is patched
assert reads() == 1, "what was known before is relied on"
"""
UNCHANGED = """
assert reads() == reads() == 0, "it was read again, and had not changed"
"""
CHANGED = """
write("two", "unused")
assert reads() == 1 and is_there("two")
assert reads() == 1, "it is too new for its clock to tell"
# Of the same size, and within the same tick.
write("six", "unused")
assert reads() == 1 and is_there("six") and not is_there("two")
"""
NOT_READ = """
def fails(place):
    raise zipimport.ZipImportError

noted, zipimport._read_directory = zipimport._read_directory, fails
os.utime(archive)
time.sleep(2.1)
importlib.invalidate_caches()
assert not is_there("unused")
zipimport._read_directory = noted
assert reads() == 1 and is_there("unused")
"""
REMOVED = """
assert is_there("unused")
os.remove(archive)
importlib.invalidate_caches()
assert not is_there("unused")
"""
EAGER = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="Python reads them late itself"
)


def run(program, folder):
    """Run a program in a process of its own, for it changes Python's own parts."""
    return subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )


@EAGER
@pytest.mark.parametrize(
    "then", [UNCHANGED, CHANGED, NOT_READ, REMOVED], ids=["same", "new", "bad", "gone"]
)
def test_an_archive_is_read_again_only_once_it_has_changed(then, tmp_path):
    done = run(BEGIN + KEPT + then, tmp_path)

    assert done.returncode == 0, done.stderr


@EAGER
def test_python_reads_archives_again_by_itself(tmp_path):
    """Else there would be no need for it."""
    done = run(BEGIN + UNCHANGED, tmp_path)

    assert "it was read again" in done.stderr
