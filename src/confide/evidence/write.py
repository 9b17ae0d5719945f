"""Writing the results of a study into a folder: pictures as SVG, PNG and Vega-Lite, and tables and plotted points as
CSV.
"""

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
        folder: folder for the files. The folder is created if it does not exist, and files of the same name are
            replaced.
        section: section with the tables and pictures. The first table becomes numbers.csv, and the others become
            table-1.csv and so on. Pictures become figure-1.svg and so on. The points of a picture become figure-1.csv,
            with the axes' names as column names.

    Returns:
        Mapping from the name to the path of each written file. Without the extra `[plots]` no picture is drawn, but the
        specification and the data of each picture are written.

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
    """Write the points that the first layer of a picture draws, one row for each mark."""
    layer = spec | spec.get("layer", [{}])[0]
    channels = [each for each in layer["encoding"].values() if "field" in each]
    names = {each["field"]: each.get("title") or each["field"] for each in channels}
    rows = layer["data"]["values"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names.get(field, field) for field in rows[0])
        writer.writerows(row.values() for row in rows)
