"""How private can a release be at a given distortion? The function `privacy_distortion` answers for three notions of
privacy and every prior.

A formula gives the answer where a formula is known: at all distortions for independent rows, and at small distortions
for all priors. If no formula is known, a linear program or the slope solver gives the answer with a certificate. If no
program succeeds, the answer is a certified interval, which is labelled as an interval.

Source: Wang 2016, Theorem 1 and Theorem 2; spec privacy_notions 5, 6, 7.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.channel import ExponentialForm, FiniteChannel, RowProduct
from confide.channels.closed_forms import closed_form
from confide.channels.constants import PriorConstants, kernel_inverse_law, prior_level, row_level
from confide.channels.kernels import entropy_of_row, h, h_inverse, row_kernel
from confide.channels.mechanisms.base import ChannelMechanism, PriorProvenance
from confide.channels.mechanisms.best import constant_channel, formula_mechanism, table_mechanism
from confide.channels.notions import Infeasible, Level, Notion, as_notion
from confide.channels.priors import LARGEST_FULL, Exchangeable, IndependentRows, Prior, as_prior
from confide.channels.rows import (
    RowBounds,
    dp_distortion,
    dp_level,
    identifiability_distortion,
    information,
    row_distortions,
    top_tables,
    water_tables,
)
from confide.channels.solvers.information import information_seconds, least_information
from confide.channels.solvers.programs import ProgramPoint, as_exchangeable, check_size, program_seconds, solve_program
from confide.contract.checks import non_negative, one_of
from confide.contract.errors import PublicWarning, SolverFailed, Unsupported
from confide.contract.kinds import Progress
from confide.contract.progress import progress_bar
from confide.contract.renamed import renamed
from confide.contract.wire import wire_name
from confide.contract.words import number

__all__ = ["Method", "PrivacyDistortion", "least_distortion", "privacy_distortion"]

Method = Literal["closed form", "program", "slope", "bounds"]
_CLOSE = 1e-6  # nats between certified levels
_STEP = 1e-7
_STEPS = 40
_COARSE, _FINE = 1e-3, 1e-9  # tolerances of a program
_PROGRAMS = 2.5  # a search takes as long as so many programs: some are solved to few digits, some start close by
_EACH = 0.4  # of what is left that a program takes: later ones start close by
_NEAR = 1e-2  # nats
_LONG = 10.0  # seconds
_TRIED = 64  # databases up to which a level is tried before it is named
_MOST_ROWS = 120  # of an exchangeable prior whose eps~_X is computed, over two letters
_MOST_LISTED = 2**20  # its databases, over more


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivacyDistortion:
    """The least level at a distortion, or the least distortion at a level.

    Args:
        notion: "dp", "identifiability" or "mutual-information".
        value: the answer, a level in nats or a distortion in changed rows; None if only bounds are known.
        lower: certified lower bound of the answer.
        upper: upper bound of the answer, reached by `mechanism` or by a mechanism that a theorem names.
        method: "closed form", "program" (a linear program with certificates), "slope" (a convex program with
            certificates) or "bounds".
        channel: channel that reaches `upper`; None if its table would be too large.
        note: reason why only bounds are known, stated with public sizes such as m and n; empty if there is a value.
    """

    notion: Notion
    value: float | None
    lower: float
    upper: float
    method: Method
    channel: FiniteChannel | None
    _make: Callable[[], ChannelMechanism | None]
    note: str = ""

    @cached_property
    def mechanism(self) -> ChannelMechanism | None:
        """Mechanism with whole-number probabilities that reaches `upper`; None if neither a formula nor a table is
        known.

        The levels and the distortion of the mechanism are computed from its whole-number probabilities
        (`mechanism.levels()`). Rounding may put the distortion above the requested one, by at most a part in 2^20 of
        the rows.
        """
        return self._make()

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary without the channel. The dictionary has the name of the mechanism's class, or None if
        there is no mechanism. Infinite levels stay floats, although JSON has no infinity; the command line writes them
        as "Infinity".
        """
        found = {name: getattr(self, name) for name in ("notion", "value", "lower", "upper", "method", "note")}
        return {**found, "mechanism": None if self.mechanism is None else wire_name(self.mechanism)}


