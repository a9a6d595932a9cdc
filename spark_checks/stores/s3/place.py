"""A prefix of a bucket that one interleaving has to itself, for each kind of client."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from onceproof.spark_checks.stores.interface import HadoopRoute
from onceproof.spark_checks.stores.links import Asker

if TYPE_CHECKING:
    from collections.abc import Iterator

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = "127.0.0.1"
_HIDDEN = ("_", ".")
_READS = (b"GET ", b"HEAD ")
_SCHEMES = ("s3a", "s3", "s3n")
"""Those by which a session may have S3A; each has a file system of its own."""
# https://hadoop.apache.org/docs/stable/hadoop-aws/tools/hadoop-aws/auditing.html: t0 is
# the thread that began the operation, and t1 the one that sends the request.
_AUDIT = re.compile(rb"\r\n[Rr]eferer: https://[^\r]*/hadoop/1/[^\r]*[?&]t0=(\d+)")


@dataclass(frozen=True)
class S3Place:
    """A prefix of a bucket that one interleaving has to itself."""

    endpoint: str
    """The URL of the server, such as ``http://127.0.0.1:9000``."""
    bucket: str
    """The name of the bucket."""
    prefix: str
    """The prefix of all keys, without a slash at its end."""
    access_key: str = field(repr=False)
    """The access key."""
    secret_key: str = field(repr=False)
    """The secret key."""
    region: str
    """The name of the region."""
    makes_buckets: bool = False
    """Whether a bucket can be made for this place alone, on a server of our own."""
    is_led: bool = False
    """Whether the endpoint is a port of this machine that leads to the server."""

    @property
    def path(self) -> str:
        """The prefix as a path of Spark's: ``s3a://bucket/prefix``."""
        return f"s3a://{self.bucket}/{self.prefix}"

    @property
    def url(self) -> str:
        """The prefix as most other libraries write it: ``s3://bucket/prefix``."""
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def allowed(self) -> tuple[str, ...]:
        """The addresses that the sink may write to."""
        host, port = self.address
        return self.path, self.url, f"{host}:{port}"

    @property
    def address(self) -> tuple[str, int]:
        """The host and port of the server."""
        parts = urlsplit(self.endpoint)
        return parts.hostname or _LOOPBACK, parts.port or _PORTS[parts.scheme]

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """The host and port of the server."""
        return (self.address,)

    @property
    def s3fs(self) -> dict[str, Any]:
        """The options of ``s3fs.S3FileSystem``, and ``storage_options`` of pandas."""
        return {
            "key": self.access_key,
            "secret": self.secret_key,
            "client_kwargs": {
                "endpoint_url": self.endpoint,
                "region_name": self.region,
            },
        }

    @property
    def pyarrow(self) -> dict[str, str]:
        """The options of ``pyarrow.fs.S3FileSystem``, whose paths have no scheme."""
        parts = urlsplit(self.endpoint)
        return {
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "endpoint_override": parts.netloc,
            "scheme": parts.scheme,
            "region": self.region,
        }

    @property
    def storage_options(self) -> dict[str, str]:
        """The ``storage_options`` of delta-rs and polars."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_ALLOW_HTTP": str(self.endpoint.startswith("http:")).lower(),
        }

    @property
    def framing(self) -> None:
        """Bytes are passed on as they are: clients wait for each reply."""
        return

    @property
    def own_bucket(self) -> str:
        """The name of the bucket that may be made for this place alone."""
        return self.prefix.lower().replace("_", "-")

    @property
    def hadoop(self) -> HadoopRoute | None:
        """How S3A reaches the place, if that is not as the session reaches it.

        S3A keeps the connections to a bucket, and other places need those to theirs: a
        bucket that is not the place's own is shared.
        """
        if not self.is_led:
            return None
        shared = self.bucket != self.own_bucket
        roots = tuple(f"{scheme}://{self.bucket}" for scheme in _SCHEMES)
        return HadoopRoute(roots, self.of_s3a, shared)

    @property
    def of_s3a(self) -> tuple[tuple[str, str], ...]:
        """The settings of S3A for the bucket."""
        bucket = f"fs.s3a.bucket.{self.bucket}"
        return (
            (f"{bucket}.endpoint", self.endpoint),
            (f"{bucket}.endpoint.region", self.region),
            (f"{bucket}.path.style.access", "true"),
            (
                f"{bucket}.connection.ssl.enabled",
                str(self.endpoint.startswith("https:")).lower(),
            ),
            (f"{bucket}.access.key", self.access_key),
            (f"{bucket}.secret.key", self.secret_key),
            (
                f"{bucket}.aws.credentials.provider",
                "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
            ),
        )

    def sent_for(self, request: bytes) -> Asker | None:
        """Return for which thread S3A sends a request, as its audit header says.

        S3A sends some requests from pools of threads that tasks share.
        """
        header = _AUDIT.search(request.partition(b"\r\n\r\n")[0])
        if header is None:
            return None
        return Asker(int(header[1]), reads=request.startswith(_READS))

    def through(self, port: int) -> S3Place:
        """Return the same place, reached through a port of 127.0.0.1.

        It has a bucket of its own where one can be made, so that S3A gets to several
        places at once.
        """
        led = replace(self, endpoint=f"http://{_LOOPBACK}:{port}", is_led=True)
        if not self.makes_buckets:
            return led
        self.client().create_bucket(Bucket=self.own_bucket)
        return replace(led, bucket=self.own_bucket)

    def key(self, name: str) -> str:
        """Return the key of an object below the prefix."""
        return f"{self.prefix}/{name}"

    def client(self, **settings: Any) -> Any:
        """Return a client of boto3; settings are those of ``botocore.config.Config``.

        No proxy of the environment stands between it and a server of this machine.
        """
        import boto3  # noqa: PLC0415 - an extra
        from botocore.config import Config  # noqa: PLC0415

        config = {"s3": {"addressing_style": "path"}, **settings}
        if self.address[0] in (_LOOPBACK, "localhost"):
            config.setdefault("proxies", {"http": None, "https": None})
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name=self.region,
            config=Config(**config),
        )

    def keys(self, name: str = "") -> list[str]:
        """List the keys below the prefix, or below a name there, as readers do.

        Left out is what begins with ``_`` or ``.`` at any level, and folder markers.
        """
        below = f"{self.prefix}/{name}".rstrip("/") + "/"
        every = _listed(self.client(), self.bucket, below)
        return [
            key
            for key in every
            if not key.endswith("/")
            and not any(part[:1] in _HIDDEN for part in key[len(below) :].split("/"))
        ]


def _listed(client: Any, bucket: str, prefix: str) -> Iterator[str]:
    pages = client.get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=bucket, Prefix=prefix):
        yield from (one["Key"] for one in page.get("Contents", ()))
