"""What a regression campaign shows: to the buyer before and after, and to a participant."""

from __future__ import annotations

import math

import numpy as np

from confide.charts import curves, intervals
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import number
from confide.regression.planner import RegressionPlan
from confide.regression.private_truthful_regression import PrivateTruthfulRegression, RegressionBillboard
from confide.regression.records import Batch, row_norms
from confide.regression.release.output_perturbation import Averaged
from confide.tables import Design, Numeric

__all__ = ["explain", "offer_sections", "plan_sections", "result_sections"]

LEVEL = 0.95


def _money(mechanism: PrivateTruthfulRegression, value: float) -> str:
    digits = max(0, round(math.log10(mechanism.payment.minor_units)))
    return f"{value:,.{digits}f} {mechanism.payment.currency}"


def plan_sections(plan: RegressionPlan) -> list[Section]:
    """What the buyer would get, from public parameters alone."""
    m, f = plan.mechanism, plan.figures
    s = m.setting
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", number(s.people)),
        ("coefficients", number(s.features)),
        ("privacy of one record, towards everybody else together", str(f.loss)),
        ("  of which the release", _release_loss(m)),
        ("  of which the payments", f"epsilon = {m.payment.epsilon:g}"),
        ("release estimator", m.release.describe()),
        ("expected squared error of the coefficients (typical, scaled)", number(f.typical_error)),
        ("  proved bound", number(f.accuracy.bound)
         if f.accuracy.bound < s.parameter_bound**2 else "none that says anything; see the intervals"),
        (f"truth radius (predictions lie within +-{s.parameter_bound:g})", number(f.truth_radius)),
        ("peers' estimates are off by at most", number(f.peer_error)),
        ("no lie gains more than", _money(m, f.gain)),
        ("covered: privacy cost up to", f"{f.threshold:.4g} epsilon^2 {m.payment.currency}"),
        ("tolerated lies and absences", f"{m.behaviour.misreports:.3%} of the invited"),
        ("expected total, at most", _money(m, f.expected_total)),
        ("one payment lies between", f"{_money(m, f.lowest)} and {_money(m, f.highest)}"
         + (f" (fails with probability {f.range_failure:g})" if f.range_failure else "")),
        ("deposit that each participant leaves", _money(m, f.deposit)),
    ]
    if not math.isnan(plan.lie_bias):
        rows.append(("shift of the coefficients if all used their slack one way", number(plan.lie_bias)))
    blocks: list[Block] = [Table(
        columns=("what", "planned"), rows=tuple(rows),
        note="Everything here follows from public parameters. Privacy holds for every data set; truth and accuracy "
             "rest on the model in the campaign file.",
    )]
    if plan.warnings():
        blocks.append(Text(tuple(f"Warning: {w}." for w in plan.warnings())))
    compared = Table(
        columns=("release estimator", "expected squared error (typical, scaled)"),
        rows=tuple((name, error) for name, error in sorted(plan.compared.items(), key=lambda item: item[1])),
        note="Predicted for a population with the public second moments; knowing nothing costs "
             f"{number(s.parameter_bound**2)}.",
    )
    return [
        Section(title="Plan", blocks=tuple(blocks)),
        Section(title="Estimators compared", blocks=(compared, *plan.trade_off())),
        Section(title="Guarantees", blocks=(Table(
            columns=("promise", "source", "says something"),
            rows=tuple((g.sentence(), str(g.source), "no: vacuous at these sizes" if g.vacuous else "yes")
                       for g in plan.guarantees),
        ),)),
    ]


def _release_loss(m: PrivateTruthfulRegression) -> str:
    if isinstance(m.release, Averaged):
        return "nothing further (a mean of the payment estimates)"
    delta = getattr(m.release, "delta", 0.0)
    return f"epsilon = {m.release.epsilon:g}" + (f", delta = {delta:g}" if delta else "")


