"""Checks of a mechanism's run at a campaign's own size: shares, certificate, supplies, and independence of order and
threads.

The run uses simulated people. Its results are compared with the promises about value, averages and participation that
the mechanism makes before a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from confide.audit import AuditRow, Concern, Examined, inject_fault
from confide.contract.errors import Refused
from confide.contract.guarantees import Accuracy, Participation
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_faults import (
    AcceptsAnything,
    AveragesOverTheBurnIn,
    ForgetsTheDeviation,
    IgnoresStops,
    KeepsNothingBack,
    NeverRises,
)
from confide.programs.audited_programs import FlagAnswers
from confide.programs.audited_records import Pool
from confide.programs.audited_shares import action_in, own_share
from confide.programs.billboards import tally_of, value_and_load
from confide.programs.dude import Dude
from confide.programs.families.callback_demand import CallbackDemand
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.guarantees import certificate
from confide.programs.priv_dude import PrivDude
from confide.programs.program import ProgramRecords
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = [
    "FALSE_ALARM",
    "Run",
    "averages",
    "behaviour",
    "certificate_rows",
    "decode_row",
    "delivering",
    "dual_value",
    "order_row",
    "promised_rows",
    "run_of",
    "scaled",
    "stops_row",
    "supply_rows",
]

# ---- audited values

_VALUE, _AVERAGES = "optimum less the value of", "excess of all rows together, of the averages"
_EACH = "after every run"


def averages(program: Any, records: Any, main: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    """Total value and total load of all participants' best responses, averaged exactly over the rounds. The value is a
    number, and the load has shape (k,), both in natural units.

    Args:
        program: program of the run.
        records: records of all participants.
        main: (T, k) prices of the main rounds, in price units of 2^-24.
    """
    value, load = value_and_load(program, records, tally_of(records, program, main))
    load = load + np.sum([program.public_load(row) for row in main], axis=0)
    worth = (value / PRICE_UNIT + sum(program.public_value(row) for row in main)) / len(main)
    return float(worth), np.asarray(load / (LOAD_UNIT * len(main)))


def dual_value(program: Any, records: Any, prices: NDArray[np.int64], supply: NDArray[np.float64]) -> float:
    """The exact dual value at given prices, an upper bound on the optimum.

    Args:
        program: program of the run.
        records: records of all participants.
        prices: (k,) prices, in price units of 2^-24.
        supply: (k,) supplies, in natural units.
    """
    actions = program.respond(records, prices)
    utility = int(program.values(records, actions).astype(object).sum()) * program.scale - int(
        program.paid(records, actions, prices).astype(object).sum())
    natural = prices / PRICE_UNIT
    sold = float(natural @ supply) - float(natural @ (program.public_load(prices) / LOAD_UNIT))
    return float(utility / (PRICE_UNIT * program.scale) + sold + program.public_value(prices))


def promised_rows(
    runs: Sequence[tuple[Any, NDArray[np.int32] | None]], promised: Sequence[Accuracy | Participation], evidence: str,
    false_alarm: float,
) -> Iterator[AuditRow]:
    """Audit rows for the promises that a run can test, one row for each promise.

    Args:
        runs: pairs of a simulated run and the delivered action of each participant, int32, shape (n, width). The second
            element is None in mechanisms that deliver averages. All runs are of one mechanism, whose promises at its
            own size are tested. For a promise of accuracy, the run with the smallest error counts. For a promise to
            each participant, the worst run counts.
        promised: promises of the campaign's own mechanism, for which the audit rows are evidence; the runs may be runs
            of a smaller copy.
        evidence: description of the runs, which each audit row repeats.
        false_alarm: probability, in (0, 1), that all runs violate a promise of accuracy although the mechanism keeps
            the promise.
    """
    found = [_Found.of(run, delivered) for run, delivered in runs]
    for own in runs[0][0].mechanism.guarantees():
        same = [each for each in promised if type(each) is type(own) and _name(each) == _name(own)]
        if isinstance(own, Accuracy):
            measured = [each for each in (one.of_accuracy(own) for one in found) if each is not None]
            if len(measured) == len(found):
                yield AuditRow.at_most(
                    f"accuracy: {own.measure}, as promised before the run", own.bound, min(measured),
                    f"{evidence}; exact values, with an exact dual value instead of the optimum",
                    vacuous=own.vacuous, note="no better than no share" if own.vacuous else "", false_alarm=false_alarm,
                    scale=abs(found[0].dual), unit=_unit(own.measure), concern=Concern.ACCURACY).holding(*same)
        elif isinstance(own, Participation) and _EACH in own.who and found[0].least is not None:
            yield AuditRow.at_least(
                "participation: the value of a participant's part, less its price", own.utility,
                min(one.least for one in found if one.least is not None), evidence.replace("the best of ", "each of "),
                unit="in value", concern=Concern.PARTICIPATION).holding(*same)


def _unit(measure: str) -> str:
    """Unit of the quantity that a promise of accuracy bounds: people, units of supply, or value."""
    return "people" if measure.startswith("participants") else "units of supply" if "excess" in measure else "in value"


@dataclass(frozen=True, kw_only=True)
class _Found:
    """Exact value of a run, with an upper bound on the optimum.

    Args:
        dual: dual value, an upper bound on the value of any allocation.
        averages: value of the averages.
        over: total by which the averages exceed the supplies, over all constraints.
        given: value of whole shares; None where averages are given, or nothing was delivered.
        least: smallest value less price of any participant's whole share; None where no price is charged.
    """

    dual: float
    averages: float
    over: float
    given: float | None
    least: float | None

    @classmethod
    def of(cls, run: Any, delivered: NDArray[np.int32] | None) -> _Found:
        mechanism, board = run.mechanism, run.outcome.billboard
        program, records = mechanism.program, run.records
        main, supply = board.prices[mechanism.burn_in :], program.supply_units / LOAD_UNIT
        worth, mean = averages(program, records, main)
        over = np.abs(mean - supply) if program.two_sided else np.maximum(0.0, mean - supply)
        given = least = None
        if delivered is not None:
            values = program.values(records, delivered).astype(np.float64) / PRICE_UNIT
            given = float(values.sum()) if getattr(board, "accepted", True) else None
            if "price" in run.outcome.shares.column_names:
                least = float((values - run.outcome.shares["price"].to_numpy()).min())
        middle = np.rint(main.sum(axis=0) / len(main)).astype(np.int64)
        return cls(dual=dual_value(program, records, middle, supply), averages=worth, over=float(over.sum()),
                   given=given, least=least)

    def of_accuracy(self, promise: Accuracy) -> float | None:
        """Measured value of the quantity that a promise bounds; None where the run does not measure it."""
        if promise.measure == _AVERAGES:
            return self.over
        if promise.measure == f"{_VALUE} the averages":
            return self.dual - self.averages
        if promise.measure.startswith(_VALUE) and self.given is not None:
            return self.dual - self.given
        return None


def _name(promise: Any) -> str:
    return str(promise.measure if isinstance(promise, Accuracy) else promise.who)


# ---- audited behaviour

FALSE_ALARM = 1e-9
"""Probability with which one statistical row of an audit reports a kept promise as broken."""

_DECODED = 40  # participants who decode for themselves
_WORK = 2 * 10**7  # people x rounds x rows of a run, at most
_SLOW = 10**5  # people x rounds, where records answer for themselves
_FEW = 200
_POOL = 300  # made-up records that differ
_RUNS = 24  # of what is broken, until it shows: noise hides it in about half of them
_PART = 3  # of a shard, in people: prime to their number as a rule

_CERTIFIED: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "rounds": 60, "burn_in": 30}
_SUPPLIES = ("excess of the delivered parts over the supply of any row", "excess of every row")
_SUPPLY = "supply: number of runs that deliver more than the supply"
_INTEGRAL = RoundDude | TightDude | TightenAndAudit


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A simulated run on simulated people.

    Args:
        mechanism: mechanism that ran.
        pool: possible records of the program, from which the simulated people's records are drawn.
        which: (n,) index in `pool.records` of each participant's record.
        records: records of all participants.
        outcome: outcome of the run.
        seed: seed of the run's noise.
    """

    mechanism: Dude
    pool: Pool
    which: NDArray[np.int64]
    records: ProgramRecords
    outcome: Any
    seed: int