@renamed(rows="records")
def privacy_distortion(
    notion: Notion, prior: Prior | ArrayLike, distortion: float, letters: int | None = None,
    records: int | None = None, *, prior_provenance: PriorProvenance | None = None, solve: bool = True,
    progress: Progress | None = None
) -> PrivacyDistortion:
    """The least privacy level of any release that changes at most the given number of rows on average.

    Args:
        notion: "dp", "identifiability" or "mutual-information".
        prior: a prior, a list of the distributions of single rows, the distribution of one row together with `records`,
            or a vector of the probabilities of all m^n databases.
        distortion: distortion D in [0, n], expected number of changed rows.
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.
        prior_provenance: source of the prior, "public" or "released privately"; needed for a release from `.mechanism`
            with secure noise.
        solve: whether to solve a program if no formula is known. If `solve` is False and no formula is known, the
            result has bounds only, which are computed at once.
        progress: function that is called with two numbers, the finished and the whole work of the solver. If `progress`
            is left out and the solver takes long, a terminal shows a progress bar.

    Returns:
        Levels in nats. At D = 0 the identity is the only release: its levels are infinite, and its information is the
        entropy H(X) of the prior.

    Raises:
        InvalidInput: an invalid notion, prior or distortion.
        Infeasible: identifiability at D > 0 under a prior with impossible databases.

    Example:
        >>> pair = [0.45, 0.05, 0.05, 0.45]
        >>> found = privacy_distortion("dp", pair, 0.4, letters=2, records=2)
        >>> found.method, round(found.value, 5), found.upper - found.lower < 1e-6
        ('program', 1.09861, True)
        >>> law = [0.2533, 0.1821, 0.1820, 0.1873, 0.1953]
        >>> round(privacy_distortion("dp", law, 0.74 * 10**6, letters=5, records=10**6).value, 5)
        0.32105
    """
    notion = as_notion(notion)
    law = as_prior(prior, letters, records)
    distortion = non_negative("distortion", distortion, at_most=float(law.records))
    if notion == "identifiability" and not law.positive and distortion > 0:
        raise Infeasible("distortion", distortion, math.inf, "since the prior excludes some databases",
                         "ask for differential privacy or information")
    constants = _constants(notion, law)
    level = closed_form(notion, law, distortion, constants)
    if level is not None:
        return _exactly(notion, level, _formula_channel(notion, law, distortion, level, constants),
                        lambda: formula_mechanism(notion, law, distortion, level, constants, prior_provenance))
    if notion == "mutual-information":
        return _information(law, distortion, constants, prior_provenance, solve, progress)
    return _level(notion, law, distortion, constants, prior_provenance, solve, progress)


def _constants(notion: str, prior: Prior) -> PriorConstants:
    """The constants of a prior; eps~_X is left infinite for differential privacy of dependent rows, where it is not
    needed.
    """
    return known_constants(prior) if notion != "dp" or isinstance(prior, IndependentRows) else _without_kernel(prior)


def known_constants(prior: Prior) -> PriorConstants:
    """The constants of a prior. If the computation of the constant `kernel_level` would take minutes, `kernel_level` is
    set to infinity, so that no formula that needs this constant is used.
    """
    return _without_kernel(prior) if _many(prior) else PriorConstants.of(prior)


def _without_kernel(prior: Prior) -> PriorConstants:
    laws, counts = prior.marginals()
    return PriorConstants(prior_level=prior_level(prior), row_level=row_level(prior), kernel_level=math.inf,
                          constant_distortion=float(counts @ (1.0 - laws.max(axis=1))))


