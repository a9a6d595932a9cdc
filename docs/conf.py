"""How Sphinx builds these pages: ``make docs``."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Onceproof"
author = "The Onceproof developers"
project_copyright = author
version = release = installed("onceproof")

extensions = [
    "myst_parser",
    "names_as_links",
    "inline_pictures",
]
exclude_patterns = ["_ext"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "Onceproof"
html_static_path = ["_static"]
html_css_files = ["onceproof.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "native"
