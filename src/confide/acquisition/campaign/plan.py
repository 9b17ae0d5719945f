"""What a `mean` campaign would give: the plan and the offer, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from confide.acquisition.beliefs.draws import prior_draws
from confide.acquisition.campaign.config import MeanConfig
from confide.acquisition.mechanism import TwoPartMechanism
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Guarantees
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import money, number

__all__ = ["Expected", "MeanPlan"]

_WORK = 400_000  # people, over all made-up profiles of a plan
_MOST, _FEWEST = 200, 3
_OTHER = (0.25, 1.0, 4.0)  # prices of an error beside the campaign's


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Means over profiles of reports drawn from the belief, at one price of an error.

    Args:
        error_price: in the currency, per squared unit.
        root_error: root of the mean squared error of the estimate, in the unit of a record.
        payments: of the total, in the currency.
        payments_error: standard error of that mean.
        asked: how many are asked for a record.
        local: mean of the largest local loss of a profile.
        central: mean of the largest central loss of a profile.
        bought: share of the profiles in which anything is bought.
        draws: how many profiles.
    """

    error_price: float
    root_error: float
    payments: float
    payments_error: float
    asked: float
    local: float
    central: float
    bought: float
    draws: int


def _expected(planned: TwoPartMechanism, times: float) -> Expected | None:
    """Means over profiles at so many times the campaign's price of an error; None where that is out of reach."""
    try:
        it = replace(planned, mse_price=planned.mse_price * times)
    except InvalidInput:
        return None
    draws = int(min(_MOST, max(_FEWEST, _WORK // it.people)))
    rows: list[tuple[float, ...]] = []
    for reports, _ in prior_draws(it.prior, it.people, draws, 0):
        rule = it.payment_rule
        best = rule.solve(rule.virtual_costs(reports))
        if best.winners.size:
            error = it.variance_price * float(np.sum(best.weights**2)) + it.noise_price * best.spread
            rows.append((error / it.error_price, best.value - error, best.winners.size, best.epsilon_local.max(),
                         best.epsilon_central.max(), 1.0))
        else:
            rows.append((it.outside / it.error_price, 0.0, 0.0, 0.0, 0.0, 0.0))
    table = np.array(rows)
    mse, paid, asked, local, central, bought = table.mean(axis=0).tolist()
    return Expected(
        error_price=it.mse_price, root_error=it.width * math.sqrt(mse), payments=it.nat_price * paid,
        payments_error=it.nat_price * float(table[:, 1].std(ddof=1)) / math.sqrt(draws), asked=asked, local=local,
        central=central, bought=bought, draws=draws)


@dataclass(frozen=True, kw_only=True)
class MeanPlan:
    """The mechanism with its question and its money.

    Args:
        mechanism: what runs.
        config: of the file.
    """

    mechanism: TwoPartMechanism
    config: MeanConfig

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    @cached_property
    def expected(self) -> tuple[Expected | None, ...]:
        """At a quarter of the campaign's price of an error, at that price, and at four times it."""
        return tuple(_expected(self.mechanism, times) for times in _OTHER)

    @property
    def here(self) -> Expected:
        """At the campaign's own price of an error."""
        found = self.expected[1]
        if found is None:
            raise Refused("no plan at this price", "change [price] error")
        return found

    def money(self, amount: float) -> str:
        """An amount in the currency."""
        digits = len(str(self.mechanism.minor_units)) - 1
        return f"{amount:,.{digits}f} {self.mechanism.currency}"

    def coins(self, coins: int) -> str:
        """Whole coins in the currency."""
        return money(coins, self.mechanism.minor_units, self.mechanism.currency)

    def measured(self, value: float) -> str:
        """A value in the unit of a record."""
        return f"{number(value)}{' ' + self.config.record.unit if self.config.record.unit else ''}"

    # ---- pages

    def sections(self) -> Sequence[Section]:
        it, here = self.mechanism, self.here
        bound = self.guarantees.of(Accuracy)[0]
        rows = [
            ("people invited (fixed and public)", f"{it.people:,}"),
            ("people asked for a record, on average", f"{here.asked:,.1f}"),
            *([] if it.most_local is None else [
                ("share of profiles of reports in which anything is bought", f"{here.bought:.1%}")]),
            ("standard error of the mean, on average", self.measured(here.root_error)),
            ("  largest that any reports can lead to", self.measured(math.sqrt(bound.bound))),
            ("  of guessing the middle of the range, at most", self.measured(math.sqrt(bound.trivial))),
            ("expected total of payments", f"{self.money(here.payments)} (plus or minus "
             f"{self.money(2 * here.payments_error)})"),
            ("largest local loss of a person, on average", f"{number(here.local)} nats at order {it.order:g}"),
            ("  largest that any reports can lead to: what is charged", f"{number(it.caps.local)} nats"),
            ("largest central loss of a person, on average", f"{number(here.central)} nats"),
            ("  largest that any reports can lead to", f"{number(it.caps.central)} nats"),
        ]
        blocks: list[Block] = [Table(
            columns=("what", "planned"), rows=tuple(rows),
            note=f"Averages are over {here.draws} profiles of reports, made up from the belief in the campaign file; "
                 "the rest holds whatever is reported.")]
        warnings = self.warnings()
        if warnings:
            blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
        return [
            Section(title="Plan", blocks=tuple(blocks)),
            Section(title="What other prices of an error would give", blocks=(Table(
                columns=(f"[price] error ({it.currency} per squared unit)", "standard error", "expected total "
                         f"({it.currency})", "people asked", "largest local loss", "largest central loss"),
                rows=tuple((each.error_price, each.root_error, each.payments, each.asked, each.local, each.central)
                           for each in self.expected if each is not None)),)),
            Section(title="Guarantees", blocks=(Table(
                columns=("promise", "source", "may fail with probability", "says something"),
                rows=tuple((each.sentence(), str(each.source), each.failure_probability,
                            "no: vacuous at these sizes" if each.vacuous else "yes") for each in self.guarantees),
                note="Privacy holds for everybody whose own device added the noise of her contract. Truth and "
                     "participation hold whatever others report; payments and averages rest on the belief in the "
                     "campaign file."),)),
        ]

    def warnings(self) -> list[str]:
        """What the operator should look at before she asks anybody."""
        it, here, found = self.mechanism, self.here, []
        if here.root_error >= it.width / 2:
            found.append("on average the estimate is no better than guessing the middle of the range: raise [price] "
                         "error")
        if here.payments < it.people / it.minor_units and here.asked > 0:
            found.append("payments are rounded up to whole coins, which is much beside what is paid: choose smaller "
                         "coins (minor_units)")
        if it.caps.local > 20:
            found.append(f"a contract may cost {it.caps.local:.3g} nats towards the platform, which hides hardly "
                         "anything: raise psi_floor, or lower [price] error")
        return found

    def offer(self) -> Sequence[Section]:
        it, record = self.mechanism, self.config.record
        here, own = self.here, self.config.reports
        return [Section(title="The offer, as a participant reads it", blocks=(Text((
            f"What you are asked first: how you fear two leaks, as one number {own.column} in [0, 1]. 1: what the "
            "operator learns of you is all you fear. 0: what the public learns is. It is no secret: the operator sees "
            "it, and everybody's contract follows from everybody's number.",
            "What you get then: a contract, signed. It says how much noise your own device adds to your record, how "
            "much the record weighs in the mean, what the operator and the public can learn of it at most, and what "
            "you are paid. You agree or decline before anything else is sent. On average "
            f"{here.asked:,.0f} of {it.people:,} are asked for a record; the others are paid nothing.",
            f"What you are asked then: {record.question} A number from {record.low:g} to {record.high:g}"
            f"{' ' + record.unit if record.unit else ''}. Your device adds the noise before it leaves; the number "
            "itself stays with you.",
            "Who sees what: the operator sees your noisy record, the public the weighted sum of all noisy records. A "
            "fellow participant knows her own noise and can take it off the sum; all of them together know everything "
            "but yours. So towards others you are only as safe as towards the operator.",
            f"How much it hides you: losses are Renyi divergences of order {it.order:g}. Towards the operator at most "
            f"{number(it.caps.local)} nats, towards the public at most {number(it.caps.central)}, and your contract "
            "says how much it is for you: usually less. Two records of yours would cost twice: your device keeps a "
            "book and sends one.",
            f"Why the truth is best: you are taken to want {self.money(it.nat_price)} for a nat of loss towards the "
            "operator if you fear that leak alone, as much for a nat towards the public if you fear that, and your "
            "number says where between them you are. No other number than yours gives you more, once privacy is "
            "counted so, and taking part never costs you more than it pays: whatever "
            f"the others say. Payments are rounded up to {self.coins(1)}.",
            "Who vanishes after she agreed is not paid, and the operator adds the noise that is missing.",
        )),))]

    def to_dict(self) -> dict[str, Any]:
        it, here = self.mechanism, self.here
        return {
            "people": it.people, "order": it.order, "largest_local": it.caps.local, "largest_central": it.caps.central,
            "error_bound": self.guarantees.of(Accuracy)[0].bound, "largest_payment": it.largest_payment,
            "expected": {"error": here.root_error**2, "payments": here.payments, "payments_error": here.payments_error,
                         "asked": here.asked, "largest_local": here.local, "largest_central": here.central,
                         "draws": here.draws},
            "warnings": self.warnings(),
        }
