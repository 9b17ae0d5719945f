"""`plan`: expected accuracy, cost and promises of a program at the given sizes, computed before any record is read.
Programs without a useful outcome are refused.

The noise of a constraint, averaged over the rounds, is N(0, s^2), and prices make the average load deviate from the
supply by about as much. If the price of a constraint never reaches an end of its allowed range, then mean load - b =
mean noise + (last price - first price)/(eta T). In the equation b is the supply, eta the step size and T the number of
rounds. So the expected total excess over k constraints is about k s/sqrt(2 pi). The certificate states an excess of
about z s for each constraint, where z is a normal quantile. Mechanisms that are feasible by design have no excess, but
keep a reserve.

The needed number of rounds is in `dual_dynamics`.

Source: spec convex_programs 2 (planning rule), 5, 6.2 and 9.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from confide.charts import curves
from confide.contract.checks import exactly_one, fraction, one_of, positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import Remedy, first_that, retried, tried
from confide.contract.renamed import by_position_before, renamed
from confide.contract.wire import parts_of, wire_name, wire_types
from confide.contract.words import counted
from confide.programs.dual_dynamics import holds, limited, needed_rounds, usual_rounds
from confide.programs.dude import Dude
from confide.programs.grids import neighbours_today
from confide.programs.guarantees import quantile
from confide.programs.incentives import check_payments
from confide.programs.priv_dude import PrivDude, costs
from confide.programs.program import Program, crowd, with_supply
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import EmptyRow, TightDude
from confide.programs.tighten_and_audit import TightenAndAudit
from confide.programs.true_dude import TrueDude

__all__ = ["Mode", "ProgramPlan", "plan"]

Mode = Literal["PrivDude", "RoundDude", "TrueDude", "TightDude", "TightenAndAudit"]
_KINDS: Mapping[str, type[Dude]] = wire_types(PrivDude, RoundDude, TrueDude, TightDude, TightenAndAudit)
_PATH = frozenset(one.name for one in fields(PrivDude) if one.init) - {"program", "epsilon", "delta", "_"}
_OWN: Mapping[str, frozenset[str]] = {
    name: frozenset(one.name for one in fields(kind) if one.init) - _PATH - {"program", "epsilon", "delta", "_"}
    for name, kind in _KINDS.items()}
_FEASIBLE: tuple[Mode, Mode] = ("TightenAndAudit", "RoundDude")
_EXACT = ("RoundDude", "TightDude", "TightenAndAudit")
_CHARGING = ("TrueDude", "TightDude", "TightenAndAudit")

_FLAGGED = 0.8  # what flags keep back costs more: late comers go without, whatever it is worth to them
_STEPS = 6  # of a picture, to each side
_LEAST_EPSILON, _MOST_TIMES = 2.0**-14, 2.0**24  # that are looked at for an error
_ANY_EPSILON = 1.0  # until the one that an error needs is known
_SECURE = 1.2e-5  # seconds a draw
_ALPHA = 0.01  # of modes that always charge, where none is named


@renamed(averaged="noise_std", margins="reserve")
@dataclass(frozen=True, kw_only=True)
class ProgramPlan(Plan[Dude]):
    """Expected results of one mode at the given sizes. A mode is one of the mechanisms. Nothing in the plan depends on
    a record.

    Plans are compared by the excess that the certificate will state, or, in modes that keep every load within its
    supply, by the reserve. Excess and reserve are measured as shares of the total supply of all constraints.

    Args:
        path: a `PrivDude` with the requested settings. All modes compute their prices like this mechanism.
        mode: name of the recommended or requested mechanism, such as "PrivDude".
        alpha: limit in modes that charge prices, in units of value: participants who would gain more than alpha by
            another choice receive that choice. None in modes that charge nothing.
        most_excess: largest share of the total supply, in (0, 1), that the certificate may state as excess, in modes
            that give averages of responses.
        most_unused: largest share of the total supply, in (0, 1), that may be in reserve, in modes with shares that fit
            the supplies.
        seconds: rough time of a run with secure noise: 12 microseconds for each draw of noise, plus the time of all
            responses. The time of responses is measured on this machine with artificial records
            (`Program.trial_records`), as the mean of the times at prices of 0 and at half of the highest prices. The
            time of responses counts as 0 where it was not measured.
        megabytes: rough memory of a run, in megabytes: records, billboard, and the working arrays of the records that
            are processed at the same time.
        options: requested parameters, except alpha, that other modes lack, such as `audit_share`.
    """

    path: PrivDude
    mode: Mode
    alpha: float | None
    most_excess: float
    most_unused: float
    seconds: float
    megabytes: float
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """The planned program."""
        return self.path.program

    @cached_property
    def mechanism(self) -> Dude:
        """The recommended or requested mechanism, ready to run."""
        return _of_mode(self.path, self.mode, self.alpha, self.options)

    @property
    def certain(self) -> bool:
        """Whether the mode is designed so that the delivered shares fit the supplies, except with at most the failure
        probability.
        """
        return self.mode in _EXACT

    @cached_property
    def noise_std(self) -> float:
        """Standard deviation s of the noise of a constraint's average load, in natural units."""
        return self.mechanism.noise_std

    @cached_property
    def holds(self) -> NDArray[np.float64]:
        """Reference amount of each constraint, in natural units of load, shape (k,). Total excess and total reserve are
        stated as shares of the sum of these amounts. The amount is the supply, but at most the largest possible load;
        for an equation or a supply <= 0, the amount is `constants.width`.
        """
        return holds(self.program)

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        share = "share of the supplies"
        first = {"reserve": Predicted(self.unused_share, share)} if self.certain else {
            "excess": Predicted(self.excess_share, share, "rule of thumb")}
        gain = {"gain of a lie": Predicted(self.gain, "units of value", "bound")} if math.isfinite(self.gain) else {}
        return {**first, "noise_std": Predicted(self.noise_std, "units of load"), **gain,
                "rounds": Predicted(self.path.schedule.total),
                "time": Predicted(self.seconds, "seconds", "rule of thumb")}

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """All other modes with the same settings for the prices, each with the reason against this mode. Modes that the
        program supports come first.
        """
        settings = {name: getattr(self.path, name) for name in _PATH}
        found = list[Alternative]()
        for mode in get_args(Mode):
            if mode == self.mode:
                continue
            try:
                other = plan(self.program, epsilon=self.path.epsilon, delta=self.path.delta, mode=mode,
                             most_excess=self.most_excess, most_unused=self.most_unused, timed=False, **settings)
                found.append(Alternative(name=mode, predicted=other.predicted, refused=self._drawback(other),
                                         mechanism=other.mechanism))
            except InvalidInput as error:
                found.append(Alternative(name=mode, refused=error.problem))
            except Refused as error:
                found.append(Alternative(name=mode, refused=error.reason))
        return tuple(sorted(
            found, key=lambda each: (not each.predicted, *(one.value for one in each.predicted.values()))))

    def _drawback(self, other: ProgramPlan) -> str:
        """Reason why the other plan was not chosen."""
        if self.certain and not other.certain:
            return "loads may exceed the supply because of the noise"
        if math.isfinite(self.gain) and not math.isfinite(other.gain):
            return "it has no promise against lies"
        if other.certain and not self.certain:
            return f"it holds {other.unused_share:.2%} of all supply in reserve"
        if other.certain and other.unused_share > self.unused_share:
            return "it holds more in reserve"
        if (other.mode, self.mode) == ("RoundDude", "TightenAndAudit"):
            return "participants in late slots are more likely to get nothing"
        if math.isfinite(other.gain) and not math.isfinite(self.gain):
            return "it charges prices"
        return "the file asks for another mode" if other.certain == self.certain else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        said = list[str]()
        if not self.settles:
            burn_in, rounds = self.needed_rounds
            said.append("prices may not reach their final level, and the excess can then be far larger than predicted. "
                        f"{burn_in:,} rounds of burn-in and {rounds:,} main rounds are enough; or set prices at the "
                        "start, or use step 'adagrad', which loses more value")
        if self.mode == "TrueDude":
            said.append("participants with another favourite get it, even beyond the supply; the certificate bounds "
                        "their number")
        return tuple(said)

    def plot(self) -> Picture:
        """Draw the excess or the reserve at several values of epsilon, with a mark for the plan."""
        now, first = self.path.epsilon, next(iter(self.predicted))
        rows = list[tuple[float, float, str]]()
        for epsilon in [now * 4.0 ** (step / _STEPS) for step in range(-_STEPS, _STEPS + 1)]:
            with suppress(Refused):  # the reserve would be all that a row holds
                rows.append((epsilon, _share(
                    replace(self.path, epsilon=epsilon), self.mode,
                    lambda path, mode: _of_mode(path, mode, self.alpha, self.options)), self.mode))
        rows = [row for row in rows if math.isfinite(row[1])]
        (picture,) = curves(
            rows, title="How much supply the noise costs", x="epsilon (nats)", y=f"{first} (share of the supplies)",
            log_x=True, alt=f"The share that is {first} falls as epsilon grows; the plan is marked.",
            marks=[(now, self.predicted[first].value, "this plan")])
        return picture

    @property
    def limits(self) -> bool:
        """Whether any constraint's load can exceed the supply. If False, each supply covers the largest possible total
        demand.
        """
        return bool(limited(self.program).any())

    @property
    def expected_excess(self) -> float:
        """Expected excess of the participants' average responses, summed over all constraints, in natural units. The
        excess is m s/sqrt(2 pi), or twice as much if the constraints are equations. Here m is the number of constraints
        with a load that can exceed the supply, and s is `noise_std`.
        """
        sides = 2.0 if self.program.two_sided else 1.0
        return float(limited(self.program).sum()) * sides * self.noise_std / math.sqrt(2.0 * math.pi)

    @property
    def certified_excess(self) -> float:
        """Total excess over all constraints that the certificate will state, in natural units. The excess is about m z
        s, where m is the number of constraints with a load that can exceed the supply, z a normal quantile, and s is
        `noise_std`.
        """
        return float(limited(self.program).sum()) * _reach(self.path) * self.noise_std

    @property
    def excess_share(self) -> float:
        """Total excess that the certificate will state, as a share of the total supply."""
        return self.certified_excess / float(self.holds.sum())

    @property
    def needed_rounds(self) -> tuple[int, int]:
        """Numbers of burn-in rounds and of main rounds that prices need to converge. With AdaGrad or with given start
        prices, no burn-in and one main round are enough.
        """
        return needed_rounds(self.program, step=self.path.step, start=self.path.start)

    @property
    def settles(self) -> bool:
        """Whether the number of rounds of the plan is at least the needed number. With fewer rounds, the excess may be
        far above the planned excess, and the certificate will show the larger excess.
        """
        burn_in, rounds = self.needed_rounds
        return self.path.burn_in >= burn_in and self.path.rounds >= rounds

    @cached_property
    def reserve(self) -> NDArray[np.float64]:
        """Reserve of each constraint, in natural units of load, shape (k,); 0 in modes without a reserve."""
        return self.mechanism.reserve

    @property
    def unused_share(self) -> float:
        """Total reserve as a share of the total supply. The reserve costs about the same share of the total value."""
        return float(self.reserve.sum() / self.holds.sum())

    @cached_property
    def regret(self) -> float:
        """Upper bound R on the regret of the prices, in units of value, known before the run. The bound holds except
        with the failure probability, and is infinite with AdaGrad.
        """
        return self.path.regret

    @property
    def vacuous(self) -> bool:
        """Whether the bound `regret`, known before the run, bounds neither the value nor the excess usefully. The
        certificate after the run does not need this bound.
        """
        return all(one.vacuous for one in self.path._accuracy())

    @property
    def gain(self) -> float:
        """Upper bound on the mean gain of a lie, in units of value, in modes that charge prices; infinite in the other
        modes.

        Source: spec convex_programs 6.1 and 6.2 (corrected).
        """
        return self.mechanism.gain

    @property
    def draws(self) -> int:
        """Number of noise draws of a run: one for each constraint and round, plus those of RoundDude's flags or
        TightenAndAudit's audit.
        """
        k = self.program.rows
        own = self.mechanism
        more = own.flags.queries + 1 if isinstance(own, RoundDude) else int(isinstance(own, TightenAndAudit))
        return (self.path.schedule.total + more) * k

    def sentences(self) -> tuple[str, ...]:
        """Description of the plan in sentences."""
        k, b = self.program.rows, self.holds
        said = [
            f"{self.mode} for {self.program.people:,} participants and {k:,} rows: {self.path.loss} towards everybody "
            f"else together",
            f"the noise of a row's average load has standard deviation {self.noise_std:.4g}; the smallest supply is "
            f"{float(b.min()):,.6g}",
        ]
        if self.certain:
            sure = ", for sure" if getattr(self.mechanism, "truncate", False) else (
                f" with probability {1 - self.path.failure_probability:g}")
            said.append(f"no load exceeds its supply{sure}; margins keep at most {self.unused_share:.2%} of all "
                        "supplies in reserve")
        elif not self.limits:
            said.append("no load can exceed its supply, since each row has enough for everybody together")
        else:
            said.append(f"the averages exceed all rows together by about {self.expected_excess:.4g}. The certificate "
                        f"will state at most about {self.certified_excess:.4g}, which is {self.excess_share:.2%} of "
                        f"the supplies, with probability {1 - self.path.failure_probability:g}")
        said += self.warnings
        proved = [one for one in self.path._accuracy() if not one.vacuous]
        sure = f"proved before the run, with probability {1 - self.path.failure_probability:g}"
        said += [f"{sure}: {one.sentence()}; the largest possible value is {one.baseline:,.6g}"
                 for one in proved] or [
            "value and excess have no proven bound before the run: the certificate after the run states one"]
        if math.isfinite(self.gain):
            said.append(f"no lie gains more than {self.gain:.3g} on average, and at the charged prices no other choice "
                        f"is better than a participant's share by more than {self.alpha or 0.0:g}")
        else:
            said.append("there is no promise about lies, since shares have no prices")
        said.append(f"{self.path.schedule.total:,} rounds, {self.draws:,} draws of noise; about {self.seconds:.3g} "
                    f"seconds and {self.megabytes:,.0f} megabytes")
        return tuple(said)

    def _own_figures(self) -> Mapping[str, Any]:
        path = self.path
        return {
            "mode": self.mode, "program": wire_name(self.program), "people": self.program.people,
            "rows": self.program.rows,
            "settings": {word: part for word, part in parts_of(path).items() if word != "program"},
            "options": self.options,
            "alpha": self.alpha, "noise_std": self.noise_std, "expected_excess": self.expected_excess,
            "certified_excess": self.certified_excess, "excess_share": self.excess_share,
            "reserve": self.reserve, "unused_share": self.unused_share,
            "settles": self.settles, "needed_rounds": self.needed_rounds, "regret": self.regret,
            "vacuous": self.vacuous, "gain": self.gain, "draws": self.draws, "seconds": self.seconds,
            "megabytes": self.megabytes, "sentences": self.sentences(),
        }


