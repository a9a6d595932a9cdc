"""How Sphinx builds these pages: ``make docs``. What it shows of the code it reads."""

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
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "names_as_links",
    "inline_pictures",
    "from_the_code",
]
exclude_patterns = ["_ext"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autoclass_content = "both"
autodoc_preserve_defaults = True
add_module_names = False
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "Onceproof"
html_static_path = ["_static"]
html_css_files = ["onceproof.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "native"
