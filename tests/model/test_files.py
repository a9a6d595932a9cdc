"""Files are written whole or not at all, and what is read has one meaning or none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.model import files
from onceproof.model.errors import UsageError
from onceproof.model.files import read_json, read_text, read_toml, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    """What is there is replaced at once, and may be read by those who could before."""
    path = tmp_path / "a.json"
    path.write_text("old")
    path.chmod(0o640)

    write_whole(path, "new")

    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a.json"]


def test_a_new_file_has_the_permissions_that_the_user_chose(tmp_path):
    """It is no secret, as temporary files are."""
    umask = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "new")
    finally:
        os.umask(umask)

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_is_replaced_and_not_written_through(tmp_path):
    """What it leads to stays as it is."""
    other = tmp_path / "other"
    other.write_text("theirs")
    (tmp_path / "link").symlink_to(other)

    write_whole(tmp_path / "link", "ours")

    assert other.read_text() == "theirs"
    assert (tmp_path / "link").read_text() == "ours"
    assert not (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left")])
@pytest.mark.parametrize("call", ["fsync", "fdopen"])
def test_an_interrupted_write_leaves_the_old_file_alone(
    tmp_path, monkeypatch, error, call
):
    """And no draft beside it."""
    path = tmp_path / "a"
    path.write_text("old")

    def fail(*_):
        raise error

    monkeypatch.setattr(files.os, call, fail)
    with pytest.raises((KeyboardInterrupt, UsageError)):
        write_whole(path, "new")

    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    """A file that may not grow stands for one: one sentence, no draft, the old file."""
    path = tmp_path / "a"
    path.write_text("old")
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from onceproof.model.files import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "write_whole(Path(sys.argv[1]), 'x' * 1_000_000)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr.splitlines()[-1].endswith("a cannot be written: File too large")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_full_device_is_told_in_a_sentence():
    """A device is written to as it is."""
    with pytest.raises(UsageError, match="/dev/full cannot be written: No space left"):
        write_whole(Path("/dev/full"), "text")


@pytest.mark.parametrize("place", ["", "gone/a", "file/a"])
def test_what_cannot_be_written_is_told_with_its_path(tmp_path, place):
    """A folder, a folder that is not there, a file in place of a folder."""
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be written"):
        write_whole(tmp_path / place, "text")

    assert names(tmp_path) == ["file"]


def test_text_that_utf8_has_not_is_spelled_out(tmp_path):
    """Half a surrogate pair comes from JSON."""
    write_whole(tmp_path / "a", "x\ud800y")

    assert (tmp_path / "a").read_bytes() == rb"x\ud800y"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, column 1: Expecting value"),
        (b"{", "line 1, column 2"),
        (b'{"a": 1,\n "a": 2}', "it gives 'a' twice in one object"),
        (b'{"b": {"a": 1, "a": 1}}', "it gives 'a' twice"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": -Infinity}', "-Infinity is no number"),
        (b'{"a": 1e999}', "the number 1e999 is too large"),
        (b'{"a": 9223372036854775808}', "is too large"),
        (b'{"a": ' + b"9" * 100_000 + b"}", "is too large"),
        (b"[" * 200_000, "it is nested too deeply"),
        (b'{"a":' * 200_000, "it is nested too deeply"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark"),
        (b'{"a": "\xff"}', "is not UTF-8 text: byte 8 is damaged"),
        ("{}".encode("utf-16"), "is not UTF-8 text: byte 1"),
        (b'{"a": "\x1b"}', "Invalid control character"),
        (b"\x00", "line 1, column 1"),
    ],
)
def test_json_with_no_single_meaning_is_refused(tmp_path, data, message):
    """With its place, in one sentence."""
    path = tmp_path / "a.json"
    path.write_bytes(data)

    with pytest.raises(UsageError) as refused:
        read_json(path, "counterexample file")

    assert message in str(refused.value)
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < len(str(path)) + 200


@pytest.mark.parametrize("text", ["[]", '{"a": [1, 2.5, true, null, "b"]}', "-9"])
def test_json_is_read(tmp_path, text):
    """As any reader would."""
    path = tmp_path / "a.json"
    path.write_text(text)

    assert read_json(path, "x") in ([], {"a": [1, 2.5, True, None, "b"]}, -9)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a = " + b"[" * 100_000, "it is nested too deeply"),
        (b"a = 1\na = 2", "Cannot overwrite a value"),
        (b"a = " + b"9" * 5_000, "limit"),
        (b"\xff", "is not UTF-8 text"),
    ],
)
def test_toml_that_cannot_be_read_is_refused(tmp_path, data, message):
    """With its place, in one sentence."""
    path = tmp_path / "a.toml"
    path.write_bytes(data)

    with pytest.raises(UsageError, match=r"a\.toml") as refused:
        read_toml(path)

    assert message in str(refused.value)


def test_an_endless_or_large_file_is_refused(tmp_path):
    """No more of it is read than would be taken."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(100_000_000)

    for one in (path, Path("/dev/zero")):
        with pytest.raises(UsageError, match="is larger than 67,108,864 bytes"):
            read_text(one)


@pytest.mark.parametrize("place", ["", "gone", "file/x", "a\0b", "x" * 300])
def test_what_cannot_be_read_is_told_with_its_path(tmp_path, place):
    """A folder, a file that is not there, names that no file has."""
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be read"):
        read_text(tmp_path / place)