def scaled(mechanism: Dude) -> Dude:
    """A smaller copy of a mechanism with very many people; other mechanisms are returned unchanged. The copy has the
    same supply per person and a larger epsilon, so that its noise per person is at most a few times as large.

    Args:
        mechanism: mechanism of a campaign.
    """
    program = mechanism.program
    work = program.people * mechanism.schedule.total
    part = _SLOW / work if isinstance(program, CallbackDemand) else _WORK / (work * program.rows)
    part = max(part, _FEW / program.people)
    while part < 1.0:
        few = replace(program, people=int(program.people * part), supply=tuple(b * part for b in program.supplies))
        try:
            return replace(mechanism, program=few, epsilon=mechanism.epsilon / part)
        except Refused:  # margins do not shrink as people do
            part *= 2.0
    return mechanism


def run_of(mechanism: Dude, pool: Pool, seed: int, other: Callable[[Noise], Noise] | None = None) -> Run:
    """Simulate one run.

    Args:
        mechanism: mechanism to run.
        pool: possible records of the program, from which the simulated people's records are drawn.
        seed: seed of the drawn records and of the noise.
        other: function that receives the noise source of the run and returns the source that the run uses instead; None
            for no change.
    """
    noise: Noise = Noise.simulated(seed)
    which = study_generator(seed, "who has which").integers(0, len(pool.records), mechanism.program.people)
    records = pool.table.take(which)
    return Run(mechanism=mechanism, pool=pool, which=which, records=records, seed=seed,
               outcome=mechanism.run(records, noise if other is None else other(noise)))


