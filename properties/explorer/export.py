"""What can be taken along: a run of the model as a pytest test, or as a command.

``copying.js`` writes the same for a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.text import identifier, quoted
from onceproof.properties.explorer.page.page import copied_of

if TYPE_CHECKING:
    from onceproof.properties.explorer.page.page import Origin
    from onceproof.properties.explorer.view import View
    from onceproof.properties.explorer.view_builder import Explored


def command_of(found: Explored, origin: Origin) -> str:
    """Return the command that shows, or replays, the same once more."""
    return origin.command(found.view.property, spark=bool(found.view.sink))


def as_test(found: Explored, origin: Origin, run: View) -> str:
    """Write a run as a test: of real Spark only where it is the trace of a file.

    Gives no text where there is neither a model nor a file to replay.
    """
    if run.sink:
        return _of_spark(run, origin) if origin.file else ""
    if found.model is None:
        return ""
    copied = copied_of(found, origin)
    failing = (strip for strip in run.strips if strip.first is not None)
    known = next(failing, next(iter(run.strips), None))
    claim = copied["property"] or (known.property if known else "")
    start = {name: run.named_start[name] for name in copied["start"]}
    steps = "".join(f"        {quoted(step.code)},\n" for step in run.steps)
    repeats = copied["loop"] is not None and run is found.view
    loop = f", loop={copied['loop']}" if repeats else ""
    of, is_ = identifier(found.view.protocol), identifier(claim or "as_claimed")
    return (
        "from onceproof.model.library import make\n"
        "from onceproof.properties import holds_along\n\n\n"
        f"def test_{of}_is_{is_}():\n"
        f"    protocol = make({quoted(copied['protocol'])}, "
        f"{_pairs(copied['settings'])})\n"
        f"    steps = [\n{steps}    ]\n"
        f"    start = {_pairs(start)}\n\n"
        f"    assert holds_along(protocol, {quoted(claim)}, steps, start=start{loop})\n"
    )


def _of_spark(run: View, origin: Origin) -> str:
    return (
        "from pathlib import Path\n\n"
        "from onceproof.spark_checks import replay_file\n\n\n"
        f"def test_{identifier(run.sink)}_is_{identifier(run.property)}():\n"
        f"    answer = replay_file(Path({quoted(origin.name)}))\n\n"
        '    assert answer.answer == "FIXED", answer\n'
    )


def _pairs(data: dict[str, Any]) -> str:
    shown = (f"{quoted(name)}: {_value(value)}" for name, value in data.items())
    return f"{{{', '.join(shown)}}}"


def _value(value: object) -> str:
    return str(value) if isinstance(value, bool | int) else quoted(str(value))
