"""The pages of a regression campaign, for the buyer before and after the run, and for a participant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.campaign.kinds.regressions.plan import PlannedRegression
from confide.campaign.kinds.skeleton import (
    AnyOutcome,
    not_disclosed,
    plan_page,
    promised,
    settled_otherwise,
    share_page,
)
from confide.charts import curves, intervals
from confide.contract.guarantees import Audience, Guarantee, in_full, says_something
from confide.contract.offering import Question, answer, likelier, withdrawing
from confide.contract.outcome import PublicOutcome, SimulatedOutcome, settled_coins
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import Measured, few, number, percent, says_nothing
from confide.privacy.groups import guess_in_words
from confide.regression.bounds import moved_by
from confide.regression.compared_releases import knowing_nothing
from confide.regression.guarantees import CUT, EMPTY
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.records import Batch, as_batches, least_squares, r_squared, row_norms
from confide.regression.release.output_perturbation import RIDGE_FORMULA, Averaged
from confide.regression.stand_ins import StandIns
from confide.tables import Numeric

__all__ = ["explain", "offer", "result_sections", "result_tables", "sections", "study_sections"]

LEVEL = 0.95

LOST = 0.9
"""If the largest possible bias of a coefficient is above this share of the public bound on the coefficient, the release
does not determine the coefficient.
"""

FEW = 0.05
"""Smallest share of participants, with at least one lie that certainly loses, at which the plan has no warning."""


def _range(plan: PlannedRegression, lowest: float, highest: float, between: str) -> str:
    """A range of money: the lower end is rounded down to whole coins, and the upper end up."""
    return f"{plan.at_least(lowest)} {between} {plan.at_most(highest)}"


def sections(plan: PlannedRegression) -> list[Section]:
    """The plan page for the buyer: the predicted outcome, from public parameters alone."""
    response, made_up = plan.response, plan.stand_ins
    m, f = plan.mechanism, plan.figures
    s = m.setting
    unit = response.unit or f"units of {response.column}"

    def spread(square: float) -> str:
        return f"{number(math.sqrt(square) * response.scale)} {unit}"

    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", number(s.people)),
        ("coefficients", number(s.features)),
        ("privacy of one record, towards everybody else together", str(f.loss)),
        ("  privacy loss of the release", _release_loss(m)),
        ("  privacy loss of the payments", f"epsilon = {m.payment.epsilon:g}"),
        ("release estimator", m.release.describe()),
        ("typical error of a prediction", spread(m.release.prediction_error(s))),
        ("  largest possible error without records, if the middle of the range is the prediction",
         spread(knowing_nothing(s))),
        ("proved bound on the squared error of the coefficients (scaled)", number(f.accuracy.bound)
         if f.accuracy.bound < s.parameter_bound**2 else "no useful bound; read the intervals of the result"),
        ("largest expected total", plan.at_most(f.expected_total)),
        ("  typical total, if everybody tells the truth", plan.money(s.people * made_up.payment)),
        ("typical payment; range of 9 in 10 payments",
         f"{plan.money(made_up.payment)}; {plan.money(made_up.low)} to {plan.money(made_up.high)}"),
        ("range of every payment", _range(plan, f.lowest, f.highest, "to")
         + (f" (except with probability {f.range_failure_probability:g})" if f.range_failure_probability else "")),
        ("deposit that each participant leaves", plan.coins(f.deposit_coins)),
        *((("gain from a lie", f"no promise: {_why_empty(plan)}"),) if _truth_of(plan).vacuous else (
            (f"largest gain from a lie only about {response.column}, on average over everybody else",
             plan.at_most(f.gain)),
            ("truth radius: a lie that moves the prediction by more than the radius loses for sure (predictions lie "
             f"within +-{s.parameter_bound:g}, scaled)",
             number(f.truth_radius)),
            ("  people with at least one answer that loses for sure", f"{made_up.any_ruled_out:.0%}"),
        )),
        ("largest error of an estimate for payments, on average over everybody else and the noise (scaled)",
         number(f.peer_error)),
        ("smallest eigenvalue of E[x x'] that the model assumes", number(s.eigenvalue)),
        ("the promises of truth and participation cover people with a privacy cost of at "
         "most", f"{f.threshold:.4g} epsilon^2 {m.payment.currency}, "
         f"that is {plan.at_least(f.privacy_cost)}"),
        ("lies and missing records that the promises of truth and accuracy allow, together",
         f"{m.behaviour.misreports:.3%} of the invited: {int(m.behaviour.misreports * s.people):,}"),
    ]
    if not math.isnan(plan.regression.lie_bias):
        rows.append(("shift of the coefficients if all these lies have the same direction (scaled)",
                     number(plan.regression.lie_bias)))
    warnings: tuple[str, ...] = plan.regression.warnings
    if made_up.any_ruled_out < FEW:
        warnings += ("hardly any answer can move a prediction by the truth radius, so the promise only limits the gain "
                     "from a lie: invite more people, or pay more (a smaller truth_radius)",)
    if f.loss.to_dict().get("delta", 0.0) >= 1.0 / s.people:
        warnings += (f"a delta of at least 1/{s.people:,} allows the release of a person's whole record: choose it far "
                     "smaller",)
    warnings += _identity_warnings(plan)
    compared = Table(
        columns=("release estimator", f"typical error of a prediction ({unit})"),
        rows=tuple((name, math.sqrt(error) * response.scale)
                   for name, error in sorted(plan.regression.compared.items(), key=lambda item: item[1])),
        note="The errors are predicted for a population with the public second moments.",
    )
    return plan_page(
        plan, rows, "All figures follow from public parameters. Privacy holds for every data set. Truth and accuracy "
                    "hold if the model in the campaign file is right. Typical figures are no promise.", warnings,
        Section(title="Expected precision", blocks=(_precision(plan), compared, plan.regression.plot())),
        Section(title="Cost of a lie", blocks=(Table(
            columns=(f"size of the lie ({unit})", f"typical loss ({m.payment.currency})", "people who lose for sure"),
            rows=tuple((lie.size, f"{lie.cost:.4f}", f"{lie.ruled_out:.0%}") for lie in made_up.lies),
            note="A lie of size s is an answer that is s above or below the truth. The typical loss is the expected "
                 "payment that such a participant loses: the median over synthetic participants with features "
                 "anywhere between their public bounds. The table assumes that the estimate from which they are paid "
                 "predicts their true answers. Small lies cost little, since the loss is quadratic in s.",
        ),)),
        _identities(plan, plan.money(made_up.payment)),
        said="Privacy holds for every data set. The range of payments holds for every data set, too, if its row in the "
             "table states the probability 0. All other promises are about people who follow the model. No audit can "
             f"show that the model is right. {_about(response)} The billboard is everything that the campaign "
             "publishes.",
        says=lambda each: _says(plan, each))


def _about(response: Numeric) -> str:
    """A sentence on the answers that the promises about lies cover."""
    return f"The promises about lies cover only {response.column}. The operator checks everything else in a record."


def _truth_of(plan: PlannedRegression) -> Guarantee:
    return next(g for g in plan.guarantees if g.name == "truthfulness")


def _why_empty(plan: PlannedRegression) -> str:
    return CUT if plan.mechanism.setting.cuts else EMPTY


def _says(plan: PlannedRegression, promise: Guarantee) -> str:
    return "no: answers are cut off" if promise.vacuous and plan.mechanism.setting.cuts else says_something(promise)


def _precision(plan: PlannedRegression) -> Table:
    """A table with the approximate standard error of each coefficient, from noise, sampling and shrinkage together."""
    m, design, response = plan.mechanism, plan.design, plan.response
    deviation = math.sqrt(m.release.expected_error(m.setting) / m.setting.features)
    natural = design.natural(np.zeros(m.setting.features), response)
    sizes = np.linalg.norm(natural.matrix, axis=1) * deviation
    return Table(
        columns=("coefficient", "typical error", "unit"),
        rows=tuple(zip(design.natural_names(), map(float, sizes), design.natural_units(response), strict=True)),
        note="A typical error is about one standard error of privacy noise, sampling and shrinkage together, if the "
             "error is spread evenly over all directions. The errors are larger for features that vary little, and "
             "smaller for other features.",
    )


def _release_loss(m: PrivateTruthfulRegression) -> str:
    if isinstance(m.release, Averaged):
        return "no further loss (the release is a mean of the payment estimates)"
    delta = getattr(m.release, "delta", 0.0)
    return f"epsilon = {m.release.epsilon:g}" + (f", delta = {delta:g}" if delta else "")


def offer(plan: PlannedRegression) -> list[Section]:
    """The offer: the plan in the form that a participant reads."""
    design, response, made_up = plan.design, plan.response, plan.stand_ins
    m, f = plan.mechanism, plan.figures
    epsilon, delta = f.loss.epsilon, float(getattr(f.loss, "delta", 0.0))
    unit = response.unit or f"units of {response.column}"
    asked = ", ".join(feature.column for feature in design.features)
    deposit = (f"You leave a deposit of {plan.coins(f.deposit_coins)} at the start. You get it back together with your "
               "payment, so you never owe anything." if f.deposit_coins else "")
    but = f", except with probability {delta:g}," if delta else ""
    return [
        answer(Question.REPORT, f"You report {response.column}, which {response.limit()}, and also {asked}, which the "
                                "operator checks.", _about(response)),
        answer(Question.SEES, "The operator sees your record. The public, and all other participants together, see the "
                              "published coefficients, two noisy estimates for the payments, and a random split of the "
                              "participants into two groups. Only you and the payer see your payment."),
        answer(Question.HIDES, f"Everything that other people see{but} is at most {likelier(epsilon)} times as likely "
                               "with your record as with another record or an empty record. "
                               + guess_in_words(m, plan.guarantees.privacy, Audience.OTHERS)),
        answer(Question.GETS, "The run splits the participants at random into two groups. The estimate from the group "
                              "without you predicts the answer of people like you. Your payment is larger if your own "
                              "answer agrees better with this prediction.",
               Table(columns=("your payment", "amount"), rows=(
                   ("typical amount", plan.money(made_up.payment)),
                   ("range of 9 in 10 payments", f"{plan.money(made_up.low)} to {plan.money(made_up.high)}"),
                   (f"range of every payment{_unless(f.range_failure_probability)}",
                    _range(plan, f.lowest, f.highest, "to"))),
                     note="The first two rows are for synthetic people who give true answers."), deposit),
        answer(Question.LIES, *_lied(plan, made_up, unit)),
        answer(Question.TRUSTED, "You trust the operator with your record, and nobody else."),
        answer(Question.WITHDRAWING, *withdrawing(
            "If you stay away, or withdraw before the result is published, an empty record takes your place. The "
            f"promise of privacy also covers this change: everything that other people see{but} is at most "
            f"{likelier(epsilon)} times as likely with your record as with the empty record.",
            deposit=f.deposit_coins > 0)),
    ]


def _lied(plan: PlannedRegression, made_up: StandIns, unit: str) -> list[str | Table]:
    """Texts on the promise about lies, and on the loss that a lie typically causes."""
    m, f = plan.mechanism, plan.figures
    if _truth_of(plan).vacuous:
        return [f"The campaign does not promise that the truth pays best: {_why_empty(plan)}."]
    said = ("on average over the records of all other participants, no lie gains you more than "
            f"{plan.at_most(f.gain)}, if the loss of privacy costs you at most {plan.at_least(f.privacy_cost)}")
    return [in_full(_truth_of(plan), lambda _: said),
            Table(columns=(f"answer above or below the truth by ({unit})",
                           f"your typical loss ({m.payment.currency})"),
                  rows=tuple((number(lie.size), f"about {lie.cost:.3g}") for lie in made_up.lies))]


def _unless(failure: float) -> str:
    return f" (except with probability {failure:g})" if failure else ""


def result_tables(plan: PlannedRegression, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """The table `coefficients`: each coefficient with an interval that covers the noise, the sampling error and the
    largest possible bias together.
    """
    billboard: Any = outcome.billboard
    natural = plan.design.natural(billboard.coef, plan.response)
    reach = np.array([plan.mechanism.interval(billboard, row, LEVEL).total for row in natural.matrix])
    return {"coefficients": pa.table({
        "name": list(plan.design.natural_names()), "value": natural.coefficients, "lower": natural.coefficients - reach,
        "upper": natural.coefficients + reach, "unit": list(plan.design.natural_units(plan.response))})}


def result_sections(plan: PlannedRegression, outcome: AnyOutcome) -> list[Section]:
    """The result page: the coefficients with their intervals, and each promise with its audience."""
    design, response = plan.design, plan.response
    billboard: Any = outcome.billboard
    m, f = plan.mechanism, plan.figures
    natural = design.natural(billboard.coef, response)
    rows: list[tuple[str | float, ...]] = []
    lost, clear = list[str](), list[tuple[float, str]]()
    bars: dict[str, list[tuple[str, str, float, float, float]]] = {}  # one picture for each unit
    names, units = design.natural_names(), design.natural_units(response)
    for k, name in enumerate(names):
        part = m.interval(billboard, natural.matrix[k], LEVEL)
        value = float(natural.coefficients[k])
        noise = part.noise + part.projection
        unknown = part.bias > LOST * m.setting.parameter_bound * float(np.linalg.norm(natural.matrix[k]))
        rows.append((name, value if unknown else Measured(value, part.total), noise, part.sampling,
                     part.bias, units[k]))
        if unknown:
            lost.append(name)
        elif k and part.total > 0.0:  # the first is the intercept
            clear.append((abs(value) / part.total, f"{name}: {Measured(value, part.total)} {units[k]}"))
        bars.setdefault(units[k], []).extend([
            (name, "privacy noise", value, value - noise, value + noise),
            (name, "noise, sampling and largest bias", value, value - part.total, value + part.total),
        ])
    exact = m.interval(billboard, natural.matrix[0], LEVEL).exact
    center = ", ".join(f"{k} {number(v) if isinstance(v, int | float) else v}" for k, v in design.reference().items())
    note = (
        "The error of a value is noise, sampling and bias together. Noise covers the privacy noise with probability "
        f"{LEVEL:.0%} ({'exact law' if exact else 'first order'}; the target is the same estimate without noise, "
        "before the move into the public bound). Sampling covers the participants' own residuals with probability "
        f"{LEVEL:.0%} (normal law, with the public variance of the model). Bias is the largest shrinkage that the "
        "public bound on the coefficients allows. All three bounds hold together with probability "
        f"{2 * LEVEL - 1:.0%}. The errors are about the people with usable records. The errors cover everybody only if "
        f"usability does not depend on the answer. The intercept is the prediction for {center}."
    )
    loss, (_, _, own) = f.loss, m.release.privacy()
    formula = (
        f"Privacy: {loss} when one participant's record is replaced, for every data set, whether or not the model is "
        f"right. The loss is the sum of the payment estimates' epsilon {m.payment.epsilon:g} (each record is in one of "
        f"the two groups) and the loss of the release: {_release_loss(m)}. The promise is made towards the public, and "
        "towards all other participants together, who also see their own payments (joint differential privacy, by the "
        f"billboard lemma). Payment estimates have {RIDGE_FORMULA}. The release: {own}."
    )
    if lost:
        note += f" For these coefficients the interval is the public bound, and says nothing: {', '.join(lost)}."
    pictures = [picture for unit, group in bars.items() for picture in intervals(
        group, title="Released coefficients with their intervals", axis=unit,
        alt=f"Released coefficients in {unit}, each with two intervals: privacy noise alone, and noise, sampling and "
            "the largest bias together.")]
    finding = (f"The prediction of {response.column} depends most clearly on {max(clear)[1]}."
               if clear and max(clear)[0] > 1.0 else
               f"No feature has a clear effect on {response.column}: no coefficient is larger than its error."
               if clear else
               says_nothing("the error of every coefficient", "the public bound on the coefficients"))
    return [
        Section(title="What was found", found=True, blocks=(
            Text((finding,)), *pictures,
            Table(columns=("coefficient", "value", "noise", "sampling", "largest bias", "unit"), rows=tuple(rows),
                  note=note))),
        not_disclosed(plan, f"a given participant's {response.column}", Audience.OTHERS),
        promised(
            plan, formula, f"Made by: {m.release.describe()}.", _truth(plan), _about(response),
            f"Money: the expected total is at most {plan.at_most(f.expected_total)}. The real total depends on private "
            "records. Only the operator knows it, and it is not published."),
    ]


def _truth(plan: PlannedRegression) -> str:
    promise = _truth_of(plan)
    return (f"Truth: the campaign makes no promise ({_why_empty(plan)})." if promise.vacuous
            else f"Truth. {in_full(promise)}")


def _due(plan: PlannedRegression, coins: int) -> str:
    """A sentence on the total amount that a participant receives."""
    deposit = plan.figures.deposit_coins
    left = f"With the deposit of {plan.coins(deposit)} that you left with your record, you" if deposit else "You"
    none = f" If you left no deposit, you are paid {plan.coins(max(0, coins))}." if deposit else ""
    return (f"{left} are paid {plan.coins(max(0, coins + deposit))} in all: compare this amount with the money that "
            f"you received.{none}")


def explain(
    plan: PlannedRegression, outcome: AnyOutcome, record: tuple[np.ndarray, float] | None, index: int
) -> list[Section]:
    """One participant's page after the run: the amount of their payment, the figures from which it follows, and the
    average gain from a lie.
    """
    # Of what was settled, nothing is known in public but what follows from the billboard.
    stored = None if isinstance(outcome, PublicOutcome) else settled_coins(outcome, index)
    billboard: Any = outcome.billboard
    response, who = plan.response, f"Participant {index + 1}"
    m, f = plan.mechanism, plan.figures
    share = m.decode(record, index, billboard)
    paid = plan.coins(share["payment"])
    if stored is not None and share["payment"] != stored:
        return settled_otherwise(who, plan.coins(stored), paid, _due(plan, stored))
    group = billboard.group(index)
    head = f"{who}: payment {paid}"
    if record is None:
        return share_page(
            head, "No usable record arrived under this id. An empty record took its place, which is paid nothing.")
    X, y, null = m.setting.record_map.clip(Batch(np.array([index]), np.array([record[0]]), np.array([record[1]])))
    if null[0]:
        return share_page(head, "The record was unusable, and counts as an empty record.")
    law = m.posterior
    own = float(law(X, y)[0]) + 0.0
    said = float(X[0] @ billboard.peers[1 - group])
    bound = m.prediction_bound
    peers = said if bound is None else min(max(said, -bound), bound)
    spread = float(row_norms(X)[0]) * m.noise_scale * math.sqrt(m.setting.features + 1)
    cut = f", cut to {peers:.6g}, which bounds every payment" if peers != said else ""
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
    rows = [(natural(float(answers[k])), round(float(guesses[k]), 12), float(expected[k]), float(expected[k]) - truth)
            for k in shown]
    rows.append((natural(float(y[0])), own, truth, 0.0))
    rows.sort()
    empty = _truth_of(plan).vacuous
    why = (f"The campaign does not promise that the truth pays best: {_why_empty(plan)}. The table shows the model's "
           "figures." if empty else
           "In the worst case, e works against the truth and a lie saves the privacy cost. Even then, no lie gains "
           f"more than {plan.at_most(f.gain)}.")
    typed = ("This is the payment of the typed record, if it is the record that arrived and was usable.",)
    formula = "a + b (2 p q - q^2)" if rule.centred else "a - b (p - 2 p q + q^2)"
    picture = curves(
        [(natural(float(a)), float(e), "expected payment") for a, e in zip(answers, expected, strict=True)],
        title="Average payment of each answer", x=f"answer ({unit})", y=m.payment.currency,
        alt="Expected payment as a function of the answer: highest at the true answer.",
        marks=[(natural(float(y[0])), truth, "the truth")],
    )
    return [
        Section(title=head, private=True, blocks=(Text((
            *(typed if stored is None else ()),
            _due(plan, share["payment"]),
            "The payment follows only from this record and the public billboard. Nobody else's record is needed for "
            f"it, and nobody else learns the payment. You are in group {group} of the public split, and the estimate "
            f"of group {1 - group} pays you.",
            f"Your answer gives q = {own:.6g}: by the public model, this is the expected answer of people like you. "
            f"The estimate of group {1 - group} is p = {said:.6g}{cut}, and includes privacy noise of about "
            f"+-{spread:.2g}. "
            f"The payment is {formula} with a = {rule.a:.6g}, b = {rule.b:.6g}, rounded to the smallest coin.",
        )),)),
        Section(title="Payment of each answer" if empty else "Reasons why truth pays", private=True, blocks=(
            Text((
                "On average over everybody else, p is the prediction from the true answer, up to an error of e = "
                f"{f.peer_error:.3g}. Any other answer then loses b times the squared move of q. {why}",
            )),
            Table(columns=(f"answer ({unit})", "q", f"expected payment ({m.payment.currency})",
                           "difference from the truth"),
                  rows=tuple(rows), note="The table states expected payments, with p at its expected value. The row "
                                         "of the true answer has the difference 0."),
            *picture,
        )),
    ]


def _identities(plan: PlannedRegression, money: str) -> Section:
    """A section on the smallest number of identities with which a person gains, the gain of each identity, and the
    effect on the coefficients.
    """
    (people, residual, error, leverage), response = plan.reach, plan.response
    many, unit = plan.deciding, response.unit or f"units of {response.column}"
    rows = [
        ("ids with which one person earns more than with one id", "2"),
        ("  payment of a second id with a copy of the record, on average", money),
        (f"  largest move of predictions by this second id ({unit})", number(moved_by(1, people, residual, leverage))),
        ("number of equal ids that can move predictions by their typical error",
         "none can" if many is None else f"{many:,} ({percent(many / people, 2)} of the invited)"),
        (f"  typical error of a prediction ({unit})", number(error)),
    ]
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("what", "figure"), rows=tuple(rows),
              note="The figures are exact sums for least squares without noise. A ridge makes the moves smaller. A "
                   "move is the root mean square over all people. The moves come from records with features as far "
                   "from the middle as an average person's, and with an answer that is wrong by the whole range."),
        Text((f"A person with 2 ids gains {money} more than with one id, on average and before the cost of privacy. "
              "The second id hands in a copy of the first id's record.",
              "The promise that truth pays covers only single people. It does not cover groups: two people in "
              "different groups of the split can both be paid more if they shift their answers in the same direction. "
              "The operator must make sure that nobody has two ids, and check the features.",))))


def _identity_warnings(plan: PlannedRegression) -> tuple[str, ...]:
    """The warnings to the operator about people with several identities, before anybody is asked."""
    said = few(plan.deciding, plan.mechanism.setting.people, "identities")
    return () if said is None else (
        f"{said}, can move predictions by their typical error: anybody with that many ids can choose predictions "
        "within that error",)


def study_sections(plan: PlannedRegression, data: Iterable[Batch], outcome: SimulatedOutcome) -> list[Section]:
    """The study page: the released coefficients compared with least squares without noise, the fit of both, and the
    total of the simulated payments.
    """
    design, response = plan.design, plan.response
    billboard: Any = outcome.billboard
    m = plan.mechanism
    plain = least_squares(as_batches(data, m.setting.features), m.setting.features)
    fits = r_squared(as_batches(data, m.setting.features), {"released": billboard.coef, "least squares": plain})
    names, units = design.natural_names(), design.natural_units(response)
    ours = design.natural(billboard.coef, response).coefficients
    theirs = design.natural(plain, response).coefficients
    together = zip(names, ours, theirs, units, strict=True)
    rows = tuple((name, float(a), float(b), float(a - b), unit) for name, a, b, unit in together)
    bars: dict[str, list[tuple[str, str, float, float, float]]] = {}  # one picture for each unit
    for name, a, b, unit in zip(names, ours, theirs, units, strict=True):
        bars.setdefault(unit, []).extend(
            (name, source, float(v), float(v), float(v))
            for source, v in (("released (simulated noise)", a), ("least squares, no privacy", b)))
    coins = pc.sum(outcome.shares["payment"]).as_py() / m.payment.minor_units
    paid = outcome.shares["payment"].to_numpy() / m.payment.minor_units
    money = tuple((f"{q:.0%} quantile of the payments", float(np.quantile(paid, q))) for q in (0.0, 0.1, 0.5, 0.9, 1.0))
    return [
        Section(title="Comparison with least squares without privacy", study=True, blocks=(
            Table(columns=("coefficient", "released", "least squares", "difference", "unit"), rows=rows),
            Table(columns=("fit on these records", "R squared"), rows=tuple(fits.items())),
            *(picture for unit, group in bars.items() for picture in intervals(
                group, title="With and without privacy", axis=unit,
                alt=f"Released coefficients in {unit}, next to the least-squares coefficients of the same records.")),
        )),
        Section(title="Payments that the run would have made", study=True, blocks=(
            Text((f"The run would have paid {coins:,.2f} {m.payment.currency} in all. The public promise is at most "
                  f"{plan.at_most(plan.figures.expected_total)} on average.",)),
            Table(columns=("payments", m.payment.currency), rows=money),
        )),
    ]
