"""The table `[program]` of a campaign file. Each family of convex programs has a class with the public keys of the
table and with the program that these keys define.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from confide.contract.errors import InvalidInput
from confide.contract.known_keys import Keys, keys_of
from confide.contract.remedies import printed
from confide.contract.words import counted
from confide.programs.families.aggregative_game import AggregativeGame, nearly_best
from confide.programs.families.capped_additive import CappedAdditive
from confide.programs.families.electricity import Electricity
from confide.programs.families.flow import Flow
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.shared_resources import SharedResources
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.families.xor_bundles import XorBundles
from confide.programs.reading import Bids, Choice, Number, Points
from confide.programs.slots import Coding, named, pairs, table_lines

__all__ = ["Finite", "Positive", "ProgramTable", "Share"]

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], Field(min_length=1, max_length=100_000)]

_Cells = NDArray[np.float64]
_Judged = tuple[_Cells, NDArray[np.bool_]]


class Columns(Protocol):
    """The names of columns that the table `[data]` of the campaign file states."""

    @property
    def bundle(self) -> str: ...

    @property
    def value(self) -> str: ...


class _Family(Keys):
    family: str
    asks_values: ClassVar[bool] = True

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        """The program that the table describes, with the file's own names.

        Args:
            people: the number of invited people.
            points: the scale of values; None where the family asks for no values.
            data: the names of columns.

        Raises:
            InvalidInput: a key is out of range.
        """
        raise NotImplementedError


def _points(points: Points | None) -> Points:
    if points is None:
        raise InvalidInput("values", "is missing")
    return points


def _number(field: str, line: int, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = np.nan
    if not np.isfinite(found) or "_" in text:
        raise InvalidInput(field, f"line {line}: {text!r} is not a number")
    return found


# ---- goods


class _Goods(_Family):
    goods: Names | None = Field(default=None, description="names of the goods")
    supply: Positive | tuple[Positive, ...] | None = Field(
        default=None, description="number of copies: one number for all goods, or one number for each good")
    table: str | None = Field(default=None, description="in place of goods and supply: lines of name,supply below this "
                                                        "heading")

    def listed(self) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The names of the goods, and the number of copies of each good."""
        if (self.table is None) is (self.goods is None) or (self.goods is None) is not (self.supply is None):
            raise InvalidInput("goods", "are not given in exactly one way",
                               "give goods and supply, or a table of name,supply")
        if self.table is not None:
            lines = table_lines("table", self.table, ("name", "supply"))
            names = tuple(line[0] for _, line in lines)
            supply = tuple(_number("table", number, line[1]) for number, line in lines)
            if min(supply) <= 0:
                raise InvalidInput("table", "has a supply that is not above 0")
        else:
            names, supply = self.goods or (), _for_each("supply", self.supply, len(self.goods or ()))
        return named("goods", names, without="+"), supply


def _for_each(field: str, given: Any, count: int) -> tuple[float, ...]:
    """A tuple of `count` numbers, from one number for all entries or from one number for each entry."""
    found = (float(given),) * count if isinstance(given, int | float) else tuple(map(float, given))
    if len(found) != count:
        raise InvalidInput(field, f"has {counted(len(found), 'number')} for {count} names",
                           "must be one number, or one for each")
    return found


def _valued(names: tuple[str, ...], points: Points) -> tuple[Number, ...]:
    return tuple(Number.of_values(name, points) for name in names)


def _scale(points: Points) -> str:
    return (f"a number from {points.lowest:g} to {points.highest:g}. An empty cell is worth nothing, like the number "
            f"{points.lowest:g}")


class UnitDemandTable(_Goods):
    """Table of `family = "unit-demand"`: each participant wants one good."""

    family: Literal["unit-demand"]

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        names, supply = self.listed()
        scale = _points(points)
        return Coding(
            program=UnitDemand(people, supply), rows=names, thing="good", what="goods, at most one for each person",
            asked=f"for each good {_scale(scale)}", described=lambda some: names[some[0]], points=scale,
            unit=scale.unit, columns=_valued(names, scale))


@keys_of(CappedAdditive, "cap")
class CappedAdditiveTable(_Goods):
    """Table of `family = "capped-additive"`: each participant wants up to `cap` goods, and their values add up."""

    family: Literal["capped-additive"]
    if TYPE_CHECKING:
        cap: int

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        names, supply = self.listed()
        scale = _points(points)
        return Coding(
            program=CappedAdditive(people, supply, cap=self.cap), rows=names, thing="goods",
            what=f"goods, at most {self.cap} for each person",
            asked=f"for each good {_scale(scale)}. The values add up",
            described=lambda some: ", ".join(names[good] for good in some), points=scale, unit=scale.unit,
            columns=_valued(names, scale))


