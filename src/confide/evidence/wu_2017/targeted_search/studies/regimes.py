"""Three regimes of target groups, and the number of targets that three searches find in them: the search Target without
privacy, the private search with noise Lap(20), and random order.

The network is that of film casts if the package recbole is installed. Otherwise a simulated network of equally many
people is used. Quick runs use a small simulated network. Spec targeted_search 6.
"""

from __future__ import annotations

import math

import numpy as np

from confide.charts import curves
from confide.charts.shapes import distinguished
from confide.contract.kinds import Progress
from confide.contract.presentation import Block, Table, Text
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, bound, in_words
from confide.evidence.wu_2017.targeted_search.studies.runs import COMPONENTS, REGIMES, Network, casts, costars, group_of
from confide.search.discovery import Found, Group, in_random_order, privately, without_noise
from confide.search.planning import multipliers
from confide.search.targeted import PTarget

__all__ = ["STUDY", "searched", "verdict"]

_Row = tuple[str | int | float | None, ...]
SCALE = 20.0
_NAMES = ("Target", "PTarget, Lap(20)", "random order")
_LEAST = (0.9, 0.75, 0.75)
_LINES = (6347, 6354, 6377)
"""Lines of the source's text, as we read it, with its statements on the three regimes."""
_SPEC = {  # means at the six budgets, on the film casts, for target groups of the same parameters but other draws
    "dominant component": "32 60 105 229 379 427", "even sizes": "17 31 51 92 127 127",
    "fragmented": "6 10 16 33 35 35",
}


def searched(network: Network, group: Group, runs: int) -> tuple[Found, Found, Found]:
    """The targets found by the search Target without privacy, by the private search PTarget with noise of scale 20, and
    in random order.

    Args:
        network: network to search.
        group: group of targets in the network.
        runs: number of runs of PTarget and of random order.
    """
    last = network.budgets[-1]
    # Without a threshold a call costs 2 Delta/b = .1; the print calls that .05.
    search = PTarget(network.graph.people, COMPONENTS, None, 2.0 / SCALE, None, stop="none")
    return (without_noise(group, COMPONENTS, last), privately(group, search, last, runs),
            in_random_order(group, COMPONENTS, last, runs))


def _drawn(network: Network, regime: str, found: tuple[Found, Found, Found]) -> list[Block]:
    grid = np.unique(np.linspace(0, network.budgets[-1], 60).astype(int)).tolist()
    rows = [(float(at), float(mean), name) for name, each in zip(_NAMES, found, strict=True)
            for at, mean in zip(grid, each.at(tuple(grid)).tolist(), strict=True)]
    ends = "; ".join(
        f"{name} " + ", ".join(f"{mean:.4g}" for mean in each.at(network.budgets)) for name, each in
        zip(_NAMES, found, strict=True))
    asked = ", ".join(f"{each:,}" for each in network.budgets)
    return [*distinguished(curves(
        rows, title=f"Found targets, {regime} ({network.name})", x="examinations", y="found targets, mean of the runs",
        alt=f"Found targets against examinations in the regime {regime}. At {asked} examinations: {ends}.")),
        Text((verdict(network, regime, found),))]


def verdict(network: Network, regime: str, found: tuple[Found, Found, Found]) -> str:
    """A sentence that compares the three searches, generated from the results.

    Args:
        network: network that was searched.
        regime: name of the regime, one of `REGIMES`.
        found: results of Target, of the private search, and of random order, as from `searched`.
    """
    plain, ours, chance = (each.at(network.budgets) for each in found)
    ahead = int((ours > plain).sum())
    error = math.hypot(*(each.error(network.budgets[-1]) for each in found[1:]))
    gain = float(ours[-1] - chance[-1])
    beside = ("no more than random order, as far as the runs show" if abs(gain) <= 2 * error else
              f"{abs(gain):.3g} {'more' if gain > 0 else 'fewer'} than random order")
    low, high = np.quantile(found[1].curves[:, network.budgets[-1]], (0.1, 0.9))
    whole = float(plain.sum())
    return (f"In the regime {regime} the private search finds {float(ours.sum()) / whole:.0%} of Target's targets and "
            f"random order {float(chance.sum()) / whole:.0%}, all {len(plain)} budgets together; its mean is ahead of "
            f"Target at {ahead} of them. At {network.budgets[-1]:,} examinations it has found {ours[-1]:.3g} on "
            f"average (a tenth of its runs at most {low:.3g}, a tenth at least {high:.3g}), {beside}.")


def _multiplied(network: Network, regime: str, found: tuple[Found, Found, Found]) -> list[Block]:
    """Chart of risk multipliers as a function of the number of examinations, at the mean number of calls."""
    grid = np.unique(np.linspace(0, network.budgets[-1], 60).astype(int)).tolist()
    rows = []
    for at in grid:
        each = multipliers(found[1].calls(at), SCALE)
        rows += [(float(at), each.claimed, "claimed"), (float(at), each.without_threshold, "corrected, no threshold"),
                 (float(at), each.with_threshold, "corrected, private threshold")]
    return [*distinguished(curves(
        rows, title=f"Risk multiplier, {regime} ({network.name})", x="examinations",
        y="e^loss at the mean number of calls", log_y=True,
        alt="Risk multipliers against examinations, logarithmic: the corrected ones are the square and the fourth "
            "power of the claimed one."))]


