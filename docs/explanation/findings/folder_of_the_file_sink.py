"""Shows what the file sink does to a folder and a table. Needs PySpark alone.

A query writes orders to a folder by Spark's file sink. It is started again with a new
checkpoint, as one does after a change of the query. Then another query writes to a
table that has rows, and rows are inserted into the table. Nothing fails.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

IGNORES = "spark.sql.streaming.fileStreamSink.ignoreMetadata"


def write(spark: SparkSession, folder: Path, checkpoint: str, table: str) -> None:
    """Write all orders to the folder or, if it has a name, to a table."""
    orders: Any = spark.readStream.schema("id int").json(str(folder / "input"))
    writer = orders.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / checkpoint))
    query = writer.toTable(table) if table else writer.start(str(folder / "output"))
    query.awaitTermination()


def offer(folder: Path, number: int) -> None:
    """Put an order into the folder that the queries read, as the only one there."""
    (folder / "input").mkdir(exist_ok=True)
    for path in (folder / "input").iterdir():
        path.unlink()
    path = folder / "input" / f"{number}.json"
    path.write_text(json.dumps({"id": number}) + "\n")
    os.utime(path, (1_600_000_000 + number,) * 2)


def main() -> None:
    """Write to the folder, and to the table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("OFF")
        print(f"PySpark {pyspark.__version__}")
        for number, checkpoint in enumerate(("first", "second")):
            offer(folder, number)
            write(spark, folder, checkpoint, "")
        output = spark.read.parquet(str(folder / "output")).count()
        print(
            f"two checkpoints, one order each: {output} of 2 orders are in the folder"
        )
        spark.sql("CREATE TABLE orders(id INT) USING parquet")
        spark.sql("INSERT INTO orders VALUES (10), (11)")
        before = spark.table("orders").count()
        offer(folder, 12)
        write(spark, folder, "third", "orders")
        spark.sql("REFRESH TABLE orders")
        streamed = spark.table("orders").count()
        spark.sql("INSERT INTO orders VALUES (13)")
        after = spark.table("orders").count()
        print(f"a table with {before} orders, and a stream adds 1: it has {streamed}")
        print(f"then INSERT INTO adds 1: it has {after}")
        spark.conf.set(IGNORES, "true")
        spark.sql("REFRESH TABLE orders")
        whole = spark.table("orders").count()
        print(f"a reader that ignores the sink's log: it has {whole}")
        spark.stop()
    sys.exit([output, before, streamed, after, whole] != [1, 2, 1, 1, 4])


if __name__ == "__main__":
    main()
