"""A writer of small .xlsx workbooks, cell by cell in XML, so that a test can write what no package writes."""

from __future__ import annotations

import zipfile
from pathlib import Path

_TYPES = ('<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
          '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
          '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType='
          '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>')
_NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = ('<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
              'relationships">')
_STYLES = (f"<styleSheet {_NS}><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>"
           '<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>')


def text(place: str, value: str) -> str:
    """A cell with a text."""
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'


def number(place: str, value: object, style: int = 0) -> str:
    """A cell with a number; with style 1, a date."""
    return f'<c r="{place}" s="{style}"><v>{value}</v></c>'


def sheet(rows: list[list[str]], *, attributes: dict[int, str] | None = None, end: str = "") -> str:
    """A sheet of rows of cells, with attributes of some rows, and XML behind the rows."""
    body = "".join(f'<row r="{at}" {(attributes or {}).get(at, "")}>{"".join(cells)}</row>'
                   for at, cells in enumerate(rows, 1))
    return f'<?xml version="1.0"?><worksheet {_NS}><sheetData>{body}</sheetData>{end}</worksheet>'


def write_workbook(path: Path, sheets: dict[str, str], *, states: dict[str, str] | None = None) -> Path:
    """A workbook with sheets by name, of which some are hidden by their state."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", _TYPES)
        file.writestr("_rels/.rels", f'{_RELATIONS}<Relationship Id="r1" Type="{_REL}/officeDocument" '
                      'Target="xl/workbook.xml"/></Relationships>')
        seen = {name: (states or {}).get(name, "visible") for name in sheets}
        named = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="s{at}" state="{state}"/>'
                        for at, (name, state) in enumerate(seen.items(), 1))
        file.writestr("xl/workbook.xml", f'<?xml version="1.0"?><workbook {_NS} xmlns:r="{_REL}">'
                      f"<sheets>{named}</sheets></workbook>")
        targets = "".join(f'<Relationship Id="s{at}" Type="{_REL}/worksheet" Target="worksheets/sheet{at}.xml"/>'
                          for at in range(1, len(sheets) + 1))
        file.writestr("xl/_rels/workbook.xml.rels", f'{_RELATIONS}{targets}<Relationship Id="st" Type="{_REL}/styles" '
                      'Target="styles.xml"/></Relationships>')
        file.writestr("xl/styles.xml", f'<?xml version="1.0"?>{_STYLES}')
        for at, content in enumerate(sheets.values(), 1):
            file.writestr(f"xl/worksheets/sheet{at}.xml", content)
    return path
