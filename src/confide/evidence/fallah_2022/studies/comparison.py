"""What two guarantees are worth: the expected cost of two-part contracts beside that of other designs.

Uniform sensitivities, alpha = 2, VAR = 1/12. Formulas and numbers for two people: spec two_part_acquisition sections 11
and 12; more people on draws with a fixed seed.
"""

from __future__ import annotations

from confide.acquisition.comparisons import ExpectedBenchmark, expected_benchmarks
from confide.acquisition.priors import UniformPrior
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.fallah_2022.studies.two_users import case
from confide.evidence.findings import OWN_COMPARISON, Compared, Findings, Study, advance, bound

__all__ = ["STUDY"]

_PRICE = 100.0
_LINES = {"pooling": "one contract for all, or local losses alone", "exact": "two-part contracts",
          "full information": "full information", "central only": "everybody trusts the platform"}


def _two_people(gamma: float) -> list[Compared]:
    exact, name = case(gamma).expected(), f"two people, gamma = {gamma:g}"
    return [bound(f"expected cost, {name}", exact.cost, at_most=exact.pooling, remark="one contract for all beside it",
                  origin=OWN_COMPARISON),
            Compared(quantity=f"price of private information, {name}", published=None,
                     ours=exact.cost - exact.full_information, agreement="not published"),
            Compared(quantity=f"what two-part contracts save, {name}", published=None, ours=exact.pooling - exact.cost,
                     agreement="not published")]


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes, draws = ((2, 10, 100), 20) if quick else ((2, 5, 10, 30, 100, 300, 1000, 3000), 200)
    compared = [each for gamma in (10.0, 400.0) for each in _two_people(gamma)]
    points: list[tuple[float, float, str]] = []
    rows: list[tuple[float, ...]] = []
    for done, n in enumerate(sizes, 1):
        found: dict[str, ExpectedBenchmark] = expected_benchmarks(
            UniformPrior(), n, variance_price=_PRICE / 12.0, noise_price=_PRICE, draws=draws)
        points += [(n, found[name].cost, words) for name, words in _LINES.items()]
        exact, private = found["exact"], found["private information"]
        compared.append(bound(
            f"expected cost, n = {n:,}, gamma = {_PRICE:g}", exact.cost, at_most=found["pooling"].cost,
            remark=f"standard error {exact.standard_error:.2g}; one contract for all beside it",
            origin=OWN_COMPARISON))
        rows.append((n, found["pooling"].cost, exact.cost, exact.standard_error, exact.payments, exact.active,
                     private.cost, private.standard_error))
        advance(progress, done, len(sizes))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title=f"What two guarantees are worth, gamma = {_PRICE:g}", x="people n",
                y="expected gamma MSE + payments", log_x=True, log_y=True,
                alt="Expected cost against the number of people, both logarithmic: two-part contracts start a little "
                    "below one contract for all and fall away from it; private information costs a part of what is "
                    "left, and trust in the platform would save most of it."),
        Table(columns=("people n", "one contract for all", "two-part", "standard error", "of which payments",
                       "bought from", "price of private information", "standard error"), rows=tuple(rows),
              note=f"Means over {draws} draws of reports; the price of private information is a mean of differences.")))


STUDY = Study(
    name="acquisition-comparison",
    title="What two guarantees are worth",
    source="Fallah et al. 2022, Theorem 2, Corollary 1",
    statement="The solution of problem (7) is the cheapest mechanism that is truthful and that everybody joins.",
    run=_run,
)