def _many(prior: Prior) -> bool:
    return isinstance(prior, Exchangeable) and (
        prior.records > _MOST_ROWS if prior.letters == 2 else prior.cells > _MOST_LISTED)


def _exactly(
    notion: Notion, value: float, channel: FiniteChannel | None, make: Callable[[], ChannelMechanism | None]
) -> PrivacyDistortion:
    return PrivacyDistortion(notion=notion, value=value, lower=value, upper=value, method="closed form",
                             channel=channel, _make=make)


# ---- channels that a formula names


def _same_row(table: NDArray[np.float64], rows: int) -> RowProduct | None:
    return RowProduct([table], np.zeros(rows, dtype=np.int64)) if rows <= LARGEST_FULL else None


def _formula_channel(
    notion: Notion, prior: Prior, distortion: float, level: float, constants: PriorConstants
) -> FiniteChannel | None:
    m, n = prior.letters, prior.records
    if distortion == 0:
        return _same_row(np.eye(m), n)
    if isinstance(prior, IndependentRows):
        return _by_rows(notion, prior, distortion, level)
    if notion != "identifiability" and distortion >= constants.constant_distortion - 1e-12 * n:
        return constant_channel(prior)
    epsilon = max(0.0, h_inverse(distortion, m, n))
    return _same_row(row_kernel(epsilon, m), n) if notion == "dp" else _kernel_posterior(prior, epsilon)


def _by_rows(notion: Notion, prior: IndependentRows, distortion: float, level: float) -> FiniteChannel | None:
    if prior.records > LARGEST_FULL:
        return None
    if notion == "dp":
        tables = top_tables(prior.laws, level)
    elif notion == "identifiability":
        tables = water_tables(prior.laws, np.maximum(1.0 - math.exp(min(level, 700.0)) * prior.laws.min(axis=1),
                                                     h(level, prior.letters, 1)))
    else:
        tables = water_tables(prior.laws, row_distortions(prior, distortion))
    return RowProduct(tables, prior.law_of_row())


def _kernel_posterior(prior: Prior, epsilon: float) -> FiniteChannel | None:
    """Channel E_i: given its output, the true database is distributed like the kernel of the output."""
    if prior.cells > _MOST_LISTED:
        return None
    if epsilon <= 0:  # the prior is uniform, and any law of the output will do
        return ExponentialForm(np.full(prior.cells, 1.0 / prior.cells), 0.0, prior.letters, prior.records)
    return ExponentialForm(kernel_inverse_law(prior, epsilon), epsilon, prior.letters, prior.records)


# ---- information


def _information(
    prior: Prior, distortion: float, constants: PriorConstants, provenance: PriorProvenance | None, solve: bool,
    progress: Progress | None,
) -> PrivacyDistortion:
    alike, found, reason = as_exchangeable(prior), None, f"{_UNSOLVED}where it can"
    if solve:
        try:
            with _reported(information_seconds(alike), progress, 6) as report:
                found, reason = least_information(alike, distortion, constants, report), _APART
        except (Unsupported, SolverFailed) as error:
            reason = _reason(error)
    channel: FiniteChannel | None
    if found is None:
        # Above: rows one by one give away at most the sum of what each does. Below: Shannon's bound.
        m, n, apart = prior.letters, prior.records, _marginals(prior)
        high = min(prior.entropy, information(apart, distortion))
        low = min(high, max(0.0, prior.entropy - n * entropy_of_row(max(0.0, h_inverse(distortion, m, n)), m)))
        close, channel = False, _by_rows("mutual-information", apart, distortion, high)
    else:
        low, high, channel = found.lower, found.upper, found.channel
        close = high - low <= _CLOSE * max(1.0, high)
    return PrivacyDistortion(notion="mutual-information", value=high if close else None, lower=low, upper=high,
                             method="slope" if close else "bounds", channel=channel,
                             note="" if close else _note(reason, constants.kernel_level, prior),
                             _make=lambda: table_mechanism(channel, alike, provenance))


