"""Load profiles of a day: what others draw from a grid, so that the rest of its power can be shared out.

The package simbench ships a year of measured profiles in steps of a quarter of an hour. Its code is under a BSD licence
and its data under the Open Database License; nothing of either is part of this package. Cite: Meinecke et al.,
SimBench, Energies 13 (2020) 3290.
"""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.words import cause, did_you_mean
from confide.tables._packaged import shipped_file

__all__ = ["load_profile", "load_profiles_file", "what_is_left"]

_FILE = Path("networks", "1-complete_data-mixed-all-0-sw", "LoadProfile.csv")
_POWER = "_pload"
_QUARTERS = 96  # of a day


def load_profiles_file() -> Path:
    """Where the package simbench keeps its profiles.

    Raises:
        InvalidInput: not installed.
    """
    return shipped_file("simbench", _FILE)


def load_profile(
    name: str, day: date, *, slots: int = 24, path: str | os.PathLike[str] | None = None
) -> NDArray[np.float64]:
    """(slots,) mean active power in each part of a day, as a share of the profile's rated power.

    Args:
        name: of the profile, such as "H0-A", a household.
        day: in the file's year; simbench's is 2016.
        slots: parts of the day; must divide its 96 quarters of an hour.
        path: of LoadProfile.csv; that of the installed package when None.

    Raises:
        InvalidInput: no such file, profile or day; names the nearest profile.

    Source: spec convex_programs 9.8.
    """
    if _QUARTERS % whole("slots", slots, at_least=1):
        raise InvalidInput("slots", f"{slots} parts of a day", f"must divide {_QUARTERS}")
    place = load_profiles_file() if path is None else Path(path)
    column = f"{name}{_POWER}"
    parse = pa.csv.ParseOptions(delimiter=";")
    try:
        with pa.csv.open_csv(place, parse_options=parse) as table:
            known = [each.removesuffix(_POWER) for each in table.schema.names if each.endswith(_POWER)]
        if "time" not in table.schema.names or not known:
            raise InvalidInput("path", f"{place} is no file of load profiles", "must be simbench's LoadProfile.csv")
        if name not in known:
            raise InvalidInput("name", f"the profile {name!r} is unknown", did_you_mean(name, known, ""))
        found = pa.csv.read_csv(place, parse_options=parse, convert_options=pa.csv.ConvertOptions(
            include_columns=["time", column], column_types={"time": pa.string(), column: pa.float64()}))
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput("path", f"{place} cannot be read: {cause(error)}") from None
    mine = found.filter(pc.starts_with(found["time"], f"{day:%d.%m.%Y} ")).sort_by("time")[column]
    if len(mine) != _QUARTERS:
        raise InvalidInput("day", f"{day} has {len(mine)} quarters of an hour there", f"must be {_QUARTERS}")
    return np.asarray(mine.to_numpy().reshape(slots, -1).mean(axis=1))


def what_is_left(
    capacity: float, profile: NDArray[np.float64], rated: float, each: float
) -> tuple[float, ...]:
    """How many may draw power at once in each slot, beside those whose profile it is: supplies of `Electricity`.

    Args:
        capacity: of the grid, such as kW.
        profile: (slots,) public shares of rated power.
        rated: power of all who have this profile together, in the same unit.
        each: what everybody draws who uses a slot.

    Example:
        >>> what_is_left(100.0, np.array([0.1, 0.5, 0.9]), 120.0, 11.0)
        (8.0, 3.0, 0.0)
    """
    free = positive("capacity", capacity) - positive("rated", rated) * np.asarray(profile, dtype=np.float64)
    return tuple(float(count) for count in np.maximum(0.0, np.floor(free / positive("each", each))))
