"""Collecting bits that were randomised on people's own devices: the mechanism that a campaign of the market family
runs.

`submit` runs on a participant's device and draws the participant's report before anybody else sees anything. `run` is
the operator's part. `run` takes reports, never bits. `run` publishes two counts for each group of peers, and pays each
report an amount that follows from these counts. All computations after the reports are post-processing.

Source: Wang 2016, chapters 3 to 5; spec data_market sections 1 to 5.

The module also reads reports, or true answers that are already public, from a table, and packs reports into bytes for
storage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any, ClassVar, Protocol, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Budget, Guarantee, Guarantees, Relation, Truthfulness
from confide.contract.mechanism import Mechanism, NoiseSource, Progress
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.market.binomials import StateEstimate
from confide.market.matching import Paid
from confide.market.pairs.accuracy import MeanEstimate
from confide.market.strategies import NO_TRUTHS, NONE, are_truths, as_bits, as_reports, numbers_of
from confide.privacy.charge import Line, OnDevices
from confide.privacy.events import PureEvent
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.base import as_noise
from confide.privacy.response import randomized_response
from confide.tables import Above, Category, FirstRows, Roster, TableSource, rejections
from confide.tables.frames import column_of, fields_of, is_table, own_fields, own_row
from confide.tables.reader import Reader
from confide.tables.roles import FINE, MISSING

__all__ = ["LARGEST", "BitBillboard", "BitCodec", "BitCollection", "BitMarket", "Reports", "as_batches", "read_reports"]

# ---- collection

_REPORT = "one report"  # the line of the charge that a device spends
_DIGITS = 1e-12  # relative, within which processors compute the same amount

LARGEST = 2**62
"""Largest single payment, in the smallest units of the currency, such as cents."""


class BitMarket(Protocol):
    """The common interface of the three markets: a payment from two counts, an answer from the counts, and the
    guarantees.
    """

    @property
    def people(self) -> int: ...

    @property
    def presence(self) -> float: ...

    @property
    def largest_level(self) -> float: ...

    def level_of(self, worth: float | None) -> float: ...

    def pay(self, ones: int, zeros: int) -> Paid: ...

    @property
    def margin(self) -> float: ...

    def payment_range(self) -> tuple[float, float]: ...

    def estimate(self, ones: int, zeros: int) -> StateEstimate | MeanEstimate: ...

    def guarantees(self) -> Guarantees: ...


_NEEDED = tuple(name for name in vars(BitMarket) if not name.startswith("_"))


@dataclass(frozen=True, eq=False)
class Reports:
    """The reports of some of the people.

    Args:
        index: (k,) positions of the people in the public list of ids, from 0; no position occurs twice in a collection.
        report: (k,) uint8, each 0, 1, or 2 for taking no part.
        group: (k,) int64, the group of peers whose counts pay each report, in 0..groups-1.
    """

    index: NDArray[np.int64]
    report: NDArray[np.uint8]
    group: NDArray[np.int64]


@wire("BitBillboard", "ones zeros for_one for_zero")
@dataclass(frozen=True, kw_only=True, eq=False)
class BitBillboard(Billboard):
    """The public result: the counts of each of the g groups of peers, and the payments of their reports.

    Args:
        ones: (g,) int64, number of reports of 1 in each group.
        zeros: (g,) int64, number of reports of 0 in each group. People who are in neither count took no part.
        for_one: (g,) int64, payment of each report of 1 in the group, in the smallest units of the currency, such as
            cents.
        for_zero: (g,) int64, payment of each report of 0 in the group, in the smallest units of the currency, such as
            cents.
    """

    ones: np.ndarray
    zeros: np.ndarray
    for_one: np.ndarray
    for_zero: np.ndarray

    def __post_init__(self) -> None:
        for name, array in vars(self).items():
            if array.dtype != np.int64 or array.ndim != 1 or array.shape != self.ones.shape or not array.size:
                raise InvalidInput(f"billboard.{name}", f"{array.dtype} of shape {array.shape}",
                                   "must be int64, one number for each group")
        if (self.ones < 0).any() or (self.zeros < 0).any():
            raise InvalidInput("billboard", "a count is negative")

    @property
    def present(self) -> int:
        """Number of people who reported 0 or 1."""
        return int(self.ones.sum() + self.zeros.sum())


@wire("BitCollection", "market currency minor_units groups")
@dataclass(frozen=True, kw_only=True)
class BitCollection(Mechanism[BitBillboard, None]):
    """One run of a market, which takes reports, and publishes counts of reports and payments.

    Epsilon is no parameter of this class, because each market has its own epsilon. For a market with a given privacy
    budget, call `for_budget` of `MajorityMarket`, `PairMarket` or `ThresholdMarket`.

    Raises:
        InvalidInput: a field is out of range, `market` is not a market, or the payments do not follow from the public
            counts.

    Example:
        >>> from confide.market import LinearCost, MajorityMarket
        >>> market = MajorityMarket(people=10, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)
        >>> collection = BitCollection(market=market, currency="EUR")
        >>> collection.submit(1, noise=Noise.simulated(4))  # on participant 1's own device
        1
        >>> reports = [1, 1, 0, 1, 1, 0, 1, 2, 1, 1]
        >>> outcome = collection.run(reports, Noise.secure())
        >>> board = outcome.billboard
        >>> board.ones.tolist(), board.zeros.tolist(), board.for_one.tolist(), board.for_zero.tolist()
        ([7], [2], [1749], [0])
        >>> found = collection.answer(board)
        >>> found.state, round(found.wrong, 4), found.people
        (1, 0.0243, 9)
        >>> paid = outcome.shares["payment"].to_pylist()
        >>> paid == [collection.decode(report, k, board)["payment"] for k, report in enumerate(reports)]
        True
    """

    market: Annotated[Any, Parameter("market that sets the payments: MajorityMarket, ThresholdMarket or PairMarket")]
    currency: Annotated[str, Parameter("currency of the payments")] = ""
    minor_units: Annotated[int, Parameter("number of smallest coins in one unit of the currency; each payment is "
                                          "rounded up to whole coins", at_least=1,
                                          at_most=10**18)] = 100
    groups: Annotated[int, Parameter("number of groups of peers; a participant's payment follows from the counts of "
                                     "their own group",
                                     at_least=1)] = 1

    share_depends_on: ClassVar[str] = "one's own report, one's group of peers, and the public counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_market(self.market)
        if not getattr(self.market, "average", True):
            raise InvalidInput("average", "is false, but a payment by the report of a single peer does not follow from "
                                          "public counts", "must be true")
        most = max(map(abs, self.market.payment_range())) * self.minor_units
        if not most <= LARGEST:
            raise InvalidInput("minor_units", f"{self.minor_units:,} makes payments of up to {most:.3g} coins",
                               "must be at most 2^62: choose larger coins, a smaller epsilon, or more people")

    # ---- promises

    def events(self) -> tuple[PureEvent, ...]:
        """The privacy event of one report at the largest level that anybody's device uses; no event where nobody is
        asked.

        Raises:
            NotGuaranteed: the market sets no bound on the levels of reports.
        """
        level = self.market.largest_level
        if not self.market.people:
            return ()
        if math.isinf(level):
            raise NotGuaranteed("a level of the reports",
                                "people with a low cost of privacy may choose an unlimited level", "give a ceiling")
        return (PureEvent(epsilon=level, neighbours=Relation.BIT, label=_REPORT),)

    def lines(self) -> tuple[Line, ...]:
        return tuple(OnDevices(name=_REPORT, event=event) for event in self.events())

    @property
    def coin(self) -> float:
        """The value of the smallest unit of the currency, such as a cent, in units of the currency."""
        return 1.0 / self.minor_units

    def guarantees(self) -> Guarantees:
        """The market's guarantees, in the currency, for payments that are rounded up to whole coins. A coin is the
        smallest unit of the currency, such as a cent.

        Rounding raises each payment by less than one coin, and therefore raises the gain from a lie by less than one
        coin. If a coin is worth more than the margin of a truthful report over reports that ignore the bit, the
        guarantee of truthfulness is vacuous.
        """
        if not self.market.people:
            return Guarantees(tuple(self.market.guarantees()))
        found: list[Guarantee] = []
        attended = self.market.people * self.market.presence  # on average
        for each in self.market.guarantees():
            match each:
                case Truthfulness():
                    found.append(replace(each, gain=each.gain + self.coin, baseline=self.market.margin,
                                         unit_of_gain=self.currency))
                case Budget():
                    found.append(replace(each, expected=each.expected + attended * self.coin,
                                         highest=each.highest + self.coin, currency=self.currency))
                case _:
                    found.append(each)
        return Guarantees(tuple(found))

    # ---- a participant's side

    def submit(self, private: Any, offer: Any = None, noise: NoiseSource | None = None) -> int:
        """Draw a participant's report on their own device. Each call draws a new report, so a `ReportBook` has to keep
        the first report.

        Args:
            private: bit of the participant, or (bit, value of a nat of privacy to the participant) where costs are
                unknown. The value None stands for taking no part, and taking part must not depend on the bit.
            offer: not used, because the level is public.
            noise: source of the randomness, `Noise.secure()` on a real device.

        Returns:
            0 or 1, or 2 for taking no part.

        Raises:
            InvalidInput: `private` holds no bit, no value of privacy is given where costs are unknown, or `noise` is
                missing.
        """
        return self._report(private, noise, "report")

    def _report(self, private: Any, noise: NoiseSource | None, stream: Stream) -> int:
        if isinstance(private, tuple) and len(private) != 2:
            raise InvalidInput("private", "is not a pair", "must be a bit, or (bit, value of a nat of privacy)")
        bit, worth = private if isinstance(private, tuple) else (private, None)
        worth = None if worth is None else positive("worth", worth)
        if bit is not None and worth is None and hasattr(self.market, "cost_law"):
            raise InvalidInput("worth", "is missing", "with unknown costs, must be the value of a nat of privacy to "
                                                      "each person, above 0")
        level = math.nan if bit is None else self.market.level_of(worth)
        if math.isnan(level):
            return NONE
        if isinstance(bit, bool) or bit not in (0, 1):  # never says which
            raise InvalidInput("private", "is not a bit", "must be 0, 1, or None for taking no part")
        return int(randomized_response([int(bit)], level, as_noise(noise), stream=stream, line=_REPORT)[0])

    def reports(self, bits: Any, noise: NoiseSource, *, worth: Any = None) -> NDArray[np.uint8]:
        """Draw everybody's reports, each from that person's bit as `submit` does, in one call on one machine.

        Call this method only where the caller may see the bits: in a rehearsal, in a study, or as a custodian that
        people trust. If the operator must not see the bits, each person calls `submit` on their own device.

        Args:
            bits: (N,) true or false, or 1 or 0, for each person; a person with nan or None takes no part. The bits may
                be an array, a list, a column, or a frame or a file with one column.
            noise: source of the randomness: `Noise.secure()`, or `Noise.simulated(seed)` for a study.
            worth: (N,) value of a nat of privacy to each person, above 0, where costs are unknown; None where costs are
                known.

        Returns:
            (N,) reports for `run`: 0, 1, or 2 for taking no part.

        Raises:
            InvalidInput: `bits` are not N bits, or `worth` is not N numbers. The message does not say which entry is
                wrong.

        Example:
            >>> from confide.market import LinearCost, MajorityMarket
            >>> market = MajorityMarket(people=4, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=9.0)
            >>> collection = BitCollection(market=market)
            >>> collection.reports([True, False, None, True], Noise.simulated(4)).tolist()
            [1, 0, 2, 1]
        """
        people = self.market.people
        given = as_bits(bits, people)
        costs = None if worth is None else numbers_of("worth", worth)
        if costs is not None and costs.shape != (people,):
            raise InvalidInput("worth", f"has shape {costs.shape}", f"must be ({people},), a number for each person")
        here = np.flatnonzero(given != NONE)
        if costs is not None and not (np.isfinite(costs[here]) & (costs[here] > 0)).all():
            raise InvalidInput("worth", "is missing or out of range", "must be above 0 for each person who takes part")
        sent = np.full(people, NONE, dtype=np.uint8)
        for k in here.tolist():
            bit = int(given[k])
            sent[k] = self._report(bit if costs is None else (bit, float(costs[k])), noise, ("report", k))
        return sent

    # ---- the operator's side

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None,
    ) -> RunOutcome[BitBillboard, None]:
        """Count the reports of each group of peers, and pay each report.

        Args:
            data: N reports, each 0, 1 or 2 (no part), or batches of `Reports`; people in no batch took no part. A
                column, frame (pandas, Polars, Arrow) or file with a row for each invited person and one column of
                reports also works. A person with an empty cell takes no part. With several groups the columns are
                `report` and `group`.
            noise: `Noise.secure()` for a release. Nothing is drawn from `noise`, because reports are already
                randomised.
            progress: function that is called with (1, 2) after the reports are counted, and with (2, 2) after everybody
                is paid.

        Raises:
            InvalidInput: the data are not reports; the message names a column that holds text.
        """
        if not isinstance(noise, Noise):
            raise InvalidInput("noise", f"{type(noise).__name__} is not a Noise", "use Noise.secure()")
        people = self.market.people

        def handed_in(batch: Reports) -> dict[str, np.ndarray]:
            if batch.group.size and not (batch.group.min() >= 0 and batch.group.max() < self.groups):
                raise InvalidInput("group", "is out of range", f"must be in 0..{self.groups - 1}")
            return {"report": batch.report, "group": batch.group}

        found = Reader(lambda: as_batches(data, people, self.groups), people).by_slot(
            handed_in, {"report": np.uint8(NONE), "group": np.int32(0)},
            refuse="a person's report occurs twice")  # never says whose
        report, group = found["report"], found["group"]
        counts = np.bincount(report * np.int64(self.groups) + group, minlength=3 * self.groups).reshape(3, self.groups)
        advance(progress, 1, 2)
        board = self.pay_counts(counts[1], counts[0])
        table = np.stack([board.for_zero, board.for_one, np.zeros_like(board.for_one)])
        shares = pa.table({"payment": table[report, group]})
        advance(progress, 2, 2)
        return self._outcome(noise, billboard=board, shares=shares)

    def pay_counts(self, ones: np.ndarray, zeros: np.ndarray) -> BitBillboard:
        """The billboard for given counts of ones and zeros, shape (g,) each, with the payments that follow from these
        counts.
        """
        paid = [self.market.pay(int(one), int(zero)) for one, zero in zip(ones, zeros, strict=True)]
        coins = [[self._coins(each.one) for each in paid], [self._coins(each.zero) for each in paid]]
        return BitBillboard(ones=ones, zeros=zeros, for_one=np.array(coins[0], dtype=np.int64),
                            for_zero=np.array(coins[1], dtype=np.int64))

    def _coins(self, amount: float) -> int:
        return math.ceil(amount * self.minor_units)

    def answer(self, billboard: Billboard) -> StateEstimate | MeanEstimate:
        """The answer from the public counts of all groups together: the state, or the share of ones with its standard
        error.

        Args:
            billboard: billboard of the run.

        Returns:
            A `StateEstimate` for markets that ask for a state, and a `MeanEstimate` for `PairMarket`.

        Raises:
            InvalidInput: the billboard does not belong to this mechanism, or nobody reported in a market that estimates
                a share.
        """
        self.check(billboard)
        board = cast("BitBillboard", billboard)
        found: StateEstimate | MeanEstimate = self.market.estimate(int(board.ones.sum()), int(board.zeros.sum()))
        return found

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """One participant's payment, from their own report and the public billboard.

        Args:
            record: report of the participant, or (report, group) where there are several groups; None without a report.
                A table of one row, a mapping of columns, or an array of one entry works as well.
            index: position of the participant in the public list of ids, from 0.
            billboard: billboard of the run.

        Returns:
            {"payment": whole number of the smallest units of the currency}.
        """
        if not isinstance(billboard, BitBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a BitBillboard")
        if not 0 <= whole("index", index) < self.market.people:
            raise InvalidInput("index", f"{index} is out of range", f"must be in 0..{self.market.people - 1}")
        report, group = _own_report(record, self.groups)
        if not 0 <= whole("group", group) < len(billboard.ones):
            raise InvalidInput("group", f"{group} is out of range", f"must be in 0..{len(billboard.ones) - 1}")
        if report is None or report == NONE:
            return {"payment": 0}
        if isinstance(report, bool) or not isinstance(report, Real) or report not in (0, 1):
            raise InvalidInput("record", "is not a report", "must be 0, 1, or 2 for taking no part")
        return {"payment": int((billboard.for_one if report else billboard.for_zero)[group])}

    def check(self, billboard: Billboard) -> None:
        """Check that the billboard counts at most as many reports as people, and that its payments follow from its
        counts.

        Raises:
            InvalidInput: the billboard is inconsistent; the message names the field.
        """
        if not isinstance(billboard, BitBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a BitBillboard")
        if len(billboard.ones) != self.groups:
            raise InvalidInput("billboard", f"has {counted(len(billboard.ones), 'group')}", f"must have {self.groups}")
        if billboard.present > self.market.people:
            raise InvalidInput("billboard", f"counts {billboard.present} reports", f"{self.market.people} were invited")
        for k, (ones, zeros) in enumerate(zip(billboard.ones.tolist(), billboard.zeros.tolist(), strict=True)):
            due = self.market.pay(ones, zeros)
            for name, amount in (("for_one", due.one), ("for_zero", due.zero)):
                # Another processor may round the other way where the amount is a whole coin to within its last digits.
                exact, slack = amount * self.minor_units, abs(amount) * self.minor_units * _DIGITS
                if not math.ceil(exact - slack) <= int(getattr(billboard, name)[k]) <= math.ceil(exact + slack):
                    raise InvalidInput(f"billboard.{name}", "differs from the payments of the counts")


def _check_market(market: Any) -> None:
    """Refuse an object that is not a market with payments by public counts."""
    if isinstance(market, type) or not all(hasattr(market, name) for name in _NEEDED):
        planned = getattr(market, "market", None)
        what = (f"the value is the class {market.__name__}, not a market of this class" if isinstance(market, type) else
                f"{type(market).__name__} is a plan, not a market" if planned is not None else
                f"{type(market).__name__} is not a market with payments by public counts")
        raise InvalidInput("market", what,
                           "pass the plan's `market`" if planned is not None else
                           "must be a MajorityMarket, ThresholdMarket or PairMarket")


def as_batches(data: Any, people: int, groups: int = 1) -> Iterator[Reports]:
    """Check reports, and convert them to batches.

    Args:
        data: N reports in a form that `as_reports` accepts, or a table of reports and groups, or batches of `Reports`.
        people: number N of people.
        groups: number of groups of peers; with several, a table has the columns `report` and `group`.

    Raises:
        InvalidInput: the data are not reports, or an index is out of range. The message does not say which entry is
            wrong.
    """
    if groups > 1 and (is_table(data) or isinstance(data, Mapping)):
        yield _grouped(fields_of(data, {"report": (), "group": ()}, no_truths=NO_TRUTHS), people)
        return
    column = column_of(data, no_truths=NO_TRUTHS)
    listed = isinstance(data, np.ndarray | list | tuple) and not any(isinstance(each, Reports) for each in data[:1])
    if column is None and not listed and isinstance(data, Iterable):
        for batch in data:
            if not isinstance(batch, Reports):
                raise InvalidInput("data", f"a batch is {type(batch).__name__}", "must be Reports")
            if are_truths(batch.report):
                raise InvalidInput("data", "a batch's reports are true and false", NO_TRUTHS)
            if not len(batch.index) == len(batch.report) == len(batch.group):
                raise InvalidInput("data", "a batch has parts of different lengths")
            if batch.index.size and not (batch.index.min() >= 0 and batch.index.max() < people):
                raise InvalidInput("data", "an index is out of range", f"must be in 0..{people - 1}")
            if batch.report.size and (batch.report.min() < 0 or batch.report.max() > NONE):
                raise InvalidInput("data", "a value is not a report", "must be 0, 1, or 2 for taking no part")
            yield batch
        return
    report = as_reports(data if column is None else _cells(column), people)
    yield Reports(np.arange(people), report.astype(np.uint8), np.zeros(people, dtype=np.int64))


def _own_report(record: Any, groups: int) -> tuple[Any, Any]:
    """One participant's report and group, from a pair or from a table of one row."""
    if groups > 1:
        record = own_fields(record, {"report": (), "group": ()}, no_truths=NO_TRUTHS)
        if isinstance(record, Mapping):
            record = (float(record["report"]), float(record["group"]))
    if not isinstance(record, tuple) or len(record) == 1:
        record = own_row(record, 2 if groups > 1 else 1, no_truths=NO_TRUTHS)
    cells = np.asarray(record).tolist() if isinstance(record, np.ndarray) and record.ndim == 1 else record
    if isinstance(cells, list | tuple) and len(cells) == 1:
        cells = cells[0]
    report, group = cells if isinstance(cells, list | tuple) and len(cells) == 2 else (cells, 0)
    if isinstance(report, float) and math.isnan(report):
        return NONE, 0 if isinstance(group, float) and math.isnan(group) else group
    return report, int(group) if isinstance(group, float) and group.is_integer() else group


