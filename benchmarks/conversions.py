"""One loss said in another notion: what comes out, and how long it takes, beside dp-accounting's functions."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import dp_accounting
from dp_accounting.rdp import RdpAccountant

from benchmarks.clock import least
from benchmarks.report import Report, Table, Target
from confide.privacy import GDP, ZCDP, PureDP
from confide.privacy.gaussian import gaussian_noise_std

TITLE = "Conversions of losses"
REPLACED = dp_accounting.NeighboringRelation.REPLACE_ONE
MUS = (0.05, 0.5, 5.0, 50.0)
RHOS = (0.001, 0.05, 1.0, 50.0)
EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)
DELTAS = (1e-4, 1e-6, 1e-9)

Job = Callable[..., float]


def orders() -> RdpAccountant:
    return RdpAccountant(neighboring_relation=REPLACED)


def least_rho(epsilon: float, delta: float) -> float:
    """By the peer: the largest rho whose orders give this epsilon, as its calibration searches it."""
    found = dp_accounting.calibrate_dp_mechanism(
        orders, lambda rho: dp_accounting.ZCDpEvent(rho=rho), epsilon, delta,
        bracket_interval=dp_accounting.ExplicitBracketInterval(1e-12, 4.0 * epsilon + 1.0), tol=1e-9)
    return float(found)


def cases() -> dict[str, dict[str, tuple[Job, Job | None, bool]]]:
    """Conversion -> what is converted -> (ours, the peer's, whether less is better)."""

    def at_delta(name: str, loss: Any, peer: Callable[[Any, float], float], levels: tuple[float, ...]) -> dict[
            str, tuple[Job, Job | None, bool]]:
        return {f"{name} = {level:g}, delta = {delta:g}": (
            lambda level=level, delta=delta: loss(level).epsilon_at(delta),
            lambda level=level, delta=delta: peer(level, delta), True) for level in levels for delta in DELTAS}

    def budgets(ours: Callable[[float, float], float], peer: Callable[[float, float], float], less: bool) -> dict[
            str, tuple[Job, Job | None, bool]]:
        return {f"epsilon = {epsilon:g}, delta = {delta:g}": (
            lambda epsilon=epsilon, delta=delta: ours(epsilon, delta),
            lambda epsilon=epsilon, delta=delta: peer(epsilon, delta), less)
            for epsilon in EPSILONS for delta in DELTAS}

    return {
        "epsilon of Gaussian DP": at_delta(
            "mu", GDP, lambda mu, delta: dp_accounting.get_epsilon_gaussian(1.0 / mu, delta), MUS),
        "epsilon of zCDP": at_delta(
            "rho", ZCDP, lambda rho, delta: orders().compose(dp_accounting.ZCDpEvent(rho=rho)).get_epsilon(delta),
            RHOS),
        "sigma of Gaussian noise": budgets(
            lambda epsilon, delta: gaussian_noise_std(epsilon, delta, 1.0), dp_accounting.get_sigma_gaussian, True),
        "rho that a budget holds": budgets(lambda epsilon, delta: ZCDP.within(epsilon, delta).rho, least_rho, False),
        "mu of pure DP": {f"epsilon = {epsilon:g}": (lambda epsilon=epsilon: PureDP(epsilon).to_gdp().mu, None, True)
                          for epsilon in EPSILONS},
    }


def run(*, quick: bool) -> Report:
    runs = 3 if quick else 200
    rows: list[tuple[Any, ...]] = []
    summary, failures, worst, slowest = [], [], 1.0, 0.0
    for name, group in cases().items():
        ratios, ours_ms, peers_ms, failed = [], [], [], 0
        for what, (ours, peer, less) in group.items():
            found, seconds = least(ours, runs)
            ours_ms.append(1e3 * seconds)
            if peer is None:
                rows.append((name, what, found, "-", 1e3 * seconds, "-"))
                continue
            try:
                answer, waited = least(peer, max(3, runs // 10))
                theirs = float(answer)
            except Exception as error:  # noqa: BLE001 # a peer's failure is a row
                failures.append((name, what, f"{type(error).__name__}: {str(error).split('. ')[0]}"))
                rows.append((name, what, found, "failed", 1e3 * seconds, "-"))
                failed += 1
                continue
            peers_ms.append(1e3 * waited)
            ratios.append(found / theirs if less else theirs / found)
            rows.append((name, what, found, theirs, 1e3 * seconds, 1e3 * waited))
        worst, slowest = max([worst, *ratios]), max(slowest, *ours_ms)
        summary.append((name, len(group), min(ratios, default="-"), max(ratios, default="-"), max(ours_ms),
                        max(peers_ms, default="-"), failed if peers_ms or failed else "-"))
    return Report(
        title=TITLE,
        method=[
            f"The peer is dp-accounting {version('dp-accounting')}, with its analytic Gaussian, its Renyi accountant "
            "with its own orders for zCDP, and its calibration over that accountant for the largest rho. The peer has "
            "no conversion of pure to Gaussian DP.",
            "Our conversions are certified in ball arithmetic and rounded to the safe side in the last digit. Our "
            f"times are the least of {runs} calls, and the peer's times are the least of {max(3, runs // 10)} calls.",
        ],
        findings=["A ratio is our epsilon, sigma or 1/rho over the peer's. A ratio below 1 shows the peer's loss.",
                  "The peer's orders are limited. At the smallest delta they give no epsilon as small as .01, for any "
                  "rho."],
        targets=[
            Target("largest epsilon, sigma or 1/rho of ours, as a multiple of the peer's", 1.000001, worst),
            Target("slowest conversion", 100.0, slowest, "ms"),
        ],
        tables=[
            Table("Our conversions and the peer's", ("conversion", "settings", "least ratio", "largest ratio",
                                                     "slowest ms", "peer's slowest ms", "peer failed"), summary),
            *([Table("Where the peer fails", ("conversion", "at", "message"), failures)] if failures else []),
        ],
        details={"rows": rows, "runs": runs},
    )