@renamed(beta="failure_probability")
@by_position_before("program", "epsilon", "delta", "mode")
@names_missing("epsilon | error")
def plan(
    program: Program, *, epsilon: float | None = None, delta: float = 0.0, error: float | None = None,
    mode: Mode | None = None, feasible: bool = False, truthful: bool = False, alpha: float | None = None,
    failure_probability: float = 0.05, most_excess: float = 0.05, most_unused: float = 0.3, timed: bool = True,
    load_units: Sequence[float] | None = None, mode_names: Mapping[str, str] | None = None,
    row_names: Sequence[str] | None = None, **options: Any,
) -> ProgramPlan:
    """Plan of the recommended or requested mode at the given sizes, with its expected results.

    If no mode is requested, the plan recommends one. PrivDude is the default. The shares of PrivDude are averages of
    responses, and their total load stays within the supplies up to noise. If `truthful` is set, the recommendation is
    TrueDude, which charges prices for these averages, so that a lie gains little. If `feasible` is set, the
    recommendation is RoundDude if its reserve is below 80% of TightenAndAudit's reserve, and TightenAndAudit if not. If
    `feasible` and `truthful` are set, the recommendation is TightenAndAudit. TightDude is never recommended, because
    its reserve is usually larger than the supply.

    Args:
        program: program of any family.
        epsilon: privacy loss in nats, > 0. Exactly one of `epsilon` and `error` is given.
        delta: delta of the privacy promise, in (0, 1/2), far below 1/people. Gaussian noise needs a delta above 0.
        error: largest share of the total supply, in (0, 1), that may be excess or reserve. If `error` is given, the
            plan has about the smallest epsilon that achieves it.
        mode: name of the mechanism, such as "PrivDude"; None to let the plan choose one.
        feasible: whether the load of every constraint must be within its supply, except with the failure probability.
        truthful: whether the mode must charge prices and promise a bound on the gain of lies.
        alpha: limit > 0 in modes that charge prices, in units of value: participants who would gain more than alpha by
            another choice receive that choice. By default alpha is 0.01 for TrueDude and TightDude, and for
            TightenAndAudit if `truthful` is set. Without `truthful`, TightenAndAudit charges only with a given alpha.
        failure_probability: probability in (0, 1) that certificates and bounds fail.
        most_excess: for modes that give averages of responses, the largest share of the total supply that the
            certificate may state as excess.
        most_unused: for modes that keep every load within its supply, the largest share of the total supply that may be
            in reserve.
        timed: whether the plan measures the time of responses on this machine, with artificial records.
        load_units: (k,) size of a natural unit of load in the units that error messages use, such as kW; 1 by default.
        mode_names: mapping from the name of a mechanism to its name in error messages; by default both names are equal.
        row_names: (k,) name of each constraint in error messages; by default `program.row_names`.
        options: parameters of all modes, such as rounds, burn_in, step, law or neighbours, and parameters of the
            requested or recommended mode, such as `audit_share`. By default `rounds` and `burn_in` are as large as
            prices need to converge, but at least 200 and 100, and at most 40,000 each.

    Raises:
        InvalidInput: a number out of range; an unknown option, or an option of another mode; a mode that does not
            support the program.
        Refused: no useful outcome at the given sizes. The error message names an epsilon that would suffice, or a
            supply that would suffice with proportionally more people.

    Example:
        >>> from confide.programs import UnitDemand
        >>> found = plan(UnitDemand(100_000, 5_000, goods=10), epsilon=1.0, delta=1e-6)
        >>> found.mode, round(found.noise_std, 2), round(found.excess_share, 4)
        ('PrivDude', 6.3, 0.0035)
        >>> plan(UnitDemand(1_000, 50, goods=10), epsilon=1.0, delta=1e-6)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.Refused: ... 35.4% of the supplies, more than 5% (remedy: an epsilon of 8.89, or ...
    """
    exactly_one(epsilon=epsilon, error=error)
    if epsilon is None:
        most_excess = most_unused = fraction("error", error)
    for flag, given in (("feasible", feasible), ("truthful", truthful), ("timed", timed)):
        if not isinstance(given, bool):
            raise InvalidInput(flag, f"{type(given).__name__} is neither True nor False")
    every = _PATH.union(*_OWN.values())
    for name in options:
        if name not in every:
            raise InvalidInput(name, "is not an option of any mode", f"options are {', '.join(sorted(every))}")
    if mode is not None:
        one_of("mode", mode, tuple(_KINDS))
    if "neighbours" in options:
        options["neighbours"] = neighbours_today(options["neighbours"])
    names, given_options = _names(program, load_units, mode_names, row_names), dict(options)
    named: dict[str, Any] = {name: value for name, value in options.items() if name not in _PATH}
    if alpha is not None:
        named["alpha"] = positive("alpha", alpha)
    options = {name: value for name, value in options.items() if name in _PATH}
    options["failure_probability"] = failure_probability
    fraction("most_excess", most_excess)
    fraction("most_unused", most_unused)
    path = PrivDude(program, _ANY_EPSILON if epsilon is None else epsilon, delta, **options)
    usual: dict[str, Any] = {name: number for name, number in usual_rounds(
        program, step=path.step, start=path.start).items() if name not in options}
    path = replace(path, **usual)

    def asked(mode: Mode) -> tuple[float | None, dict[str, Any]]:
        """Alpha of a mode, and the given options that belong to the mode."""
        mine = {name: value for name, value in named.items() if name in _OWN[mode]}
        charges = mode in _CHARGING and (truthful or mode != "TightenAndAudit")
        return mine.pop("alpha", _ALPHA if charges else None), mine

    def made(path: PrivDude, mode: Mode) -> Dude:
        return _of_mode(path, mode, *asked(mode))

    def mode_of(path: PrivDude) -> Mode:
        return _advised(path, feasible, truthful, made) if mode is None else mode

    if epsilon is None:
        path = replace(path, epsilon=_least_epsilon(path, lambda of: _share(of, mode_of(of), made) <= most_excess))
    chosen = mode_of(path)
    for name in named:
        if name not in _OWN[chosen]:
            others = [each for each, own in _OWN.items() if name in own]
            advised = "" if mode else ", the advised mode"
            raise InvalidInput(name, f"is not an option of {names.modes[chosen]}{advised}",
                               f"this is an option of {names.listed(others)} alone")
    if chosen not in ("PrivDude",) and program.not_packing:
        raise InvalidInput("mode", f"{names.modes[chosen]} needs a packing program, in which everybody may have "
                                   f"nothing; in this program, {program.not_packing}",
                           f"{names.modes['PrivDude']} works for any program")
    if asked(chosen)[0] is not None and not program.always_answered:
        check_payments(program, path.rounds)
    for wanted, able, what in ((feasible, _EXACT, "feasible"), (truthful, _CHARGING, "truthful")):
        if wanted and chosen not in able:
            raise InvalidInput("mode", f"{names.modes[chosen]} is not {what}", f"must be one of {names.listed(able)}")

    def again(larger: Program = program, **changed: float) -> ProgramPlan:
        return plan(larger, epsilon=changed.get("epsilon", path.epsilon), delta=delta, mode=mode, feasible=feasible,
                    truthful=truthful, alpha=alpha, failure_probability=failure_probability, most_excess=most_excess,
                    most_unused=most_unused, timed=False, load_units=load_units, mode_names=mode_names,
                    row_names=row_names, **given_options)

    _worth(path, (lambda _: chosen) if named else mode_of, made, most_excess, most_unused, names, again)
    seconds, megabytes = costs(path, timed, path.rounds if chosen in ("PrivDude", "TrueDude") else 1)
    charged, own = asked(chosen)
    found = ProgramPlan(path=path, mode=chosen, alpha=charged, most_excess=most_excess, most_unused=most_unused,
                        seconds=0.0, megabytes=megabytes, options=own)
    return replace(found, seconds=seconds + found.draws * _SECURE)


