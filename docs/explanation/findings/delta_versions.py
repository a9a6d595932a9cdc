"""Shows who skips a commit to Delta by its version. Needs onceproof[spark,delta]."""

from __future__ import annotations

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from onceproof.spark_checks import Delta
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session.session_pool import SessionPool

APPLICATION = "orders"


def by_spark(path: str, pool: SessionPool) -> int:
    """Commit a row under version 5, and another one under version 0; count rows."""
    needs = pool.needs_of(Delta())
    with pool.session(attempts=1, partitions=1, needs=needs) as session:
        for version in (5, 0):
            row = session.spark.createDataFrame([(version,)], "order_id long")
            written = row.write.format("delta").mode("append")
            written = written.option("txnAppId", APPLICATION)
            written.option("txnVersion", version).save(path)
        return session.spark.read.format("delta").load(path).count()


def by_delta_rs(path: str) -> int:
    """Commit a row under version 0, and the same one once more; count rows."""
    row = pa.table({"order_id": pa.array([0], pa.int64())})
    for _ in range(2):
        version = CommitProperties(app_transactions=[Transaction(APPLICATION, 0)])
        write_deltalake(path, row, mode="append", commit_properties=version)
    return len(DeltaTable(path).to_pyarrow_table())


def main() -> None:
    """Write two tables, and print how many rows they have."""
    pool = SessionPool(ENTRY_POINTS)
    try:
        place = pool.stores.running(Delta()).place("findings")
        rows = by_spark(f"{place.path}/spark", pool)
        print(f"Spark, versions 5 and 0, two orders: {rows} of 2 are there")
        rows = by_delta_rs(f"{place.path}/delta-rs")
        print(f"delta-rs, version 0 twice, one order: it is there {rows} times")
    finally:
        pool.close()


if __name__ == "__main__":
    main()
