"""Sinks on Kafka, as people write them with Spark and with confluent-kafka."""

from __future__ import annotations

from onceproof.spark_checks import ForeachBatch, Query

SCHEMA = "id string, amount long"
VALUES = ("id AS key", "to_json(struct(*)) AS value")


def by_spark_in_batches(target):
    kafka = target.store

    def write(batch, batch_id):
        rows = batch.selectExpr(*VALUES)
        rows.write.format("kafka").options(**kafka.options).save()

    return ForeachBatch(write, read=kafka.reader(SCHEMA))


def by_spark_in_a_stream(target):
    """Its reader is Spark's own source, too."""
    kafka = target.store

    def start(events, checkpoint):
        writer = events.selectExpr(*VALUES).writeStream.format("kafka")
        writer = writer.options(**kafka.options)
        return writer.option("checkpointLocation", checkpoint).start()

    def read(spark):
        source = spark.read.format("kafka").option("subscribe", kafka.topic)
        rows = source.option("kafka.bootstrap.servers", kafka.servers).load()
        parsed = rows.selectExpr(f"from_json(string(value), '{SCHEMA}') AS row")
        return parsed.select("row.*")

    return Query(start, read=read)


def transactional(target, *, apart=False):
    from confluent_kafka import Producer

    kafka = target.store
    ledger = kafka.create("ledger", cleanup_policy="compact")

    def done(batch_id):
        found = [int(record.value) for record in kafka.records(ledger)]
        return batch_id <= max(found, default=-1)

    def write(batch, batch_id):
        rows = batch.toJSON().collect()
        producer = Producer({**kafka.client, "transactional.id": kafka.named("w")})
        producer.init_transactions()
        if done(batch_id):
            return
        producer.begin_transaction()
        for row in rows:
            producer.produce(kafka.topic, row)
        if apart:
            producer.commit_transaction()
            producer.begin_transaction()
        producer.produce(ledger, str(batch_id), key="last")
        producer.commit_transaction()

    return ForeachBatch(write, read=kafka.reader(SCHEMA))


def in_two_transactions(target):
    """The batch's id is committed after its rows."""
    return transactional(target, apart=True)


def resending(target, **settings):
    from confluent_kafka import Producer

    kafka = target.store

    def write(batch, batch_id):
        rows = batch.toJSON().collect()
        producer = Producer({**kafka.client, **settings})
        for row in rows:
            producer.produce(kafka.topic, row, partition=0)
        producer.flush()

    return ForeachBatch(write, read=kafka.reader(SCHEMA))


def resent_plainly(target):
    """It tries nothing again, and its client does."""
    return resending(target, **{"enable.idempotence": False})


def resent_with_idempotence(target):
    """The broker recognises what this client sends again."""
    return resending(target, **{"enable.idempotence": True})


def resent_by_spark(target, *, idempotence=False):
    """One task writes: a client that tasks share sends at times of their own."""
    kafka = target.store
    options = {**kafka.options, "kafka.enable.idempotence": str(idempotence).lower()}

    def write(batch, batch_id):
        rows = batch.coalesce(1).selectExpr(*VALUES)
        rows.write.format("kafka").options(**options).save()

    return ForeachBatch(write, read=kafka.reader(SCHEMA))


def resent_by_spark_with_idempotence(target):
    """The broker recognises what Spark's client sends again."""
    return resent_by_spark(target, idempotence=True)


def resent_in_a_stream(target, *, idempotence=False):
    """Spark's streaming writer, by one task; no line of this file runs for a batch."""
    kafka = target.store
    options = {**kafka.options, "kafka.enable.idempotence": str(idempotence).lower()}

    def start(events, checkpoint):
        rows = events.coalesce(1).selectExpr(*VALUES)
        writer = rows.writeStream.format("kafka").options(**options)
        return writer.option("checkpointLocation", checkpoint).start()

    return Query(start, read=kafka.reader(SCHEMA))


def resent_in_a_stream_with_idempotence(target):
    """The broker recognises what Spark's client sends again."""
    return resent_in_a_stream(target, idempotence=True)


def on_other_brokers(target):
    """It writes to brokers that nobody has allowed."""
    kafka = target.store
    options = kafka.options | {"kafka.bootstrap.servers": "prod.example.com:9092"}

    def write(batch, batch_id):
        rows = batch.selectExpr(*VALUES)
        rows.write.format("kafka").options(**options).save()

    return ForeachBatch(write, read=kafka.reader(SCHEMA))
