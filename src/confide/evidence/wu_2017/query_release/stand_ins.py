"""Simulated tables (stand-ins) in place of the published tables, with the same columns and sizes, and records simulated
from a public seed.

The tables themselves are not part of the package. Quantities that depend on sizes alone (privacy, rounds, noise) are
the same on a stand-in. Errors differ, and no error on a stand-in is an error on Adult, KDD99 or Netflix.

Source: Wu 2017, Table 1 and section 3.7; spec query_release F (binning).

The module also contains the settings of the published runs in Figures 1 to 3.

Source: Wu 2017, section 3.7; spec query_release F.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, one_of, positive, whole
from confide.privacy.noise.simulated import study_generator
from confide.release.answers import TrueAnswers
from confide.release.calculators import Calculator, solve
from confide.release.columns import Binned, Levels
from confide.release.records import Codes, PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = [
    "ADULT",
    "DELTA",
    "EPSILONS",
    "FIGURE_1",
    "FIGURE_2",
    "FIGURE_3",
    "FIGURE_3_ETA",
    "FIGURE_3_RECORDS",
    "KDD99",
    "NETFLIX",
    "PublishedTable",
    "made_up_codes",
    "made_up_views",
    "product_answers_of",
    "published_schema",
    "repeated_answers",
    "rounds_of",
]

# ---- stand ins


class PublishedTable(NamedTuple):
    """A row of Table 1.

    Args:
        records: number n of records.
        columns: number of columns; the source calls columns "attributes".
        bits: number of binary attributes after the columns are binned and coded.
    """

    records: int
    columns: int
    bits: int


ADULT = PublishedTable(30_162, 14, 235)
KDD99 = PublishedTable(494_021, 41, 396)
NETFLIX = PublishedTable(480_189, 17_770, 17_770)


_ADULT: tuple[tuple[str, float, int, bool], ...] = (
    ("age", 100, 20, True), ("workclass", 7, 8, False), ("fnlwgt", 1.6e6, 20, True), ("education", 15, 16, False),
    ("education_num", 100, 10, True), ("marital_status", 6, 7, False), ("occupation", 13, 14, False),
    ("relationship", 5, 60, False), ("race", 4, 5, False), ("sex", 1, 2, False), ("capital_gain", 1e5, 10, True),
    ("capital_loss", 5000, 10, True), ("hours_per_week", 100, 10, True), ("native_country", 40, 41, False),
    ("income", 1, 2, False),
)
"""For each column: its name, its largest value or rank, its number of bins, and whether it holds whole numbers
(otherwise levels).
"""

_RATES = ("serror_rate", "srv_serror_rate", "rerror_rate", "srv_rerror_rate", "same_srv_rate", "diff_srv_rate",
          "srv_diff_host_rate")
_HOST_RATES = ("dst_host_same_srv_rate", "dst_host_diff_srv_rate", "dst_host_same_src_port_rate",
               "dst_host_srv_diff_host_rate", "dst_host_serror_rate", "dst_host_srv_serror_rate",
               "dst_host_rerror_rate", "dst_host_srv_rerror_rate")
_KDD99: tuple[tuple[str, float, int, bool], ...] = (
    ("duration", 6e4, 20, True), ("protocol_type", 2, 3, False), ("service", 65, 65, False), ("flag", 10, 11, False),
    ("src_bytes", 7e8, 20, True), ("dst_bytes", 6e6, 20, True), ("land", 1, 2, False), ("wrong_fragment", 3, 4, False),
    ("urgent", 3, 4, False), ("hot", 30, 10, True), ("num_failed_logins", 5, 6, False), ("logged_in", 1, 2, False),
    ("num_compromised", 900, 10, True), ("root_shell", 1, 2, False), ("su_attempted", 2, 3, False),
    ("num_root", 1000, 5, True), ("num_file_creations", 30, 5, True), ("num_shells", 2, 3, False),
    ("num_access_files", 10, 5, True), ("num_outbound_cmds", 1, 2, False), ("is_host_login", 1, 2, False),
    ("is_guest_login", 1, 2, False), ("count", 600, 10, True), ("srv_count", 600, 10, True),
    *((name, 1.0, 10, True) for name in _RATES), ("dst_host_count", 255, 10, True),
    ("dst_host_srv_count", 255, 10, True), *((name, 1.0, 10, True) for name in _HOST_RATES),
)


def published_schema(name: Literal["adult", "kdd99"]) -> Schema:
    """The columns and bins of a published run. The levels of a column are named by their numbers 0, 1 and so on.

    Args:
        name: "adult" with 15 columns, income included, and 235 binary attributes; or "kdd99" with 41 columns and 396
            binary attributes.

    Source: Wu 2017, Table 1; spec query_release F and erratum 12.

    Example:
        >>> adult = published_schema("adult")
        >>> len(adult.columns), adult.attributes, sum(adult.sizes), len(published_schema("kdd99").columns)
        (15, 235, 181, 41)
    """
    one_of("name", name, ("adult", "kdd99"))
    return Schema(tuple(
        Binned(column=column, lower=0, upper=upper, bins=bins, whole=upper > 1) if number else
        Levels(column=column, levels=tuple(map(str, range(int(upper) + 1))), bins=None if bins == upper + 1 else bins)
        for column, upper, bins, number in (_ADULT if name == "adult" else _KDD99)))


def made_up_codes(schema: Schema, n: int, *, seed: int, classes: int = 6, evenness: float = 0.3) -> Codes:
    """Simulated records from a mixture of classes. Within a class the columns are independent.

    Each class has one law for each column, over the cells that a value can reach. This law is drawn from a Dirichlet
    law with all parameters equal to `evenness`. Most of the probability is on a few cells, as in binned tables, and
    columns depend on each other through the class.

    Args:
        schema: public columns.
        n: number n of records.
        seed: public seed.
        classes: number of classes of records, all equally likely.
        evenness: Dirichlet parameter > 0. Small values of the parameter put the probability of a column on one cell.

    Example:
        >>> made_up_codes(published_schema("adult"), 5, seed=1).cells.shape
        (5, 15)
    """
    n, classes = whole("n", n, at_least=1), whole("classes", classes, at_least=1)
    evenness = positive("evenness", evenness)
    g = study_generator(seed, "made-up records")
    of = g.integers(0, classes, n)
    cells = np.empty((n, len(schema.sizes)), np.uint16)
    for column, size in enumerate(schema.sizes):
        ends = np.cumsum(g.dirichlet(np.full(size, evenness), size=classes), axis=1)
        found = (g.random(n)[:, None] >= ends[of][:, :-1]).sum(axis=1)
        cells[:, column] = found
    return Codes(schema=schema, cells=cells)


def made_up_views(
    n: int, *, seed: int, items: int = NETFLIX.bits, density: float = 0.0118, tastes: int = 8
) -> PackedBits:
    """Simulated views of items by people, with popular items, active people, and tastes that make views of different
    items dependent.

    Args:
        n: number n of people, one record each.
        seed: public seed.
        items: number d of items.
        density: mean share of the items that a person watched, in (0, 1). The simulated share is slightly smaller,
            because the popularity of an item is capped.
        tastes: number of groups of items. Each person likes one group four times as much as usual, and the others half
            as much.

    Source: spec query_release F (the stand-in for Netflix): popularity in proportion to (rank + 10)^-.9 and capped at
    .5, lognormal activity of people.

    Example:
        >>> made_up_views(64, seed=1, items=500).attributes
        500
    """
    n, items = whole("n", n, at_least=1), whole("items", items, at_least=1)
    density, tastes = fraction("density", density), whole("tastes", tastes, at_least=1)
    g = study_generator(seed, "made-up views")
    popular = (np.arange(items) + 10.0) ** -0.9
    popular *= density * items / popular.sum()
    taste, activity = g.integers(0, tastes, items), g.lognormal(-0.5, 1.0, n)
    liked = g.integers(0, tastes, n)
    scale = 1.0 / (4.0 / tastes + 0.5 * (tastes - 1) / tastes)
    blocks = []
    for start in range(0, n, 512):
        some = slice(start, start + 512)
        warm = np.where(liked[some, None] == taste, 4.0 * scale, 0.5 * scale)
        chance = np.minimum(popular * activity[some, None] * warm, 0.5)
        blocks.append(g.random(chance.shape, dtype=np.float32) < chance)
    return PackedBits.pack(np.concatenate(blocks))


def repeated_answers(base: PackedBits | Codes, workload: Workload, n: int) -> TrueAnswers:
    """True answers on the n records that repeat the rows of a base table in turn. The answers are counted without
    creating the n records.

    KDD99 is a table with repeated records. Only 12,048 of its 494,021 records are different.

    Args:
        base: table of m <= n records to repeat.
        workload: queries.
        n: number n of records.

    Example:
        >>> base = PackedBits.pack([[1], [0], [1]])
        >>> repeated_answers(base, Workload.conjunctions([[0]], attributes=1), 8).counts.tolist()  # 3 + 3 + 2 rows
        [5]
    """
    times, rest = divmod(whole("n", n, at_least=base.records), base.records)
    counts = times * workload.counts(base)
    if rest:
        head = Codes(schema=base.schema, cells=base.cells[:rest]) if isinstance(base, Codes) else \
            PackedBits.pack(base.unpack()[:rest])
        counts = counts + workload.counts(head)
    return TrueAnswers(counts=counts, records=n, workload=workload,
                       schema=base.schema if isinstance(base, Codes) else None)


def product_answers_of(biases: NDArray[np.float64], workload: Workload, n: int, *, seed: int) -> TrueAnswers:
    """True answers on n records with independent attributes. The answer to each query is drawn independently of the
    other answers, from the law of the query's count.

    In real data, the counts of two queries that share an attribute depend on each other, with an effect of order
    n^(-1/2). Counts that are drawn independently do not depend on each other. The method avoids storing n d bits, which
    is 6 GB for 512,000 attributes.

    Args:
        biases: (d,) probability that each attribute is 1.
        workload: conjunctions over d attributes.
        n: number n of records.
        seed: public seed.

    Source: Wu 2017, section 3.7, "scaling to higher dimensional data".

    Example:
        >>> pairs = Workload.conjunctions([[0, 1]], attributes=2)
        >>> product_answers_of(np.array([0.5, 0.5]), pairs, 10**6, seed=1).fractions.round(2)
        array([0.25])
    """
    there = workload.index >= 0
    each = np.where(workload.bits, biases[workload.index], 1.0 - biases[workload.index])
    chance = np.prod(np.where(there, each, 1.0), axis=1)
    return TrueAnswers(counts=study_generator(seed, "counts").binomial(whole("n", n, at_least=1), chance), records=n,
                       workload=workload)


# ---- published runs

EPSILONS = (0.25, 0.5, 1.0, 2.0, 5.0)
DELTA = 1e-3

FIGURE_1 = {"Adult": (ADULT.records, 2.0, 1000), "KDD99": (KDD99.records, 2.0, 1000),
            "Netflix": (NETFLIX.records, 2.0, 5000)}
"""Number of records, step size and number of samples of the runs of Figure 1. The number of rounds of a run follows
from epsilon.
"""

FIGURE_2 = (KDD99.records, 1.2, 170, 1750)
"""Number of records, step size, rounds and samples of the runs of Figure 2."""

FIGURE_3 = {50: 200, 250: 400, 500: 1000, 1000: 2000, 2000: 3000, 4000: 4000, 8000: 5500, 16_000: 7000, 32_000: 9000,
            64_000: 14_000, 128_000: 25_000, 512_000: 50_000}
"""Mapping from the number of attributes to the number of samples in Figure 3. The text gives the first and the last
number of samples, and the authors' public prototype gives the numbers between.
"""

FIGURE_3_ETA = 0.4
FIGURE_3_RECORDS = 100_000
"""Number n of records in Figure 3. The text does not give a number, and this one is that of the authors' prototype."""


def rounds_of(run: str, epsilon: float, calculator: Calculator = "theorem-3.4.2") -> int:
    """The number T of rounds of a run of Figure 1: the largest number with a privacy loss within (epsilon, .001).

    Args:
        run: "Adult", "KDD99" or "Netflix".
        epsilon: privacy loss in nats.
        calculator: method by which the privacy losses of single draws are composed. The source names Theorem 3.4.2.

    Raises:
        InvalidInput: no run has this name.

    Example:
        >>> rounds_of("Adult", 1.0), rounds_of("KDD99", 1.0), rounds_of("Netflix", 1.0)
        (16, 99, 57)
    """
    n, eta, samples = FIGURE_1[one_of("run", run, tuple(FIGURE_1))]
    return solve(n, epsilon, DELTA, eta=eta, samples=samples, calculator=calculator).rounds