def _cells(column: NDArray[Any]) -> pa.Array:
    """A column that was read, as an Arrow array in which missing values are null."""
    return pa.array(column, from_pandas=True)


def _grouped(fields: Mapping[str, NDArray[np.float64]], people: int) -> Reports:
    report, group = as_reports(_cells(fields["report"]), people), fields["group"]
    here = report != NONE
    if not np.all(np.isfinite(group[here])) or np.any(group[here] != np.floor(group[here])):
        raise InvalidInput("group", "is missing, or is not a whole number",
                               "everybody who reports is in one group of peers")
    return Reports(np.flatnonzero(here), report[here].astype(np.uint8), group[here].astype(np.int64))


# ---- reading

_ROWS = 65536

_ROW = np.dtype([("report", "u1"), ("group", "<u2")])


def read_reports(
    source: TableSource, *, bit: Category | Above, group: Category | None, roster: Roster, id: str,  # noqa: A002
    rejected: dict[str, str], counted: list[int], rows: int | None = None,
) -> Iterator[Reports]:
    """Read a table of reports, or of true answers, in one pass.

    A person with an empty cell takes no part, and the cell has no effect. Any other cell that holds no valid report is
    listed for the operator.

    Args:
        source: table to read.
        bit: role of the column with the reports. The role encodes a valid cell as 0 or 1, and a cell with code 1 counts
            as a report of 1.
        group: role of the column with the groups of peers; None where everybody is in one group.
        roster: public list of ids.
        id: name of the id column, or "row" where the row number is the id.
        rejected: dictionary that receives id -> reason for each rejected row; for the operator only.
        counted: list that receives the number of rows of each batch.
        rows: largest number of rows in a batch, which affects speed only.
    """
    columns = dict.fromkeys([bit.column, *([] if group is None else [group.column]), *([] if id == "row" else [id])])
    first = FirstRows(roster, id)
    for batch in source.batches(list(columns), _ROWS if rows is None else rows):
        index = first.claim(batch)
        bits, problems = bit.encode(batch.column(bit.column))
        place, unknown = (np.zeros(len(index), np.int64), np.zeros(len(index), np.int8))
        if group is not None:
            place, unknown = group.encode(batch.column(group.column))
        missing = (problems == MISSING) & (index >= 0)
        lost = ~missing & ((problems != FINE) | (unknown != FINE) | (index < 0))
        if lost.any():
            reasons = _reasons(np.flatnonzero(lost & (index >= 0)), bit, group, problems, unknown)
            rejected.update(rejections(first, batch, index, lost, reasons))
        counted.append(len(index))
        taken = ~lost & ~missing
        yield Reports(index[taken], bits[taken].astype(np.uint8), place[taken])