def behaviour(
    mechanism: Dude, pool: Pool, seed: int = 0, promised: Sequence[Accuracy | Participation] = (), among: str = "",
) -> list[Examined]:
    """Checks of one run at the campaign's own size, each repeated with injected faults. The checks cover the shares,
    the certificate, the supplies, and the promises that are made before a run. The result must not depend on the order
    of people or on threads.

    Args:
        mechanism: mechanism as the campaign will run it, or the smaller copy from `scaled`.
        pool: possible records of the mechanism's program, from which the simulated people's records are drawn.
        seed: seed of the simulated people and of the noise.
        promised: promises of the campaign's own mechanism that the checks test; `mechanism` may be a smaller copy.
        among: description of the smaller copy, such as its number of people; empty where the sizes are the campaign's.
    """
    excess = [each for each in promised if isinstance(each, Accuracy) and each.measure in _SUPPLIES]
    first = cache(partial(run_of, mechanism, pool, seed))
    known = cache(partial(_known, mechanism))
    own = cache(lambda: Pool.of(known().program, study_generator(seed, "pool"), _POOL))

    def examined(named: str, sound: _Rows, **faults: _Rows) -> Examined:
        return Examined(named=named, sound=sound, faults=faults,
                        rows=lambda rows: (row.smaller(among) for row in rows()))

    def over_the_burn_in() -> Iterable[AuditRow]:
        return [decode_row(run_of(inject_fault(delivering(known()), AveragesOverTheBurnIn), own(), seed), seed)]

    def forgetful() -> Iterable[AuditRow]:
        runs = (run_of(inject_fault(known(), ForgetsTheDeviation), own(), seed * 1009 + at) for at in range(_RUNS))
        return (row for run in runs for row in certificate_rows(run, run.outcome.certificate))

    def over(code: type[Any]) -> _Rows:
        return lambda: (_over_row(_over(inject_fault(_crowded(mechanism), code), own(), at)) for at in range(_RUNS))

    def ignoring() -> Iterable[AuditRow]:
        stopped: Any = replace(_crowded(mechanism), truncate=True)  # type: ignore[call-arg] # its own may ask for less
        return [stops_row(inject_fault(stopped, IgnoresStops), own(), seed)]

    supplies: dict[str, _Rows] = {}
    if isinstance(mechanism, _INTEGRAL):
        code, bug = {RoundDude: (NeverRises, "flags that never rise"),
                     TightenAndAudit: (AcceptsAnything, "an audit that accepts anything")}.get(
            type(mechanism), (KeepsNothingBack, "no margin"))
        supplies[bug] = over(code)
    if isinstance(mechanism, RoundDude) and mechanism.truncate:
        supplies["stops that are ignored"] = ignoring
    early = {} if mechanism.averages_all_rounds else {"averages over the burn-in": over_the_burn_in}
    return [
        examined("billboard", lambda: [decode_row(first(), seed)], **{
            "everybody gets the neighbour's share": lambda: [decode_row(_shifted(mechanism, pool, seed))], **early}),
        examined("certificate", lambda: certificate_rows(first()), **{"no term for the deviation of the "
                                                                      "noise": forgetful}),
        examined("supply", lambda: [row.holding(*excess) for row in supply_rows(mechanism, pool, seed)], **supplies),
        examined("promised before the run", lambda: _promised(mechanism, pool, seed, promised)),
        examined("order and threads", lambda: [order_row(first())])]


