"""What the sinks of this folder share: files that appear whole, and their reader."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

SCHEMA = "id string, amount long"


def rows_of(batch):
    return [(row.id, row.amount) for row in batch.collect()]


def put(folder, name, rows):
    draft = Path(folder, f"{uuid.uuid4().hex}.draft")
    draft.write_text(json.dumps(rows))
    draft.replace(Path(folder, f"{name}.json"))


def all_in(folder):
    found = [json.loads(f.read_text()) for f in sorted(Path(folder).glob("*.json"))]
    return [tuple(row) for rows in found for row in rows]
