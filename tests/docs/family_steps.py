"""The table of `docs/families/steps.md`, made from the code: `python tests/docs/family_steps.py` renews it.

A cell says how a step is done, or why there is none. The first follows from signatures and from a run of each mechanism
on a few made-up records, in every form of a table. The second is a sentence of the class's docstring, of a base's, or
of the family's. See `test_family_steps.py`.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from confide import acquisition, allocation, channels, market, programs, regression, release, search
from confide.allocation.bundles import Additive
from confide.channels.mechanisms.base import ChannelMechanism
from confide.contract import Mechanism
from confide.contract.encoding import encode
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

PAGE = Path(__file__).parents[2] / "docs" / "families" / "steps.md"
BEGIN, END = "<!-- made by tests/docs/family_steps.py -->\n", "<!-- until here -->\n"

FAMILIES = {"regression": "Regression", "market": "Private bits", "acquisition": "A mean that is bought",
            "release": "Query release", "allocation": "Scarce goods", "programs": "Shared resources",
            "search": "Targeted search", "channels": "Finite channels"}
COLUMNS = ("construct", "for_budget", "plan", "run", "decode", "progress", "frames in", "frames out")
MISSING = "**missing**"

SAYS = {
    "for_budget": r"`for_budget`|Epsilon is no input|no epsilon",
    "plan": r"`plan`", "run": r"`run`", "decode": r"\bshares?\b", "progress": r"`progress`",
    "frames in": r"\bframes?\b", "frames out": r"\bframes?\b",
}
"""Column -> what the sentence names that stands in place of the step."""


# ---- one small run of each

Columns = Mapping[str, np.ndarray]
_DRAWN = np.random.default_rng(1)
_BITS: Columns = {name: _DRAWN.integers(0, 2, 40) for name in "abc"}
_BIT: Columns = {"bit": _BITS["a"]}
_VALUES: Columns = {name: np.round(_DRAWN.random(300) / 4, 3) for name in ("tea", "coffee", "milk")}
_LETTER: Columns = {"letter": np.array([1])}
_LETTERS: Columns = {"letter": np.array([0, 1, 1, 0])}
_MESSAGES: Columns = {"index": np.arange(3), "message": np.array([10, -3, 5])}
_STATUSES: Columns = {"id": np.arange(5), "targeted": np.array([True, False, False, False, True])}
_ROWS: Columns = {name: _DRAWN.uniform(-0.5, 0.5, 300) for name in ("age", "size")}
_ANSWERS: Columns = {"answer": _DRAWN.uniform(-0.5, 0.5, 300)}


@dataclass(frozen=True)
class Example:
    """A mechanism, and its records as columns: of one table, or of two.

    `given` makes what the run takes of the mechanism and the records in one form, where they are not taken as they are.
    `plain` are the records without a table, where that is no array: what they are called, and the records.
    """

    make: Callable[[], Any]
    records: tuple[Columns, ...]
    given: Callable[[Any, Any], Any] = lambda _, records: records
    plain: tuple[str, Any] | None = None


def _examples() -> dict[str, Example]:
    pairs, small = release.Workload.complete(3, width=2), {"records": 40, "epsilon": 2.0, "delta": 1e-2}
    schema = release.Schema(tuple(release.Bit(column=name) for name in _BITS))
    market_of: dict[str, Any] = {"people": 300, "goods": 3, "supply": 150, "epsilon": 50.0}
    rounds: dict[str, Any] = {"increment": 0.2, "bid_cap": 2, "rounds": 5, "batch": 60}
    shared, few = programs.UnitDemand(300, 60, goods=3), {"epsilon": 5.0, "delta": 1e-6, "rounds": 6}
    model: dict[str, Any] = {"people": 20_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5}
    of_bits = {
        "MWEM": lambda: release.MWEM.for_budget(**small, workload=pairs, rounds=2),
        "DualQuery": lambda: release.DualQuery.for_budget(**small, workload=pairs, rounds=3),
        "Reweighted": lambda: release.Reweighted.for_budget(**small, workload=pairs, rounds=3, samples=10, measured=2),
        "MarginalFit": lambda: release.MarginalFit.for_budget(**small, schema=schema, population=100),
        "NoisyAnswers": lambda: release.NoisyAnswers.for_budget(**small, workload=pairs),
        "IndependentMarginals": lambda: release.IndependentMarginals.for_budget(**small, workload=pairs),
        "AllZeros": lambda: release.AllZeros(records=40, workload=pairs),
        "Uniform": lambda: release.Uniform(records=40, workload=pairs),
    }
    of_values = {
        "SinkhornMatch": lambda: allocation.SinkhornMatch.for_budget(**market_of),
        "PMatch": lambda: allocation.PMatch.for_budget(**market_of, **rounds),
        "PAlloc": lambda: allocation.PAlloc.for_budget(**market_of, valuation=Additive(), **rounds),
        "PriceRelease": lambda: allocation.PriceRelease.for_budget(**market_of),
        "PrivDude": lambda: programs.PrivDude.for_budget(program=shared, **few),
        "TrueDude": lambda: programs.TrueDude.for_budget(program=shared, **few),
        "TightDude": lambda: programs.TightDude.for_budget(
            program=programs.UnitDemand(300, 200, goods=3), epsilon=1e4, delta=1e-6, rounds=1000, burn_in=100,
            alpha=0.9),
        "RoundDude": lambda: programs.RoundDude.for_budget(program=shared, **few),
        "TightenAndAudit": lambda: programs.TightenAndAudit.for_budget(program=shared, **few),
    }
    alike = channels.Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 4)
    alone = channels.IndependentRows([[0.3, 0.7]], [4])
    of_letters = {
        "TopK": lambda: channels.TopK(prior=alone, epsilon=1.0),
        "WaterFilling": lambda: channels.WaterFilling(prior=alone, identifiability=2.0),
        "KernelMechanism": lambda: channels.KernelMechanism(prior=alone, epsilon=2.0),
        "JointTypeMechanism": lambda: channels.privacy_distortion("dp", alike, 1.4).mechanism,
    }
    return {
        **{name: Example(make, (_BITS,)) for name, make in of_bits.items()},
        **{name: Example(make, (_VALUES,)) for name, make in of_values.items()},
        **{name: Example(make, (_LETTERS,)) for name, make in of_letters.items()},
        "TableMechanism": Example(lambda: channels.TableMechanism(table=[[0.6, 0.4], [0.4, 0.6]]), (_LETTER,)),
        "RandomizedResponse": Example(lambda: channels.RandomizedResponse(epsilon=1.0, letters=2), (_LETTER,)),
        "BernoulliPeers": Example(
            lambda: regression.BernoulliPeers(people=40, prior=regression.BetaPrior(1.0, 1.0)), (_BIT,)),
        "TruthfulRegression": Example(lambda: regression.TruthfulRegression(
            people=300, features=2, prior=regression.UniformBall(2, 1.0), noise=regression.UniformNoise(0.5),
            rule=regression.ScoringRule(0.3, 1.0)), (_ROWS, _ANSWERS)),
        "PrivateTruthfulRegression": Example(
            lambda: regression.PrivateTruthfulRegression.for_budget(**model, epsilon=5.0, truth_radius=1.0),
            (_ROWS, _ANSWERS)),
        "BitCollection": Example(lambda: market.BitCollection(market=market.MajorityMarket(
            people=40, signal_accuracy=0.8, prior_one=0.7, cost=market.LinearCost(1.0), epsilon=1.0)), (_BIT,)),
        "TwoPartMechanism": Example(
            lambda: acquisition.TwoPartMechanism(people=3, prior=acquisition.UniformPrior(), mse_price=40.0),
            (_MESSAGES,), lambda it, records: it.contracts([0.2, 0.5, 0.9]).records(records),
            plain=("mappings", dict(enumerate([10, -3, 5])))),
        "PTarget": Example(lambda: search.PTarget(5, 2, 1, 0.5, 3), (_STATUSES,), _investigation,
                           plain=("sets", {0, 4})),
    }


def _investigation(_: object, statuses: Any) -> search.Investigation:
    network = search.Graph.from_edges([0, 1, 1, 2, 3], [1, 2, 3, 4, 4])
    return search.Investigation(network, 0, statuses)


def forms(columns: Columns, folder: Path) -> dict[str, Any]:
    """A table in every form in which a run may take it; a single column as an array of its own.

    Args:
        columns: name -> numbers.
        folder: for the file.
    """
    table, stacked = pa.table(dict(columns)), np.column_stack(list(columns.values()))
    pq.write_table(table, folder / "records.parquet")
    return {"arrays": stacked[:, 0] if len(columns) == 1 else stacked, "Arrow": table,
            "pandas": pd.DataFrame(dict(columns)), "Polars": pl.DataFrame(dict(columns)),
            "files": folder / "records.parquet"}


@dataclass(frozen=True)
class Ran:
    """What the runs of one mechanism showed."""

    outcome: Any
    forms: tuple[str, ...]
    reported: bool


def ran(example: Example) -> Ran:
    """Run a mechanism on its records in every form: those that give the same outcome are the ones that it takes.

    Args:
        example: the mechanism and its records.
    """
    it, ends = example.make(), list[bool]()

    def run(data: Any) -> Any:
        steps = list[tuple[int, int | None]]()
        outcome = it.run(example.given(it, data), Noise.simulated(1), progress=lambda *at: steps.append(at))
        ends.append(bool(steps) and steps[-1][0] == steps[-1][1])
        return outcome

    with TemporaryDirectory() as folder:
        made = [forms(columns, Path(folder)) for columns in example.records]
        tables = made[0] if len(made) == 1 else {name: tuple(each[name] for each in made) for name in made[0]
                                                 if name != "files"}
        plain, records = example.plain or ("arrays", tables["arrays"])
        found, taken = run(records), [plain]
        board = encode(found.billboard, {})  # arrays by their digests
        for name in list(tables)[1:]:
            try:
                other = run(tables[name])
            except (InvalidInput, TypeError, AttributeError):
                continue
            if other.shares == found.shares and encode(other.billboard, {}) == board:
                taken.append(name)
    return Ran(found, tuple(taken), reported=all(ends))


# ---- cells


@dataclass(frozen=True)
class Cell:
    """How a step is done; or, where it is not `full`, why there is none."""

    text: str
    full: bool = True


def mechanisms(family: str) -> dict[str, type]:
    """The public mechanisms of a family, without bases.

    Args:
        family: name of the package.
    """
    package = importlib.import_module(f"confide.{family}")
    found = {name: getattr(package, name) for name in package.__all__}
    return {name: each for name, each in found.items() if inspect.isclass(each) and not inspect.isabstract(each)
            and issubclass(each, Mechanism | ChannelMechanism)}


def called(name: str, takes: Callable[..., Any]) -> str:
    """A call with all that has to be given; dots stand for the rest, which has defaults.

    >>> called("scaled", lambda value, *, by, plus=0: value * by + plus)
    'scaled(value, by=, ...)'
    """
    said, more = list[str](), False
    for parameter in inspect.signature(takes).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            more = True
        elif parameter.default is parameter.empty or parameter.name == "delta":
            said.append(parameter.name + "=" * (parameter.kind is parameter.KEYWORD_ONLY))
        else:
            more = True
    return f"{name}({', '.join([*said, '...'] if more else said)})"


def sentence(family: str, kind: type, column: str) -> Cell:
    """Why a mechanism has no such step, in the words of its docstring, a base's or the family's.

    Args:
        family: name of the package.
        kind: the class.
        column: the step.
    """
    said = [each.__doc__ for each in kind.__mro__ if each.__module__.startswith(f"confide.{family}")]
    for text in (*said, importlib.import_module(f"confide.{family}").__doc__):
        prose = " ".join(re.split(r"\n\s*(?:Args|Raises|Returns|Example|Source):", text or "")[0].split())
        for each in re.split(r"(?<=\.) (?=[A-Z`])", prose):
            if re.search(SAYS[column], each):
                return Cell(each, full=False)
    return Cell(MISSING, full=False)


def cells(family: str, name: str, kind: type, example: Example) -> dict[str, Cell]:
    """All steps of one mechanism.

    Args:
        family: name of the package.
        name: public name of the class.
        kind: the class.
        example: a small run of it.
    """
    package = importlib.import_module(f"confide.{family}")
    plans = [each for each in package.__all__ if each.split("_")[0] == "plan"]
    found = {"construct": Cell(f"`{called(name, kind)}`")}
    if hasattr(kind, "for_budget"):
        found["for_budget"] = Cell(f"`{called(f'{name}.for_budget', kind.for_budget)}`")
    if plans:
        found["plan"] = Cell(", ".join(f"`{family}.{each}`" for each in plans))
    if hasattr(kind, "run"):
        did = ran(example)
        takes = list(inspect.signature(getattr(kind, "run")).parameters)  # noqa: B009
        if takes[:3] == ["self", "data", "noise"]:
            found["run"] = Cell("`run(data, noise)`")
        if did.reported and "progress" in takes:
            found["progress"] = Cell("`run(data, noise, progress=)`")
        if len(did.forms) > 1:
            found["frames in"] = Cell(", ".join(did.forms))
        found |= _results(kind, did.outcome)
    return {column: found[column] if column in found else sentence(family, kind, column) for column in COLUMNS}


def _results(kind: Any, outcome: Any) -> Iterator[tuple[str, Cell]]:
    tables = ["`outcome.shares`"] if outcome.shares.num_columns else []
    for name, value in inspect.getmembers(type(outcome.billboard), inspect.isfunction):
        if name[0] != "_" and "pa.Table" in str(inspect.get_annotations(value).get("return")):
            tables.append(f"`outcome.billboard.{called(name, value).replace('self, ', '').replace('self', '')}`")
    if tables:
        yield "frames out", Cell(", ".join(tables))
    if outcome.shares.num_columns:
        yield "decode", Cell(f"from {kind.share_depends_on}")
    else:
        said = (inspect.getdoc(kind.decode) or "").split("\n\n")[0]
        yield "decode", Cell(said if said.startswith("Nothing") else f"Nothing: {kind.share_depends_on}.", full=False)


# ---- the page


def steps() -> dict[str, dict[str, dict[str, Cell]]]:
    """Family -> mechanism -> step -> cell."""
    examples = _examples()
    if unknown := {name for family in FAMILIES for name in mechanisms(family)} - examples.keys():
        raise LookupError(f"{', '.join(sorted(unknown))}: add a small run of each to `_examples` in {__file__}")
    return {family: {name: cells(family, name, kind, examples[name])
                     for name, kind in mechanisms(family).items()} for family in FAMILIES}


def text(found: Mapping[str, Mapping[str, Mapping[str, Cell]]]) -> str:
    """The tables as Markdown: one of all families, then each family's own.

    Args:
        found: of `steps`.
    """
    lines = [f"| family | {' | '.join(COLUMNS)} |", f"|{'---|' * (len(COLUMNS) + 1)}"]
    for family, each in found.items():
        said = [_all_but([name for name, its in each.items() if not its[column].full], len(each)) for column in COLUMNS]
        lines.append(f"| [{FAMILIES[family]}](#{FAMILIES[family].lower().replace(' ', '-')}) | {' | '.join(said)} |")
    for family, each in found.items():
        lines += ["", f"## {FAMILIES[family]}", "", "| step | mechanism | how, or why not |", "|---|---|---|"]
        for column in COLUMNS:
            same: dict[str, list[str]] = {}
            for name, its in each.items():
                same.setdefault(its[column].text, []).append(f"`{name}`")
            lines += [f"| {column} | {'all' if len(names) == len(each) else ', '.join(names)} | {how} |"
                      for how, names in same.items()]
    return "\n".join(lines) + "\n"


def _all_but(without: list[str], of: int) -> str:
    if not without:
        return "all"
    return "none" if len(without) == of else f"all but {', '.join(f'`{name}`' for name in without)}"


def page(tables: str) -> str:
    """The page with these tables.

    Args:
        tables: of `text`.
    """
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{tables}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(text(steps())), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