_Rows = Callable[[], Iterable[AuditRow]]


def _promised(
    mechanism: Dude, pool: Pool, seed: int, promised: Sequence[Accuracy | Participation]
) -> Iterator[AuditRow]:
    """Rows for the promises that are made before a run about its value, its averages and participation."""
    strict, chance = _strict(mechanism), FALSE_ALARM
    # Bounds that fail so rarely may say nothing where those of the plan do.
    if strict is None or _silent(strict) > _silent(mechanism):
        strict, chance = mechanism, mechanism.failure_probability
    # That all of so many runs break a promise that is kept is as unlikely as one false alarm may be.
    number = max(1, math.ceil(math.log(FALSE_ALARM) / math.log(chance)))
    again = [run_of(strict, pool, seed * 1009 + each) for each in range(number)]
    yield from promised_rows(
        [(each, _delivered(each) if isinstance(strict, _INTEGRAL) else None) for each in again], promised,
        f"the best of {number} runs on synthetic people" if number > 1 else
        f"one run on synthetic people with beta = {chance:g}", FALSE_ALARM)


def _silent(mechanism: Dude) -> int:
    """Number of the mechanism's promises of accuracy that are vacuous."""
    return sum(each.vacuous for each in mechanism.guarantees().of(Accuracy))


def _strict(mechanism: Dude) -> Dude | None:
    """The mechanism with a failure probability so small that no failure may occur in one run; None where there is no
    such plan.
    """
    try:
        return replace(mechanism, failure_probability=FALSE_ALARM)
    except Refused:
        return None


# ---- shares


def decode_row(run: Run, seed: int = 0) -> AuditRow:
    """Check that each share equals the share that the participant decodes from their record and the billboard. A second
    computation, round by round, must give the same share.

    Args:
        run: a simulated run.
        seed: seed of the choice of the participants whose shares are compared.
    """
    n = run.mechanism.program.people
    asked = np.unique((np.linspace(0, n - 1, min(n, _DECODED)).astype(np.int64) + seed % 7) % n).tolist()
    shares, wrong = run.outcome.shares, 0
    for index in asked:
        record = run.pool.records[int(run.which[index])]
        given = {name: shares[name][index].as_py() for name in shares.column_names}
        own = (found(run.mechanism, record, index, run.outcome.billboard) for found in (_decoded, own_share))
        wrong += any(given != each for each in own)
    return AuditRow.at_most("billboard: number of shares that differ from the decoded shares of their owners",
                            0.0, float(wrong),
                            f"{len(asked)} of {n:,} synthetic people, by their own decode and round by round",
                            unit="shares", concern=Concern.ACCURACY)


def _decoded(mechanism: Dude, record: Any, index: int, board: Any) -> dict[str, Any]:
    return dict(mechanism.decode(record, index, board))


# ---- the certificate