def _marginals(prior: Prior) -> IndependentRows:
    laws, counts = prior.marginals()
    return IndependentRows(list(laws), [int(count) for count in counts])


# ---- why only bounds are known

_UNSOLVED = "no program was solved: privacy_distortion(..., solve=True) solves the program, "
_APART = "the solver's upper and lower certificates differ"


def _reason(error: Unsupported | SolverFailed) -> str:
    if isinstance(error, Unsupported):
        return f"this is too large to solve: {error.what} ({error.limit})"
    return "the solver found no certificate for an answer"


def _left(prior: Prior) -> str:
    """Reason why only bounds are known if the caller asked not to solve a program."""
    try:
        check_size(prior)
    except Unsupported as error:
        return _reason(error)
    return f"{_UNSOLVED}in about {_rough(max(1.0, _PROGRAMS * program_seconds(prior)))} s"


def _rough(seconds: float) -> str:
    return number(float(f"{seconds:.1g}"))


def _note(reason: str, level: float, prior: Prior) -> str:
    """Text of why only bounds are known, with the distortion at which the formula for a level ends."""
    end = h(level, prior.letters, prior.records)
    formula = f"the formula ends at {number(end)} changed rows" if end > 0 else "no formula is known for this prior"
    return f"only bounds are known: {formula}, and {reason}"


# ---- levels, by programs


@contextmanager
def _reported(seconds: float, progress: Progress | None, above: int) -> Iterator[Callable[[float], None] | None]:
    """Function that the solver calls with the share of its work that is done. If the solver takes long, the caller gets
    a warning first, and a terminal shows a progress bar. The warning points to the frame that is `above` frames up; the
    wrapper for renamed arguments counts as one frame.
    """
    if seconds > _LONG:
        warnings.warn(f"the solver takes about {_rough(seconds)} seconds; privacy_distortion(..., solve=False) gives "
                      "bounds at once", PublicWarning, stacklevel=above)
    with progress_bar("solving") if progress is None and seconds > _LONG else nullcontext(progress) as bar:
        yield None if bar is None else lambda share: bar(int(1000 * share), 1000)


def _level(
    notion: Level, prior: Prior, distortion: float, constants: PriorConstants, provenance: PriorProvenance | None,
    solve: bool, progress: Progress | None,
) -> PrivacyDistortion:
    low, high, channel = _interval(notion, prior, distortion, constants)
    alike = as_exchangeable(prior)
    value: float | None = high if high == low else None
    method: Method = "bounds" if value is None else "closed form"
    reason = "" if solve else _left(alike)
    if solve and high > low:
        try:
            check_size(alike)
            with _reported(_PROGRAMS * program_seconds(alike), progress, 6) as report:
                low, high, channel = _search(_Points(alike, notion, report), distortion, low, high, channel)
            reason = _APART
            if high - low <= _CLOSE * max(1.0, high):
                value, method = 0.5 * (low + high), "program"
        except Unsupported as error:  # then the interval stands
            reason = _reason(error)
    return PrivacyDistortion(notion=notion, value=value, lower=low, upper=high, method=method, channel=channel,
                             note="" if value is not None else _note(reason, _formula_from(notion, constants), prior),
                             _make=lambda: table_mechanism(channel, alike, provenance, **{notion: high}))


def _formula_from(notion: Level, constants: PriorConstants) -> float:
    return constants.row_level if notion == "dp" else constants.kernel_level


def _interval(
    notion: Level, prior: Prior, distortion: float, constants: PriorConstants
) -> tuple[float, float, FiniteChannel | None]:
    """Certified lower and upper bounds of the least level, and a channel that reaches the upper bound, without a
    program. The bounds come from single rows and from the best channel that is known.
    """
    m, n = prior.letters, prior.records
    # Differential privacy and distortion of a product of rows depend on the marginal laws only.
    apart = _marginals(prior)
    high = dp_level(apart, distortion)
    channel = _by_rows("dp", apart, distortion, high)
    source, bounds = h_inverse(distortion, m, n), RowBounds.of(prior)
    if notion == "dp":
        low = max(0.0, source - constants.prior_level)
    else:
        low, high = max(source, constants.prior_level), high + constants.prior_level
        if constants.kernel_level < high and distortion >= h(constants.kernel_level, m, n):
            high, channel = constants.kernel_level, _kernel_posterior(prior, constants.kernel_level)
    if bounds is not None:
        low = bounds.level(notion, distortion, low, max(low, high))
    return low, max(low, high), channel


