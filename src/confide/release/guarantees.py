"""The promises of DualQuery as typed guarantees, computed from public parameters alone.

The module also bounds the errors of DualQuery's answers before and after a run, for any step size, number of rounds and
number of samples. With probability at least 1 - beta the error of every answer is at most

    eta/2 + ln|Q|/(eta T) + gamma + tau.

In this bound eta is the step size, |Q| the number of queries and negations together, and T the number of rounds. The
term gamma bounds the sampling error, which is the difference between the s samples of a round and the query
distribution, for all records and rounds. The term tau is the mean over the rounds of the gap between the best response
that was found and the optimal response, as a fraction of s. After a run, anybody can compute a bound on tau from upper
bounds on the optimum.

The payoff of a record x against a query q is q(D) - q(x), where D is the data set. The proof has four steps. The regret
of Hedge, the query player's algorithm, bounds the largest error by eta/2 + ln|Q|/(eta T) plus the mean payoff of the
played records. The mean payoff of the played records exceeds their payoff against the samples by at most gamma. The
payoff of the played records against the samples exceeds the least possible payoff of any record by at most tau. The
least possible payoff of any record is at most 0, because the mean payoff over the data's own records is 0.

The proof printed in Wu 2017 uses approximate best responses against the whole query distribution. The printed proof
counts the sampling error once, although this error enters twice (erratum 3). The proof in this module needs only best
responses to the samples.

Source: Wu 2017, Lemma 3.4.4 and Theorem 3.4.5; spec query_release D3, errata 3 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Relation, Source
from confide.contract.outcome import Certificate
from confide.contract.renamed import renamed
from confide.contract.wire import parts_of, wire
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.release.query_game import regret_bound

if TYPE_CHECKING:
    from confide.release.dual_query import DualQuery

__all__ = [
    "BASELINE_ERROR",
    "DOCUMENT",
    "AnswersCertificate",
    "answers_accuracy",
    "answers_certificate",
    "concentrated_privacy",
    "dual_query_guarantees",
    "log_universe",
    "mean_gap",
    "sampling_error",
]

# ---- certificate

BASELINE_ERROR = 0.5
"""The largest possible error of a baseline that reads no data: the answer 1/2 to every query."""


@renamed(beta="failure_probability", gamma="sampling")
@wire("AnswersCertificate", "bound regret gamma tau beta vacuous", failure_probability="beta", sampling="gamma")
@dataclass(frozen=True, kw_only=True, eq=False)
class AnswersCertificate(Certificate):
    """A bound on the largest error of all answers, with the terms of the sum that gives the bound.

    Args:
        bound: bound on |answer - truth| that holds for all queries together, as a fraction of the records.
        regret: regret of the query player, eta/2 + ln|Q|/(eta T), for step size eta, T rounds, and |Q| queries and
            negations together.
        sampling: sampling error gamma, a bound on the difference between the samples and the query distribution.
        tau: bound on the mean gap between the best responses that were found and the optimal responses, as a fraction
            of the samples of a round; 0 before a run.
        failure_probability: failure probability of the bound.
        vacuous: whether the bound is at least 1/2, the largest possible error of the answer 1/2 to every query.
    """

    bound: float
    regret: float
    sampling: float
    tau: float
    failure_probability: float
    vacuous: bool

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return parts_of(self)


def log_universe(attributes: int, groups: tuple[int, ...] = ()) -> float:
    """The logarithm ln |X| of the number of possible records: ln 2 for each attribute outside the one-hot groups, plus
    the logarithm of the size of each group.

    Args:
        attributes: number of attributes, d.
        groups: number of attributes in each one-hot group. A record has exactly one attribute of each group.

    Example:
        >>> round(log_universe(10, (4, 3)), 6) == round(math.log(4 * 3 * 2**3), 6)
        True
    """
    inside = sum(groups)
    if inside > whole("attributes", attributes, at_least=1):
        raise InvalidInput("groups", f"hold {inside} attributes", f"must be at most {attributes}")
    return (attributes - inside) * math.log(2) + math.fsum(math.log(size) for size in groups)


@renamed(beta="failure_probability")
def sampling_error(samples: int, rounds: int, universe: float, failure_probability: float) -> float:
    """The sampling error gamma: a bound on the difference between the mean payoff over s samples and the mean payoff
    over the query distribution. The bound holds for all records and rounds together, and fails with probability at most
    beta.

    The result is the smaller of two bounds. The first one is a single Hoeffding bound for payoffs in an interval of
    length 2, with a union bound over the records. The second one is a sum of two Hoeffding bounds for values in an
    interval of length 1: one for q(D), which is the same for all records, and one for q(x), with a union bound over the
    records x. Here D is the data set and q a sampled query.

    Args:
        samples: number of samples a round, s >= 1.
        rounds: number of rounds, T >= 1.
        universe: logarithm ln |X| of the number of possible records, >= 0.
        failure_probability: failure probability beta, in (0, 1).

    Example:
        >>> round(sampling_error(847_829, 23_214, 235 * math.log(2), 0.05), 5)
        0.01305
    """
    s, tries = whole("samples", samples, at_least=1), math.log(whole("rounds", rounds, at_least=1))
    tries -= math.log(fraction("failure_probability", failure_probability))
    universe = non_negative("universe", universe)
    one = math.sqrt(2 * (universe + tries) / s)
    two = math.sqrt((tries + math.log(2)) / (2 * s)) + math.sqrt((tries + math.log(2) + universe) / (2 * s))
    return min(one, two)


def mean_gap(values: ArrayLike, bounds: ArrayLike, samples: int) -> float:
    """The mean gap tau: the mean over the rounds of (upper bound - value)/s.

    Args:
        values: (T,) number of samples that the record of each round satisfies.
        bounds: (T,) upper bound, in each round, on the number of samples that any record satisfies.
        samples: number of samples a round, s.

    Raises:
        InvalidInput: a bound is below its value.

    Example:
        >>> mean_gap([8, 10], [9.0, 10.0], 10)
        0.05
    """
    gaps = np.asarray(bounds, dtype=np.float64) - np.asarray(values, dtype=np.float64)
    if not (gaps >= -1e-6).all():  # what a solver's bound may miss by
        raise InvalidInput("bounds", "a bound is below the value of its round")
    return float(np.maximum(gaps, 0.0).mean()) / whole("samples", samples, at_least=1)


@renamed(beta="failure_probability")
def answers_certificate(
    eta: float, rounds: int, samples: int, *, queries: int, universe: float, failure_probability: float = 0.05,
    tau: float = 0.0,
) -> AnswersCertificate:
    """The accuracy bound of DualQuery for any step size, number of rounds and number of samples. With tau = 0 the bound
    assumes optimal best responses.

    Args:
        eta: step size, > 0.
        rounds: number of rounds, T >= 1.
        samples: number of samples a round, s >= 1.
        queries: number of queries and their negations, |Q| = 2 k.
        universe: logarithm ln |X| of the number of possible records (`log_universe`).
        failure_probability: failure probability of the bound, in (0, 1).
        tau: certified bound on the mean gap of the best responses, as a fraction of s.

    Source: spec query_release D3.

    Example:
        >>> found = answers_certificate(0.025, 23_214, 847_829, queries=2_000_000, universe=235 * math.log(2),
        ...                             tau=0.025)
        >>> round(found.bound, 4), found.vacuous  # the source's setting for 0.1
        (0.0756, False)
        >>> answers_certificate(2.0, 43, 1000, queries=1_000_000, universe=235 * math.log(2)).vacuous
        True
    """
    log_queries = math.log(whole("queries", queries, at_least=2))
    regret = regret_bound(positive("eta", eta), rounds, log_queries)
    sampling, tau = sampling_error(samples, rounds, universe, failure_probability), non_negative("tau", tau)
    bound = regret + sampling + tau
    return AnswersCertificate(bound=bound, regret=regret, sampling=sampling, tau=tau,
                              failure_probability=failure_probability, vacuous=bound >= BASELINE_ERROR)


# ---- guarantees

DOCUMENT = "Wu 2017"
_SPEC = "query_release"
_STEP = "one record is replaced by another, and the number of records is public"


def concentrated_privacy(events: Sequence[Event], source: Source) -> Privacy:
    """The zCDP guarantee for a list of privacy events. The guarantee covers everything that is published."""
    return Privacy(loss=ZCDP(Accountant(tuple(events)).rho()), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                   source=source, note=_STEP)


def answers_accuracy(certificate: AnswersCertificate, source: Source, note: str) -> Accuracy:
    """The bound of a certificate as an accuracy guarantee. The baseline of the guarantee is the answer 1/2 to every
    query, which has an error of at most 1/2.
    """
    return Accuracy(bound=certificate.bound, baseline=BASELINE_ERROR, source=source, note=note,
                    failure_probability=certificate.failure_probability, measure="the largest error of all answers")


def dual_query_guarantees(it: DualQuery) -> Guarantees:
    """The promises of DualQuery. The promise of zCDP is always made. Pure differential privacy is promised if no
    Gaussian noise is drawn, (epsilon, delta) if a delta is given, and accuracy if there is a workload.
    """
    events = it.events()
    theorem = Source(document=DOCUMENT, statement="Theorem 3.4.1", spec=f"{_SPEC} D2")
    found: list[Privacy | Accuracy] = [concentrated_privacy(events, Source(
        document="confide", statement="a draw of range epsilon costs epsilon^2/8", spec=f"{_SPEC} A2 and D2"))]
    if it.free != "marginals":
        found.append(Privacy(loss=PureDP(it.epsilon(calculator="pure")), neighbours=Relation.REPLACE,
                             audience=Audience.PUBLIC, source=theorem, note=_STEP))
    if it.delta:
        found.append(Privacy(
            loss=ApproxDP(it.epsilon(), it.delta), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
            source=Source(document=DOCUMENT, statement=_STATEMENTS[it.calculator], spec=f"{_SPEC} A2 and D2"),
            note=f"by the calculator {it.calculator!r}; {_STEP}"))
    if it.workload is not None:
        found.append(answers_accuracy(it.planned_certificate, Source(
            document=DOCUMENT, statement="Theorem 3.4.5", spec=f"{_SPEC} D3",
            erratum="the sampling error is counted once; for any step size and any numbers of rounds and samples"),
            note="with optimal best responses; the certificate after the run counts how far they may be from that"))
    return Guarantees(tuple(found))


_STATEMENTS = {"zcdp": "section 3.4, with concentrated composition", "theorem-3.4.2": "Theorem 3.4.2",
               "per-round": "section 3.4, with composition round by round", "pure": "Theorem 3.4.1"}