def certificate_rows(run: Run, claimed: Any = None) -> list[AuditRow]:
    """Checks of the certificate against the exact average value and load, and the exact dual value at the average
    prices.

    The dual value is above the optimum, so the check is stricter than the promise. The proof of the certificate also
    bounds the dual value.

    Args:
        run: a simulated run.
        claimed: certificate to check; by default, a certificate that is computed from the billboard for a failure
            probability of 10^-9.
    """
    mechanism, board = run.mechanism, run.outcome.billboard
    program, records, rounds = mechanism.program, run.records, mechanism.rounds
    main = board.prices[mechanism.burn_in :]
    found = claimed or certificate(board, FALSE_ALARM)
    worth, mean = averages(program, records, main)
    # A path with margins is certified with them; what an audit keeps back is given back.
    limit = mechanism.priced if isinstance(mechanism, TightDude) else program
    supply = limit.supply_units / LOAD_UNIT
    over = np.abs(mean - supply) if program.two_sided else np.maximum(0.0, mean - supply)
    evidence = f"one run, by bounds that fail with probability {FALSE_ALARM:g}"
    rows = [AuditRow.at_most("certificate: excess of a row beyond its bound", 0.0,
                             float((over - found.excess).max()), f"{evidence}; exact averages",
                             false_alarm=FALSE_ALARM, scale=float(np.abs(supply).max()),
                             unit="units of supply", concern=Concern.ACCURACY)]
    if mechanism.baseline_gap > 0.0:
        prices = np.rint(main.sum(axis=0) / rounds).astype(np.int64)
        dual = dual_value(program, records, prices, supply)
        one = program.constants  # the average is rounded to the grid
        slip = (program.people * one.largest_entry * one.rows + np.abs(supply).sum() + np.abs(
            program.public_load(prices)).sum() / LOAD_UNIT) / PRICE_UNIT
        rows.append(AuditRow.at_most("certificate: optimum less the value of the averages", float(found.gap + slip),
                                     dual - worth, f"{evidence}; exact dual value less exact value",
                                     false_alarm=FALSE_ALARM, scale=abs(dual),
                                     unit="in value", concern=Concern.ACCURACY))
    return rows


# ---- supplies


def supply_rows(mechanism: Dude, pool: Pool, seed: int = 0) -> list[AuditRow]:
    """Check that the delivered load exceeds a supply no more often than promised. Mechanisms that deliver averages give
    no audit rows.

    Where the failure probability affects only the reserve, the audit chooses a failure probability so small that no run
    may show any excess. In all other cases the audit makes as many runs as the statistics need.

    Args:
        mechanism: mechanism as the campaign will run it, or the smaller copy from `scaled`.
        pool: possible records of the mechanism's program, from which the simulated people's records are drawn.
        seed: seed of the simulated people and of the noise.
    """
    if not isinstance(mechanism, _INTEGRAL):
        return []
    if isinstance(mechanism, RoundDude) and mechanism.truncate:
        return [_over_row(_over(mechanism, pool, seed)), stops_row(mechanism, pool, seed)]
    strict = _strict(mechanism)
    if strict is not None:
        return [AuditRow.at_most(_SUPPLY, 0.0, _over(strict, pool, seed),
                                 f"one run on synthetic people with beta = {FALSE_ALARM:g}", false_alarm=FALSE_ALARM,
                                 unit="runs", concern=Concern.ACCURACY)]
    runs = max(2, math.ceil(math.log(FALSE_ALARM) / math.log(mechanism.failure_probability)))
    most = int(binom.isf(FALSE_ALARM, runs, mechanism.failure_probability))
    over = sum(_over(mechanism, pool, seed * 1009 + number) for number in range(runs))
    return [AuditRow.at_most(_SUPPLY, float(most), over, f"{runs} runs on synthetic people; more than {most} such runs "
                                                         f"have a probability below {FALSE_ALARM:g}",
                             false_alarm=FALSE_ALARM,
                             unit="runs", concern=Concern.ACCURACY)]


def stops_row(mechanism: RoundDude, pool: Pool, seed: int = 0) -> AuditRow:
    """Check that stops alone keep the load within every supply. A stop raises the flag of a constraint, whatever the
    noise, before the supply can be exceeded. In the checked run the noise of the flags never raises a flag, and the
    number of rounds is too small for prices to rise.

    Args:
        mechanism: mechanism with stops, sound or with an injected fault.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
        seed: seed of the simulated people and of the noise.
    """
    crowded = replace(mechanism, rounds=2, burn_in=0)
    return AuditRow.at_most("supply: number of runs that deliver more than the supply, if no noise raises a flag",
                            0.0, _over(crowded, pool, seed, _never),
                            "one run on synthetic people who ask for more than the supply; the lowest noise of flags",
                            unit="runs", concern=Concern.ACCURACY)


def _never(noise: Noise) -> Noise:
    """Noise of the flags so low that no load raises a flag."""
    return FlagAnswers(noise, lambda _: None)


def _over(mechanism: Dude, pool: Pool, seed: int, other: Callable[[Noise], Noise] | None = None) -> float:
    """1 where a run delivers more than the supply of some constraint, computed from the shares and not from the
    billboard.
    """
    run = run_of(mechanism, pool, seed, other)
    actions = _delivered(run)
    load, supply = mechanism.program.load(run.records, actions), mechanism.program.supply_units
    return float((load > supply).any())


