"""Tiny copies of a campaign's mechanism for six people, worst-case neighbours, and noise histories, each the noise of
one run.

Supplies are chosen such that prices matter and the mechanism is not refused. The privacy of a record does not depend on
the supplies.

The module also measures how much two records change a load, compared with the l2 sensitivity on which all Gaussian
noise of the family is based.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import AuditRow, Concern, DampedNoise, Examined, Loss, Neighbours, inject_fault, published
from confide.privacy.accounting import float_up
from confide.privacy.accounting.sums import root_up
from confide.privacy.losses import GDP, ZCDP
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_faults import Counts
from confide.programs.audited_records import Pool, added, beyond, joined
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import Program
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = [
    "SIX",
    "FlagAnswers",
    "Step",
    "charges",
    "histories",
    "history_kinds",
    "neighbours",
    "sensitivity",
    "sensitivity_rows",
    "steps",
    "tiny",
    "tiny_pool",
]

# ---- audited programs

PEOPLE = 6
SIX = f"{PEOPLE} made-up people"
"""Description of the people in audits of six people, which the audit rows repeat."""

_ROUNDS, _BURN_IN = 8, 3
_WIDE = 64  # rows above which there are fewer rounds
_RANDOM = 8  # records of a pool, besides those that lie far apart
_QUIET = 2.0**-8
_SURE = 1 << 45  # an answer that no load reaches
_TRIES = 40

if TYPE_CHECKING:  # what they are put on top of
    from confide.programs.round_dude import RoundDude as _Flagged
    from confide.programs.tight_dude import TightDude as _Tight
else:
    _Flagged = _Tight = object


# ---- the mechanism


def tiny_pool(program: Program, seed: int, records: Any = None) -> Pool:
    """Possible records for the audits of six people.

    Args:
        program: program of a campaign.
        seed: seed of the simulated records.
        records: records to use in place of simulated records; None to simulate them.
    """
    return Pool.of(program, study_generator(seed, "audit of programs"), _RANDOM, records)


def tiny(mechanism: Dude, pool: Pool) -> Dude:
    """A copy of the mechanism for six people and a few rounds.

    Args:
        mechanism: mechanism of a campaign.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
    """
    program = replace(mechanism.program, people=PEOPLE, supply=_half(mechanism.program, pool))
    most = (_ROUNDS, _BURN_IN) if program.rows <= _WIDE else (_ROUNDS // 2, 1)
    rounds: dict[str, Any] = {"rounds": min(mechanism.rounds, most[0]), "burn_in": min(mechanism.burn_in, most[1])}
    if isinstance(mechanism, RoundDude):
        return _with_flags(mechanism, program, rounds)
    if isinstance(mechanism, TightDude):
        return inject_fault(mechanism, _KeepsAQuarter, program=program, **rounds)
    if isinstance(mechanism, TightenAndAudit):
        return _with_audit(mechanism, program, rounds)
    return replace(mechanism, program=program, **rounds)


def _half(program: Program, pool: Pool) -> tuple[float, ...]:
    """Half of the load of six people at prices of zero, shape (k,). The result for a one-sided constraint is at least
    half of the largest entry of a contribution.
    """
    used = PEOPLE * pool.contributed(np.zeros(program.rows, dtype=np.int64)).mean(axis=0) / 2.0
    if program.two_sided or program.constants.signed:
        return tuple(used.tolist())
    return tuple(np.maximum(used, 0.5 * program.constants.largest_entry).tolist())


class _KeepsAQuarter(_Tight):
    """Reserve of a quarter of each supply, which a tiny market has room for. Privacy does not depend on the reserve."""

    def _margins(self, program: Program, regret: float) -> NDArray[np.float64]:
        return np.array(self.program.supplies) / 4.0


class _Flagging(_Flagged):
    """Tiny mechanism with flags. Prices are computed for the supply without the flags' reserve."""

    @property
    def priced(self) -> Program:
        left = (self.program.supply_units - self.flags.reserve) / LOAD_UNIT
        return replace(self.program, supply=tuple(left.tolist()))


