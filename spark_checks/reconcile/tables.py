"""Where a source or a sink is: any table, path, topic or query that Spark can read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from uuid import uuid4

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.failures.redaction import redacted, redacted_setting
from onceproof.spark_checks.own_session import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

TABLE, JDBC, KAFKA = "table", "jdbc", "kafka"
_ENDINGS = {"csv": "csv", "json": "json", "jsonl": "json", "orc": "orc"}
_ENDINGS |= {"parquet": "parquet"}
_LEAVES_OUT = {
    "mode": "dropmalformed",
    "ignorecorruptfiles": "true",
    "ignoremissingfiles": "true",
    "failondataloss": "false",
}
# A row that is not readable would be a row of nulls.
_USUAL = {kind: {"mode": "FAILFAST"} for kind in ("csv", "json", "xml")}
_DRIVERS = {
    "db2": "com.ibm.db2.jcc.DB2Driver",
    "duckdb": "org.duckdb.DuckDBDriver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "oracle": "oracle.jdbc.OracleDriver",
    "postgresql": "org.postgresql.Driver",
    "snowflake": "net.snowflake.client.jdbc.SnowflakeDriver",
    "sqlite": "org.sqlite.JDBC",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
}
"""The class that reads a database, by what follows ``jdbc:``.

Java does not find it by itself in a jar that Spark has fetched.
"""


@dataclass(frozen=True)
class TablePlace:
    """A table in Spark's terms: a format, a place, options, and a query over it."""

    name: str
    """What messages call it: ``source`` or ``sink``; the query's table, too."""
    format: str
    """A format of Spark's reader, or ``table`` for one of the catalog."""
    where: str
    """The path, the table's name, the JDBC address, or the topic's address."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options of Spark's reader."""
    query: str = ""
    """A query that gives the rows, from a table that is called as ``name`` says."""

    def __str__(self) -> str:
        """Return it as it is given, without passwords."""
        prefix = "" if self.format == JDBC else f"{self.format}:"
        return redacted(f"{prefix}{self.where}")

    @property
    def described(self) -> str:
        """Return it with its options and its query, without passwords."""
        parts = [str(self), *(redacted_setting(*one) for one in self.options.items())]
        if self.query:
            parts.append(redacted(self.query))
        return "; ".join(parts)

    def same_as(self, other: TablePlace) -> bool:
        """Return whether the other gives the same rows, whatever is in them."""
        return replace(self, name=other.name) == other

    def read(self, spark: SparkSession) -> DataFrame:
        """Return its rows, not read yet; files are listed now.

        Raises ``UsageError``.
        """
        with sentences(f"the {self.name} {self} cannot be read"):
            return self._rows(spark)

    @property
    def _driver(self) -> dict[str, str]:
        database = self.where.split(":")[1] if self.format == JDBC else ""
        known = _DRIVERS.get(database)
        return {"driver": known} if known else {}

    def _rows(self, spark: SparkSession) -> DataFrame:
        usual = {**_USUAL.get(self.format, {}), **self._driver}
        named = {name.lower() for name in self.options}
        options = {k: v for k, v in usual.items() if k.lower() not in named}
        reader = spark.read.format(self.format).options(**options, **self.options)
        if self.format == TABLE:
            rows = spark.read.options(**self.options).table(self.where)
        elif self.format == JDBC:
            rows = reader.option("url", self.where).load()
        elif self.format == KAFKA:
            servers, _, topic = self.where.rpartition("/")
            rows = reader.options(**_whole_topic(servers, topic, self.options)).load()
        else:
            rows = reader.load(self.where)
        if not self.query:
            return rows
        # A view of its plain name would hide a table, and reach the other's query.
        view = f"onceproof_{self.name}_{uuid4().hex}"
        rows.createOrReplaceTempView(view)
        given = self.query.strip().rstrip(";")
        its_name = f"WITH {self.name} AS (TABLE {view})"
        return spark.sql(f"{its_name} SELECT * FROM ({given}\n)")  # noqa: S608 - the user's


def _whole_topic(servers: str, topic: str, given: Mapping[str, str]) -> dict[str, str]:
    usual = {
        "startingOffsets": "earliest",
        "endingOffsets": "latest",
        # A reader's own default shows what a transaction aborted.
        "kafka.isolation.level": "read_committed",
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
    }
    named = {name.lower() for name in given}
    return {k: v for k, v in usual.items() if k.lower() not in named} | dict(given)


def place_of(
    name: str, text: str, options: Mapping[str, str] | None = None, query: str = ""
) -> TablePlace:
    """Read ``FORMAT:PATH``, ``table:NAME``, ``jdbc:...``, or a path whose ending tells.

    Raises ``UsageError`` where the format cannot be told.
    """
    given = dict(options or {})
    kind, sign, rest = text.partition(":")
    if kind == JDBC:
        place = TablePlace(name, JDBC, text, given, query)
    elif sign and rest and kind.replace("-", "").isalnum() and "//" not in rest[:2]:
        place = TablePlace(name, kind, rest, given, query)
    else:
        ending = PurePosixPath(text).suffix.lstrip(".").lower()
        if ending not in _ENDINGS:
            message = (
                f"the format of the {name} {redacted(text)} is not known: name it, as "
                f"in --{name} parquet:{redacted(text)}, or --{name} table:NAME"
            )
            raise UsageError(message)
        place = TablePlace(name, _ENDINGS[ending], text, given, query)
    for option, value in given.items():
        if _LEAVES_OUT.get(option.lower()) == value.lower():
            message = (
                f"--{name}-option {option}={value} leaves out rows that cannot be "
                "read, and what is left out is not judged; leave out the option"
            )
            raise UsageError(message)
    if place.format == JDBC and not {"dbtable", "query"} & {o.lower() for o in given}:
        message = f"which table? add --{name}-option dbtable=NAME"
        raise UsageError(message)
    if place.format == KAFKA and "/" not in place.where:
        message = f"which topic? write --{name} kafka:HOST:PORT/TOPIC"
        raise UsageError(message)
    return place