def offer_sections(plan: RegressionPlan, design: Design, response: Numeric) -> list[Section]:
    """The plan as a participant reads it."""
    m, f = plan.mechanism, plan.figures
    epsilon = f.loss.epsilon
    worst = math.exp(epsilon) / (1 + math.exp(epsilon))
    asked = ", ".join(feature.column for feature in design.features)
    deposit = (f" You leave {_money(m, f.deposit)} at the start and get it back together with your payment, so that "
               "you never owe anything." if f.deposit > 0 else "")
    return [Section(title="The offer, as a participant reads it", blocks=(Text((
        f"What you report: {response.column} ({response.limit()}). What is checked, not asked: {asked}.",
        "Who sees what: the operator sees your record. The public, and all other participants together, see the "
        "released coefficients, two noisy estimates that payments are computed from, and a random split of the "
        "participants into two groups. Only you (and whoever pays you) see your payment.",
        f"How much it hides you: whatever others see, it is at most e^{epsilon:g} = {math.exp(epsilon):.3g} times as "
        "likely as if your record had been another one, or empty. A stranger who must guess between two records of "
        f"yours, even money beforehand, is right at most {worst:.0%} of the time.",
        "What you get: the other group's estimate predicts what people like you answer. You are paid more, the better "
        "your own answer foretells that prediction: "
        f"between {_money(m, f.lowest)} and {_money(m, f.highest)}.{deposit}",
        f"Why truth pays: on average over everybody else, no lie gains you more than {_money(m, f.gain)}, and a lie "
        f"that moves the prediction from your answer by more than {f.truth_radius:.3g} (of a range of "
        f"+-{m.setting.parameter_bound:g}) loses, if your privacy is worth at most {_money(m, f.privacy_cost)} to you.",
        "Who is trusted: the operator, with your record; nobody else. If you stay away or withdraw before settlement, "
        "an empty record takes your place, and nobody can tell.",
    )),))]


def result_sections(
    plan: RegressionPlan, billboard: RegressionBillboard, design: Design, response: Numeric
) -> list[Section]:
    """The public result: coefficients with labelled intervals, and what is promised to whom."""
    m, f = plan.mechanism, plan.figures
    natural = design.natural(billboard.coef, response)
    rows, bars = [], []
    names, units = design.natural_names(), design.natural_units(response)
    for k, name in enumerate(names):
        part = m.interval(billboard, natural.matrix[k], LEVEL)
        value = float(natural.coefficients[k])
        rows.append((name, value, part.noise, part.sampling, part.bias, units[k]))
        bars.append((name, "privacy noise", value, value - part.noise, value + part.noise))
        bars.append((name, "noise, sampling and largest bias", value, value - part.total, value + part.total))
    exact = m.interval(billboard, natural.matrix[0], LEVEL).exact
    center = ", ".join(f"{k} {number(v) if isinstance(v, int | float) else v}" for k, v in design.reference().items())
    note = (
        f"+- noise covers the privacy noise with probability {LEVEL:.0%} ({'exact law' if exact else 'first order'}; "
        f"target: the same estimate without noise). +- sampling covers the participants' own residuals with "
        f"{LEVEL:.0%} (normal, with the public variance of the model). bias is the largest shrinkage that the public "
        f"bound on the coefficients allows. All three together hold with {2 * LEVEL - 1:.0%}. The intercept is the "
        f"prediction at: {center}."
    )
    loss = f.loss
    formula = (
        f"Privacy: {loss} when one participant's record is replaced, for every data set, whether or not the model is "
        f"right. It is the sum of the payment estimates' epsilon {m.payment.epsilon:g} (each record is in one of the "
        f"two groups) and the release's: {_release_loss(m)}. To whom: to the public, and to all other participants "
        "together, who see their own payments too (joint differential privacy, by the billboard lemma). The noise of a "
        "ridge estimate has scale D(R,Y)/(gamma epsilon), D(R,Y) = max over phi of R sin 2phi + 2Y sin phi."
    )
    return [
        Section(title="Released coefficients", blocks=(
            Table(columns=("coefficient", "value", "+- noise", "+- sampling", "bias at most", "unit"),
                  rows=tuple(rows), note=note),
            *intervals([b for b in bars if b[0] != names[0]], title="Released coefficients with their intervals",
                       axis=f"{response.unit or response.column} per unit, or difference to the reference level",
                       alt="Each released coefficient with two intervals: privacy noise alone, and noise, sampling and "
                           "the largest bias together. The intercept is left out of the picture."),
        )),
        Section(title="What is promised, and to whom", blocks=(Text((
            formula,
            f"Made by: {m.release.describe()}.",
            f"Truth: {next(g for g in plan.guarantees if g.name == 'truthfulness').sentence()}.",
            f"Money: the expected total is at most {_money(m, f.expected_total)}. What was really paid depends on "
            "private records; it is the operator's and is not published.",
        )),)),
    ]


