"""Claims of sections 3.7 and 3.8 of Wu 2017 about the experiments with DualQuery.

The evidence uses simulated tables in place of the published tables (`stand_ins`), with fewer queries and a shorter
search than in the studies. Each public function recomputes the evidence for a claim. The argument `line` of a claim is
a line number in the plain-text copy of the source that was checked.

A marginal is positive if it asks for the value 1 of all attributes, and signed if it asks for 0 or 1 at random.
Attributes that a best response leaves open are called free.
"""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import Refused
from confide.contract.renamed import renamed
from confide.evidence.claim import Recomputed, Verdict, claims_of
from confide.evidence.wu_2017.query_release.stand_ins import (
    ADULT,
    DELTA,
    FIGURE_2,
    FIGURE_3,
    FIGURE_3_ETA,
    FIGURE_3_RECORDS,
    KDD99,
    NETFLIX,
    made_up_codes,
    product_answers_of,
    published_schema,
    repeated_answers,
    rounds_of,
)
from confide.privacy.accounting.advanced import largest_step
from confide.privacy.gaussian import gdp_mu
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.release.answers import TrueAnswers
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.mwem import MWEM
from confide.release.oracle.local_search import LocalSearch
from confide.release.oracle.terms import Terms
from confide.release.query_game import Netted, round_logits
from confide.release.records import PackedBits
from confide.release.workload import Workload

__all__: list[str] = []

claim = claims_of("Wu 2017", family="release")

_SHORT = LocalSearch(flips_per_variable=2, flips=200,
                     random_starts=0)  # errors as with the default, at a fifth of its time
_MANY = 500_000
_FIGURE_3 = 100_000

_Case = tuple[Workload, TrueAnswers]
_Errors = tuple[float, float]


@cache
def _table(name: Any, queries: int, signed: bool = True) -> _Case:
    """Three-way marginal queries for a stand-in for "adult" or "kdd99", and their true answers."""
    schema = published_schema(name)
    rows, records = (30_162, ADULT.records) if name == "adult" else (3_000, KDD99.records)
    workload = Workload.random(schema, queries, seed=1, signed=signed)
    return workload, repeated_answers(made_up_codes(schema, rows, seed=1), workload, records)


@cache
def _product(attributes: int, queries: int, signed: bool = False) -> _Case:
    """Three-way marginal queries for the data of Figure 3, and their true answers."""
    biases = study_generator(1, "biases").random(attributes)
    workload = Workload.random(attributes, queries, seed=1, signed=signed)
    return workload, product_answers_of(biases, workload, FIGURE_3_RECORDS, seed=1)


def _run(
    case: _Case, eta: float, samples: int, epsilon: float = 1.0, *, free: Any = "zeros", seeds: int = 1
) -> _Errors:
    """Average and largest error of runs of DualQuery at (epsilon, .001) by Theorem 3.4.2, as means over the seeds."""
    workload, answers = case
    mechanism = DualQuery.for_budget(records=answers.records, epsilon=epsilon, delta=DELTA, eta=eta, samples=samples,
                                     workload=workload,
                                     calculator="theorem-3.4.2", free=free, oracle=_SHORT)
    return _errors(mechanism, answers, seeds)


def _errors(mechanism: DualQuery, answers: TrueAnswers, seeds: int = 1) -> _Errors:
    found: list[Any] = [mechanism.run(answers, Noise.simulated(seed)) for seed in range(seeds)]
    means = [float(np.mean([each.diagnostics[name] for each in found])) for name in ("mean_error", "max_error")]
    return means[0], means[1]


@cache
def _adult(epsilon: float, signed: bool = True) -> _Errors:
    return _run(_table("adult", 4_000, signed), 2.0, 1000, epsilon, seeds=2)


# ---- Figure 1


@claim(
    id="release/figure-1-epsilon", statement="Figure 1", line=1364, verdict="holds", pinned=(0.206369237, 0.0919115941),
    claim="The error falls noticeably from epsilon = .25 to 1, and less from there on.",
    correction="The largest error falls by .21 and then by .09 on a stand-in for Adult. The published curves are not "
               "in the text.",
)
def gain_from_epsilon() -> Recomputed:
    """Fall of the largest error from epsilon = .25 to 1, compared with the fall from 1 to 5, on simulated data."""
    errors = [_adult(each)[1] for each in (0.25, 1.0, 5.0)]
    noticeable, further = errors[0] - errors[1], errors[1] - errors[2]
    return Recomputed("holds" if noticeable > further > 0 else "false", noticeable, further)


