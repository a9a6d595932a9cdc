"""Packages whose inside has no faults injected, and what they are.

What a user's code calls of these is the environment that a sink is judged in: drivers,
table formats, data frames, clients, and what tests are run with. A fault before or
after such a call is injected at the line of the caller. Every other package that is
called is followed, unless ``code=`` says otherwise.
"""

from __future__ import annotations

DRIVER = "a database driver"
FORMAT = "a table format"
FRAMES = "a data library"
BROKER = "a broker's client"
CLOUD = "a storage client"
WEB = "a network client"
TESTS = "a test tool"
PLUMBING = "a utility library"

_NAMED = {
    DRIVER: """
        adbc_driver_manager aiosqlite asyncpg bson cassandra clickhouse_connect
        clickhouse_driver databricks duckdb elasticsearch MySQLdb mysql oracledb pg8000
        pgserver psycopg psycopg2 psycopg_binary psycopg_c psycopg_pool pymongo pymssql
        pymysql pyodbc redis snowflake sqlalchemy sqlite_utils trino
    """,
    FORMAT: "avro delta deltalake fastavro hudi lance pyiceberg pypaimon",
    FRAMES: "cudf dask ibis numpy pandas polars pyarrow scipy",
    BROKER: "aiokafka confluent_kafka kafka nats pika pulsar",
    CLOUD: """
        adlfs aiobotocore azure boto3 botocore fsspec gcsfs google.api_core google.auth
        google.cloud minio obstore s3fs s3transfer
    """,
    WEB: """
        aiohttp grpc h11 httpcore httpx requests urllib3 websockets anyio paramiko
    """,
    TESTS: """
        _pydev_bundle _pydevd_bundle _pytest coverage debugpy execnet hypothesis
        mock moto pluggy pydevd pytest testcontainers xdist
    """,
    PLUMBING: """
        _distutils_hack attr attrs certifi charset_normalizer click cloudpickle dateutil
        dill google.protobuf greenlet idna jinja2 loguru markupsafe msgpack
        opentelemetry orjson packaging pip pkg_resources prometheus_client pydantic
        pydantic_core pytz
        rich sentry_sdk setuptools simplejson six sortedcontainers structlog tenacity
        tqdm typing_extensions tzdata tzlocal wrapt yaml
    """,
}
NAMED = {name: what for what, names in _NAMED.items() for name in names.split()}


def named(dotted: str) -> tuple[str, str]:
    """Return the package of the table that a module is in, and what that is."""
    name = dotted
    while name:
        if name in NAMED:
            return name, NAMED[name]
        name = name.rpartition(".")[0]
    return "", ""