def _with_flags(mechanism: RoundDude, program: Program, rounds: dict[str, Any]) -> RoundDude:
    """The tiny mechanism with flags. Each flag has its level where half of the load at prices of zero has been
    delivered.
    """
    large = replace(program, supply=(2.0**28,) * program.rows)
    batch = 1 if mechanism.batch is None else min(mechanism.batch, 2)
    roomy = replace(mechanism, program=large, batch=batch, truncate=False, **rounds)
    supply = tuple(roomy.flags.reserve / LOAD_UNIT + one for one in program.supplies)
    return inject_fault(roomy, _Flagging, program=replace(program, supply=supply))


def _with_audit(mechanism: TightenAndAudit, program: Program, rounds: dict[str, Any]) -> TightenAndAudit:
    """The tiny mechanism with an audit of the load. The supplies of the tiny mechanism are half of the load at prices
    of zero plus the audit's reserve.
    """
    made = replace(mechanism, program=replace(program, supply=(2.0**28,) * program.rows), **rounds)
    for _ in range(_TRIES):  # what is kept back grows with the root of the supply: from above, it always fits
        supply = np.array(program.supplies) + made.reserve_units / LOAD_UNIT
        made = replace(made, program=replace(program, supply=tuple(supply.tolist())))
    return made


# ---- neighbours


@dataclass(frozen=True, eq=False)
class Step:
    """A pair of neighbouring data sets.

    Args:
        records: records of all participants.
        index: index in `records` of the participant whose record changes.
        other: this participant's record in the neighbouring data set.
    """

    records: tuple[Any, ...]
    index: int
    other: Any

    @property
    def changed(self) -> tuple[Any, ...]:
        """Records of the neighbouring data set, shape (n,)."""
        return (*self.records[: self.index], self.other, *self.records[self.index + 1 :])