def _reasons(
    rows: np.ndarray, bit: Category | Above, group: Category | None, problems: np.ndarray, unknown: np.ndarray
) -> dict[int, str]:
    found = {}
    for row in rows.tolist():
        if problems[row] != FINE and isinstance(bit, Category):
            found[row] = bit.reason(int(problems[row]))
        elif group is not None:
            found[row] = group.reason(int(unknown[row]))
    return found


@dataclass(frozen=True)
class BitCodec:
    r"""Reports as bytes: one byte for the report and two bytes for the group.

    Example:
        >>> codec = BitCodec()
        >>> slots, reports = codec.pack(Reports(np.array([4]), np.array([1], np.uint8), np.array([2])))
        >>> reports, codec.unpack(slots, reports).group.tolist()
        ([b'\x01\x02\x00'], [2])
    """

    def pack(self, batch: Reports) -> tuple[np.ndarray, list[bytes]]:
        """The positions of a batch's people in the public list of ids, and the bytes of each person's report."""
        rows = np.empty(len(batch.index), _ROW)
        rows["report"], rows["group"] = batch.report, batch.group
        return batch.index, rows.view(f"V{_ROW.itemsize}").tolist()

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Reports:
        """Decode a batch of reports from the people's positions in the public list of ids and the bytes of each
        person's report.
        """
        rows = np.frombuffer(b"".join(reports), dtype=_ROW)
        return Reports(slots, rows["report"], rows["group"].astype(np.int64))