def explain(
    plan: RegressionPlan, billboard: RegressionBillboard, record: tuple[np.ndarray, float] | None, index: int,
    identity: str, response: Numeric, stored: int,
) -> list[Section]:
    """One participant's share: what, from what, and what a lie would have been worth on average."""
    m, f = plan.mechanism, plan.figures
    share = m.decode(record, index, billboard)
    paid = share["payment"] / m.payment.minor_units
    if share["payment"] != stored:
        settled = _money(m, stored / m.payment.minor_units)
        return [Section(title=f"Participant {identity}: settled at {settled}", private=True, blocks=(Text((
            f"The record that the file holds today would be paid {_money(m, paid)}: it is not the one that was "
            f"settled. What counts is the settlement: {settled}.",
        )),))]
    group = billboard.group(index)
    head = f"Participant {identity}: payment {_money(m, paid)}"
    if record is None:
        return [Section(title=head, private=True, blocks=(Text((
            "No usable record arrived under this id, so an empty one took its place; it is paid nothing.",
        )),))]
    X, y, null = m.setting.record_map.clip(Batch(np.array([index]), np.array([record[0]]), np.array([record[1]])))
    if null[0]:
        return [Section(title=head, private=True, blocks=(Text(("The record was unusable and counts as empty.",)),))]
    law = m.posterior
    own = float(law(X, y)[0]) + 0.0
    peers = float(X[0] @ billboard.peers[1 - group])
    reach = m.setting.parameter_bound * float(row_norms(X)[0]) + m.setting.noise_bound
    low, high = ((bound - response.middle) / response.scale for bound in (response.lower, response.upper))
    answers = np.linspace(max(-reach, low), min(reach, high), 241)
    guesses = law(np.repeat(X, len(answers), axis=0), answers)
    rule = m.payment.rule
    expected = rule(own, guesses)
    truth = float(rule(own, own))
    unit = response.unit or response.column

    def natural(value: float) -> float:
        return float(response.middle + response.scale * value)

    shown = np.linspace(0, len(answers) - 1, 7).round().astype(int)
    rows = [(natural(float(answers[k])), float(guesses[k]), float(expected[k]), float(expected[k]) - truth)
            for k in shown]
    rows.append((natural(float(y[0])), own, truth, 0.0))
    rows.sort()
    formula = "a + b (2 p q - q^2)" if rule.centred else "a - b (p - 2 p q + q^2)"
    picture = curves(
        [(natural(float(a)), float(e), "expected payment") for a, e in zip(answers, expected, strict=True)],
        title="What each answer is worth on average", x=f"answer ({unit})", y=m.payment.currency,
        alt="Expected payment as a function of the answer: highest at the true answer.",
        marks=[(natural(float(y[0])), truth, "the truth")],
    )
    return [
        Section(title=head, private=True, blocks=(Text((
            f"Decoded from this record and the public billboard alone; nobody else's record is needed, and nobody else "
            f"learns it. Group {group} of the public split; paid by the estimate of group {1 - group}.",
            f"From the answer follows q = {own:.6g}, what a believer of the public model expects of people like this "
            f"one. The other group's estimate says p = {peers:.6g}. The payment is {formula} with a = {rule.a:.6g}, "
            f"b = {rule.b:.6g}, rounded to the smallest coin.",
        )),)),
        Section(title="Why truth pays", private=True, blocks=(
            Text((
                "On average over everybody else, p is what the true answer foretells, up to "
                f"e = {f.peer_error:.3g}. Each other answer then loses b times the squared move of q. "
                f"At worst, with e against her and her privacy cost saved, no lie gains more than {_money(m, f.gain)}.",
            )),
            Table(columns=(f"answer ({unit})", "q", f"expected payment ({m.payment.currency})", "against the truth"),
                  rows=tuple(rows), note="Expected payments for p at its expectation; the truth is the row with 0."),
            *picture,
        )),
    ]