def _compared(network: Network, at: int, found: tuple[Found, Found, Found]) -> list[Compared]:
    plain, ours, chance = (each.at(network.budgets) for each in found)
    share = float(ours.sum() / plain.sum())
    published = ("no difference", "it lags", "a few less")[at]
    regime = REGIMES[at]
    compared = [
        Compared(quantity=f"{regime}: PTarget's targets over Target's, all budgets together; the source: {published}",
                 published=None, ours=share, agreement="stands" if share >= _LEAST[at] else "differs",
                 remark=f"taken as true from {_LEAST[at]:g} on; the text has curves, which are lost",
                 origin=in_words(f"Wu 2017, section 7.5, line {_LINES[at]}")),
        Compared(quantity=f"{regime}: random order's targets over Target's, all budgets together", published=None,
                 ours=float(chance.sum() / plain.sum()), agreement="not published",
                 remark="the text has no such search"),
        Compared(quantity=f"{regime}: PTarget's targets less random order's, mean of the budgets", published=None,
                 ours=float((ours - chance).mean()), agreement="not published",
                 remark=f"Target's less random order's: {float((plain - chance).mean()):.2f}"),
    ]
    if at == 1:
        wins = float((found[1].curves[:, list(network.budgets)] > plain).any(axis=1).mean())
        compared.append(Compared(quantity=f"{regime}: share of PTarget's runs that are ahead of Target at some budget; "
                                          "the source: some are", published=None, ours=wins,
                                 agreement="stands" if wins > 0 else "differs",
                                 origin=in_words("Wu 2017, section 7.5, line 6359")))
    return compared


def _run(quick: bool, progress: Progress | None) -> Findings:
    network = costars(small=True) if quick else casts() or costars(small=False)
    runs = 30 if quick else 400
    compared: list[Compared] = []
    drawn: list[Block] = []
    rows: list[_Row] = []
    for at, regime in enumerate(REGIMES):
        group = group_of(network, at)
        found = searched(network, group, runs)
        compared += _compared(network, at, found)
        drawn += _drawn(network, regime, found)
        if at == 0:
            drawn += _multiplied(network, regime, found)
        for name, each in zip(_NAMES, found, strict=True):
            calls = each.calls(network.budgets[-1])
            price = multipliers(calls, SCALE) if each is found[1] else None
            rows.append((regime, group.targets, group.sizes[0], len(group.sizes), name,
                         *(round(float(mean), 2) for mean in each.at(network.budgets)),
                         round(each.error(network.budgets[2]), 3), round(calls, 2),
                         *((price.claimed, price.without_threshold, price.with_threshold) if price is not None
                           else (None, 1.0, 1.0) if name == "random order" else (None, None, None))))
        advance(progress, at + 1, 3)
    dominant, most = multipliers(20.0 * math.log(1.17), SCALE), multipliers(COMPONENTS - 1, SCALE)
    compared += [
        Compared(quantity="risk multiplier where 1.17 is published, corrected, no threshold", published=1.17,
                 ours=dominant.without_threshold, agreement="differs", remark="a selection costs 2/b (erratum E2)",
                 origin=as_printed("Wu 2017, section 7.5, line 6349")),
        Compared(quantity="the same, with a private threshold (Algorithm 13)", published=1.17,
                 ours=dominant.with_threshold, agreement="differs", remark="and the threshold as much again",
                 origin=as_printed("Wu 2017, section 7.5, line 6349")),
        bound(f"risk multiplier of {COMPONENTS - 1} searches for a component, no threshold; the source: below 2",
              most.without_threshold, at_most=2.0, remark=f"{most.claimed:.2f} by the print's count",
              origin=as_printed("Wu 2017, section 7.5, line 6317")),
        bound("the same, with a private threshold", most.with_threshold, at_most=2.0,
              origin=as_printed("Wu 2017, section 7.5, line 6317")),
    ]
    return Findings(compared=tuple(compared), blocks=(*drawn, Table(
        columns=("regime", "targets", "largest", "components", "search",
                 *(f"found at {each:,}" for each in network.budgets), f"standard error at {network.budgets[2]:,}",
                 "calls", "multiplier claimed", "corrected, no threshold", "corrected, private threshold"),
        rows=tuple(rows),
        note=f"{network.name}{network.instead}; infect p = .05, 5 rounds; k = {COMPONENTS}, common neighbours, "
             "Laplace noise of scale 20, no stop, seed in the second largest component; "
             f"means of {runs} runs. Multipliers are for the mean number of calls at "
             f"{network.budgets[-1]:,} examinations. This mean bounds no single run, and a release does not show it. "
             "In the specification, on film casts with other target groups (their lists are not available), Target "
             "finds "
             + "; ".join(f"{name} {found}" for name, found in _SPEC.items()) + " at 500 to 15,000.")))


STUDY = Study(
    name="search-regimes",
    title="Three regimes of hidden groups",
    source="Wu 2017, section 7.5, Figures 6 to 8",
    statement="PTarget with Lap(20) finds almost as many targets as Target, at a risk multiplier below 2.",
    run=_run,
)
