"""What ``code=`` names must be there, and is no code of Python's or Spark's."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.sinks.user_sink import own_sink


def build(target):
    return target


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("no_such_package", "a path has a '/' in it, such as ./no_such_package"),
        ("-no_such_package", "no such package can be imported"),
        ("my-package", "give the name that is imported"),
        ("./gone", "there is no such path"),
        ("-src/gone.py", "there is no such path"),
        ("pyspark.sql", "no faults are injected at lines of Python or Spark"),
        ("onceproof", "no faults are injected at lines of Python or Spark"),
        ("sqlite3", "no faults are injected at lines of Python or Spark"),
        ("", "which is no package"),
        ("-", "which is no package"),
    ],
)
def test_a_word_that_names_nothing_is_refused(tmp_path, word, message):
    """A word that is mistyped would leave code without faults, or inject too many."""
    with pytest.raises(UsageError) as refused:
        own_sink(build, tmp_path, named=[word])

    assert message in str(refused.value)
    assert "code=" in str(refused.value)


def test_paths_are_seen_from_the_root(tmp_path):
    """And names stay as they are."""
    (tmp_path / "src" / "vendor").mkdir(parents=True)
    (tmp_path / "one.py").touch()
    words = ["numpy", "-numpy.linalg", "src/vendor", "-./src", "one.py"]

    sink = own_sink(build, tmp_path, named=words)

    assert sink.named == (
        "numpy",
        "-numpy.linalg",
        str(tmp_path / "src" / "vendor"),
        f"-{tmp_path / 'src'}",
        str(tmp_path / "one.py"),
    )