@claim(
    id="release/figure-1-size", statement="Figure 1", line=1371, verdict="holds", pinned=(0.170348866, 0.0342495562),
    claim="Larger tables allow more steps and a significantly better error.",
    correction="16, 57 and 99 rounds for Adult, Netflix and KDD99 at epsilon = 1; .170 and .034 on stand-ins for "
               "Adult and KDD99.",
)
def gain_from_size() -> Recomputed:
    """Largest errors at epsilon = 1 on stand-ins for Adult and for KDD99, with 16 and 99 rounds."""
    small, large = _adult(1.0)[1], _run(_table("kdd99", 4_000), 2.0, 1000)[1]
    more = rounds_of("Adult", 1.0) < rounds_of("Netflix", 1.0) < rounds_of("KDD99", 1.0)
    return Recomputed("holds" if large < small / 2 and more else "false", small, large)


@claim(
    id="release/error-1", statement="Section 3.7, accuracy", line=1355,
    verdict="holds-with-correction", pinned=(1.0, 0.5),
    claim="Error 1 is trivial.",
    correction="1/2 is: answer 1/2 to everything.",
)
def trivial_error() -> Recomputed:
    """Least possible error of one constant answer to every marginal, on the worst table of one record, compared with
    the error of 1 that the text calls trivial. The queries are 4,000 signed and 4,000 positive marginals of a stand-in
    for Adult.

    The text's reason is that marginals have range [0, 1]. The verdict is "false" where the marginals do not reach both
    0 and 1.
    """
    shares = np.concatenate([_table("adult", 4_000, signed)[1].fractions for signed in (True, False)])
    reached = [value for value, there in ((0.0, shares.min() < 1.0), (1.0, shares.max() > 0.0)) if there]
    worst = [max(abs(answer - value) for value in reached) for answer in np.linspace(0.0, 1.0, 101).tolist()]
    most, found = max(reached) - min(reached), float(min(worst))
    verdict: Verdict = "false" if most < 1.0 else "holds-with-correction" if found < most else "holds"
    return Recomputed(verdict, most, found)


@claim(
    id="release/accurately", statement="Section 3.1", line=703,
    verdict="holds-with-correction", pinned=(0.0521692025, 0.000276034414),
    claim="DualQuery solves the query release problem accurately.",
    correction="In the largest error. On positive marginals of Adult's columns answering 0 has a mean error of .0003, "
               "DualQuery .05: 190 times as much.",
)
def all_zeros_on_positive_marginals() -> Recomputed:
    """Average error of DualQuery on positive marginals of a stand-in for Adult at epsilon = 1, compared with the
    average error of the answer 0.
    """
    zeros = float(_table("adult", 4_000, False)[1].fractions.mean())
    dual = _adult(1.0, False)[0]
    return Recomputed("holds-with-correction" if zeros < dual / 10 else "holds", dual, zeros)


# ---- Figure 2


@cache
def _many_queries(queries: int) -> _Errors:
    workload, answers = _table("kdd99", queries)
    n, eta, _, samples = FIGURE_2
    return _errors(DualQuery(records=n, eta=eta, rounds=60, samples=samples, workload=workload, oracle=_SHORT), answers)


@claim(
    id="release/figure-2-stable", statement="Figure 2, errors", line=1385,
    verdict="holds-with-correction", pinned=(0.983256482, 1.36845564),
    claim="Average and largest error stay mostly stable as queries are added.",
    correction="The average error is: it does not grow. The largest does, slowly: by 37 % from 5,000 to 40,000 "
               "queries, 60 rounds on a stand-in, where noise on all counts grows by 183 %. On the published 40,000 "
               "to 2,000,000 queries and 170 rounds they grow by -5 % and 30 % (study queries-count).",
)
def stable_in_queries() -> Recomputed:
    """Factors by which the average and the largest error grow from 5,000 to 40,000 queries, in 60 rounds of the setting
    of Figure 2.

    An error counts as stable if it grows by at most a tenth. With noise on all counts, both errors grow by sqrt(8) =
    2.83.
    """
    few, many = _many_queries(5_000), _many_queries(40_000)
    average, largest = many[0] / few[0], many[1] / few[1]
    verdict: Verdict = "false" if average > 1.1 or largest > math.sqrt(8.0) else (
        "holds" if largest <= 1.1 else "holds-with-correction")
    return Recomputed(verdict, average, largest)


