"""The market for private bits: offers, tables, best replies, equilibria, plans and simulations, beside plain ways."""

from __future__ import annotations

import os
from importlib.metadata import version

from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "A market for private bits"


def run(*, quick: bool) -> Report:
    """Every job in a process of its own, at n, 2 n and 4 n."""
    def sizes(largest: int, share: int = 100) -> tuple[int, int, int]:
        top = largest // (share if quick else 1)
        return top // 4, top // 2, top

    load = os.getloadavg()[0]
    quotes = {n: _job("quotes", n) for n in (*sizes(10**6), *sizes(10**9))}
    tables = {n: _job("tables", n) for n in sizes(10**6)}
    equilibria = {n: _job("equilibria", n) for n in sizes(10**6)}
    plans = {n: _job("plans", n) for n in sizes(10**4, 2)}
    unknown = {n: _job("unknown", n) for n in sizes(10**4, 2)}
    rounds = {n: _job("rounds", n) for n in sizes(10**6)}
    people = {(kind, n): _job("individual", n, kind) for kind in ("majority", "unknown costs") for n in sizes(10**7)}
    grids = {k: _job("replies", k) for k in ((20, 40, 80) if quick else (100, 200, 400))}
    cases = ((10, "1"), (40, "0.0001"), (100, "1"), (100, "2"), (1000, "1")) + (() if quick else ((4000, "0.5"),))
    gaps = {case: _job("gap", *case) for case in cases}
    paying = {n: _job("paying", n) for n in sizes(10**6)}
    playing = {n: _job("playing", n) for n in sizes(10**4)}
    reply = grids[max(grids)]
    lost = sum(found["peer"] >= 0.1 for found in gaps.values())

    def most(found: dict[int, dict[str, float]], *names: str) -> float:
        """The longest of these jobs, default all, at the largest size."""
        largest = found[max(found)]
        return max(largest[name] for name in names or largest)

    return Report(
        title=TITLE,
        method=[
            "Each figure is the least time of 5 runs (3 runs for longer jobs) after one run to warm up. Jobs shorter "
            "than 10 ms are repeated within a run. Each job and size has a process of its own. The settings are theta "
            "= .8, P1 = .7, epsilon = 1, and costs of 1 per nat. With unknown costs, costs are log-normal(0, 1), "
            "epsilon is 2, and half of the people take part.",
            "The peers are: the linear program over channels at a grid of levels, by HiGHS in scipy "
            f"{version('scipy')}; tails by scipy.stats.binom with the payment's gap by subtraction; a loop over "
            "people; and a table of all people's reports in numpy.",
            "Solvers of finite games (gambit, nashpy) do not fit. An action here is any channel, so the actions are a "
            "continuum. The cost of an action follows from its privacy level, and is no matrix of payments.",
            "Gaps are compared with values to 200 digits (python-flint), for which tails are summed term by term.",
            f"The machine is shared. Its load average was {load:.2f} when the measurement began.",
        ],
        findings=[
            f"By subtraction not one digit of the gap is correct in {lost} of {len(gaps)} cases. Our gap is correct to "
            f"{max(found['ours'] for found in gaps.values()):.1g} in all cases. The linear program at {max(grids)} "
            f"levels takes {reply['peer'] / reply['ours']:,.0f} times as long as the exact best reply, and finds a "
            f"reply that is worth {reply['shortfall']:.1g} less.",
        ],
        targets=[
            Target(f"an offer, N = {max(quotes):,}", 1e-3, most(quotes), "s"),
            Target(f"payments for every number of participants up to {max(tables):,}", 1.0, most(tables), "s"),
            Target("best reply", 1e-3, max(reply["ours"], reply["ours, cubic costs"]), "s"),
            Target(f"check of the symmetric equilibrium, N = {max(equilibria):,}", 2.0,
                   most(equilibria, "check", "check, presence .7", "types"), "s"),
            Target(f"all symmetric equilibria, N = {max(equilibria):,}", 2.0,
                   most(equilibria, "all", "all, presence .7"), "s"),
            Target(f"plan at known costs, N up to {max(plans):,}", 2.0, most(plans), "s"),
            Target(f"exact plan at unknown costs, N = {max(unknown):,}", 10.0, most(unknown), "s"),
            Target(f"{max(rounds):,} rounds by counts, N = 10^9", 2.0, most(rounds), "s"),
            *(Target(f"a round of {n:,} people one by one, {kind}{words}", limit, people[kind, n][figure], unit)
              for kind, n in [(kind, max(size for _, size in people)) for kind in ("majority", "unknown costs")]
              for figure, words, limit, unit in (("seconds", "", 3.0, "s"), ("peak_mb", ", memory", 500.0, "MB"))),
            Target(f"least payment, N = {sorted(quotes)[2]:,}", 1.0, quotes[sorted(quotes)[2]]["least payment"], "s"),
        ],
        tables=[
            Table("An offer, ms", ("people", "majority", "logarithm of its gap", "unknown costs", "least payment"),
                  [(n, *(1e3 * each for each in found.values())) for n, found in quotes.items()],
                  "With unknown costs the offer needs the levels of all types."),
            Table("Payments for every number of participants, s", ("up to", "majority", "unknown costs"),
                  [(n, *found.values()) for n, found in tables.items()]),
            Table("Equilibria, s", ("people", "check", "check, presence .7", "all symmetric", "all, presence .7",
                                    "every type"), [(n, *found.values()) for n, found in equilibria.items()]),
            Table("Plans at known costs, s", ("people at most", *next(iter(plans.values()))),
                  [(n, *found.values()) for n, found in plans.items()],
                  "With cubic costs no level is best, so all numbers of people are tried, at theta = .8."),
            Table("Exact plans at unknown costs, s", ("people", *next(iter(unknown.values()))),
                  [(n, *found.values()) for n, found in unknown.items()]),
            Table("Rounds by counts, s", ("rounds", *next(iter(rounds.values()))),
                  [(n, *found.values()) for n, found in rounds.items()], "N = 10^9, and N = 10^6 for pairs."),
            Table("One round, person by person", ("market", "people", "s", "memory, MB"),
                  [(kind, n, *found.values()) for (kind, n), found in people.items()]),
            Table("The best reply compared with a linear program at each level of a grid",
                  ("levels", "confide, ms", "cubic costs, ms", "HiGHS, ms", "worth less by", "level", "off by"),
                  [(k, *(1e3 * found[name] for name in ("ours", "ours, cubic costs", "peer")), found["shortfall"],
                    found["level"], abs(found["peer's level"] - found["level"])) for k, found in grids.items()],
                  "A grid cannot prove that no level between its points is better. The margins that the grid must "
                  "resolve fall like epsilon cubed."),
            Table("The payment's gap to its lower bound, relative error",
                  ("people", "epsilon", "gap", "confide", "scipy.stats.binom", "confide, ms", "scipy.stats.binom, ms"),
                  [(n, float(level), found["gap"], found["ours"], found["peer"], 1e3 * found["seconds"],
                    1e3 * found["peer's seconds"]) for (n, level), found in gaps.items()]),
            Table("N reports paid", ("reports", "confide, ms", "loop over people, ms"),
                  [(n, 1e3 * found["ours"], 1e3 * found["peer"]) for n, found in paying.items()]),
            Table("Rounds of 1,000 people", ("rounds", "by counts, s", "one by one, s", "memory, MB", "numpy, s",
                                             "memory, MB"), [(n, *found.values()) for n, found in playing.items()]),
        ],
    )


def _job(*arguments: object) -> dict[str, float]:
    found: dict[str, float] = in_own_process("market_worker", *arguments)
    return found