class _Points:
    """Points of D*, the least distortion as a function of the level. If the level of a point is near the previous
    level, the solver starts from an intermediate point of the previous solution.
    """

    def __init__(self, prior: Prior, notion: Level, report: Callable[[float], None] | None) -> None:
        self._prior, self._notion, self._report, self._left = prior, notion, report, 1.0
        self._last: ProgramPoint | None = None

    def __call__(self, epsilon: float, tolerance: float) -> ProgramPoint:
        report, left, last = self._report, self._left, self._last
        near = last is not None and abs(last.epsilon - epsilon) < _NEAR
        self._last = solve_program(
            self._prior, epsilon, self._notion, tolerance=tolerance, midway=last.midway if last and near else None,
            progress=None if report is None else lambda share: report(1.0 - left * (1.0 - _EACH * share)))
        self._left *= 1.0 - _EACH
        return self._last


def _search(
    solve: Callable[[float, float], ProgramPoint], distortion: float, low: float, high: float,
    channel: FiniteChannel | None,
) -> tuple[float, float, FiniteChannel | None]:
    """Narrow an interval of levels that contains the least level at a distortion. Newton steps along tangents of D*
    propose levels, each moved a little beyond the root so that both ends of the interval close in. The dual prices at
    one level also bound D* at nearby levels, without another program. The search for the level ends at the first linear
    program that fails.

    Newton steps converge quadratically: a point far from the root need not be solved to more digits than the next point
    can have.
    """
    epsilon, beyond, tolerance = 0.5 * (low + high), _STEP, _COARSE
    for _ in range(_STEPS):
        if high - low <= 2.5 * beyond:
            break
        try:
            point = solve(epsilon, tolerance)
        except SolverFailed:
            break
        if point.upper <= distortion:
            high, channel = epsilon, point.channel
        elif point.lower > distortion:
            low = epsilon
        elif tolerance == _FINE:
            beyond *= 4.0  # so near, its certificate cannot tell on which side it is
        middle = 0.5 * (point.lower + point.upper)
        root = epsilon - (middle - distortion) / point.slope if point.slope < 0 else 0.5 * (low + high)
        beside = root - beyond
        if low < beside < high and abs(root - epsilon) < 1e-2 and point.lower_at(beside) > distortion:
            low = beside
        following = root + beyond if point.upper > distortion else root - beyond
        if not low < following < high:
            following = low + beyond if following <= low and point.upper <= distortion else 0.5 * (low + high)
        if following == epsilon and tolerance == _FINE:
            break
        tolerance = min(_COARSE, max(_FINE, 1e-2 * (following - epsilon) ** 2))
        epsilon = following
    return low, high, channel


# ---- the other way round


