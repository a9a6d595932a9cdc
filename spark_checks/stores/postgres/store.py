"""PostgreSQL: a server of the replay's own, or the user's by its URL.

Each interleaving has a schema of its own. It is the search path of the URL that a sink
is given, so a table that the sink creates by its bare name is made there.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from onceproof.spark_checks.stores.interface import (
    StoreError,
    missing_client,
    refuse_missing,
)
from onceproof.spark_checks.stores.jars import connectors, maven
from onceproof.spark_checks.stores.postgres import server as postgres_server
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS, SparkNeeds, own_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from onceproof.spark_checks.stores.postgres.server import Server

_SECONDS = 10
_START_SECONDS = 60
_PAUSE = 0.02
_SCHEMES = ("postgresql", "postgres")
# Only those that hold a lock on something in the schema: nobody else's.
_WHO_HOLDS = """
    FROM pg_locks l
    JOIN pg_class c ON c.oid = l.relation
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_END = f"""
    SELECT pg_terminate_backend(pid) FROM (
        SELECT DISTINCT l.pid {_WHO_HOLDS} AND l.pid IS NOT NULL
          AND l.pid <> pg_backend_pid()
    ) AS holders
"""
_PREPARED = f"""
    SELECT p.gid FROM pg_prepared_xacts p JOIN pg_locks own
      ON own.transactionid = p.transaction AND own.pid IS NULL
    WHERE p.database = current_database() AND own.virtualtransaction IN (
        SELECT l.virtualtransaction {_WHO_HOLDS} AND l.pid IS NULL
    )
"""


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server: one that is started for the replays, or your own by its URL.

    On a server of your own, only schemas that a replay has created are touched.
    """

    url: str = ""
    """The URL of a server of your own: ``postgresql://user:password@host:5432/name``.
    """
    jdbc: bool = field(default=False, kw_only=True, compare=False)
    """Whether Spark's session gets the driver's jar, for Spark's ``jdbc`` format."""

    def __post_init__(self) -> None:
        """Refuse what is no URL of PostgreSQL."""
        __tracebackhide__ = True
        scheme = urlsplit(self.url).scheme
        if self.url and scheme not in _SCHEMES:
            found = f"one that begins with {scheme}:" if scheme else "another text"
            message = (
                "Postgres() takes no URL, and starts a server then, or one such as "
                f"postgresql://user:password@host:5432/name, and not {found}"
            )
            raise StoreError(message)

    def __repr__(self) -> str:
        """Show everything but the password."""
        known = urlsplit(self.url).scheme in _SCHEMES
        shown = [repr(_without_password(self.url))] if known else []
        return f"Postgres({', '.join([*shown, *(['jdbc=True'] if self.jdbc else [])])})"

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return "postgres"

    @property
    def unbreakable(self) -> str:
        """Connections can be broken."""
        return ""

    def missing(self) -> tuple[str, ...]:
        """Say what to install: the client, and a server if one must be started."""
        client = missing_client("psycopg", "postgres")
        server = () if self.url else postgres_server.missing()
        driver = connectors.missing_connector(self.name) if self.jdbc else ()
        return (*client, *server, *driver)

    def version(self) -> str:
        """Name the version of the server that would be started; none of your own."""
        return "" if self.url else postgres_server.version()

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Need the driver's jar for Spark's JDBC, if it is wanted; else nothing."""
        del folder
        if not self.jdbc:
            return NO_NEEDS
        refuse_missing(self)
        wanted = connectors.connector(self.name)
        own = own_version([jar.coordinate for jar in wanted], settings)
        driver = f"JDBC driver {own or connectors.connector_version(self.name)}"
        version = ", ".join(filter(None, (self.version(), driver)))
        return SparkNeeds(() if own else maven.fetched(wanted), version=version)

    def start(self, folder: Path) -> RunningPostgres:
        """Start a server on a free port of loopback, or look whether yours answers."""
        if self.url:
            running = RunningPostgres(self.url, None)
            running.check()
            return running
        server = postgres_server.start(folder)
        running = RunningPostgres(server.url, server)
        try:
            running.wait()
        except BaseException:
            running.stop()
            raise
        return running


@dataclass(frozen=True)
class PostgresPlace:
    """A schema that one interleaving has to itself, and how to connect to it."""

    url: str
    """The URL for psycopg, SQLAlchemy and the like; its search path is the schema."""
    schema: str
    """The name of the schema."""

    @property
    def jdbc(self) -> str:
        """The URL for Spark's JDBC source and sink, without user and password."""
        parts = urlsplit(self.url)
        where = f"{_bare(parts.hostname)}:{parts.port or 5432}{parts.path}"
        return f"jdbc:postgresql://{where}?currentSchema={self.schema}"

    @property
    def options(self) -> dict[str, str]:
        """The options for Spark's ``jdbc`` format: URL, user, password and driver."""
        parts = urlsplit(self.url)
        return {
            "url": self.jdbc,
            "user": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
            "driver": "org.postgresql.Driver",
        }

    @property
    def allowed(self) -> tuple[str, ...]:
        """The addresses that Spark may write to for the sink."""
        return (self.jdbc,)

    def reader(
        self, schema: StructType | str, query: str
    ) -> Callable[[SparkSession], DataFrame]:
        """Return a reader of a query's rows, for the ``read`` of a sink.

        It connects as ``url`` says. The query's columns are those of the schema, in
        order.
        """

        def read(spark: SparkSession) -> DataFrame:
            import psycopg  # noqa: PLC0415 - an extra

            with psycopg.connect(self.url) as db:
                rows = db.execute(query.encode()).fetchall()
            return spark.createDataFrame(rows, schema)

        return read

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """The host and port of the server. Raises ``StoreError`` for several hosts."""
        parts = urlsplit(self.url)
        try:
            port = parts.port or 5432
        except ValueError:
            message = (
                "connections to a PostgreSQL server of several hosts cannot be broken: "
                "name one host in the URL"
            )
            raise StoreError(message) from None
        return ((parts.hostname or "localhost", port),)

    @property
    def framing(self) -> None:
        """Bytes are passed on as they are: clients wait for each reply."""
        return

    @property
    def hadoop(self) -> None:
        """No file system of Hadoop's reaches it."""
        return

    def sent_for(self, request: bytes) -> None:  # noqa: ARG002
        """A request does not say for which thread it is sent."""
        return

    def through(self, port: int) -> PostgresPlace:
        """Return the same place, reached through a port of 127.0.0.1.

        A client that verifies the name in the server's certificate still sees the name.
        """
        parts = urlsplit(self.url)
        user, at, _ = parts.netloc.rpartition("@")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        host = "127.0.0.1"
        if query.get("sslmode") == "verify-full":
            host = _bare(parts.hostname)
            query["hostaddr"] = "127.0.0.1"
        moved = parts._replace(
            netloc=f"{user}{at}{host}:{port}", query=urlencode(query, quote_via=quote)
        )
        return replace(self, url=moved.geturl())