# ---- public arithmetic


_Made = Callable[[PrivDude, Mode], Dude]


@dataclass(frozen=True, kw_only=True)
class _Names:
    """Names of modes and constraints, and units, in error messages.

    Args:
        modes: mapping from the name of a mechanism to its name in error messages.
        rows: (k,) name of each constraint.
        units: (k,) size of a contribution of 1, in the units of error messages.
    """

    modes: Mapping[str, str]
    rows: tuple[str, ...]
    units: NDArray[np.float64]

    def listed(self, modes: Sequence[str]) -> str:
        return ", ".join(self.modes[each] for each in modes)


def _names(
    program: Program, units: Sequence[float] | None, modes: Mapping[str, str] | None, rows: Sequence[str] | None,
) -> _Names:
    """The given names, or the library's own where none are given."""
    for name, given in (("load_units", units), ("row_names", rows)):
        if given is not None and len(given) != program.rows:
            raise InvalidInput(name, f"has {counted(len(given), 'entry', 'entries')}",
                               f"must have {program.rows}, one for each row")
    for each in modes or ():
        one_of("mode_names", each, tuple(_KINDS))
    return _Names(modes={each: each for each in _KINDS} | dict(modes or {}),
                  rows=tuple(program.row_names if rows is None else rows),
                  units=np.ones(program.rows) if units is None else np.array(units, dtype=np.float64))


