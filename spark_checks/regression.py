"""A counterexample as a test that stands alone, and passes when the failure is gone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.properties.counterexample import read
from onceproof.properties.explorer.copying import as_test
from onceproof.properties.explorer.explored import explored
from onceproof.properties.explorer.page import Origin

if TYPE_CHECKING:
    from onceproof.properties.counterexample import Counterexample

_TEST = '''"""{headline}

Written from a counterexample of Onceproof. It passes when the failure is gone.
"""

from onceproof.spark_checks.artifacts import replay_file

COUNTEREXAMPLE = r"""
{data}
"""


def test_{name}(tmp_path):
    """{claim}."""
    path = tmp_path / "counterexample.json"
    path.write_text(COUNTEREXAMPLE, encoding="utf-8")

    answer = replay_file(path)

    assert answer.answer == "FIXED", str(answer)
'''


def regression(file: Path) -> tuple[str, str]:
    """Give the name and the text of a test that replays a counterexample file.

    Of a model it takes the steps again. Raises ``UsageError`` for a sink, or a model,
    that cannot be found by its name.
    """
    told = read(file)
    if not told.sink:
        return _of_a_model(file, told)
    path, sign, _ = told.sink.partition("::")
    if told.test and not (sign and Path(path).is_file()):
        message = (
            f"the sink of {file} is made inside the test {told.test}, which replays it "
            "anyway; to have a test apart, build the sink in a function of a module"
        )
        raise UsageError(message)
    name = _identifier(f"{told.sink.rpartition('::')[2]}_{told.property}")
    data = json.dumps(replace(told, test="").to_json(), indent=1, ensure_ascii=True)
    text = _TEST.format(
        headline=_headline(told), data=data, name=name, claim=_sentence(told.clause)
    )
    return f"test_{name}.py", text


def _of_a_model(file: Path, told: Counterexample) -> tuple[str, str]:
    """Write the test that takes the steps in the model, as the explorer copies it."""
    text = as_test(found := explored(told), Origin(str(file), file=True), found.view)
    if not text:
        message = f"{file} cannot be taken again: {'; '.join(found.view.notes)}"
        raise UsageError(message)
    return f"test_{_identifier(f'{told.protocol}_{told.property}')}.py", text


def _headline(told: Counterexample) -> str:
    text = f"{told.sink.rpartition('::')[2]} was not {told.property}."
    return text.replace("\\", "/").replace('"', "'")


def _sentence(claim: str) -> str:
    return claim[:1].upper() + claim[1:]


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()
