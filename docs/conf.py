"""Sphinx configuration: MyST-NB pages whose code cells are executed at every build."""

import atexit
import os
import shutil
import tempfile
import typing

from sphinx.util.typing import stringify_annotation

from confide import __version__

# Cells that settle a campaign charge a ledger of their own, never that of whoever builds the pages.
os.environ["CONFIDE_HOME"] = tempfile.mkdtemp(prefix="confide-docs-")
os.environ.pop("CONFIDE_STORE", None)
atexit.register(shutil.rmtree, os.environ["CONFIDE_HOME"], ignore_errors=True)

project = "confide"
author = "The confide developers"
copyright = "2026, The confide developers"
release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx-mathjax-offline"]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
html_theme = "furo"
html_title = "confide"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type", "myst-nb.lexer"]


def _plain_text(app, what, name, obj, options, lines):
    """Docstrings are plain text: |x| is no substitution, and what a property says before a colon is no type."""
    if what in ("property", "attribute", "data"):
        lines[:0] = ["..", ""]  # napoleon reads the first line that is not blank
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[k] = line.replace("|", "\\|")


def _plain_types(app, what, name, obj, options, args, retann):
    """What a setting's declaration says beside its type, its description says already."""
    found = app.env.current_document.autodoc_annotations.get(name, {})
    declared = [key for key, text in found.items() if "Annotated[" in text]
    if declared:
        hints = typing.get_type_hints(obj)
        found.update({key: stringify_annotation(hints[key]) for key in declared})


def setup(app):
    app.connect("autodoc-process-signature", _plain_types)
    app.connect("autodoc-process-docstring", _plain_text, priority=100)