@keys_of(XorBundles, "size bids")
class XorBundlesTable(_Goods):
    """Table of `family = "xor-bundles"`: each participant lists a few bundles of goods with their values, and wants one
    of the bundles.
    """

    family: Literal["xor-bundles"]
    if TYPE_CHECKING:
        size: int
        bids: int

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        names, supply = self.listed()
        scale = _points(points)
        bids = Bids(goods=names, size=self.size, most=self.bids, bundle=data.bundle,
                    value=Number.of_values(data.value, scale))
        return Coding(
            program=XorBundles(people, supply, size=self.size, bids=self.bids), rows=names, thing="bundle",
            what=f"goods, at most one bundle of up to {self.size} for each person",
            asked=f"up to {self.bids} bundles of up to {self.size} goods, written a+b, and for each {_scale(scale)}",
            described=lambda some: "+".join(names[good] for good in some), bids=bids, limit=bids.limit, points=scale,
            unit=scale.unit)


# ---- resources and projects


class KnapsackTable(_Family):
    """Table of `family = "knapsack"`: each participant has one item, with a value and a weight for each resource."""

    family: Literal["knapsack"]
    resources: Names = Field(description="names of the resources; each is a column with the weights of items for this "
                                         "resource")
    supply: Positive | tuple[Positive, ...] = Field(description="supply of each resource, in its own unit")
    largest_weight: Positive | tuple[Positive, ...] = Field(
        default=1.0, description="largest weight of an item for a resource, in the resource's unit")
    least_weight: Positive | tuple[Positive, ...] = Field(
        description="least weight of an item for a resource, if the item needs the resource at all")
    most_weight: Positive | None = Field(
        default=None, description="largest sum of an item's weights, each in units of its largest weight")

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        names, k = named("resources", self.resources), len(self.resources)
        scale, largest = _points(points), _for_each("largest_weight", self.largest_weight, k)
        supply, least = _for_each("supply", self.supply, k), _for_each("least_weight", self.least_weight, k)
        if data.value in names:
            raise InvalidInput("data.value", f"{data.value!r} is also a resource")
        for name, one, most in zip(names, least, largest, strict=True):
            if one > most:
                raise InvalidInput("least_weight", f"{one:g} of {name} is above the largest_weight of this resource",
                                   f"at most {printed(most, up=False)}")
        each = tuple(one / most for one, most in zip(least, largest, strict=True))
        program = Knapsack(people, tuple(one / most for one, most in zip(supply, largest, strict=True)),
                           least_weight=each, most_weight=self.most_weight)

        def judged(cells: _Cells) -> _Judged:
            weights = cells[:, 1:]
            bad = ((weights != 0) & (weights < np.array(each))).any(axis=1)
            if self.most_weight is not None:
                bad |= np.ceil(weights * 2.0**20).sum(axis=1) > np.floor(self.most_weight * 2.0**20) + k
            return cells, bad

        limit = "the weight of an item must be 0 or at least " + ", ".join(
            f"{one:g} of {name}" for name, one in zip(names, least, strict=True))
        if self.most_weight is not None:
            limit += f", and the weights together at most {self.most_weight:g}, each in units of its largest weight"
        takes = tuple(Number(name=name, lowest=0.0, highest=most, unit=most, empty=0.0)
                      for name, most in zip(names, largest, strict=True))
        return Coding(
            program=program, rows=names, thing="item", what="resources for items",
            asked=f"the value of your item, {_scale(scale)}. Also the weight of the item for each resource",
            loads=largest,
            described=lambda _: "a place for the item", points=scale, unit=scale.unit, judge=judged, limit=limit,
            columns=(Number.of_values(data.value, scale), *takes))


class SharedResourcesTable(_Family):
    """Table of `family = "shared-resources"`: each participant joins at most one project. Projects share resources that
    are bought for everybody.
    """

    family: Literal["shared-resources"]
    projects: str = Field(description="lines of name,needs below this heading; needs are resources, written a+b")
    resources: str = Field(description="lines of name,cost below this heading; cost of one unit, in points of [values]")

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        scale = _points(points)
        bought = table_lines("resources", self.resources, ("name", "cost"))
        resources = named("resources", tuple(line[0] for _, line in bought), without="+")
        costs = tuple(_number("resources", number, line[1]) / scale.unit for number, line in bought)
        lines = table_lines("projects", self.projects, ("name", "needs"))
        projects = named("projects", tuple(line[0] for _, line in lines))
        needs = []
        for number, (_, text) in lines:
            some = [part.strip() for part in text.split("+")]
            strange = next((part for part in some if part not in resources), None)
            if strange is not None:
                raise InvalidInput("projects", f"line {number}: {strange!r} is not a resource",
                                   f"resources: {', '.join(resources)}")
            needs.append(tuple(resources.index(part) for part in some))
        program = SharedResources(people, needs=tuple(needs), costs=costs)
        rows = tuple(f"{resources[one]} for {project}" for project, some in zip(projects, needs, strict=True)
                     for one in some)
        return Coding(
            program=program, rows=rows, thing="project", what="projects, at most one for each person",
            asked=f"for each project {_scale(scale)}", described=lambda some: projects[some[0]], points=scale,
            unit=scale.unit, columns=_valued(projects, scale))


