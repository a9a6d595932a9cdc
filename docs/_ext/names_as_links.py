"""Lets pages be written as they are read in a checkout, and linked once they are built.

A page that is named as ``docs/architecture.md`` becomes a link with the page's title,
and one that is not there is a warning. A fenced block that is named after a file
has the name as its caption.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = re.compile(r"docs/([\w/-]+)\.md|(CONTRIBUTING|CHANGELOG)\.md")
NAMED = re.compile(r"^```(\w+) ([\w./-]+)$", re.MULTILINE)
_log = logging.getLogger(__name__)


class NamesAsLinks(SphinxTransform):
    """Makes links of the names of pages."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Go through the literals of one page."""
        for literal in list(self.document.findall(nodes.literal)):
            found = PAGE.fullmatch(literal.astext())
            if found is None or isinstance(literal.parent, nodes.reference):
                continue
            name = found.group(1) or found.group(2).lower()
            if not Path(self.env.srcdir, f"{name}.md").is_file():
                _log.warning("there is no page %s", literal.astext(), location=literal)
                continue
            link = addnodes.pending_xref(
                "",
                nodes.inline(),
                refdomain="std",
                reftype="doc",
                reftarget=f"/{name}",
                refexplicit=False,
                refwarn=True,
            )
            literal.replace_self(link)


def captions(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001
    """Turn ``python test_append.py`` behind a fence into a caption."""
    source[0] = NAMED.sub(r"```{code-block} \1\n:caption: \2\n", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both."""
    app.add_transform(NamesAsLinks)
    app.connect("source-read", captions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