@claim(
    id="release/figure-2-perturbation", statement="Figure 2, beside perturbation", line=1385,
    verdict="false", pinned=(0.00833849084, 0.00294035005),
    claim="The error improves on that of simpler perturbation.",
    correction="Not at these sizes: analytic Gaussian noise on 500,000 counts of KDD99 has a mean error of .0029 or "
               "less, DualQuery .0083 on 4,000 (erratum 15: sigma is 2.575, not 3.776). They cross at some millions "
               "of queries.",
)
def naive_noise() -> Recomputed:
    """Average error of DualQuery on 4,000 queries at (epsilon, delta) = (1, .001) and the size of KDD99, compared with
    that of Gaussian noise on 500,000 counts. The verdict also compares the largest errors.
    """
    n = KDD99.records
    sigma = math.sqrt(_MANY) / gdp_mu(1.0, DELTA) / n
    average, largest = sigma * math.sqrt(2 / math.pi), sigma * math.sqrt(2 * math.log(2 * _MANY))
    dual = _run(_table("kdd99", 4_000), 2.0, 1000)
    return Recomputed("false" if average < dual[0] and largest < dual[1] else "holds", dual[0], average)


@claim(
    id="release/figure-2-laplace", statement="Figure 2, beside perturbation", line=1386,
    verdict="holds", pinned=(10.0, 9.99932271),
    claim="Laplace noise grows like sqrt(|Q|) under (epsilon, delta)-privacy.",
    correction="By 10.0 for 100 times the queries, by advanced composition.",
)
def growth_of_noise() -> Recomputed:
    """Factor by which Laplace noise grows by advanced composition at (epsilon, delta) = (1, .001) for 100 times as many
    queries, compared with 10.
    """
    found = largest_step(1.0, DELTA, 10**4) / largest_step(1.0, DELTA, 10**6)
    return Recomputed("holds" if abs(found - 10.0) < 0.1 else "false", 10.0, found)


def _peak(queries: int) -> float:
    """Bytes of memory that a run of 3 rounds needs besides its queries and true answers."""
    workload, answers = _table("adult", queries)
    mechanism = DualQuery(records=ADULT.records, eta=2.0, rounds=3, samples=50, workload=workload, oracle=_SHORT)
    _errors(mechanism, answers)
    tracemalloc.start()
    _errors(mechanism, answers)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(found)


@claim(
    id="release/space", statement="Section 3.1", line=696, verdict="holds", pinned=(100.0, 67.9985), within=0.1,
    claim="Space is linear in the number of queries.",
    correction="68 bytes for each further query, besides the query and its answer.",
)
def linear_space() -> Recomputed:
    """Additional memory per query, in bytes, of a run with 40,000 queries compared with a run with 10,000 queries. The
    limit is 100 bytes per query.
    """
    found = (_peak(40_000) - _peak(10_000)) / 30_000
    return Recomputed("holds" if 0 < found <= 100 else "false", 100.0, found)


@renamed()
@dataclass(frozen=True, kw_only=True)
class _Counted(DualQuery):
    """DualQuery that counts the queries with weights in each round, and the terms that are passed to the oracle."""

    weighed: list[int] = field(default_factory=list)
    solved: list[int] = field(default_factory=list)

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        self.weighed.append(len(round_logits(self._round(t), counts, satisfied)))
        return super()._draw(counts, satisfied, t, source)

    def _terms(self, samples: Netted) -> Terms:
        found = super()._terms(samples)
        self.solved.append(len(found))
        return found


@claim(
    id="release/figure-2-time", statement="Figure 2, run time", line=1390, verdict="holds", pinned=(8.0, 8.0),
    claim="The run time grows almost linearly in the number of queries.",
    correction="The weights that are formed grow by 8.0 with 8 times the queries, and no best response grows: it has "
               "at most s terms.",
)
def linear_time() -> Recomputed:
    """Factor by which the number of computed weights grows in a run with 8 times as many queries. In both runs no best
    response may depend on more than s samples.
    """
    counted = []
    for queries in (5_000, 40_000):
        workload, answers = _table("kdd99", queries)
        mechanism = _Counted(records=KDD99.records, eta=1.2, rounds=5, samples=300, workload=workload, oracle=_SHORT)
        mechanism.run(answers, Noise.simulated(1))
        counted.append(mechanism)
    found = sum(counted[1].weighed) / sum(counted[0].weighed)
    small = max(max(each.solved) for each in counted) <= 300
    return Recomputed("holds" if abs(found - 8.0) < 1e-9 and small else "false", 8.0, found)