def _delivered(run: Run) -> NDArray[np.int32]:
    """Actions of all participants from their shares, shape (n, width)."""
    column, width = run.outcome.shares["action"], run.mechanism.program.width
    if width == 1:
        return np.asarray(column.to_numpy(), dtype=np.int32)[:, None]
    return np.stack([action_in(run.mechanism.program, given) for given in column.to_pylist()])


# ---- order and threads


class _SmallShards:
    """Marker class for a mechanism that processes the records in many small parts."""

    @property
    def _shard(self) -> int:
        own: Any = self
        return int(max(1, own.program.people // _PART - 1))


def order_row(run: Run) -> AuditRow:
    """Check that the published results depend neither on the order of people nor on their distribution over threads.

    Args:
        run: a simulated run.
    """
    mechanism, outcome, seed = run.mechanism, run.outcome, run.seed
    parts = inject_fault(mechanism, _SmallShards).run(run.records, Noise.simulated(seed))
    wrong = int(not parts.shares.equals(outcome.shares)) + int(_board(parts) != _board(outcome))
    order = study_generator(seed, "order").permutation(mechanism.program.people)
    permuted = mechanism.run(run.records.take(order), Noise.simulated(seed))
    for name in ("prices", "slacks"):
        wrong += not np.array_equal(getattr(permuted.billboard, name), getattr(outcome.billboard, name))
    if isinstance(mechanism, PrivDude):
        wrong += not permuted.shares.equals(outcome.shares.take(order))
    return AuditRow.at_most("billboard: number of changes after another order of people, or with threads",
                            0.0, float(wrong),
                            "the same run with people in another order, and in other batches",
                            unit="outcomes", concern=Concern.ACCURACY)


def _board(outcome: Any) -> bytes:
    """All numbers of the billboard as bytes. The field `plan` is left out, because it depends on the class of the
    mechanism, and an injected fault changes the class.
    """
    return repr([(name, part.tolist() if isinstance(part, np.ndarray) else part)
                 for name, part in sorted(vars(outcome.billboard).items()) if name != "plan"]).encode()


# ---- broken on purpose


def _shifted(mechanism: Dude, pool: Pool, seed: int) -> Run:
    """A run after which every participant has the share of a neighbour in the list."""
    run = run_of(delivering(_short(mechanism)), pool, seed)
    moved = np.roll(np.arange(run.mechanism.program.people), 1)
    return replace(run, outcome=SimpleNamespace(billboard=run.outcome.billboard, shares=run.outcome.shares.take(moved)))


def _over_row(over: float) -> AuditRow:
    return AuditRow.at_most(_SUPPLY, 0.0, over, "one run on synthetic people", unit="runs", concern=Concern.ACCURACY)


def delivering(mechanism: Dude) -> Dude:
    """The given mechanism, changed so that its audit of the load accepts every run. A rejected run delivers nothing, so
    an injected fault would have no effect.

    Args:
        mechanism: mechanism of any kind.
    """
    return inject_fault(mechanism, AcceptsAnything) if isinstance(mechanism, TightenAndAudit) else mechanism


def _short(mechanism: Dude) -> Dude:
    try:
        return replace(mechanism, rounds=min(mechanism.rounds, 20), burn_in=min(mechanism.burn_in, 5))
    except Refused:
        return mechanism


def _known(mechanism: Dude) -> Dude:
    """A mechanism of the same kind for a small unit-demand program."""
    kind: Any = next(base for base in type(mechanism).__mro__ if base.__module__.startswith("confide.")
                     and issubclass(base, Dude) and not base.__name__.startswith("_"))
    program = UnitDemand(3000, 400.0, goods=5)
    if mechanism.averages_all_rounds:
        return kind(program, **{**_CERTIFIED, "burn_in": 0})  # type: ignore[no-any-return]
    if isinstance(mechanism, TightDude):  # of this size it would be refused
        return inject_fault(mechanism, KeepsNothingBack, program=program, start=None, **_CERTIFIED)
    return kind(program, **_CERTIFIED)  # type: ignore[no-any-return]


def _crowded(mechanism: Dude) -> Dude:
    """A mechanism in which demand exceeds supply, because prices have only two rounds to rise."""
    return replace(_known(mechanism), rounds=2, burn_in=0)
