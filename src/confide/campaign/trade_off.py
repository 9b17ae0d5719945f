"""The trade-off between privacy, error and money: the figures that a campaign would promise at other levels of privacy.

The campaign is planned again at several public levels. For each plan, all levels in the file's `[privacy]` table are
multiplied by the same factor. No data is read, so the comparison costs no privacy. A level that is refused, or at which
nothing is promised, is reported and left out of the picture. One chart with logarithmic axes shows privacy, error and
money.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from confide.campaign.campaign import Campaign
from confide.campaign.charging import check_budget
from confide.campaign.file import CampaignFile
from confide.charts import curves
from confide.contract.errors import BudgetExceeded, InvalidInput, Refused, SolverFailed
from confide.contract.guarantees import Accuracy, Budget, Guarantees, Privacy
from confide.contract.presentation import Block, Section, Table, Text

__all__ = ["FACTORS", "Point", "kept_trade_off", "points", "trade_off"]

FACTORS = (0.125, 0.25, 0.5, 1 / math.sqrt(2.0), 1.0, math.sqrt(2.0), 2.0, 4.0, 8.0)
"""Factors by which the levels of privacy are multiplied. The factors are public, and the same for every campaign."""

_LEVELS = ("epsilon", "rho", "mu", "ceiling", "largest_local_loss")
"""Beginnings of the keys of `[privacy]` that state levels. All levels are multiplied together, so that their
proportions stay.
"""

_BEYOND = "the campaign's own [budget] does not admit this level"
_DELTA = 1e-6  # at which a loss is stated as an epsilon, where the campaign's budget has no delta


@dataclass(frozen=True, kw_only=True)
class Point:
    """The predicted privacy loss, error and payments at one level of privacy.

    Args:
        factor: the factor by which the levels of privacy in the campaign file are multiplied, above 0.
        epsilon: the loss of the first privacy guarantee, as an epsilon in nats, at the delta of `[budget]` (at 1e-6 if
            that delta is 0); nan if the campaign cannot be planned, or its loss has no epsilon.
        error: the bound of the accuracy guarantee that the comparison shows; nan if there is none.
        money: the bound on the expected total of all payments, in the currency of the campaign; nan if nothing is paid
            or promised.
        vacuous: names of the promises that are vacuous at this level: "privacy", "error", "money".
        problem: the reason why the campaign cannot be planned at this level, or why the budget does not admit the plan;
            empty if the campaign can run.
    """

    factor: float
    epsilon: float = math.nan
    error: float = math.nan
    money: float = math.nan
    vacuous: tuple[str, ...] = ()
    problem: str = ""


def points(campaign: Campaign, factors: Sequence[float] = FACTORS) -> tuple[Point, ...]:
    """The predicted privacy loss, error and payments at each level, from public parameters alone.

    Args:
        campaign: the campaign. The plan at the levels of the campaign file determines which accuracy guarantee is
            compared.
        factors: the factors by which the levels of privacy are multiplied; each above 0 and finite.

    Raises:
        InvalidInput: a factor is not above 0 or not finite.
        Refused: the campaign cannot be planned at the levels of its file, or the file states no level of privacy.
    """
    for factor in factors:
        if not 0.0 < factor < math.inf:
            raise InvalidInput("factors", f"{factor!r} is not a factor", "must be above 0 and finite")
    file = campaign.file
    if not _levels(file):
        raise Refused(f"a file of the kind {file.kind.name!r} states no level of privacy in [privacy]",
                      "the plan of this kind shows the choices")
    own = campaign.plan.guarantees
    measured = _measure(own)
    return tuple(_point(file, factor, measured) for factor in factors)


def trade_off(campaign: Campaign, factors: Sequence[float] = FACTORS) -> Section:
    """The predicted privacy loss, error and payments of a campaign at other levels of privacy, as a chart and a table.

    Args:
        campaign: the campaign. The plan at the levels of the campaign file determines which accuracy guarantee is
            compared.
        factors: the factors by which the levels of privacy are multiplied; each above 0 and finite.

    Raises:
        InvalidInput: for the same reasons as in `points`.
        Refused: for the same reasons as in `points`.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from confide.contract import kind
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "ill.toml"
        ...     _ = path.write_text(kind("bits").template)
        ...     section = trade_off(Campaign.load(path), factors=(0.5, 1.0))
        >>> [row[:2] for row in section.blocks[1].rows]
        [(0.5, 0.5), (1.0, 1.0)]
    """
    found = points(campaign, factors)
    promises = campaign.plan.guarantees
    measure, currency = _measure(promises), _currency(promises)
    loss = _privacy(promises)
    towards = "" if loss is None else f"The loss is that of {loss.part}, towards: {loss.audience.value}. "
    error = (f"The error is {measure.rstrip(',')}." if measure else
             "The table shows no promise about the error. The plan shows more.")
    money = f"expected total, {currency}" if currency else "expected total"
    paid = any(math.isfinite(each.money) for each in found)
    columns = ("levels, times", "epsilon, nats", *(("error at most",) if measure else ()),
               *((money,) if paid else ()), "problem")
    table = Table(columns=columns, rows=tuple(
        (each.factor, _cell(each.epsilon), *((_cell(each.error),) if measure else ()),
         *((_cell(each.money),) if paid else ()), _wrong(each)) for each in found),
        note="All rows follow from public parameters alone, without a look at the data. A smaller loss protects people "
             "better.")
    blocks: list[Block] = [Text((f"{towards}{error}",)), table]
    drawn = _rows(found)
    if drawn:
        blocks.extend(curves(
            drawn, title="Results of other levels", x="loss of privacy, epsilon in nats",
            y="multiple of this plan's promise", log_x=True, log_y=True, marks=_mark(found), alt=_alt(found, drawn)))
    else:
        blocks.append(Text(("There is no picture, since fewer than two of these levels have a promise about the error "
                            "or the money.",)))
    return Section(title="Privacy, error and money", blocks=tuple(blocks))


def kept_trade_off(campaign: Campaign) -> Section:
    """The section `trade_off` with the factors `FACTORS`, computed once for each campaign object and kept as long as
    the object.

    Args:
        campaign: the campaign. The plan at the levels of the campaign file determines which accuracy guarantee is
            compared.

    Raises:
        Refused: for the same reasons as in `points`.
    """
    with _keeping:
        mine = _kept.setdefault(campaign, _Kept())
    with mine.lock:  # of many who look at once, one plans
        if mine.section is None:
            mine.section = trade_off(campaign)
        return mine.section


class _Kept:
    def __init__(self) -> None:
        self.lock = Lock()
        self.section: Section | None = None


_keeping = Lock()
_kept: WeakKeyDictionary[Campaign, _Kept] = WeakKeyDictionary()


def _levels(file: CampaignFile) -> dict[str, float]:
    """The levels of privacy that the file states, by their keys in [privacy]."""
    table = file.document.get("privacy", {})
    return {key: float(value) for key, value in table.items()
            if key.startswith(_LEVELS) and isinstance(value, int | float) and not isinstance(value, bool)}


def _moved(file: CampaignFile, factor: float) -> CampaignFile:
    """The file with every level multiplied by the factor.

    Raises:
        InvalidInput: the kind does not accept the multiplied levels.
    """
    moved = {key: factor * value for key, value in _levels(file).items()}
    document: dict[str, Any] = {**file.document, "privacy": {**file.document["privacy"], **moved}}
    model = file.kind.config
    tables = {key: value for key, value in document.items() if key in model.model_fields}
    try:
        config = model.model_validate_json(json.dumps(tables, default=str), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidInput(".".join(map(str, first["loc"])), str(first["msg"])) from None
    return dataclasses.replace(file, config=config, document=document)


def _point(file: CampaignFile, factor: float, measured: str) -> Point:
    try:
        there = file if factor == 1.0 else _moved(file, factor)
        plan = there.kind.plan(there.config)
        promises = plan.guarantees
    except (InvalidInput, Refused, SolverFailed) as error:
        return Point(factor=factor, problem=_reason(error))
    problem = ""
    try:
        check_budget(there, plan)
    except BudgetExceeded:
        problem = _BEYOND
    loss, paid = _privacy(promises), _money(promises)
    bound = next((each for each in promises.of(Accuracy) if measured and each.measure == measured), None)
    vacuous = [name for name, each in (("privacy", loss), ("error", bound), ("money", paid))
               if each is not None and each.vacuous]
    delta = file.budget.delta or _DELTA
    epsilon_at: Any = None if loss is None else getattr(loss.loss, "epsilon_at", None)
    return Point(
        factor=factor, epsilon=math.nan if epsilon_at is None else float(epsilon_at(delta)), vacuous=tuple(vacuous),
        error=math.nan if bound is None else bound.bound, money=math.nan if paid is None else paid.expected,
        problem=problem)


def _reason(error: InvalidInput | Refused | SolverFailed) -> str:
    """The problem that an error states, without its remedies, which refer to a file with other levels that the user
    does not have.
    """
    if isinstance(error, InvalidInput):
        return f"{error.field}: {error.problem}"
    return error.reason if isinstance(error, Refused) else str(error)


def _privacy(promises: Guarantees) -> Privacy | None:
    return next((each for each in promises.of(Privacy) if each.claimable), None)


def _money(promises: Guarantees) -> Budget | None:
    return next((each for each in promises.of(Budget) if each.claimable), None)


def _currency(promises: Guarantees) -> str:
    found = _money(promises)
    return "" if found is None else found.currency


def _measure(promises: Guarantees) -> str:
    """The measure of the accuracy guarantee that is compared: the first guarantee with a bound above 0."""
    return next((each.measure for each in promises.of(Accuracy) if each.claimable and each.bound > 0.0), "")


def _wrong(point: Point) -> str:
    said = [point.problem] if point.problem else []
    return "; ".join([*said, *(f"says nothing of {name}" for name in point.vacuous)])


def _cell(value: float) -> float | None:
    return None if math.isnan(value) else value


def _rows(found: Sequence[Point]) -> list[tuple[float, float, str]]:
    """The points of the chart: error and money at each level, divided by the error and the money of the plan itself.
    Levels beyond the budget are drawn too, since their results are known and only the budget excludes them.
    """
    own = next((each for each in found if each.factor == 1.0), None)
    rows: list[tuple[float, float, str]] = []
    for name, key in (("error", "error"), ("money", "money")):
        unit = math.nan if own is None else getattr(own, key)
        shown = [] if not 0.0 < unit < math.inf else [
            (each.epsilon, getattr(each, key) / unit, name) for each in found
            if name not in each.vacuous and _drawable(each.epsilon) and _drawable(getattr(each, key))]
        rows.extend(shown if len(shown) > 1 else [])
    return rows


def _drawable(value: float) -> bool:
    return 0.0 < value < math.inf


def _mark(found: Sequence[Point]) -> list[tuple[float, float, str]]:
    return [(each.epsilon, 1.0, "this plan") for each in found if each.factor == 1.0 and _drawable(each.epsilon)]


def _alt(found: Sequence[Point], drawn: Sequence[tuple[float, float, str]]) -> str:
    """Description of the picture in words."""
    parts = []
    for name in dict.fromkeys(row[2] for row in drawn):
        line = sorted((x, y) for x, y, series in drawn if series == name)
        parts.append(f"as epsilon goes from {line[0][0]:.3g} to {line[-1][0]:.3g}, the {name} goes from "
                     f"{line[0][1]:.3g} to {line[-1][1]:.3g} times the {name} of this plan")
    gone = sum(1 for each in found if each.problem)
    refused = (f" At {gone} of {len(found)} levels, the campaign would be refused. The chart shows these levels too, "
               "if their bounds are known." if gone else "")
    return f"Bounds at other levels of privacy: {'; '.join(parts)}.{refused}"