@renamed(rows="records")
def least_distortion(
    notion: Level, prior: Prior | ArrayLike, epsilon: float, letters: int | None = None, records: int | None = None, *,
    prior_provenance: PriorProvenance | None = None, progress: Progress | None = None
) -> PrivacyDistortion:
    """The least distortion D*(epsilon) of any release with privacy level epsilon. The distortion is the expected number
    of changed rows.

    Args:
        notion: "dp" or "identifiability".
        prior: prior of the database, in the forms that `privacy_distortion` accepts.
        epsilon: privacy level in nats, at least 0; for identifiability at least eps_X, the prior's own level
            (`prior_level`).
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.
        prior_provenance: source of the prior, "public" or "released privately"; needed for a release from `.mechanism`
            with secure noise.
        progress: function that is called with two numbers, the finished and the whole work of the solver. If `progress`
            is left out and the solver takes long, a terminal shows a progress bar.

    Returns:
        Distortions in changed rows. `.channel` and `.mechanism` have the privacy level epsilon.

    Raises:
        InvalidInput: a parameter out of range.
        Infeasible: identifiability below eps_X.

    Example:
        >>> found = least_distortion("dp", [0.45, 0.05, 0.05, 0.45], 0.6, letters=2, records=2)
        >>> found.method, round(found.value, 6)
        ('program', 0.59393)
    """
    kind = cast("Level", one_of("notion", notion, ("dp", "identifiability")))
    law = as_prior(prior, letters, records)
    epsilon = math.inf if epsilon == math.inf else non_negative("epsilon", epsilon)
    m, n, constants = law.letters, law.records, _constants(kind, law)

    def exactly(value: float, channel: FiniteChannel | None) -> PrivacyDistortion:
        return _exactly(kind, value, channel,
                        lambda: formula_mechanism(kind, law, value, epsilon, constants, prior_provenance))

    if epsilon == math.inf:
        return exactly(0.0, _same_row(np.eye(m), n))
    if kind == "identifiability" and epsilon < constants.prior_level:
        raise Infeasible("epsilon", epsilon, constants.prior_level, "the prior's own level, eps_X",
                         attempt=lambda level: _coded(least_distortion(kind, law, level)), small=law.cells <= _TRIED)
    if isinstance(law, IndependentRows):
        value = _independent_distortion(kind, law, epsilon)
        return exactly(value, _by_rows(kind, law, value, epsilon))
    if epsilon >= (constants.row_level if kind == "dp" else constants.kernel_level):
        channel = _same_row(row_kernel(epsilon, m), n) if kind == "dp" else _kernel_posterior(law, epsilon)
        return exactly(h(epsilon, m, n), channel)
    if kind == "dp" and epsilon == 0:
        return exactly(constants.constant_distortion, constant_channel(law))
    bounds = RowBounds.of(law)
    low = max(h(epsilon + (constants.prior_level if kind == "dp" else 0.0), m, n),
              bounds.distortion(kind, epsilon) if bounds else 0.0)
    budget = epsilon if kind == "dp" else epsilon - constants.prior_level
    apart, alike = _marginals(law), as_exchangeable(law)
    high, best, reason = _independent_distortion("dp", apart, budget), _by_rows("dp", apart, 1.0, budget), _APART
    try:
        # Next to eps_X nothing is inside the program: a level a little above it bounds from below, not from above.
        inside = epsilon if kind == "dp" else max(epsilon, constants.prior_level + _STEP)
        check_size(alike)
        with _reported(program_seconds(alike), progress, 5) as report:
            point = solve_program(alike, inside, kind, progress=report)
        low = max(low, point.lower)
        if inside == epsilon and point.upper < high:
            high, best = point.upper, point.channel
    except (Unsupported, SolverFailed) as error:  # the interval stands
        reason = _reason(error)
    low = min(low, high)
    close = high - low <= _CLOSE * max(1.0, high)
    return PrivacyDistortion(notion=kind, value=0.5 * (low + high) if close else None, lower=low, upper=high,
                             method="program" if close else "bounds", channel=best,
                             note="" if close else _note(reason, _formula_from(kind, constants), law),
                             _make=lambda: table_mechanism(best, alike, prior_provenance, **{kind: epsilon}))


def _coded(found: PrivacyDistortion) -> object:
    """The mechanism's whole-number form, which a release needs; None where there is no mechanism or no such form."""
    return None if found.mechanism is None else found.mechanism.coded


def _independent_distortion(notion: Level, prior: IndependentRows, epsilon: float) -> float:
    return dp_distortion(prior, epsilon) if notion == "dp" else identifiability_distortion(prior, epsilon)
