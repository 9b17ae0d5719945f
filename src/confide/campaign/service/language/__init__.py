"""The pages' languages: what a page says is looked up in a gettext catalogue, and English is complete by itself.

A translation is one file, `catalogues/LANGUAGE.po`, made from `extracted()`; nothing has to be compiled.
"""

from __future__ import annotations

from confide.campaign.service.language.catalogues import chosen, extracted, languages, translations

__all__ = ["chosen", "extracted", "languages", "translations"]