def _advised(path: PrivDude, feasible: bool, truthful: bool, made: _Made) -> Mode:
    if not feasible:
        return "TrueDude" if truthful else "PrivDude"
    if truthful or not path.program.constants.packing:
        return "TightenAndAudit"
    audited, flagged = (float(_held_back(path, mode, made).sum()) for mode in _FEASIBLE)
    return "RoundDude" if flagged < _FLAGGED * audited else "TightenAndAudit"


def _of_mode(path: PrivDude, mode: Mode, alpha: float | None, options: Mapping[str, Any]) -> Dude:
    """The mode's mechanism, with the settings of a path and its own options.

    Raises:
        Refused: the margins of the mode leave nothing of a constraint's supply.
    """
    settings: dict[str, Any] = {one.name: getattr(path, one.name) for one in fields(path) if one.name != "_"}
    if mode in _CHARGING:
        settings["alpha"] = alpha
    return _KINDS[mode](**settings, **options)


def _reach(path: PrivDude) -> float:
    """Normal quantile z of the certificate's excess bound, which uses half of the failure probability."""
    tails = path.program.rows * (2 if path.program.two_sided else 1)
    return quantile(path.failure_probability / (2 * tails), path.law == "discrete_gaussian")


def _held_back(path: PrivDude, mode: Mode, made: _Made) -> NDArray[np.float64]:
    """Reserve of each constraint in a mode, shape (k,); infinite where the margins leave nothing of a supply."""
    try:
        return made(path, mode).reserve
    except Refused:
        return np.full(path.program.rows, np.inf)


