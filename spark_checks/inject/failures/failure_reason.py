"""The one line of a failure that best explains it."""

from __future__ import annotations

import itertools
import re

from onceproof.spark_checks.inject.failures.redaction import redacted

_RAISED = re.compile(r"[\w.]*(Error|Exception): ")
_OURS = re.compile(r"^onceproof\.[\w.]+: ")
_NETWORK = ("Py4JNetworkError", "Py4JAuthenticationError")


def reason(error: BaseException) -> str:
    """Return the line that best explains a failure: what Python raised, if it did.

    The name of an error of Onceproof's own says nothing to a user, and is left out.
    """
    # Py4J puts Java's error on a line of its own, after a colon.
    texts = (line.strip().removeprefix(": ") for line in str(error).splitlines())
    lines = [line for line in texts if line]
    kept = itertools.takewhile(lambda line: not line.startswith("==="), lines)
    raised = [line for line in kept if _RAISED.match(line)]
    line = (raised or lines or [type(error).__name__])[-1 if raised else 0]
    return redacted(_OURS.sub("", line))[:300]


def named(error: BaseException) -> str:
    """Return that line with the kind of the error before it."""
    found = reason(error)
    kind = type(error).__name__
    return found if _RAISED.match(found) or found == kind else f"{kind}: {found}"


def is_lost(error: BaseException | None) -> bool:
    """Return whether an error is that of a lost connection to Java."""
    while error is not None:
        if type(error).__name__ in _NETWORK:
            return True
        error = error.__cause__ or error.__context__
    return False
