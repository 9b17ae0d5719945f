"""A study's folder: its page, its pictures as SVG, PNG and Vega-Lite, its tables and what is drawn as CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from confide.charts import available, to_png, to_svg
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Picture, Section, Table
from confide.contract.words import cause

__all__ = ["write_section"]


def write_section(folder: Path, section: Section) -> dict[str, Path]:
    """Write every table and picture of a section.

    Args:
        folder: made if it does not exist; files of the same name are replaced.
        section: its first table becomes numbers.csv, the others table-1.csv and so on, pictures figure-1.svg ...,
            the points of a picture figure-1.csv, under the names of its axes.

    Returns:
        Name -> path of what was written. Without the extra `[plots]` nothing is drawn: each picture's
            specification and its data are there.

    Raises:
        InvalidInput: the folder cannot be written.
    """
    written: dict[str, Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tables = [block for block in section.blocks if isinstance(block, Table)]
        for k, table in enumerate(tables):
            path = folder / ("numbers.csv" if k == 0 else f"table-{k}.csv")
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(table.columns)
                writer.writerows(table.rows)
            written[path.name] = path
        pictures = [block for block in section.blocks if isinstance(block, Picture) and block.spec]
        for k, picture in enumerate(pictures, 1):
            data = folder / f"figure-{k}.vl.json"
            data.write_text(json.dumps(picture.spec, indent=1), encoding="utf-8")
            written[data.name] = data
            points = folder / f"figure-{k}.csv"
            _write_points(points, picture.spec)
            written[points.name] = points
            if available():
                svg, png = folder / f"figure-{k}.svg", folder / f"figure-{k}.png"
                svg.write_text(to_svg(picture.spec) or "", encoding="utf-8")
                png.write_bytes(to_png(picture.spec))
                written |= {svg.name: svg, png.name: png}
    except OSError as error:
        raise InvalidInput("out", f"{folder} cannot be written: {cause(error)}") from None
    return written


def _write_points(path: Path, spec: dict[str, Any]) -> None:
    """What the first layer of a picture draws, one row a mark."""
    layer = spec | spec.get("layer", [{}])[0]
    channels = [each for each in layer["encoding"].values() if "field" in each]
    names = {each["field"]: each.get("title") or each["field"] for each in channels}
    rows = layer["data"]["values"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names.get(field, field) for field in rows[0])
        writer.writerows(row.values() for row in rows)