# ---- Figure 3


@claim(
    id="release/figure-3-error", statement="Figure 3", line=1419,
    verdict="holds-with-correction", pinned=(0.08, 0.07308180399), slow=("2026-11-26", 377.0),
    claim="8 % average error on up to 512,000 independent attributes.",
    correction="As a mean over the sizes alone: 7.3 % on the published conditions, 100,000 positive marginals (of 50 "
               "attributes all 19,600), in one run each where the text has three, with n = 100,000 and the s between "
               "the ends from the authors' prototype. It grows with the attributes: 1.7 % at 50, 7.8 % at 4,000, 10.5 "
               "% at 32,000, 9.8 % at 512,000 (study queries-attributes).",
)
def eight_percent() -> Recomputed:
    """Mean, over the twelve sizes of Figure 3, of the average error of positive marginals of 50 to 512,000 independent
    attributes at (1, .001).

    Each size has 100,000 marginals, except 50 attributes with all 19,600. There is one run for each size, with the
    search settings of the study. The claimed 8 % holds if the error at every size is from 7 % to 9 %. The claim holds
    with a correction if only the mean over sizes is from 7 % to 9 %.
    """
    search = LocalSearch(flips_per_variable=4, flips=500, random_starts=0)
    errors = []
    for attributes, samples in FIGURE_3.items():
        every = math.comb(attributes, 3)
        workload = Workload.complete(attributes) if every <= _FIGURE_3 else \
            Workload.random(attributes, _FIGURE_3, seed=1, signed=False)
        biases = study_generator(1, "biases").random(attributes)
        answers = product_answers_of(biases, workload, FIGURE_3_RECORDS, seed=1)
        mechanism = DualQuery.for_budget(records=FIGURE_3_RECORDS, epsilon=1.0, delta=DELTA, eta=FIGURE_3_ETA,
                                         samples=samples,
                                         workload=workload, calculator="theorem-3.4.2", free="random", oracle=search)
        errors.append(_errors(mechanism, answers)[0])
    found = float(np.mean(errors))
    verdict: Verdict = "holds" if min(errors) >= 0.07 and max(errors) <= 0.09 else (
        "holds-with-correction" if 0.07 <= found <= 0.09 else "false")
    return Recomputed(verdict, 0.08, found)


@claim(
    id="release/uniform-data", statement="Section 3.7, synthetic data", line=1404, verdict="holds", pinned=(1.0, 1.0),
    claim="On uniform bits most 3-way marginals are near 1/8.",
    correction="All of 5,000 within .01, of 20,000 records.",
)
def uniform_bits() -> Recomputed:
    """Share of the 3-way marginals of 20,000 uniform records of 100 bits that are within .01 of 1/8."""
    bits = study_generator(1, "uniform").random((20_000, 100)) < 0.5
    workload = Workload.random(100, 5_000, seed=1, signed=False)
    found = float(np.mean(np.abs(workload.counts(PackedBits.pack(bits)) / 20_000 - 1 / 8) < 0.01))
    return Recomputed("holds" if found > 0.99 else "false", 1.0, found)


@claim(
    id="release/challenging-data", statement="Section 3.7, synthetic data", line=1405,
    verdict="holds-with-correction", pinned=(0.043847342, 0.000906659234),
    claim="Attributes with biases of their own are more challenging and realistic data.",
    correction="True in comparison with fair bits. The bits are still independent: products of noisy one-way counts "
               "have a mean error of .0009 where DualQuery has .044 (d = 1,000).",
)
def product_data_is_easy() -> Recomputed:
    """Average error of DualQuery at (1, .001) on 1,000 independent attributes, compared with that of products of noisy
    one-way marginals.
    """
    case = _product(1_000, 5_000)
    dual = _run(case, FIGURE_3_ETA, FIGURE_3[1_000], free="random")[0]
    biases = study_generator(1, "biases").random(1_000)
    product = IndependentMarginals(records=FIGURE_3_RECORDS, workload=case[0], epsilon=1.0, delta=DELTA)
    ones = product_answers_of(biases, product.measured, FIGURE_3_RECORDS, seed=2)
    board: Any = product.run(ones, Noise.simulated(1)).billboard
    found = float(np.abs(board.answers(case[0]) - case[1].fractions).mean())
    return Recomputed("holds-with-correction" if found < dual / 10 else "holds", dual, found)


# ---- free attributes and parameters


