"""S3: a server of the replay's own, or the user's by its endpoint.

Each interleaving has a prefix of its own in one bucket: Spark's connections to a bucket
are made once then, and serve all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from onceproof.model.versions import MISSING, versions_of
from onceproof.spark_checks.stores.interface import StoreError, missing_client
from onceproof.spark_checks.stores.jars.connectors import connector
from onceproof.spark_checks.stores.jars.maven import fetched
from onceproof.spark_checks.stores.s3 import server
from onceproof.spark_checks.stores.s3.place import S3Place
from onceproof.spark_checks.stores.spark_needs import SparkNeeds, own_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from onceproof.spark_checks.stores.s3.server import S3Server

_BUCKET = "onceproof"
_KEY = "onceproof"
_ENDPOINT = "endpoint"
_SECONDS = 10
_S3A = "spark.hadoop.fs.s3a"
_S3A_JAR = "org.apache.hadoop:hadoop-aws:3"
_CLOUD_JAR = "org.apache.spark:spark-hadoop-cloud_2.13:4"
_CLOUD = "org.apache.spark.internal.io.cloud"
# With these, the committer is the one that fs.s3a.committer.name says.
_COMMITTERS = (
    ("spark.sql.sources.commitProtocolClass", f"{_CLOUD}.PathOutputCommitProtocol"),
    (
        "spark.sql.parquet.output.committer.class",
        f"{_CLOUD}.BindingParquetOutputCommitter",
    ),
)


@dataclass(frozen=True)
class S3:
    """A bucket of S3: on a server that is started for the replays, or one of your own.

    In a bucket of your own, only objects are touched whose keys begin with the prefix
    of a run.
    """

    endpoint: str = ""
    """The URL of a server of your own: ``http://host:9000``."""
    bucket: str = ""
    """The name of a bucket there, which must exist."""
    access_key: str = field(default="", repr=False)
    """The access key for it."""
    secret_key: str = field(default="", repr=False)
    """The secret key for it."""
    region: str = "us-east-1"
    """The region of the server."""

    def __post_init__(self) -> None:
        """Refuse what names no endpoint with a bucket and its keys."""
        __tracebackhide__ = True
        named = (self.endpoint, self.bucket, self.access_key, self.secret_key)
        parts = urlsplit(self.endpoint)
        whole = all(named) and parts.scheme in ("http", "https") and parts.hostname
        if any(named) and not whole:
            message = (
                "S3() takes nothing, and starts a server then, or an endpoint, a "
                "bucket and keys: S3('http://host:9000', bucket='tests', "
                "access_key='...', secret_key='...')"
            )
            raise StoreError(message)

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return "s3"

    @property
    def unbreakable(self) -> str:
        """Why connections cannot be broken: a certificate names the server."""
        if self.endpoint.startswith("https:"):
            return (
                "a client verifies that the certificate names the host it connects to, "
                "and that would be a proxy on this machine"
            )
        return ""

    @property
    def one_at_a_time(self) -> bool:
        """Whether runs share a bucket, and with it the file system of S3A."""
        return bool(self.endpoint)

    def missing(self) -> tuple[str, ...]:
        """Say what to install: the client, and the server, if one must be started."""
        return missing_client("boto3", "s3") or (
            () if self.endpoint else server.missing()
        )

    def version(self) -> str:
        """Name the server that would be started, and its version; none of your own."""
        found = MISSING if self.endpoint else versions_of("moto")["moto"]
        return "" if found == MISSING else f"moto {found}"

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Need Hadoop's S3A, where there is one for this version of Spark, or yours.

        Settings for the endpoint are those of the bucket alone: what the session does
        with other buckets stays as it is.
        """
        jars, own = connector(self.name), own_version([_S3A_JAR], settings)
        if not (jars or own):
            return SparkNeeds()
        place = self._place(folder, "")
        wanted = (
            (f"{_S3A}.buffer.dir", str(folder / "buffer")),
            (f"{_S3A}.committer.staging.tmp.path", f"file:{folder / 'staging'}"),
            # What a committer sends has the same order in each run.
            (f"{_S3A}.committer.threads", "0"),
            *((f"spark.hadoop.{key}", value) for key, value in place.of_s3a),
        )
        if not own:
            return SparkNeeds(fetched(jars), (*_COMMITTERS, *wanted))
        cloud = own_version([_CLOUD_JAR], settings)
        return SparkNeeds((), (*(_COMMITTERS if cloud else ()), *wanted))

    def start(self, folder: Path) -> RunningS3:
        """Start a server on a free port of loopback, or look whether yours answers."""
        if self.endpoint:
            running = RunningS3(self._place(folder, ""), None)
            running.check()
            return running
        started = server.start(folder)
        try:
            (folder / _ENDPOINT).write_text(started.endpoint, encoding="ascii")
            running = RunningS3(self._place(folder, ""), started)
            running.create()
        except BaseException:
            started.stop()
            raise
        return running

    def _place(self, folder: Path, prefix: str) -> S3Place:
        """Return a place on the server that was started in a folder, or on yours."""
        there = self.endpoint.rstrip("/") or (folder / _ENDPOINT).read_text("ascii")
        return S3Place(
            endpoint=there,
            bucket=self.bucket or _BUCKET,
            prefix=prefix,
            access_key=self.access_key or _KEY,
            secret_key=self.secret_key or _KEY,
            region=self.region,
            makes_buckets=not self.endpoint,
        )


class RunningS3:
    """A server that answers, and the prefixes in its bucket."""

    def __init__(self, whole: S3Place, started: S3Server | None) -> None:
        """Make places in the bucket of ``whole``; end the server, if it was started."""
        self._whole = whole
        self._server = started
        self._client = whole.client(connect_timeout=_SECONDS, read_timeout=_SECONDS)

    @property
    def process(self) -> int | None:
        """The id of the server's process, if it was started here."""
        return None if self._server is None else self._server.process

    def check(self) -> None:
        """Raise ``StoreError`` if the server does not answer, or has no such bucket."""
        self._ask("head_bucket")

    def create(self) -> None:
        """Create the bucket."""
        self._ask("create_bucket")

    def place(self, name: str) -> S3Place:
        """Return a prefix that no object has."""
        return replace(self._whole, prefix=name)

    def drop(self, place: S3Place) -> None:
        """Delete the objects below a prefix, and give up the uploads to it.

        A bucket that was made for the place alone is deleted, too.
        """
        self._empty(self._whole.bucket, f"{place.prefix}/")
        if place.makes_buckets and place.own_bucket in self._buckets():
            self._empty(place.own_bucket, "")
            self._ask("delete_bucket", Bucket=place.own_bucket)

    def _buckets(self) -> list[str]:
        """Name the buckets of the server."""
        try:
            return [one["Name"] for one in self._client.list_buckets()["Buckets"]]
        except _errors() as error:
            raise self._refused(error) from None

    def _empty(self, bucket: str, below: str) -> None:
        """Delete what a bucket has below a prefix."""
        for page in self._pages("list_multipart_uploads", bucket, below):
            for one in page.get("Uploads", ()):
                if one["Key"].startswith(below):
                    self._ask(
                        "abort_multipart_upload",
                        Bucket=bucket,
                        Key=one["Key"],
                        UploadId=one["UploadId"],
                    )
        for page in self._pages("list_objects_v2", bucket, below):
            keys = [{"Key": one["Key"]} for one in page.get("Contents", ())]
            if keys:
                wanted = {"Objects": keys, "Quiet": True}
                self._ask("delete_objects", Bucket=bucket, Delete=wanted)

    def stop(self) -> None:
        """End the server, if it was started here."""
        self._client.close()
        if self._server is not None:
            self._server.stop()

    def _pages(self, what: str, bucket: str, prefix: str) -> Iterator[Any]:
        pages = self._client.get_paginator(what)
        try:
            yield from pages.paginate(Bucket=bucket, Prefix=prefix)
        except _errors() as error:
            raise self._refused(error) from None

    def _ask(self, what: str, **rest: Any) -> Any:
        wanted = {"Bucket": self._whole.bucket, **rest}
        try:
            return getattr(self._client, what)(**wanted)
        except _errors() as error:
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> StoreError:
        where = f"bucket {self._whole.bucket} at {self._whole.endpoint}"
        return StoreError(f"{where} does not serve: {error}")


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors of boto3: of a server's answers, and of connections."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    return BotoCoreError, ClientError
