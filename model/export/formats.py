"""The forms that a model can be written in, each by a file of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.export.names import Names
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery


@dataclass(frozen=True)
class ExportFormat:
    """A form of a model.

    ``write`` gives the text of a system with questions about it, and takes names for a
    form that shows single steps; ``claims`` says whether the form has a place for
    questions. A file in it ends in ``suffix``.
    """

    suffix: str
    write: Callable[[System, Sequence[SearchQuery], Names | None], str]
    claims: bool = True


def _javascript(
    system: System, questions: Sequence[SearchQuery], _: Names | None = None
) -> str:
    from onceproof.model.export.javascript import source  # noqa: PLC0415 - see FORMATS

    return source(system, questions)


def _mermaid(
    system: System, _: Sequence[SearchQuery], names: Names | None = None
) -> str:
    from onceproof.model.export.mermaid import mermaid  # noqa: PLC0415 - see FORMATS

    return mermaid(system, names=names)


def _tla(
    system: System, questions: Sequence[SearchQuery], _: Names | None = None
) -> str:
    from onceproof.model.export.tla import module  # noqa: PLC0415 - see FORMATS

    return module(system, questions).text


# Each is imported when it is used: a picture needs the search, and the others do not.
FORMATS = {
    "javascript": ExportFormat("js", _javascript),
    "mermaid": ExportFormat("mmd", _mermaid, claims=False),
    "tla": ExportFormat("tla", _tla),
}
