"""The settings of a user's own Spark session, for the session of the replays."""

from __future__ import annotations

from typing import Any

from onceproof.model.errors import UsageError

# What belongs to the application that runs, to its place and to its process.
_OF_ITS_OWN = (
    "spark.app.",
    "spark.driver.",
    "spark.executor.",
    "spark.local.dir",
    "spark.master",
    "spark.python.",
    "spark.repl.",
    "spark.sql.warehouse.dir",
    "spark.submit.",
    "spark.ui.",
)


def taken_over(session: Any) -> dict[str, str]:
    """List the settings of a session that replays take over.

    They are those it was started with, such as packages, extensions and catalogs. What
    belongs to its own application stays out, and temporary views and functions do too.
    Raises ``UsageError`` for what is no session, and for one of Spark Connect.
    """
    try:
        found = dict(session.sparkContext.getConf().getAll())
    except Exception as error:
        message = (
            "onceproof_spark_fixture must name a fixture that gives a classic "
            f"SparkSession, not {type(session).__name__}"
        )
        raise UsageError(message) from error
    return {k: v for k, v in sorted(found.items()) if not k.startswith(_OF_ITS_OWN)}
