"""How long the private regression takes, how much memory, and how both grow."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import peer_diffprivlib as diffprivlib
from benchmarks.population import NOISES, records, write_campaign, write_people
from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target
from benchmarks.timing import Timed, timed, timed_command
from confide.privacy.noise import Noise
from confide.regression import (
    GaussianBall,
    PosteriorMean,
    PrivateTruthfulRegression,
    ScoringRule,
    Setting,
    SufficientStatistics,
    TruncatedGaussianNoise,
    TruthfulRegression,
    UniformBall,
    UniformBox,
    UniformNoise,
    UniformSphere,
    plan,
)
from confide.regression.constrained_ridge import certified_ridge
from confide.regression.priors import NoiseLaw
from confide.regression.records import Batch, Moments, as_batches, moments

TITLE = "Private regression: time and memory"
ROOT = Path(__file__).resolve().parent.parent
GROWTH = ("n", "2 n", "4 n", "2 n takes", "4 n takes")
LAWS: dict[str, NoiseLaw] = {
    "uniform": UniformNoise(bound=0.5),
    "truncated gaussian": TruncatedGaussianNoise(noise_std=0.15, bound=0.5),
}


class Figures:
    """Collects what the parts measure."""

    def __init__(self, *, quick: bool) -> None:
        self.quick = quick
        self.repeats = 3 if quick else 5
        self.report = Report(title=TITLE)
        self.growth: list[tuple[Any, ...]] = []
        self.runs = self.disturbed = 0

    def people(self, full: int) -> int:
        return full // 50 if self.quick else full

    def timed(self, what: str, job: Callable[..., Any]) -> Timed[Any]:
        return self.record(what, timed(job, self.repeats))

    def record(self, what: str, found: Timed[Any]) -> Timed[Any]:
        self.report.details.setdefault("runs", {})[what] = {"seconds": found.seconds, "disturbed": found.disturbed}
        self.runs += len(found.seconds)
        self.disturbed += found.disturbed
        return found

    def target(self, what: str, limit: float, measured: float, unit: str = "s", note: str = "") -> None:
        self.report.targets.append(Target(what, limit, measured, unit, note=note))

    def table(self, title: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]], note: str = "") -> None:
        self.report.tables.append(Table(title, columns, rows, note))

    def grows(self, what: str, seconds: list[float]) -> None:
        one, two, four = seconds
        self.growth.append((what, one, two, four, two / one, four / one))


def run(*, quick: bool) -> Report:
    figures = Figures(quick=quick)
    figures.report.method = [
        f"Times are wall-clock seconds. Each figure is the median of {figures.repeats} runs after one run to warm up, "
        "and the column \"least\" has the fastest run. The end-to-end figures are from three runs, each in a process "
        "of its own. A run waits up to 15 s for a quiet machine. A run that other processes disturbed (more than a "
        "fifth of one core) is repeated, up to twice for each planned run.",
        "The people are simulated with a fixed seed. Their rows are uniform in the unit ball, and their answers are "
        "linear in the rows plus bounded noise.",
        f"The peers are numpy's X'X and X'y in doubles (no clipping, no exact sums, no groups), and {diffprivlib.NAME} "
        "in an environment of its own."
        + ("" if diffprivlib.PEER.missing() is None else f" {diffprivlib.PEER.missing()}"),
    ]
    for part in (_end_to_end, _moments, _wide, _payments, _whole_fit, _ridge, _leave_one_out, _laws, _start):
        part(figures)
    figures.report.method.append(f"{figures.disturbed} of the {figures.runs} runs that were kept were disturbed "
                                 "nevertheless.")
    figures.table("Growth", ("what, and n", *GROWTH), figures.growth,
                  note="Seconds at n, 2 n and 4 n, and ratios to the seconds at n. Ratios of 2 and 4 mean linear "
                       "growth.")
    return figures.report


# ---- from a file to shares


def _end_to_end(figures: Figures) -> None:
    rows, peaks = [], []
    sizes = [figures.people(k * 2_500_000) for k in (1, 2, 4)]
    seconds: dict[str, list[float]] = {name: [] for name in NOISES}
    passes: dict[str, dict[str, float]] = {}
    for people in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_people(Path(folder) / "people.parquet", people)
            for noise in NOISES:
                file = write_campaign(Path(folder), people, noise)
                found = figures.record(f"end to end {noise} n={people}", timed(lambda f=file: _child(f), 3, warm=False))
                seconds[noise].append(found.median)
                peaks.append(max(result["peak_mb"] for result in found.results))
                rows.append((people, noise, found.median, found.least, peaks[-1]))
                if people == sizes[-1]:
                    passes[noise] = _child(file, "--passes")
    for noise in NOISES:
        figures.grows(f"end to end, {noise} noise, n = {sizes[0]:,}", seconds[noise])
        figures.target(f"end to end, n = {sizes[-1]:,}, d = 10, {noise} noise", 20.0, seconds[noise][-1])
    figures.target("the same, peak memory", 1000.0, max(peaks), "MB")
    figures.table("End to end from Parquet, d = 10", ("n", "noise of the answers", "seconds", "least", "peak MB"), rows,
                  note="The figures are for the whole process, from its start: import, plan, two passes over the file "
                       "(doubles, 80 bytes a person, warm in the page cache), secure noise, payments, the outcome and "
                       "all shares written to a directory. The section \"The store\" has the additional time of a "
                       "durable campaign. The time to make the file does not count. The peak is the largest resident "
                       "set of the process.")
    figures.table(
        f"Parts of the end-to-end run, n = {sizes[-1]:,}", ("part", *(f"{noise}, s" for noise in passes)),
        [(part, *(passes[noise][part] for noise in passes)) for part in passes["uniform"]],
        note="Each part was run alone, once, in one process.",
    )


def _child(*arguments: Any) -> dict[str, float]:
    return dict(in_own_process("end_to_end", *arguments))


# ---- parts, in memory


def _setting(people: int, features: int) -> Setting:
    return Setting(people=people, features=features, prior=UniformBall(dimension=features, radius=1.0),
                   noise=LAWS["uniform"])


def _sums(setting: Setting, X: np.ndarray, y: np.ndarray) -> tuple[Moments, Moments]:
    split = Noise.simulated(0).split(setting.people, stream=("split",))
    return moments(as_batches((X, y), setting.features), setting.record_map, split, setting.features)


def _moments(figures: Figures) -> None:
    rows = []
    for features, sizes, limit in (
        (10, (1_000_000, 2_000_000, 4_000_000), 1.0), (100, (250_000, 500_000, 1_000_000), 5.0),
    ):
        medians = []
        for full in sizes:
            people = figures.people(full)
            X, y = records(people, features)
            setting = _setting(people, features)
            ours = figures.timed(f"moments n={people} d={features}", lambda s=setting, X=X, y=y: _sums(s, X, y))
            plain = figures.timed(f"numpy n={people} d={features}", lambda X=X, y=y: (X.T @ X, X.T @ y))
            medians.append(ours.median)
            rows.append((people, features, ours.median, ours.least, plain.median))
            if full == 1_000_000 and limit:
                figures.target(f"moments of both groups, n = {people:,}, d = {features}", limit, ours.median)
        if len(sizes) == 3:
            figures.grows(f"moments, d = {features}, n = {figures.people(sizes[0]):,}", medians)
    figures.table("Exact moments of both groups, from arrays", ("n", "d", "seconds", "least", "numpy X'X, X'y"), rows,
                  note="The time includes clipping and quantising every record. numpy's time is a lower limit, because "
                       "numpy does neither, and rounds.")


def _wide(figures: Figures) -> None:
    """Rows are made in blocks and never held: a million of a thousand doubles would be 8 GB."""
    people = figures.people(1_000_000)
    rows, seconds = [], {}
    for features, options, what in ((100, (), "moments"), (1000, (), "moments"), (1000, ("--whole",), "whole run")):
        runs = 1 if options else 2
        found = figures.record(f"{what} n={people} d={features}, streamed",
                               timed(lambda f=features, o=options: _wide_child(people, f, *o), runs, warm=False))
        inside = [result["seconds"] for result in found.results]
        peak = max(result["peak_mb"] for result in found.results)
        seconds[what, features] = median(inside)
        rows.append((what, people, features, median(inside), min(inside), peak))
        if features == 1000 and not options:
            figures.target(f"moments of both groups, n = {people:,}, d = 1,000, streamed", 90.0, median(inside))
            figures.target("the same, peak memory", 1000.0, peak, "MB")
    growth = seconds["moments", 1000] / seconds["moments", 100]
    figures.target("moments, d = 1,000 against d = 100: times as long", 100.0, growth, "x")
    figures.table("Many features, rows streamed in blocks", ("what", "n", "d", "seconds", "least", "peak MB"), rows,
                  note="Each figure is from a process of its own. The whole run of the mechanism has two passes, three "
                       "certified ridge estimates, secure noise and payments.")


def _wide_child(*arguments: Any) -> dict[str, float]:
    return dict(in_own_process("wide", *arguments))


def _mechanism(people: int, law: NoiseLaw) -> PrivateTruthfulRegression:
    found = plan(people=people, features=10, parameter_bound=1.0, noise=law, epsilon=1.0, budget=1e12)
    return found.mechanism


def _payments(figures: Figures) -> None:
    rows = []
    for noise, sizes in (("uniform", (1_000_000, 2_000_000, 4_000_000)),
                         ("truncated gaussian", (250_000, 500_000, 1_000_000))):
        medians = []
        for full in sizes:
            people = figures.people(full)
            X, y = records(people, 10)
            mechanism = _mechanism(people, LAWS[noise])
            split = Noise.simulated(0).split(people, stream=("split",))
            peers = np.full((2, 10), 0.1)
            found = figures.timed(f"payments {noise} n={people}", lambda m=mechanism, X=X, y=y, s=split, p=peers:
                                  m._pay(as_batches((X, y), 10), s, p))
            medians.append(found.median)
            rows.append((people, noise, found.median, found.least, 1e6 * found.median / people))
            if full == 1_000_000:
                figures.target(f"payments, n = {people:,}, d = 10, {noise} noise", 5.0, found.median)
        figures.grows(f"payments, {noise} noise, n = {figures.people(sizes[0]):,}", medians)
    figures.table("Payments of everybody (second pass), from arrays, d = 10",
                  ("n", "noise of the answers", "seconds", "least", "us each"), rows)


def _whole_fit(figures: Figures) -> None:
    people = figures.people(1_000_000)
    X, y = records(people, 10)
    setting, release = _setting(people, 10), SufficientStatistics(epsilon=1.0)

    def fit() -> None:
        first, second = _sums(setting, X, y)
        release.run(setting, first + second, np.zeros((2, 10)), Noise.secure())

    ours = figures.timed("fit", fit)
    numpy = figures.timed("least squares", lambda: np.linalg.lstsq(X, y, rcond=None))
    rows: list[tuple[Any, ...]] = [("confide: exact moments, sufficient statistics, secure noise", ours.median),
                                   ("numpy lstsq, no privacy", numpy.median)]
    if diffprivlib.PEER.missing() is None:
        bounds = (-1.5, 1.5)
        jobs = [{"epsilon": 1.0, "seed": seed} for seed in range(figures.repeats + 1)]
        fits = diffprivlib.fit(X, y, [-1.0] * 10, [1.0] * 10, bounds, jobs)[1:]
        seconds = [f["seconds"] for f in fits]
        rows.append((diffprivlib.NAME, median(seconds)))
        figures.report.details["runs"][diffprivlib.NAME] = {"seconds": seconds}
    else:
        rows.append((diffprivlib.NAME, diffprivlib.PEER.missing()))
    figures.table(f"One private fit, n = {people:,}, d = 10, epsilon = 1, from arrays", ("who", "seconds"), rows)


def _ridge(figures: Figures) -> None:
    rows = []
    for features in (10, 100, 100 if figures.quick else 1000):
        people = 20 * features + 1000
        first, second = _sums(_setting(people, features), *records(people, features))
        sums = first + second
        for radius in (1.25, 0.25):
            gamma = float(np.sqrt(people))
            found = figures.timed(f"ridge d={features} R={radius}", lambda s=sums, g=gamma, r=radius:
                                  certified_ridge(s, g, r, 2.0**-16 * 4.0 / g))
            rows.append((features, "inside" if radius > 1 else "binding", 1e3 * found.median, 1e3 * found.least))
    figures.table("Certified ridge estimate from moments", ("d", "ball", "ms", "least"), rows,
                  note="The estimate is solved in doubles and certified in ball arithmetic, for d from 10 to 1,000. "
                       "'Binding' means that the ball is smaller than the least-squares solution.")


# ---- without privacy


def _leave_one_out(figures: Figures) -> None:
    """Algorithm 1: what everybody else's least squares predict for each, and the payments."""
    try:
        from statsmodels.regression.linear_model import OLS
        from statsmodels.stats.outliers_influence import OLSInfluence
    except ImportError:
        OLS = None
    rows, medians, refits = [], [], 20
    for full in (100_000, 200_000, 400_000):
        people = figures.people(full)
        X, y = records(people, 10)
        mechanism = TruthfulRegression(people=people, features=10, prior=UniformBall(10, 1.0), noise=LAWS["uniform"],
                                       rule=ScoringRule(0.3, 1.0))
        billboard = mechanism.publish((X, y), Noise.simulated(0))
        X, y, _ = mechanism.record_map.clip(Batch(np.arange(people), X, y))
        ours = figures.timed(f"leave one out n={people}", lambda m=mechanism, X=X, y=y, b=billboard:
                             m.predictions(X, y, np.arange(len(y)), b))
        whole = figures.timed(f"algorithm 1 n={people}", lambda m=mechanism, X=X, y=y:
                              m.run((X, y), Noise.simulated(0)))

        def refit(X: np.ndarray = X, y: np.ndarray = y) -> np.ndarray:
            kept = [np.delete(np.arange(len(y)), i) for i in range(refits)]
            return np.array([X[i] @ np.linalg.lstsq(X[k], y[k], rcond=None)[0] for i, k in enumerate(kept)])

        again = figures.timed(f"refitting {refits} of n={people}", refit)
        gap = float(np.max(np.abs(ours.results[0][:refits] - again.results[0])))
        peer: Any = "not installed"
        if OLS is not None:
            found = figures.timed(f"statsmodels n={people}", lambda X=X, y=y: y - OLSInfluence(
                OLS(y, X).fit()).resid_press)
            peer = found.median
            gap = max(gap, float(np.max(np.abs(ours.results[0] - found.results[0]))))
        medians.append(whole.median)
        rows.append((people, ours.median, whole.median, peer, again.median / refits * people, gap))
    figures.grows(f"Algorithm 1, d = 10, n = {figures.people(100_000):,}", medians)
    figures.table(
        "Least squares without each player (Algorithm 1), d = 10",
        ("n", "predictions, s", "the whole run, s", "statsmodels OLSInfluence, s",
         f"n refits, s (from {refits})", "largest difference"), rows,
        note="Predictions start from the estimate and the factor of X'X, like a participant's prediction, but "
             "statsmodels first fits the model. A run has two passes. The first pass computes exact sums of all "
             "records, and the second pass computes predictions, posterior means and coins. The last column compares "
             "the predictions of all three methods.")


