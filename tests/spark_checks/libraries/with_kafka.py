"""A producer of librdkafka at the top of the module: its threads run from then on."""

from __future__ import annotations

import uuid

from confluent_kafka import Producer

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA, all_in, put, rows_of

PRODUCER = Producer({"bootstrap.servers": "127.0.0.1:9", "log_level": 0})


def sink(target, name):
    folder = str(target.path)

    def write(batch, batch_id):
        PRODUCER.produce("orders", value=str(batch_id).encode())
        PRODUCER.poll(0)
        put(folder, name(batch_id), rows_of(batch))
        print(f"batch {batch_id} is written")

    def read(spark):
        PRODUCER.poll(0)
        return spark.createDataFrame(all_in(folder), SCHEMA)

    return ForeachBatch(write, read=read)


def right(target):
    return sink(target, str)


def wrong(target):
    return sink(target, lambda _: uuid.uuid4().hex)
