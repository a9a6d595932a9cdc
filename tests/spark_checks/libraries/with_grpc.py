"""A channel of gRPC at the top of the module, to a store in another process."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import grpc

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA, rows_of

CHANNEL = grpc.insecure_channel(os.environ.get("ORDERS_STORE", "127.0.0.1:9"))


def call(method, **message):
    asked = CHANNEL.unary_unary(f"/Store/{method}")
    return json.loads(asked(json.dumps(message).encode(), timeout=30))


def serve():
    """Keep rows by table, and give the port and the server."""
    tables = {}

    def put(message):
        rows = tables.setdefault(message["table"], [])
        if message["keyed"]:
            new = {row[0] for row in message["rows"]}
            rows[:] = [row for row in rows if row[0] not in new]
        rows += message["rows"]
        return []

    def listed(message):
        return tables.get(message["table"], [])

    def plain(answer):
        def handle(data, _):
            return json.dumps(answer(json.loads(data))).encode()

        return grpc.unary_unary_rpc_method_handler(handle)

    methods = {"Put": plain(put), "List": plain(listed)}
    server = grpc.server(ThreadPoolExecutor(2))
    handler = grpc.method_handlers_generic_handler("Store", methods)
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return port, server


def sink(target, *, keyed):
    table = target.name

    def write(batch, batch_id):
        call("Put", table=table, keyed=keyed, rows=rows_of(batch))
        print(f"batch {batch_id} is written")

    def read(spark):
        found = [tuple(row) for row in call("List", table=table)]
        return spark.createDataFrame(found, SCHEMA)

    return ForeachBatch(write, read=read)


def right(target):
    return sink(target, keyed=True)


def wrong(target):
    return sink(target, keyed=False)
