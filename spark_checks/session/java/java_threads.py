"""The threads of the JVM of a session: what each of them is called now."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from onceproof.spark_checks.session.java.compiled import compiled

_SOURCE = Path(__file__).with_name("ThreadNames.java")
_PATIENCE = 20.0


class JavaThreads:
    """Names threads of one JVM. Several threads may ask at once."""

    def __init__(self, jvm: Any, process: int) -> None:
        """Ask the ``jvm`` that runs as a ``process``, once that is needed."""
        self.process = process
        self._jvm = jvm
        self._names: Any = None
        self._lock = threading.Lock()
        # Each thread here that asks Java has a thread there for as long as it lives.
        self._asking: ThreadPoolExecutor | None = None

    def java_of(self, thread: int) -> int:
        """Return Java's number for a thread of the system's; 0 if it is not known."""
        return int(self._answer("idOf", thread) or 0)

    def name_of(self, thread: int) -> str:
        """Return the name of a thread by Java's number; empty if it is not known."""
        return str(self._answer("nameOf", thread) or "")

    def _answer(self, question: str, thread: int) -> Any:
        with self._lock:
            if self._asking is None:
                self._asking = ThreadPoolExecutor(1, "onceproof-threads")
            asked = self._asking.submit(self._ask, question, thread)
        try:
            return asked.result(_PATIENCE)
        except Exception:  # noqa: BLE001 - whatever fails, it is not known
            return None

    def close(self) -> None:
        """Ask no more."""
        with self._lock:
            asking, self._asking = self._asking, None
        if asking is not None:
            asking.shutdown(wait=False, cancel_futures=True)

    def _ask(self, question: str, thread: int) -> Any:
        if self._names is None:
            self._names = compiled(self._jvm, _SOURCE)
        return getattr(self._names, question)(thread)
