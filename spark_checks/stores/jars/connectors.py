"""Which jars a store needs: ``jars.toml`` says it for each line of Spark."""

from __future__ import annotations

import functools
from pathlib import Path

from onceproof.model.files import read_toml
from onceproof.model.versions import MISSING, versions_of
from onceproof.spark_checks.stores.jars.maven import Jar

_TABLE = Path(__file__).with_name("jars.toml")


def connector(store: str) -> tuple[Jar, ...]:
    """Return the jars of a store's connector for the PySpark that is installed.

    None where there is no such connector: ``missing_connector`` says so.
    """
    return _table()[store].get(_spark(), ())


def connector_version(store: str) -> str:
    """Return the version of a store's connector; empty where there is none."""
    return next((jar.coordinate.split(":")[2] for jar in connector(store)), "")


def missing_connector(store: str) -> tuple[str, ...]:
    """Say, in a sentence, if the PySpark that is installed has no connector."""
    if connector(store):
        return ()
    spark = versions_of("pyspark")["pyspark"]
    if spark == MISSING:
        return ("PySpark is missing: pip install 'onceproof[spark]'",)
    lines = [line for line in _table()[store] if line[0].isdigit()]
    known = ", ".join(sorted(lines, key=lambda line: tuple(map(int, line.split(".")))))
    return (f"there is no {store} connector for PySpark {spark}: install {known}",)


def server_jars(store: str, server: str) -> tuple[Jar, ...]:
    """Return the jars of a store's server."""
    return _table()[store][server]


def _spark() -> str:
    """Return the line of the PySpark that is installed: ``4.1`` of ``4.1.4``."""
    return ".".join(versions_of("pyspark")["pyspark"].split(".")[:2])


@functools.cache
def _table() -> dict[str, dict[str, tuple[Jar, ...]]]:
    return {
        store: {
            line: tuple(Jar(coordinate, sha) for coordinate, sha in jars.items())
            for line, jars in lines.items()
        }
        for store, lines in read_toml(_TABLE).items()
    }