def _share(path: PrivDude, mode: Mode, made: _Made) -> float:
    """Reserve, or excess that the certificate will state, as a share of the total supply."""
    held = float(holds(path.program).sum())
    if mode in _EXACT:
        return float(_held_back(path, mode, made).sum()) / held
    return float(limited(path.program).sum()) * _reach(path) * path.noise_std / held


def _least_epsilon(path: PrivDude, does: Callable[[PrivDude], bool]) -> float:
    """About the smallest epsilon for which `does` holds. If no tried epsilon suffices, the result is the largest tried
    epsilon, which the caller refuses.
    """
    found = first_that(lambda epsilon: does(replace(path, epsilon=epsilon)), _LEAST_EPSILON, close=2e-4,
                       farthest=_MOST_TIMES)
    return _LEAST_EPSILON * _MOST_TIMES if found is None else found


def _worth(
    path: PrivDude, mode_of: Callable[[PrivDude], Mode], made: _Made, most_excess: float, most_unused: float,
    names: _Names, again: Callable[..., Any],
) -> None:
    """Refuse a plan without a useful outcome, and name sufficient changes."""
    mode = mode_of(path)
    certain = mode in _EXACT

    def share(of: PrivDude) -> float:
        return _share(of, mode_of(of) if certain else mode, made)

    most = most_unused if certain else most_excess
    now = share(path)
    if now <= most:
        return
    name = names.modes[mode]
    digits = next((each for each in range(1, 12) if round(100.0 * now, each) > 100.0 * most), 12)
    shown, limit = f"{100.0 * now:.{digits}f}%", f"{100.0 * most:.3g}%"
    reason = (f"the margins of {name} would reserve the whole supply of a row" if now == math.inf else
              f"the margins of {name} would reserve {shown} of the supplies, more than {limit}" if certain else
              f"the certificate of {name} would state an excess of {shown} of the supplies, more than {limit}")
    if mode == "TightDude" and now == math.inf:
        try:
            made(path, mode)
        except EmptyRow as own:  # it knows which supply, rounds or alpha would do
            reason, ways = f"{reason}: row {names.rows[own.row]} {own.problem}", _followed(own, path, again)
            raise Refused(reason, ways) from None
        except Refused as own:
            raise Refused(f"{reason}: {own.reason}", _followed(own, path, again)) from None

    def with_epsilon() -> float | None:
        return first_that(lambda epsilon: share(replace(path, epsilon=epsilon)) <= most, path.epsilon, close=2e-4,
                          farthest=1e9)

    def with_crowd() -> float | None:
        return first_that(lambda times: share(replace(path, program=crowd(path.program, times))) <= most, 1.0,
                          close=2e-4, farthest=1e9)

    supplies = set((np.array(path.program.supplies) * names.units).tolist())
    remedy = "supplies of {supply}" if len(supplies) == 1 and min(supplies) > 0 else "supplies {factor} times as large"
    factor = with_crowd()
    grown: dict[str, Any] = {"people": factor and math.ceil(factor * path.program.people)}
    if "{supply}" in remedy:
        larger = factor and crowd(path.program, factor).supplies[0] * float(names.units[0])
        grown["supply"] = math.ceil(larger) if larger and larger >= 10 else larger
    else:
        grown["factor"] = factor

    def with_people(people: int, supply: float | None = None, factor: float = 1.0) -> Any:
        values = with_supply(path.program, factor=factor).supplies if supply is None else [
            supply / unit for unit in names.units.tolist()]
        return again(replace(path.program, people=people, supply=tuple(values)))

    raise Refused(reason, [*tried("an epsilon of {epsilon}", again, digits=3, epsilon=with_epsilon),
                           *tried(f"{remedy} with {{people}} participants", with_people, digits=3, **grown)]
                  or "no epsilon and no supply in the computable range is enough")


def _followed(error: Refused, path: PrivDude, again: Callable[..., Any]) -> tuple[str | Remedy, ...]:
    """Remedies that a mechanism's own refusal names, each tried as a plan."""

    def attempt(factor: float = 1.0, supply: float | None = None, **changed: float) -> Any:
        return again(with_supply(path.program, factor=factor, supply=supply), **changed)

    return retried(error, attempt)
