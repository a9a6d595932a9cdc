"""Shows what the stream writer of pyspark-data-sources does if a request fails.

Needs pyspark 4, pyarrow, requests and pyspark-data-sources 0.1.11.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark_datasources.meta_capi import MetaCapiDataSource

ACCOUNT = {"access_token": "none", "pixel_id": "none"}
taken: list[str] = []
refuses = threading.Event()


class Service(BaseHTTPRequestHandler):
    """Takes events, and answers one request with status 503."""

    def do_POST(self) -> None:
        """Take the events of a request, unless it is refused."""
        length = int(self.headers["Content-Length"])
        events = json.loads(self.rfile.read(length))["data"]
        refused = refuses.is_set()
        refuses.clear()
        if not refused:
            taken.extend(event["event_id"] for event in events)
        self.send_response(503 if refused else 200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


class Local(MetaCapiDataSource):
    """The published data source, with the address of a local service."""

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802, FBT001
        """Return the published writer."""
        writer = super().streamWriter(schema, overwrite)
        writer.api_url = self.options["url"]
        return writer


def main() -> None:
    """Write two batches of one event; the service refuses the first request."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[1]").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.dataSource.register(Local)
    with tempfile.TemporaryDirectory() as folder:
        orders, checkpoint = Path(folder) / "orders", Path(folder) / "checkpoint"
        orders.mkdir()
        refuses.set()
        for number in range(2):
            order = {"event_id": f"order-{number}", "event_name": "Purchase"}
            (orders / f"{number}.json").write_text(json.dumps(order))
            source = spark.readStream.schema("event_id string, event_name string")
            writer = source.json(str(orders)).writeStream.format(Local.name())
            writer = writer.options(url=url, **ACCOUNT)
            writer = writer.option("checkpointLocation", str(checkpoint))
            query = writer.trigger(availableNow=True).start()
            query.awaitTermination()
        done = sorted(p.name for p in (checkpoint / "commits").glob("[0-9]*"))
    print(f"batches that Spark noted as done: {', '.join(done)}")
    print(f"events that the service has taken: {', '.join(taken)}")
    spark.stop()
    server.shutdown()


if __name__ == "__main__":
    main()
