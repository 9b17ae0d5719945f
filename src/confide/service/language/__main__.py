"""The command `python -m confide.service.language`, which writes the template of translations again."""

from __future__ import annotations

from confide.service.language.catalogues import TEMPLATE, template

TEMPLATE.parent.mkdir(exist_ok=True)
TEMPLATE.write_text(template(), encoding="utf-8")
print(TEMPLATE)  # noqa: T201 - a command