@claim(
    id="release/free-zeros", statement="Section 3.7, free attributes", line=1441,
    verdict="holds", pinned=(0.08294748, 0.0521692025),
    claim="On sparse data free attributes are set to 0.",
    correction="The better rule there: a mean error of .053, against .084 with random bits, on positive marginals of "
               "Adult's columns.",
)
def zeros_on_sparse_data() -> Recomputed:
    """Average errors on positive marginals of a stand-in for Adult, with free attributes set at random or to zero."""
    coins = _run(_table("adult", 4_000, False), 2.0, 1000, free="random", seeds=2)[0]
    return Recomputed("holds" if _adult(1.0, False)[0] < coins else "false", coins, _adult(1.0, False)[0])


@claim(
    id="release/free-coins", statement="Section 3.7, parameter tuning", line=1463,
    verdict="holds-with-correction", pinned=(0.0218727748, 0.0613614002),
    claim="On dense synthetic data free attributes set at random give better accuracy.",
    correction="With random literals, as in the prototype. On positive marginals, as defined, zeros are: .022 against "
               ".061, and at 16,000 attributes .046 against .102 (study queries-attributes). Ours, beyond the errata.",
)
def coins_on_dense_data() -> Recomputed:
    """Average errors on positive marginals of 1,000 independent attributes with 500 samples a round, where free
    attributes are set to zero or at random.

    With signed marginals, as in the authors' prototype, random values are the better rule.
    """
    zeros, coins = (_run(_product(1_000, 2_000), FIGURE_3_ETA, 500, free=rule)[0] for rule in ("zeros", "random"))
    signed = [_run(_product(1_000, 2_000, True), FIGURE_3_ETA, 500, free=rule)[0] for rule in ("zeros", "random")]
    depends = signed[1] < signed[0] and zeros < coins
    return Recomputed("holds-with-correction" if depends else "holds" if coins < zeros else "false", zeros, coins)


@claim(
    id="release/footnote-5", statement="Footnote 5", line=1444, verdict="holds", pinned=(0.0638297872, 0.103535354),
    claim="Adult and KDD99 are sparse due to the way they are discretised.",
    correction="A record has one attribute of each column on: 6.4 % of Adult's, 10.4 % of KDD99's, and that is public.",
)
def sparse_tables() -> Recomputed:
    """Share of the binary attributes that are 1 in a record, for Adult and for KDD99. In every record, each column has
    exactly one binary attribute that is 1.
    """
    schemas = (published_schema("adult"), published_schema("kdd99"))
    shares = [len(schema.columns) / schema.attributes for schema in schemas]
    return Recomputed("holds" if max(shares) < 0.15 else "false", shares[0], shares[1])


@claim(
    id="release/footnote-6", statement="Footnote 6", line=1447, verdict="holds", pinned=(0.01, 0.000146046379),
    claim="Sparsity can be estimated at a small cost to privacy.",
    correction="Netflix's density to a standard error of .0005 costs .015 % of rho at (1, .001). To choose the rule "
               "by looking at the data, uncharged, is a leak.",
)
def price_of_sparsity() -> Recomputed:
    """Share of the budget (epsilon, delta) = (1, .001) that is needed to release the density 1.18 % of the Netflix
    table with standard error .0005.
    """
    rho = 1.0 / (2 * (NETFLIX.records * 0.0005) ** 2)
    found = rho / ZCDP.within(1.0, DELTA).rho
    return Recomputed("holds" if found < 0.01 else "false", 0.01, found)


@claim(
    id="release/tuning-sparse", statement="Section 3.7, parameter tuning", line=1461,
    verdict="holds", pinned=(0.183253763, 0.13930177),
    claim="On sparse data a larger eta, 1.5 to 2, and as many samples as attributes give good accuracy.",
    correction="Largest error .139 at eta = 2, s = 235, against .183 at eta = .4, s = 1000; .170 at Figure 1's own s "
               "= 1000.",
)
def step_on_sparse_data() -> Recomputed:
    """Largest error on a stand-in for Adult at epsilon = 1 with the setting for dense data, step size .4 and 1000
    samples, compared with step size 2 and as many samples as attributes.
    """
    case = _table("adult", 4_000)
    dense, sparse = _run(case, 0.4, 1000, seeds=2), _run(case, 2.0, ADULT.bits, seeds=2)
    return Recomputed("holds" if sparse[1] < dense[1] and sparse[0] < dense[0] else "false", dense[1], sparse[1])


