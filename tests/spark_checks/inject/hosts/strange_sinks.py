"""Sinks that fail in ways that say nothing of them, or not the same each time."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from onceproof.spark_checks.sinks.interface import ForeachBatch

SCHEMA = "id string, amount long"
STARTED = []


def put(folder, name, batch):
    rows = [(row.id, row.amount) for row in batch.collect()]
    draft = folder / f"{name}.draft"
    draft.write_text(json.dumps(rows))
    draft.replace(folder / f"{name}.json")


def reader(folder):
    def read(spark):
        found = [json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))]
        rows = [tuple(row) for rows in found for row in rows]
        return spark.createDataFrame(rows, SCHEMA)

    return read


def ends_by_a_signal(target):
    """Is right, but its second process is ended by what is no fault of a plan."""
    folder = target.path

    def write(batch, batch_id):
        begun = folder / "begun"
        if begun.exists():
            os.kill(os.getpid(), signal.SIGSEGV)
        begun.touch()
        put(folder, batch_id, batch)

    return ForeachBatch(write, read=reader(folder))


def cannot_be_read_again(target):
    """Is right, but its reader fails once a second process has written."""
    folder, read = target.path, reader(target.path)

    def write(batch, batch_id):
        (folder / f"process-{os.getpid()}").touch()
        put(folder, batch_id, batch)

    def read_if_once(spark):
        if len(list(folder.glob("process-*"))) > 1:
            message = "half a file"
            raise ValueError(message)
        return read(spark)

    return ForeachBatch(write, read=read_if_once)


def cannot_be_read_at_once(target):
    """Is right, but its reader fails where a batch was begun and is not there yet."""
    folder, read = target.path, reader(target.path)

    def write(batch, batch_id):
        begun = folder / f"begun-{batch_id}"
        begun.touch()
        put(folder, batch_id, batch)
        begun.unlink()

    def read_if_whole(spark):
        if list(folder.glob("begun-*")):
            message = "half a file"
            raise ValueError(message)
        return read(spark)

    return ForeachBatch(write, read=read_if_whole)


def broken_for_good(target):
    """Takes what a dead process left for another writer: it never goes on."""
    folder, read = target.path, reader(target.path)

    def write(batch, batch_id):
        lock = folder / "lock"
        if lock.exists():
            message = "somebody else writes"
            raise BlockingIOError(message)
        lock.touch()
        put(folder, batch_id, batch)
        lock.unlink()

    def read_unlocked(spark):
        if (folder / "lock").exists():
            message = "half a file"
            raise ValueError(message)
        return read(spark)

    return ForeachBatch(write, read=read_unlocked)


def wrong_once(target, counted):
    """Writes a batch twice in the first restart of all, and never again."""
    folder, counted = target.path, Path(counted)

    def write(batch, batch_id):
        begun = folder / "begun"
        again = begun.exists()
        begun.touch()
        put(folder, batch_id, batch)
        if again and not counted.exists():
            counted.touch()
            put(folder, f"{batch_id}-again", batch)

    return ForeachBatch(write, read=reader(folder))


def fails_if_spark_is_imported(target):
    """Each run would import it anew: a host lives for one run."""
    folder, known = target.path, set(sys.modules)

    def write(batch, batch_id):
        put(folder, batch_id, batch)
        if late := {n for n in sys.modules if n.startswith("pyspark.")} - known:
            raise ImportError(", ".join(sorted(late)))

    return ForeachBatch(write, read=reader(folder))


def leaves_a_thread(target):
    """Is given to other processes by cloudpickle, for its thread would be lost."""
    folder, lock = target.path, threading.Lock()
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    STARTED.append("a thread")

    def write(batch, batch_id):
        with lock:
            put(folder, batch_id, batch)

    return ForeachBatch(write, read=reader(folder))


def leaves_a_socket(target):
    folder = target.path
    mine, other = socket.socketpair()

    def write(batch, batch_id):
        mine.send(b".")
        other.recv(1)
        put(folder, batch_id, batch)

    return ForeachBatch(write, read=reader(folder))
