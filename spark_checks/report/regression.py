"""A counterexample as a self-contained test, which passes when the failure is gone.

The source is fixed, and what the file tells is in it as constants: literals in ASCII,
written so that nothing of a file can be anything else.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.text import identifier, quoted
from onceproof.properties.counterexample.file import read
from onceproof.properties.explorer.export import as_test
from onceproof.properties.explorer.page.page import Origin
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.trust import own_code

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.properties.counterexample.file import Counterexample

_MOST_NAME = 100
_TEST = '''"""A counterexample as a test: it passes when the failure is gone."""

from onceproof.spark_checks.report.replay_file import replay_file

SINK = {sink}
CLAIM = {claim}
ALLOWED = ({allowed})
COUNTEREXAMPLE = (
{data})


def test_{name}(tmp_path):
    path = tmp_path / "counterexample.json"
    path.write_text(COUNTEREXAMPLE, encoding="utf-8")

    answer = replay_file(path, allow=ALLOWED)

    assert answer.answer == "FIXED", f"{{SINK}}, {{CLAIM}}: {{answer}}"
'''


def regression(file: Path, *, trust: bool = False) -> tuple[str, str]:
    """Return the name and the text of a test that replays a counterexample file.

    Of a model it takes the steps again. Raises ``UsageError`` for a sink, or a model,
    that cannot be found by its name in the project, or anywhere where there is
    ``trust``.
    """
    counterexample = read(file)
    if not counterexample.sink:
        return _of_a_model(file, counterexample, trust=trust)
    path, sign, _ = counterexample.sink.partition("::")
    if counterexample.test and not sign:
        message = (
            f"the sink of {file} is made inside the test {counterexample.test}, "
            "which replays it anyway; to have a test apart, build the sink in a "
            "function of a module"
        )
        raise UsageError(message)
    if sign and not trust:
        own_code(path, file)
    name = _identifier(
        f"{counterexample.sink.rpartition('::')[2]}_{counterexample.property}"
    )
    lines = json.dumps(replace(counterexample, test="").to_json(), indent=1).splitlines(
        keepends=True
    )
    text = _TEST.format(
        sink=quoted(counterexample.sink),
        claim=quoted(counterexample.clause),
        allowed="".join(
            f"{quoted(a)}, " for a in counterexample.options.get("allow", ())
        ).rstrip(),
        data="".join(f"    {quoted(line)}\n" for line in lines),
        name=name,
    )
    return f"test_{name}.py", text


def _of_a_model(
    file: Path, counterexample: Counterexample, *, trust: bool
) -> tuple[str, str]:
    """Write the test that takes the steps in the model, as the explorer copies it."""
    found = explored(counterexample, trust=trust)
    text = as_test(found, Origin(str(file), file=True), found.view)
    if not text:
        message = f"{file} cannot be taken again: {'; '.join(found.view.notes)}"
        raise UsageError(message)
    return (
        f"test_{_identifier(f'{counterexample.protocol}_{counterexample.property}')}.py",
        text,
    )


def _identifier(text: str) -> str:
    """Return a text as it may stand in the name of a function, and of a file."""
    return identifier(text).strip("_")[:_MOST_NAME]