@claim(
    id="release/tuning-dense", statement="Section 3.7, parameter tuning", line=1463,
    verdict="holds", pinned=(0.0668230517, 0.043847342),
    claim="On dense data a smaller eta, around .4, gives better accuracy.",
    correction="Mean error .044 at eta = .4, s = 2000 against .067 at eta = 2, s = 1000.",
)
def step_on_dense_data() -> Recomputed:
    """Average error on 1,000 independent attributes with the setting for sparse data, step size 2 and 1,000 samples,
    compared with step size .4 and 2,000 samples.
    """
    case = _product(1_000, 5_000)
    sparse, dense = _run(case, 2.0, 1000, free="random")[0], _run(case, FIGURE_3_ETA, 2000, free="random")[0]
    return Recomputed("holds" if dense < sparse else "false", sparse, dense)


# ---- beside MWEM


@claim(
    id="release/mwem-low", statement="Section 3.8", line=1492,
    verdict="holds-with-correction", pinned=(0.0459579365, 0.0130118298),
    claim="For few attributes MWEM likely remains the state of the art.",
    correction="Beside DualQuery: a largest error of .013 against .046 on 10 bits, (1, 1e-6), where MWEM replays its "
               "measurements. Beside both stands plain Gaussian noise on all 120 counts, with .007.",
)
def few_attributes() -> Recomputed:
    """Mean largest error of DualQuery, compared with that of MWEM with repeated passes over its measurements. The
    verdict also compares MWEM with Gaussian noise on every count.

    The data are 10 bits of 6 classes, all 120 positive 3-way marginals and 20,000 records, at epsilon = 1 and delta =
    1e-6.
    """
    g = study_generator(2, "classes")
    bits = g.random((20_000, 10)) < g.random((6, 10))[g.integers(0, 6, 20_000)]
    workload = Workload.complete(10)
    answers = TrueAnswers(counts=workload.counts(PackedBits.pack(bits)), records=20_000)
    dual = DualQuery.for_budget(records=20_000, epsilon=1.0, delta=1e-6, eta=2.0, samples=200, workload=workload,
                                oracle=_SHORT)
    primal = MWEM.for_budget(records=20_000, epsilon=1.0, delta=1e-6, rounds=40, workload=workload)
    noisy = NoisyAnswers(records=20_000, workload=workload, epsilon=1.0, delta=1e-6)
    largest = []
    for plan, seeds in ((dual, 3), (primal, 2), (noisy, 3)):
        boards: list[Any] = [plan.run(answers, Noise.simulated(seed)).billboard for seed in range(seeds)]
        largest.append(float(np.mean([np.abs(board.answers(workload) - answers.fractions).max() for board in boards])))
    beside_dual, beside_noise = largest[1] < largest[0], largest[1] < largest[2]
    verdict: Verdict = "false" if not beside_dual else "holds" if beside_noise else "holds-with-correction"
    return Recomputed(verdict, largest[0], largest[1])


def _refused(workload: Workload) -> bool:
    try:
        MWEM(records=1000, workload=workload, rounds=10, epsilon=1.0)
    except Refused:
        return True
    return False


@claim(
    id="release/mwem-attributes", statement="Section 3.1, on MWEM", line=682, verdict="holds", pinned=(30.0, 22.0),
    claim="MWEM does not scale beyond 30 or so attributes for general queries.",
    correction="A histogram over 30 bits has 8.6 GB of doubles; from 23 bits on that hang together we refuse, with "
               "the size.",
)
def many_attributes() -> Recomputed:
    """Largest number of attributes, from 10 to 40, for which the implementation of MWEM accepts all 3-way marginals, if
    each cell takes 8 bytes.
    """
    found = max(d for d in range(10, 41) if not _refused(Workload.complete(d)))
    return Recomputed("holds" if found <= 30 else "false", 30.0, float(found))


@claim(
    id="release/mwem-buckets", statement="Section 3.1, footnote 1", line=708, verdict="holds", pinned=(1000.0, 1000.0),
    claim="MWEM scales to 1000 features where no query leaves its small bucket.",
    correction="100 blocks of 10 bits each.",
)
def buckets_of_attributes() -> Recomputed:
    """Number of attributes that the implementation of MWEM accepts if each query uses attributes of only one of 100
    groups of 10 attributes.
    """
    index = np.concatenate([Workload.complete(10).index + 10 * bucket for bucket in range(100)])
    kept = not _refused(Workload.conjunctions(index, attributes=1000))
    return Recomputed("holds" if kept else "false", 1000.0, 1000.0 if kept else 0.0)