def _laws(figures: Figures) -> None:
    """Posterior means under every law of the parameter."""
    people, d, rows = figures.people(1_000_000), 10, []
    X, y = records(people, d)
    for prior in (UniformBall(d, 1.0), UniformSphere(d, 1.0), GaussianBall(d, 0.3, 1.0),
                  UniformBox(np.full(d, 0.6))):  # which holds the parameter of these records
        found = {}
        for name, law in LAWS.items():
            mean = PosteriorMean(prior, law)
            found[name] = figures.timed(f"{type(prior).__name__} {name} n={people}", lambda m=mean: m(X, y)).median
            figures.target(f"posterior means, {type(prior).__name__}, {name} noise, n = {people:,}, d = {d}", 3.0,
                           found[name])
        rows.append((type(prior).__name__, *found.values()))
    figures.table(f"Posterior means of n = {people:,}, d = {d}, on one thread",
                  ("law of the parameter", *(f"{name} noise, s" for name in LAWS)), rows)


# ---- starting


def _start(figures: Figures) -> None:
    script = str(Path(sys.executable).with_name("confide"))
    wages = str(ROOT / "examples" / "wages.toml")
    rows = []
    for what, command, limit in (
        ("python -c 'import confide'", [sys.executable, "-c", "import confide"], 0.5),
        ("confide --help", [script, "--help"], 0.7),
        ("python -c 'from confide.regression import plan'",
         [sys.executable, "-c", "from confide.regression import plan"], None),
        ("confide plan examples/wages.toml", [script, "plan", wages], None),
        ("python -c 'import numpy, scipy.stats, pyarrow'",
         [sys.executable, "-c", "import numpy, scipy.stats, pyarrow"], None),
    ):
        found = figures.record(what, timed_command(command, 5))
        rows.append((what, found.median, found.least))
        if limit is not None:
            figures.target(what, limit, found.median)
    figures.table("Start of the whole process, warm", ("command", "seconds", "least"), rows)
