"""What becomes of a disagreement: it is made smaller, and kept as a file."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.soundness.cases import RefusedError, written
from tests.soundness.compare import DisagreementError, comparisons
from tests.soundness.known import reason_for
from tests.soundness.reduction import reduced

if TYPE_CHECKING:
    from tests.node import Node
    from tests.soundness.cases import Case
    from tests.soundness.compare import Tally
    from tests.soundness.drawing.description import Description

KEPT = Path("build/soundness")


def label(name: str, error: Exception) -> str:
    """Say in a few words what went wrong, alike for all that go wrong alike."""
    if isinstance(error, DisagreementError):
        return error.what
    return f"{name} {type(error).__name__}"


def failures(
    case: Case,
    tally: Tally,
    node: Node | None,
    *,
    most: int,
    readers: tuple[str, ...] = (),
) -> list[tuple[str, str, Exception]]:
    """Compare every reader, or some; list what goes wrong, with the reader's name."""
    found = []
    for name, comparison in comparisons(case, tally, node, most=most):
        if readers and name not in readers:
            continue
        try:
            comparison()
        except Exception as error:  # noqa: BLE001 - whatever a reader raises is wrong
            found.append((name, label(name, error), error))
    return found


def judge(case: Case, tally: Tally, node: Node | None, *, most: int) -> set[str]:
    """Compare every reader; raise with a smaller protocol where one differs.

    Gives the reasons of what is known and not fixed yet (`known.py`).
    """
    reasons = set()
    for name, what, error in failures(case, tally, node, most=most):
        if reason := reason_for(what, error):
            reasons.add(reason)
            continue
        path = kept(case, name, what, node)
        message = (
            f"{what}, of the protocol {case.name}: {error}\n"
            f"It is kept as {path}; fix it, and move the file to "
            "tests/soundness/regressions."
        )
        raise AssertionError(message) from error
    return reasons


def kept(case: Case, name: str, what: str, node: Node | None) -> Path:
    """Make a protocol smaller that shows a disagreement, and write it to a file."""
    KEPT.mkdir(parents=True, exist_ok=True)
    words = re.sub(r"\W+", "_", f"{case.name.split(':')[0]} {what} {case.name}")
    path = KEPT / f"{words}.py"
    if case.description is None or os.environ.get("SOUNDNESS_REDUCE") == "0":
        return case.path
    with tempfile.TemporaryDirectory() as folder:
        small = reduced(case.description, _shows(Path(folder), name, what, node))
    path.write_text(small.render(str(path)), encoding="utf-8")
    return path


def _shows(folder: Path, name: str, what: str, node: Node | None):
    tries = iter(range(10**6))

    def fails(smaller: Description) -> bool:
        try:
            case = written(smaller, folder, f"smaller_{next(tries)}")
            wanted = dict(comparisons(case, Counter(), node, most=300))[name]
        except (RefusedError, AssertionError, AttributeError, NameError):
            return False
        except Exception:  # noqa: BLE001 - what cannot be run shows nothing
            return False
        try:
            wanted()
        except Exception as error:  # noqa: BLE001 - compared by its label
            return label(name, error) == what
        return False

    return fails