# ---- networks


@keys_of(Flow, "hops")
class FlowTable(_Family):
    """Table of `family = "flow"`: each participant sends one unit through a public network, or stays out at a public
    cost.
    """

    family: Literal["flow"]
    asks_values: ClassVar[bool] = False
    arcs: str = Field(description="lines of tail,head,capacity,cost below this heading, with the nodes' names")
    both_ways: bool = Field(default=False, description="whether every line also stands for the arc back")
    escape: Positive = Field(description="the cost of not using the network, in the unit of the arcs' costs")
    if TYPE_CHECKING:
        hops: int

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        found = list[tuple[str, str, float, float]]()
        for number, line in table_lines("arcs", self.arcs, ("tail", "head", "capacity", "cost")):
            capacity, cost = (_number("arcs", number, text) for text in line[2:])
            if capacity <= 0:
                raise InvalidInput("arcs", f"line {number} has the capacity {line[2]}", "must be above 0")
            if cost < 0:
                raise InvalidInput("arcs", f"line {number} has the cost {line[3]}", "must be at least 0")
            found.append((line[0], line[1], capacity, cost))
            if self.both_ways:
                found.append((line[1], line[0], capacity, cost))
        nodes = named("arcs", tuple(dict.fromkeys(node for arc in found for node in arc[:2])))
        unit = max(arc[3] for arc in found) or self.escape
        rank = {node: place for place, node in enumerate(nodes)}
        program = Flow(
            people, tuple(arc[2] for arc in found), arcs=tuple((rank[arc[0]], rank[arc[1]]) for arc in found),
            hops=self.hops, escape=self.escape / unit, costs=tuple(arc[3] / unit for arc in found))

        def reported(some: list[int]) -> str:
            return " - ".join([found[some[0]][0], *(found[arc][1] for arc in some)])

        def judged(cells: _Cells) -> _Judged:
            return cells, cells[:, 0] == cells[:, 1]

        return Coding(
            program=program, rows=tuple(f"{tail}->{head}" for tail, head, *_ in found), thing="path",
            what=f"arcs of a network, a path of up to {self.hops} arcs for each person",
            asked="the names of the nodes where you start and where you want to go", described=reported, unit=unit,
            judge=judged,
            worth="units of cost", limit="source and sink must be two different nodes",
            columns=(Choice(name="source", names=nodes), Choice(name="sink", names=nodes)))


# ---- time


@keys_of(Electricity, "most hard")
class ElectricityTable(_Family):
    """Table of `family = "electricity"`: each participant uses some time slots of some intervals, and each slot has
    limited power.
    """

    family: Literal["electricity"]
    intervals: Names = Field(description="names of the intervals, such as days")
    slots: Names = Field(description="names of the slots, such as hours; every interval has all slots")
    supply: Positive | tuple[Positive, ...] = Field(
        description="number of people who may use each slot: one number for all, or one for each slot of each interval "
                    "in turn")
    shortfall: Positive | None = Field(
        default=None, description="cost of a missed slot, in points of [values], if people state how many slots of an "
                                  "interval they need")
    tau: Positive | None = Field(default=None, description=
        "with hard needs: largest value of a unit of power, in units of the highest value")
    if TYPE_CHECKING:
        most: int
        hard: bool

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        intervals = named("intervals", self.intervals, without=".")
        slots = named("slots", self.slots)
        rows, scale = pairs(intervals, slots), _points(points)
        shortfall = None if self.shortfall is None else self.shortfall / scale.unit
        program = Electricity(
            people, _for_each("supply", self.supply, len(rows)), most=self.most, intervals=len(intervals),
            slots=len(slots), shortfall=shortfall, hard=self.hard, tau=self.tau)
        if program.asks_needs and "needs" in slots:
            raise InvalidInput("slots", "'needs' is also the name of the column of needs", "give the slot another name")
        wanted = tuple(Number(name=f"{each}.needs", lowest=0.0, highest=float(len(slots)), empty=0.0)
                       for each in intervals) if program.asks_needs else ()

        def judged(cells: _Cells) -> _Judged:
            needs = cells[:, len(rows) :]
            return cells, (needs != np.floor(needs)).any(axis=1) | (needs.sum(axis=1) > self.most)

        needed = f". Also how many slots of each interval you need, at most {self.most} in all" if wanted else ""
        return Coding(
            program=program, rows=rows, thing="slots", what=f"slots of power, at most {self.most} for each person",
            asked=f"for each slot of each interval {_scale(scale)}{needed}", points=scale, unit=scale.unit,
            described=lambda some: ", ".join(rows[slot] for slot in some), judge=judged,
            limit=f"needs must be whole numbers, together at most {self.most}",
            columns=(*_valued(rows, scale), *wanted))