def steps(mechanism: Dude, pool: Pool, seed: int) -> Iterator[Step]:
    """Worst-case pairs of neighbouring data sets. The two records of the changed participant lie far apart, or one of
    the two is missing. All other participants have no records, or have random records.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the choice of records.
    """
    n, draw = mechanism.program.people, study_generator(seed, "neighbours")
    one, other = pool.farthest()
    crowd = tuple(pool.records[int(at)] for at in draw.integers(0, len(pool.records), n))
    some, more = (pool.records[int(at)] for at in draw.integers(0, len(pool.records), 2))
    nobody, largest = (None,) * n, pool.largest()
    found = [(nobody, 0, one, other), (nobody, n - 1, largest, None), (crowd, 0, other, one),
             (crowd, n // 2, some, more), (crowd, n - 1, None, largest), (crowd, 1, one, None)]
    for records, index, mine, changed in found:
        if mechanism.neighbours == "add_or_remove" and mine is not None:
            changed = None  # noqa: PLW2901
        if mine is not changed:
            yield Step((*records[:index], mine, *records[index + 1 :]), index, changed)


def neighbours(mechanism: Dude, pool: Pool, seed: int) -> Iterator[Neighbours]:
    """Worst-case neighbouring data sets as pairs of tables, with a function that returns, as bytes, everything that an
    outcome publishes. Everything except the changed participant's own share counts as published.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the choice of records.
    """
    for step in steps(mechanism, pool, seed):

        def shown(outcome: Any, index: int = step.index) -> bytes:
            return published(outcome, index)

        yield Neighbours(joined(mechanism.program, step.records), joined(mechanism.program, step.changed), shown)


# ---- histories


class FlagAnswers(DampedNoise):
    """Noise source that makes the flags rise in a given pattern, whatever the loads are. All other noise is drawn as
    usual.

    With the same noise, flags could rise at other times on a neighbouring data set. The published pattern has a
    probability of its own on either data set (`audited_flags`). All other outputs of a run must follow from the
    published pattern.

    Args:
        source: source of all other noise.
        pattern: function from the number of a constraint, from 0, to the query at which the constraint's flag rises, or
            None if the flag never rises.
    """

    def __init__(self, source: Noise, pattern: Callable[[int], int | None]) -> None:
        super().__init__(source, 1.0)
        self._pattern = pattern

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        if stream[0] == "level":
            return np.zeros(shape, dtype=np.int64)
        if stream[0] != "query":
            return super()._lattice(law, scale, center, shape, stream)
        out = np.full(shape, -_SURE, dtype=np.int64)
        for j in range(shape[1]):
            at = self._pattern(j)
            if at is not None and 0 <= at < shape[0]:
                out[at, j] = _SURE
        return out


class _HighAudit(DampedNoise):
    """Noise source in which the audit of the load finds too much load."""

    def _reals(self, law: Any, scale: Fraction, points: Any, grid: int, shape: tuple[int, ...], stream: StreamName
               ) -> NDArray[np.float64]:
        high = [Fraction(p) + 40 * scale for p in points] if stream[0] == "audit" else points
        return super()._reals(law, scale, high, grid, shape, stream)

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        numbers = center
        if stream[0] == "audit" and center is not None:
            numbers = [c + round(40 * scale) for c in center]
        return super()._lattice(law, scale, numbers, shape, stream)


def history_kinds(mechanism: Dude) -> int:
    """Number of kinds of noise histories that `histories` gives for a mechanism.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
    """
    return 3 if isinstance(mechanism, TightenAndAudit | RoundDude) else 2


def histories(mechanism: Dude, seed: int) -> Callable[[int], Noise]:
    """Function from the number of a noise history, from 0, to the noise source of a run. The privacy loss must be
    bounded on every possible noise history, so several kinds of history take turns. One kind of history is ordinary
    simulated noise. In a second kind of history the noise is much smaller, so that prices follow the responses closely.
    For a mechanism with flags or with an audit of the load, some histories raise flags or reject the run, and others do
    not.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
        seed: seed of the noise in all histories.
    """
    kinds = history_kinds(mechanism)

    def noise(number: int) -> Noise:
        drawn, turn = Noise.simulated(seed * 1009 + number), number % kinds
        found: Noise = drawn if turn == 0 else DampedNoise(drawn, _QUIET)
        if isinstance(mechanism, TightenAndAudit):
            return _HighAudit(drawn, 1.0) if turn == 2 else found
        if isinstance(mechanism, RoundDude):
            return FlagAnswers(found, _patterns(number, mechanism.flags.queries)[turn])
        return found

    return noise


def _patterns(number: int, queries: int) -> tuple[Callable[[int], int | None], ...]:
    """Three patterns of flags: every second flag rises at the last query and the others never, all rise at once, and
    one flag after the other.
    """
    at = number // 3
    return (lambda j: None if (j + at) % 2 else queries - 1, lambda _: at % max(1, queries),
            lambda j: (j + at) % (queries + 1))


# ---- what is charged


def charges(mechanism: Dude) -> dict[str, Loss]:
    """Mapping from the kind of a noise draw, the first word of its name, to the privacy loss that is charged for all
    draws of this kind. The key "" stands for all Gaussian noise together.

    Args:
        mechanism: a mechanism without faults.
    """

    def loss(squared: Fraction) -> Loss:
        return GDP(root_up(squared)) if mechanism.law == "gaussian" else ZCDP(float_up(squared / 2))

    path = mechanism.squared_budget * mechanism.path_share
    out: dict[str, Loss] = {"": loss(mechanism.squared_budget), "slack": loss(path)}
    if isinstance(mechanism, TightenAndAudit):
        out["audit"] = loss(mechanism.squared_budget - path)
    return out


# ---- audited sensitivity

_PRICES = 12


def sensitivity_rows(mechanism: Dude, pool: Pool, seed: int = 0) -> list[AuditRow]:
    """Audit rows for the sensitivity: the largest distances between the contributions of two records. The contributions
    are those of best responses to the same prices or to different prices. Most of the tried price vectors are random.

    An audit of the load adds up responses to the prices of different rounds. So the l2 sensitivity must also bound
    differences between responses to different prices. Each contribution must also be within its declared bounds, since
    noise scales and flags depend on these bounds.

    Args:
        mechanism: mechanism as the campaign will run it.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
        seed: seed of the random prices.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> from confide.programs.audited_programs import tiny_pool
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> row = sensitivity_rows(PrivDude(program, 1.0, 1e-6), tiny_pool(program, 0))[0]
        >>> row.verdict.value, round(row.measured, 4), round(row.promised, 4)
        ('kept', 1.4142, 1.4142)
    """
    one = mechanism.program.constants
    prices, same, apart, entry, total = _prices(mechanism, seed), 0.0, 0.0, 0.0, 0.0
    null = mechanism.neighbours == "add_or_remove"
    for number, price in enumerate(prices):
        added = pool.contributed(price)
        entry, total = max(entry, float(np.abs(added).max())), max(total, float(np.abs(added).sum(axis=1).max()))
        if null:
            same = max(same, float(np.linalg.norm(added, axis=1).max()))
            continue
        same = max(same, float(pool.distances(price, price).max()))
        apart = max(apart, float(pool.distances(price, prices[number - 1]).max()))
    sigma, pairs = root_up(mechanism.squared_l2_sensitivity), len(pool.records) ** 2
    evidence = f"{pairs} pairs of records, random and chosen for the largest change, at {len(prices)} price vectors"
    rows = [
        AuditRow.at_most("sensitivity: change of a load by one record (l2), against sigma", sigma, same, evidence,
                         unit="in load", concern=Concern.PRIVACY),
        AuditRow.at_most("sensitivity: the largest entry of a contribution", one.largest_entry, entry, evidence,
                         unit="in load", concern=Concern.PRIVACY),
        AuditRow.at_most("sensitivity: the sum of a contribution's entries", one.largest_sum, total, evidence,
                         unit="in load", concern=Concern.PRIVACY),
    ]
    if not null:
        rows.append(AuditRow.at_most("sensitivity: change of a load by one record, for responses to different prices",
                                     sigma, apart, evidence,
                                     unit="in load", concern=Concern.PRIVACY))
    return [*rows, *_beyond_rows(mechanism, pool, prices)]


def _beyond_rows(mechanism: Dude, pool: Pool, prices: list[NDArray[np.int64]]) -> list[AuditRow]:
    """Check of records with numbers out of range, read as in a release. The contributions of records with numbers out
    of range must be within the bounds for which noise is planned.
    """
    table, one, worst = beyond(pool.program, pool.records), mechanism.program.constants, 0.0
    if table is None:
        return []
    for price in prices:
        each = added(pool.program, table, price)
        found = np.abs(each)
        worst = max(worst, float(found.max()) / one.largest_entry, float(found.sum(axis=1).max()) / one.largest_sum)
        if not np.array_equal(pool.program.load_at(table, price) / LOAD_UNIT, each.sum(axis=0)):
            worst = np.inf  # a run counts something else
    return [AuditRow.at_most(
        "sensitivity: the addition of a record beyond its bounds, as a share of the largest allowed one", 1.0, worst,
        f"{table.people} records with numbers out of range, read as in a release, at {len(prices)} price vectors",
        unit="times the most", concern=Concern.PRIVACY)]


def _prices(mechanism: Dude, seed: int) -> list[NDArray[np.int64]]:
    """Price vectors for the check: all zero, all at their upper bound, and random ones. Random prices are more often
    low, where demand is largest.
    """
    program, draw = mechanism.program, study_generator(seed, "prices")
    low, high = program.lowest_prices.astype(np.float64), program.highest_prices.astype(np.float64)
    out = [np.zeros(program.rows, dtype=np.int64), program.highest_prices]
    for number in range(_PRICES):
        part = draw.random(program.rows) ** (1.0 + 2.0 * number)
        sign = np.where(draw.random(program.rows) < 0.5, 1.0, -1.0) if program.two_sided else 1.0
        out.append(np.clip(np.rint(sign * part * high), low, high).astype(np.int64))
    return out


def sensitivity(mechanism: Dude, pool: Pool, seed: int = 0) -> Examined:
    """Check of the sensitivity, with an injected fault in which contributions count three times.

    Args:
        mechanism: mechanism as the campaign will run it.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
        seed: seed of the random prices.
    """
    many = Pool(inject_fault(pool.program, Counts), pool.records, pool.table)
    return Examined(named="sensitivity", sound=pool, rows=lambda it: sensitivity_rows(mechanism, it, seed),
                    faults={"contributions beyond their bounds counted": many})