class RunningPostgres:
    """A server that answers, and the schemas that were created on it."""

    def __init__(self, url: str, server: Server | None) -> None:
        """Use the server at ``url``; end ``server`` at the end, if one was started."""
        self._url = url
        self._server = server

    @property
    def process(self) -> int | None:
        """The id of the server's process, if it was started here."""
        return None if self._server is None else self._server.process

    def check(self) -> None:
        """Raise ``StoreError`` if the server does not answer."""
        with self._connected() as db:
            db.execute("SELECT 1")

    def wait(self) -> None:
        """Wait until the server serves: its port is open while it still starts."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                return self.check()
            except StoreError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE)

    def place(self, name: str) -> PostgresPlace:
        """Create a schema."""
        with self._connected() as db:
            db.execute(f"CREATE SCHEMA {_quoted(name)}")
        return PostgresPlace(_with_search_path(self._url, name), name)

    def drop(self, place: PostgresPlace) -> None:
        """Drop a schema; end the sessions and prepared transactions that lock it."""
        with self._connected() as db:
            db.execute(_END, (place.schema,))
            for (gid,) in db.execute(_PREPARED, (place.schema,)).fetchall():
                db.execute(f"ROLLBACK PREPARED {_literal(gid)}")
            db.execute(f"SET lock_timeout = '{_SECONDS}s'")
            db.execute(f"DROP SCHEMA IF EXISTS {_quoted(place.schema)} CASCADE")

    def stop(self) -> None:
        """End the server, if it was started here."""
        if self._server is not None:
            self._server.stop()

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Connect; each statement is a transaction of its own."""
        import psycopg  # noqa: PLC0415 - an extra

        try:
            with psycopg.connect(
                self._url, autocommit=True, connect_timeout=_SECONDS
            ) as db:
                yield db
        except psycopg.Error as error:
            where = _without_password(self._url)
            first = str(error).strip().partition("\n")[0]
            message = f"the PostgreSQL server at {where} does not serve: {first}"
            raise StoreError(message) from None


def _with_search_path(url: str, schema: str) -> str:
    """Add a search path to what a URL sets already."""
    parts = urlsplit(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    before = [value for key, value in given if key == "options"]
    options = " ".join([*before, f"-csearch_path={schema}"])
    kept = [(key, value) for key, value in given if key != "options"]
    query = urlencode([*kept, ("options", options)], quote_via=quote)
    return parts._replace(query=query).geturl()


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    where = f"{_bare(parts.hostname)}:{parts.port}" if parts.port else parts.hostname
    return f"{parts.scheme}://{where}{parts.path}"


def _bare(host: str | None) -> str:
    return f"[{host}]" if host and ":" in host else host or "localhost"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _literal(text: str) -> str:
    doubled = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{doubled}'"
