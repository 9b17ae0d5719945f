"""The pages' languages: what a page says is looked up in a gettext catalogue, and English is complete by itself.

A translation is one file, `catalogues/LANGUAGE.po`, begun as a copy of `catalogues/confide.pot`; nothing has to be
compiled. `python -m confide.service.language` writes that template anew after a change of the pages.

What a campaign says of itself (its question, its plan, its offer) is its author's and its kind's: not translated.
"""

from __future__ import annotations

from confide.service.language.catalogues import chosen, extracted, languages, translations

__all__ = ["chosen", "extracted", "languages", "translations"]
