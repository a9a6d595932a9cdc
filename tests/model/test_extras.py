"""A missing module is named with what installs it."""

from __future__ import annotations

import pytest

from onceproof.model.extras import what_to_install


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("psycopg.nothing_of_that_name", "which psycopg 3"),
        ("confluent_kafka_of_old", "which is not installed: pip install confluent_"),
    ],
)
def test_the_sentence_says_what_to_install(module, sentence):
    error = ModuleNotFoundError(f"No module named {module!r}", name=module)

    assert sentence in what_to_install(error)


def test_a_module_that_an_installed_package_lacks_needs_another_version(monkeypatch):
    error = ModuleNotFoundError("", name="pyspark.sql.nothing_of_that_name")

    assert what_to_install(error).startswith(
        "this needs pyspark.sql.nothing_of_that_name, which pyspark "
    )

    monkeypatch.setattr("onceproof.model.extras.find_spec", lambda _: None)

    assert "the extra 'spark' installs" in what_to_install(error)
