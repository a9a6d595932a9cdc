"""The causes of the zoo's violations, in the order in which the page shows them."""

from __future__ import annotations

from tests.model.zoo.entry import BuggyCause

UNKNOWN = BuggyCause(
    "A missing reply is taken for a failure",
    "A request has three outcomes: done, not done, and unknown. If its reply is late "
    "or lost, the sender does not know whether it took effect. A sender that treats "
    "unknown as failed repeats an effect that is there, or deletes it.",
)
LATE = BuggyCause(
    "A message arrives in a later transaction",
    "A network can delay a message for any time. If it is not marked with the "
    "transaction that it belongs to, the receiver adds it to the transaction that is "
    "open when it arrives.",
)
ZOMBIE = BuggyCause(
    "An earlier attempt still runs",
    "A process that is given up for lost is not always dead. Its work and the work of "
    "its replacement must not both count.",
)
BETWEEN = BuggyCause(
    "A crash falls between two durable writes",
    "Two durable writes that are not one atomic step can be separated by a crash. The "
    "restart then finds one of them without the other.",
)
ISOLATION = BuggyCause(
    "Readers see what is not committed",
    "A retry is harmless only if readers ignore what a failed attempt has left. "
    "Readers that list a folder see every file in it.",
)
TIMER = BuggyCause(
    "A timer ends what is not finished",
    "A timeout is a guess that the other side is dead. If the guess is wrong, the "
    "other side must find out before it acts again.",
)
FORGOTTEN = BuggyCause(
    "The memory of what was done is deleted too early",
    "Deduplication works as long as it remembers. If a retry can come after the memory "
    "is deleted, the retry looks new.",
)
IDENTITY = BuggyCause(
    "An identity is made anew, or used again",
    "A repeat is recognised by its identity. If a restart makes a new identity, "
    "repeats are not recognised; if an old identity is used for other events, these "
    "are taken for repeats.",
)
CUT = BuggyCause(
    "A snapshot is not a consistent cut",
    "A snapshot must hold each event either in the state or in a channel. An event in "
    "neither is lost at the restart.",
)
REPLAY = BuggyCause(
    "A replay gives other output",
    "Recovery by computing again assumes that a task gives the same output each time. "
    "If it does not, results of the two runs must not be mixed.",
)
END = BuggyCause(
    "The input ends",
    "Checkpoints commit what came before them. The last events of a bounded input have "
    "no checkpoint after them, unless the job waits for one.",
)
WATERMARK = BuggyCause(
    "One watermark for two operators",
    "A watermark says that no earlier event will come. What the first operator puts "
    "out as it passes is earlier than it.",
)

CAUSES = (
    UNKNOWN,
    LATE,
    ZOMBIE,
    BETWEEN,
    ISOLATION,
    TIMER,
    FORGOTTEN,
    IDENTITY,
    CUT,
    REPLAY,
    END,
    WATERMARK,
)
