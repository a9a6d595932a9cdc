"""The zoo: all entries, the controls, and the reports that must be among them."""

from __future__ import annotations

from onceproof.model.protocols.transactions import Transactions
from tests.model.zoo.entries.crashes import CRASHES
from tests.model.zoo.entries.memory import MEMORY
from tests.model.zoo.entries.messages import MESSAGES
from tests.model.zoo.entries.order import ORDER
from tests.model.zoo.entry import Made, ZooFix
from tests.model.zoo.flink import Flink10377

ENTRIES = (*MESSAGES, *CRASHES, *MEMORY, *ORDER)
CONTROLS = {
    "FLINK-10377": ZooFix(
        "A notice of a later checkpoint overtakes that of an earlier one. It commits "
        "both, and the earlier notice then changes nothing: the assertion that failed "
        "was wrong.",
        Made(Flink10377),
    ),
    "KIP-890": ZooFix(
        "Records are delayed past the end of their transactions, and two faults "
        "happen. With an epoch for each transaction and verification, nothing is lost "
        "or repeated.",
        Made(Transactions, {"faults": 2}),
    ),
}
REPORTED = (
    "KIP-890",
    "KAFKA-6119",
    "SPARK-24589",
    "Pulsar #19629",
    "Paimon #9666",
    "SPARK-25331",
    "Redpanda #3039",
    "Pulsar #5218",
    "FLINK-22494",
    "flink-cdc #2538",
    "KAFKA-20685",
    "FLINK-7784",
    "Delta #1410",
    "Delta Lake's txnAppId",
    "MAPREDUCE-7282",
    "FLIP-147",
    "FLINK-18139",
    "SPARK-23207",
    "SPARK-40925",
    "Redpanda #5026",
    "Iceberg #15446",
)
"""The reports that the zoo must hold, each by its first ticket."""
OPPOSITES = (
    (
        "Redpanda #3039",
        "Redpanda #5026",
        "The first recognises too little, and the second a key of any transaction.",
    ),
    (
        "Pulsar #5218",
        "KAFKA-20685",
        "The first has a mark without its effect, the second an effect without a mark.",
    ),
    (
        "FLIP-147, the last events are lost",
        "FLIP-147, the last events are there twice",
        "The first never commits the last events, the second commits them too early.",
    ),
    (
        "Delta Lake's txnAppId, kept",
        "Delta Lake's txnAppId, renewed",
        "With a new checkpoint, both the old identity and a new one are wrong.",
    ),
)
"""Pairs of entries that are opposite errors, and what is opposite."""