# ---- games


@keys_of(AggregativeGame, "signed")
class AggregativeGameTable(_Family):
    """Table of `family = "aggregative-game"`: the participants' contributions add up to a public target, and each
    participant plays an action that is nearly the best at this target.
    """

    family: Literal["aggregative-game"]
    actions: Names | None = Field(default=None, description="names of the actions, if contributions are not public")
    rows: Names = Field(description="names of the sums of contributions")
    target: tuple[Finite, ...] = Field(min_length=1, description="target of each row")
    contributions: str | None = Field(
        default=None, description="public contributions: lines with an action and a number for each row, below the "
                                  "heading action,ROW,...; without them, each person has columns action.row")
    largest: Positive = Field(description="gamma: largest absolute contribution")
    largest_sum: Positive | None = Field(default=None, description=
        "largest sum of the absolute contributions of an action")
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.0, description="largest difference between the best utility at the target and that of an allowed "
                                 "action, in points of [values]")
    if TYPE_CHECKING:
        signed: bool

    def coding(self, people: int, points: Points | None, data: Columns) -> Coding:
        scale, rows = _points(points), named("rows", self.rows, without=".")
        if len(self.target) != len(rows):
            raise InvalidInput("target", f"has {counted(len(self.target), 'number')} for {counted(len(rows), 'row')}",
                               "must have one number for each row")
        actions, public = self._actions(rows)
        program = AggregativeGame(people, self.target, actions=len(actions), largest=self.largest,
                                  largest_sum=self.largest_sum, signed=self.signed)
        if public is not None:
            program.one((public, np.ones(len(actions))))  # refuses contributions out of range
        utilities = len(actions)

        def judged(cells: _Cells) -> _Judged:
            allowed = nearly_best(cells[:, :utilities], self.tolerance / scale.unit).astype(np.float64)
            parts = cells[:, utilities:] if public is None else np.broadcast_to(
                public.reshape(-1), (len(cells), public.size))
            each = np.abs(parts).reshape(len(cells), utilities, len(rows)).sum(axis=2)
            most = np.inf if self.largest_sum is None else self.largest_sum
            return np.concatenate([parts, allowed], axis=1), (each > most).any(axis=1)

        own = () if public is not None else tuple(
            Number(name=name, lowest=-self.largest if self.signed else 0.0, highest=self.largest, empty=0.0)
            for name in pairs(actions, rows))
        what = "" if public is not None else "; and the contribution of each action to each row"
        return Coding(
            program=program, rows=rows, thing="action", what=
            "an equilibrium: actions with the public target as their sum",
            asked=f"the value of each action to you at the target, a number from {scale.lowest:g} to "
                  f"{scale.highest:g}{what}. You are asked to play actions within {self.tolerance:g} of your best",
            described=lambda some: actions[some[0]], points=scale, unit=scale.unit, judge=judged,
            limit=f"contributions of an action must add up to at most {self.largest_sum}",
            columns=(*_valued(actions, scale), *own))

    def _actions(self, rows: tuple[str, ...]) -> tuple[tuple[str, ...], _Cells | None]:
        """The names of the A actions, and their public contributions to the k constraints, shape (A, k)."""
        if (self.actions is None) is (self.contributions is None):
            raise InvalidInput("actions", "are not given in exactly one way",
                               "give actions, or a table of public contributions")
        if self.contributions is None:
            return named("actions", self.actions or (), without="."), None
        lines = table_lines("contributions", self.contributions, ("action", *rows))
        found = np.array([[_number("contributions", number, text) for text in line[1:]] for number, line in lines])
        return named("contributions", tuple(line[0] for _, line in lines)), found


ProgramTable = (UnitDemandTable | CappedAdditiveTable | XorBundlesTable | KnapsackTable | SharedResourcesTable
                | FlowTable | ElectricityTable | AggregativeGameTable)
