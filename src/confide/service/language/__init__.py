"""The languages of the pages. The texts of pages are English, and are translated by a gettext catalogue for each other
language.

A translation is one file, `catalogues/LANGUAGE.po`, which starts as a copy of `catalogues/confide.pot` and need not be
compiled. After a change of the pages, `python -m confide.service.language` writes the template `confide.pot` again.

The texts of a campaign (its question, its plan, its offer) come from its author and its kind, and are not translated.
"""

from __future__ import annotations

from confide.service.language.catalogues import chosen, extracted, languages, translations

__all__ = ["chosen", "extracted", "languages", "translations"]
