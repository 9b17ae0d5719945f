"""Stand-ins for the published tables: their columns and sizes, with records made up from a public seed.

The tables themselves are not shipped. What depends on sizes alone (privacy, rounds, noise) is the same on a stand-in;
errors are not, and no number from a stand-in is a number of Adult, KDD99 or Netflix.

Source: Wu 2017, Table 1 and section 3.7; spec query_release F (binning).

The settings of the published runs, Figures 1 to 3.

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
        records: n.
        columns: "attributes" in print.
        bits: "binary attributes" in print.
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
"""Column, largest value or rank, bins, whether it is a whole number (else a level)."""

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
    """The columns and bins of a published run; levels are called by their ranks, 0, 1 and so on.

    Args:
        name: "adult", 15 columns with income counted, 235 attributes, or "kdd99", 41 and 396.

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
    """Records of a mixture of classes; within a class columns are independent.

    Each class has its own law over the reachable cells of each column, Dirichlet with all parameters `evenness`: most
    of the mass is on a few cells, as in binned tables, and columns depend on each other through the class.

    Args:
        schema: the public columns.
        n: records.
        seed: public.
        classes: how many, drawn with even probability.
        evenness: > 0; small ones put a column's mass on one cell.

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
    """Made-up views of items by people: popular items, busy people, and tastes that tie items together.

    Args:
        n: people.
        seed: public.
        items: d.
        density: mean share of the items that a person watched, in (0, 1); slightly less where popularity is cut.
        tastes: groups of items; each person likes one of them four times as much, and the others half as much.

    Source: spec query_release F (the stand-in for Netflix): popularity (rank + 10)^-.9 cut at .5, lognormal activity.

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
    """True answers of the n records that repeat the rows of a base in turn: a table like KDD99's 494,021 records, of
    which 12,048 are different, counted without being written out.

    Args:
        base: m records, at most n.
        workload: the queries.
        n: records.

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
    """True answers of n records with independent attributes, drawn query by query from the law of each count.

    The counts of two queries that share an attribute would depend on each other by the order of n^(-1/2); these do not.
    It spares n d bits, which is 6 GB for 512,000 attributes.

    Args:
        biases: (d,) probability of each attribute.
        workload: conjunctions over d attributes.
        n: records.
        seed: public.

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
"""Records, step size and samples of the runs of Figure 1; their rounds follow from epsilon."""

FIGURE_2 = (KDD99.records, 1.2, 170, 1750)
"""Records, step size, rounds and samples of the runs of Figure 2."""

FIGURE_3 = {50: 200, 250: 400, 500: 1000, 1000: 2000, 2000: 3000, 4000: 4000, 8000: 5500, 16_000: 7000, 32_000: 9000,
            64_000: 14_000, 128_000: 25_000, 512_000: 50_000}
"""Attributes -> samples. The text gives the first and the last number, the authors' public prototype those between."""

FIGURE_3_ETA = 0.4
FIGURE_3_RECORDS = 100_000
"""n is not in the text; this is the prototype's."""


def rounds_of(run: str, epsilon: float, calculator: Calculator = "theorem-3.4.2") -> int:
    """The number T of rounds of a run of Figure 1: the most that (epsilon, .001) pays for.

    Args:
        run: "Adult", "KDD99" or "Netflix".
        epsilon: level in nats.
        calculator: proof that adds the draws up; the text names Theorem 3.4.2.

    Raises:
        InvalidInput: no such run.

    Example:
        >>> rounds_of("Adult", 1.0), rounds_of("KDD99", 1.0), rounds_of("Netflix", 1.0)
        (16, 99, 57)
    """
    n, eta, samples = FIGURE_1[one_of("run", run, tuple(FIGURE_1))]
    return solve(n, epsilon, DELTA, eta=eta, samples=samples, calculator=calculator).rounds
