"""Shows what delta-rs does if the reply to a commit on S3 is lost.

Needs deltalake, pyarrow, boto3, moto[s3], flask and flask-cors.
"""

from __future__ import annotations

import logging
import re
import socket
import threading
from typing import Any

import boto3
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    create_backend_app,
)
from werkzeug.serving import make_server

_COMMIT = re.compile(r"_delta_log/\d+\.json$")


class LosesReply:
    """Passes requests on to a server; loses the reply to a commit if asked to."""

    def __init__(self) -> None:
        """Lose nothing yet."""
        self._server = DomainDispatcherApplication(create_backend_app)
        self.loses = False

    def __call__(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        """Answer a request, or close its connection once it is served."""
        body = list(self._server(environ, start))
        commits = _COMMIT.search(environ["PATH_INFO"])
        if self.loses and commits and environ["REQUEST_METHOD"] == "PUT":
            self.loses = False
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return body


def append(options: dict[str, str], name: str, number: int, *, known: bool) -> None:
    """Append a row to a table, with a version of an application or without."""
    versions = [Transaction("orders", number)] if known else None
    write_deltalake(
        f"s3://orders/{name}",
        pa.table({"order_id": pa.array([number], pa.int64())}),
        mode="append",
        storage_options=options,
        commit_properties=CommitProperties(app_transactions=versions),
    )


def main() -> None:
    """Lose the reply to the second of two commits, for each of two tables."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    loses = LosesReply()
    server = make_server("127.0.0.1", 0, loses, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.port}"
    names = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    options = {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", **names}
    options["AWS_REGION"] = "us-east-1"
    keys = {name.lower(): value for name, value in names.items()}
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)
    s3.create_bucket(Bucket="orders")
    for name, known in (("plain", False), ("with-version", True)):
        append(options, name, 0, known=known)
        loses.loses = True
        try:
            append(options, name, 1, known=known)
            outcome = "no error"
        except CommitFailedError as error:
            outcome = str(error)
        table = DeltaTable(f"s3://orders/{name}", storage_options=options)
        rows = len(table.to_pyarrow_table())
        commits = table.version() + 1
        print(f"{name}: {outcome}; 2 appends, {commits} commits, {rows} rows")
    server.shutdown()


if __name__ == "__main__":
    main()
