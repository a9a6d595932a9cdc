"""Results in a topic of Kafka, by Spark's Kafka sink: a later row replaces one by key.

The sink is at least once. Readers that keep the last row of each key see the same as if
it were not. The topic has an image in files, one for each batch, so that it is taken
back to a crash as the other results are.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from onceproof.model.files import write_whole
from onceproof.spark_checks.grid.writers import as_text
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.kafka.store import RunningKafka

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.stores.interface import RunningStore

_BATCH = "onceproof_batch"
_RECORDS = "records"


class TopicResult:
    """A topic with the rows of a query, and its image in a folder."""

    def __init__(
        self, spark: SparkSession, folder: Path, store: RunningStore | None
    ) -> None:
        """Make a topic."""
        if not isinstance(store, RunningKafka):
            message = "the sink kafka needs brokers that run"
            raise StoreError(message)
        self._spark = spark
        self._folder = folder
        self._store = store
        self._place = store.place(f"rows_{uuid.uuid4().hex}")
        self._schema: Any = None

    def records(self, result: DataFrame, key: Iterable[str]) -> DataFrame:
        """Turn rows into records for Spark's sink; all go to the first partition."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415 - slow to import

        numbered = _with_batch(result)
        self._schema = numbered.schema
        return numbered.select(
            F.to_json(F.struct(*key)).alias("key"),
            F.to_json(F.struct("*")).alias("value"),
            F.lit(0).alias("partition"),
        )

    @property
    def options(self) -> dict[str, str]:
        """The options of Spark's sink."""
        return self._place.options

    def take_image(self) -> None:
        """Write what the topic holds into files, one for each batch."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415 - slow to import

        source = (
            self._spark.read.format("kafka")
            .option("kafka.bootstrap.servers", self._place.servers)
            .option("subscribe", self._place.topic)
            .load()
            .select("offset", F.col("value").cast("string").alias("text"))
        )
        parsed = F.from_json("text", self._schema).alias("row")
        rows: dict[int, list[Any]] = {}
        texts: dict[int, list[str]] = {}
        for found in (
            source.select("offset", "text", parsed).orderBy("offset").collect()
        ):
            number = found["row"][_BATCH]
            row = [part for part in as_text(found["row"]) if part[0] != _BATCH]
            rows.setdefault(number, []).append(row)
            texts.setdefault(number, []).append(found["text"])
        (self._folder / _RECORDS).mkdir(parents=True, exist_ok=True)
        for number, shown in rows.items():
            write_whole(self._folder / f"{number}.json", json.dumps(shown))
            write_whole(self._recorded(number), json.dumps(texts[number]))

    def hold_again(self) -> None:
        """Make the topic anew, with the records of the batches that have a file."""
        self._store.drop(self._place)
        self._place = self._store.place(self._place.topic)
        numbers = sorted(
            int(path.stem)
            for path in self._folder.glob("*.json")
            if path.stem.isdigit()
        )
        for number in numbers:
            texts = json.loads(self._recorded(number).read_text(encoding="utf-8"))
            self._store.append(self._place, 0, texts)

    def close(self) -> None:
        """Drop the topic."""
        self._store.drop(self._place)

    def _recorded(self, number: int) -> Path:
        return self._folder / _RECORDS / f"{number}.json"


def _with_batch(result: DataFrame) -> DataFrame:
    """Add the id of the batch to each row, as Spark's tasks know it."""
    from pyspark.sql.types import LongType, StructType  # noqa: PLC0415 - slow to import

    names = [*result.columns, _BATCH]

    def passed(parts: Iterable[Any]) -> Iterable[Any]:
        import pyarrow as pa  # noqa: PLC0415 - in workers only
        from pyspark import TaskContext  # noqa: PLC0415 - in workers only

        context: Any = TaskContext.get()
        batch = int(context.getLocalProperty("streaming.sql.batchId"))
        for part in parts:
            numbers = pa.array([batch] * part.num_rows, pa.int64())
            yield pa.RecordBatch.from_arrays([*part.columns, numbers], names=names)

    schema = StructType([*result.schema.fields]).add(_BATCH, LongType())
    return result.mapInArrow(passed, schema)
