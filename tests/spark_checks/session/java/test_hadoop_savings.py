"""Hadoop does less work in a warm session, and what it leaves is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from onceproof.spark_checks.session.java import hadoop_savings
from onceproof.spark_checks.session.java.compiled import compiled
from onceproof.spark_checks.session.spark_internals import (
    gateway,
    hadoop_configuration,
)

pytestmark = pytest.mark.spark

HADOOP = "org.apache.hadoop"
SOURCE = "LocalFiles.java"


class Hadoop:
    """The JVM of a session, its configuration, and two kinds of local files."""

    def __init__(self, spark):
        self.configuration = hadoop_configuration(spark)
        self.jvm = spark._jvm
        root = self.java("java.net.URI").create("file:///")
        files = self.java(f"{HADOOP}.fs.FileSystem")
        self.of_session = files.get(root, self.configuration)
        self.of_hadoop = self.java(f"{HADOOP}.fs.RawLocalFileSystem")()
        self.of_hadoop.initialize(root, self.configuration)

    def java(self, name):
        return getattr(self.jvm, name)

    def array(self, name, *values):
        made = gateway().new_array(self.java(name), len(values))
        for i, value in enumerate(values):
            made[i] = value
        return made

    def path(self, place):
        return self.java(f"{HADOOP}.fs.Path")(str(place))

    def mode(self, bits):
        return self.java(f"{HADOOP}.fs.permission.FsPermission")(bits)


@pytest.fixture(scope="module")
def hadoop(pool):
    """Return Hadoop in a warm session."""
    with pool.session(attempts=2, partitions=2) as session:
        yield Hadoop(session.spark)


def mode_of(place):
    return Path(place).stat().st_mode & 0o7777


def test_this_process_sets_the_modes(hadoop):
    """Else each file would cost a process again, and nothing would show it."""
    raw = hadoop.of_session.getRaw()

    assert raw.getClass().getName() == "LocalFiles"
    assert raw.getConf() is not None


@pytest.mark.parametrize("bits", ["644", "600", "000", "777", "1740"])
@pytest.mark.parametrize("folder", [True, False])
def test_modes_are_those_of_hadoop(hadoop, tmp_path, bits, folder):
    """Of files and folders, through a link, and with the sticky bit."""
    places = [tmp_path / "by session", tmp_path / "by hadoop"]
    for files, place in zip((hadoop.of_session, hadoop.of_hadoop), places, strict=True):
        place.mkdir() if folder else place.touch()
        link = place.with_name(f"link to {place.name}")
        link.symlink_to(place)
        files.setPermission(hadoop.path(link), hadoop.mode(bits))

    assert [mode_of(place) for place in places] == [int(bits, 8)] * 2
    for place in places:
        place.chmod(0o700)


def test_what_is_created_has_the_modes_of_hadoop(hadoop, tmp_path):
    """A file, its checksum, and the folders above it."""
    for files, name in (hadoop.of_session, "mine"), (hadoop.of_hadoop, "hadoop"):
        made = files.create(hadoop.path(tmp_path / name / "in" / "file"))
        made.writeUTF("text")
        made.close()

    below = [sorted((tmp_path / name).rglob("*")) for name in ("mine", "hadoop")]
    mine, hadoops = ([(p.name, mode_of(p)) for p in paths] for paths in below)
    assert [found for found in mine if found[0] != ".file.crc"] == hadoops
    assert (".file.crc", mode_of(tmp_path / "hadoop/in/file")) in mine


def test_a_mode_of_what_is_not_there_fails(hadoop, tmp_path):
    """As it does in Hadoop."""
    for files in (hadoop.of_session, hadoop.of_hadoop):
        with pytest.raises(Py4JJavaError) as failed:
            files.setPermission(hadoop.path(tmp_path / "none"), hadoop.mode("644"))
        exception = hadoop.java("java.lang.Class").forName("java.io.IOException")
        assert exception.isInstance(failed.value.java_exception)


@pytest.mark.parametrize("bits", ["755", "1700"])
def test_a_folder_keeps_the_bits_of_its_group_and_owner(hadoop, tmp_path, bits):
    """Then what is created below it has its group; a file loses them."""
    places = []
    for files, name in (hadoop.of_session, "mine"), (hadoop.of_hadoop, "hadoop"):
        folder, file = tmp_path / name, tmp_path / f"{name} file"
        folder.mkdir()
        file.touch()
        for place in folder, file:
            place.chmod(0o6775)
            files.setPermission(hadoop.path(place), hadoop.mode(bits))
        places.append((mode_of(folder), mode_of(file)))

    assert places == [(0o6000 | int(bits, 8), int(bits, 8))] * 2


def test_local_files_of_another_kind_stay(hadoop):
    """A user's own, for example; here they are of another class of that name."""
    before = hadoop.of_session.getRaw()
    other = compiled(hadoop.jvm, Path(hadoop_savings.__file__).with_name(SOURCE))
    kind = hadoop.configuration.getClass()
    # py4j takes a class for another one of the same name.
    kinds = hadoop.array("java.lang.Class", kind)
    install = other.getClass().getMethod("install", kinds)

    done = install.invoke(other, hadoop.array("java.lang.Object", hadoop.configuration))

    assert done is False
    assert hadoop.of_session.getRaw().equals(before)


def test_settings_reach_a_task_without_their_origins(hadoop):
    """Each has the value that it has in the driver."""
    kind = hadoop.java(f"{HADOOP}.conf.Configuration")
    out = hadoop.java(f"{HADOOP}.io.DataOutputBuffer")()
    hadoop.configuration.write(out)
    given = hadoop.java(f"{HADOOP}.io.DataInputBuffer")()
    given.reset(out.getData(), out.getLength())
    sent = kind(False)
    sent.readFields(given)

    def settings(configuration):
        found = configuration.iterator()
        while found.hasNext():
            entry = found.next()
            yield entry.getKey(), entry.getValue()

    assert dict(settings(sent)) == dict(settings(hadoop.configuration))
    assert len(dict(settings(sent))) > 300
    kind = hadoop.java("java.lang.Class").forName(f"{HADOOP}.conf.Configuration")
    origins = kind.getDeclaredField("updatingResource")
    origins.setAccessible(True)
    assert len(origins.get(hadoop.configuration)) < 10, "those that Spark set since"
