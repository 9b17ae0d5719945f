"""What a `mean` campaign would give: the plan and the offer, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from confide.acquisition.beliefs.draws import prior_draws
from confide.acquisition.beliefs.virtual_cost import VirtualCost
from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.second_identities import SecondIdentities, second_identities
from confide.acquisition.targeting import bought
from confide.campaign.kinds.acquisition.config import MeanConfig
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Audience, Guarantees, promises_table
from confide.contract.offering import Question, answer, lies, withdrawing
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.wire import parts_of
from confide.contract.words import few, money, number, percent
from confide.privacy.groups import groups_section
from confide.privacy.losses import ZCDP

__all__ = ["Expected", "PlannedMean", "allowed", "identities_section", "identity_warnings"]

_WORK = 400_000  # people, over all made-up profiles of a plan
_MOST, _FEWEST = 200, 3
_SHOWN = 3  # gaps of a belief
_DELTA = 1e-6


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Means over profiles of reports drawn from the belief, at one price of an error.

    Args:
        setting: what is changed.
        root_error: root of the mean squared error of the estimate, in the unit of a record; that of what is known
            where nothing is bought.
        payments: of the total, in the currency.
        payments_error: standard error of that mean.
        largest_payments: largest total of a profile.
        asked: how many are asked for a record.
        local: mean of the largest local loss of a profile.
        central: mean of the largest central loss of a profile.
        bought: share of the profiles in which anything is bought.
        why: why nothing is bought in the others.
        draws: how many profiles; 0 where the setting is out of reach.
    """

    setting: str
    bought: float
    why: str
    root_error: float = math.nan
    payments: float = math.nan
    payments_error: float = math.nan
    largest_payments: float = math.nan
    asked: float = math.nan
    local: float = math.nan
    central: float = math.nan
    draws: int = 0

    def row(self) -> tuple[str | float | None, ...]:
        """Of a table."""
        if not self.draws:
            return self.setting, None, None, None, None, None, self.why
        return (self.setting, self.root_error, self.payments, self.asked, self.local, self.bought, self.why)


def _expected(setting: str, planned: TwoPartMechanism, least: float = 0.0, **changes: Any) -> Expected:
    """Means over profiles at changed parameters; nothing where less than the least share of them buys the mean."""
    try:
        it = replace(planned, **changes)
    except InvalidInput:
        return Expected(setting=setting, bought=0.0,
                        why="out of reach: largest_local_loss is too small for so few people")
    draws = int(min(_MOST, max(_FEWEST, _WORK // it.people)))
    found, missed = list[Any](), 0
    for reports, _ in prior_draws(it.prior, it.people, draws, 0):
        found.append(bought(it, reports))
        missed += not found[-1].asked > 0
        if missed > (1.0 - least) * draws + 1e-9:
            return Expected(setting=setting, bought=0.0, why="it is bought too seldom")
    table = np.array([(*each, each.asked > 0) for each in found], dtype=np.float64)
    paid, mse, asked, local, central, few, share = table.mean(axis=0).tolist()
    why = "" if share == 1 else (
        "too few people are within the price to keep largest_local_loss (at least "
        f"{math.ceil(1 / (it.weight_cap or 1.0)):,} must be)"
        if few >= (1 - share) / 2 else "what is known already is cheaper than the mean")
    return Expected(
        setting=setting, root_error=math.sqrt(mse), payments=paid, largest_payments=float(table[:, 0].max()),
        payments_error=float(table[:, 0].std(ddof=1)) / math.sqrt(draws), asked=asked, local=local, central=central,
        bought=share, why=why, draws=draws)


def allowed(rule: VirtualCost) -> str:
    """Which numbers are reports, in words."""
    low, high = rule.support
    gaps = [f"between {a:g} and {b:g}" for a, b in rule.gaps.tolist()]
    shown = ", ".join(gaps[:_SHOWN]) + (", ..." if len(gaps) > _SHOWN else "")
    return f"in [{low:g}, {high:g}]" + (f", not {shown}" if gaps else "")


@dataclass(frozen=True, kw_only=True)
class PlannedMean:
    """The mechanism with its question and its money.

    Args:
        mechanism: what runs.
        config: of the file.
        least: share of made-up profiles, in [0, 1], below which nothing counts as bought.
    """

    mechanism: TwoPartMechanism
    config: MeanConfig
    least: float = 0.0

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    @cached_property
    def here(self) -> Expected:
        """Of the campaign as it is."""
        return _expected("this campaign", self.mechanism, self.least)

    @cached_property
    def others(self) -> tuple[Expected, ...]:
        """Of the same campaign at other prices of an error, and at other limits on what anybody loses."""
        it = self.mechanism
        found = [_expected(f"[price] error = {it.mse_price * times:g}", it, mse_price=it.mse_price * times)
                 for times in (0.25, 4.0)]
        if it.largest_local_loss is not None:
            found += [_expected(f"[privacy] largest_local_loss = {it.largest_local_loss * times:g}", it,
                                largest_local_loss=it.largest_local_loss * times) for times in (0.5, 2.0)]
        return tuple(found)

    @cached_property
    def identities(self) -> SecondIdentities | None:
        """What second identities and agreements gain; None where nobody is asked."""
        return second_identities(self.mechanism, self.here.root_error)

    @property
    def remedy(self) -> str:
        """What would do where nothing is bought."""
        if "largest_local_loss" in self.here.why:
            return "raise [privacy] largest_local_loss, lower [price] error, or ask more people"
        return "raise [price] error; or it is not worth asking"

    def money(self, amount: float) -> str:
        """An amount in the currency."""
        digits = len(str(self.mechanism.minor_units)) - 1
        return f"{amount:,.{digits}f} {self.mechanism.currency}"

    @property
    def largest_coins(self) -> int:
        """What nobody's payment exceeds, in the smallest coin: each is rounded up, from a double."""
        return math.ceil(self.mechanism.largest_payment * self.mechanism.minor_units) + 1

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
            *([] if it.largest_local_loss is None else [
                ("share of profiles of reports in which anything is bought", f"{here.bought:.1%}")]),
            ("standard error of the mean, on average", self.measured(here.root_error)),
            ("  largest that any reports can lead to, where anything is bought",
             self.measured(math.sqrt(bound.bound))),
            ("  of guessing the middle of the range, at most", self.measured(math.sqrt(bound.baseline))),
            ("expected total of payments", f"{self.money(here.payments)} (plus or minus "
             f"{self.money(2 * here.payments_error)})"),
            (f"  largest total in {here.draws} profiles of reports", self.money(here.largest_payments)),
            ("largest local loss of a person, on average", f"{number(here.local)} nats at order {it.order:g}"),
            ("  largest that any reports can lead to: what is charged", self._charged()),
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
            *([] if self.identities is None else [identities_section(self, self.identities)]),
            Section(title="What other settings would give", blocks=(Table(
                columns=("setting", "standard error", f"expected total ({it.currency})", "people asked",
                         "largest local loss", "bought", "otherwise"),
                rows=tuple(each.row() for each in (here, *self.others))),)),
            Section(title="Guarantees", blocks=(promises_table(
                self.guarantees,
                "Privacy holds for everybody whose own device added the noise of her contract. Truth and "
                "participation hold whatever others report; payments and averages rest on the belief in the "
                "campaign file."),)),
            groups_section(it, self.guarantees.privacy),
        ]

    def _charged(self) -> str:
        """The largest local loss, and what it is as differential privacy."""
        loss = ZCDP(self.mechanism.concentrated(self.mechanism.caps.local))
        return (f"{number(self.mechanism.caps.local)} nats; epsilon = {number(loss.epsilon_at(_DELTA))} at delta = "
                f"{_DELTA:g}")

    def warnings(self) -> list[str]:
        """What the operator should look at before she asks anybody."""
        it, here, found = self.mechanism, self.here, []
        if here.bought < 1:
            found.append(f"nothing is bought in {1 - here.bought:.1%} of profiles of reports: {here.why}; "
                         f"{self.remedy}")
        if here.payments < it.people / it.minor_units and here.asked > 0:
            found.append("payments are rounded up to whole coins, which is much beside what is paid: choose smaller "
                         "coins (minor_units)")
        if it.caps.local > 20:
            found.append(f"a contract may cost {it.caps.local:.3g} nats towards the platform, which hides hardly "
                         "anything: raise psi_floor, or lower [price] error")
        if self.identities is not None:
            found += identity_warnings(self, self.identities)
        return found

    def offer(self) -> Sequence[Section]:
        """What she is asked twice, who sees what, the odds of the largest noise, what is paid, and what she may do."""
        it, record = self.mechanism, self.config.record
        here, own = self.here, self.config.reports
        right = [it.group_guess(1, audience) for audience in (Audience.COLLECTOR, Audience.PUBLIC)]
        return [
            answer(Question.REPORT,
                   f"You are asked first how you fear two leaks, as one number {own.column} {allowed(it.rules[0])}. 1: "
                   "what the operator learns of you is all you fear. 0: what the public learns is. It is no secret: "
                   "the operator sees it, and everybody's contract follows from everybody's number.",
                   f"On a contract that you agreed to you are asked: {record.question} A number from {record.low:g} to "
                   f"{record.high:g}{' ' + record.unit if record.unit else ''}. Your device adds the noise before it "
                   "leaves; the number itself stays with you."),
            answer(Question.SEES,
                   "The operator sees your noisy record, the public the weighted sum of all noisy records. A fellow "
                   "participant knows her own noise and can take it off the sum; all of them together know everything "
                   "but yours. So towards others you are only as safe as towards the operator."),
            answer(Question.HIDES,
                   f"Losses are Renyi divergences of order {it.order:g}. Towards the operator at most "
                   f"{number(it.caps.local)} nats, towards the public at most {number(it.caps.central)}, and your "
                   "contract says how much it is for you: usually less.",
                   "Who must guess whether your record is at the lower or the upper end of the range, even money "
                   f"beforehand, is right at most {percent(right[0])} of the time from what the operator sees, and at "
                   f"most {percent(right[1])} from what the public sees, as long as the others add their noise.",
                   "Two records of yours would cost twice: your device keeps a book and sends one."),
            answer(Question.GETS,
                   "A contract, signed. It says how much noise your own device adds to your record, how much the "
                   "record weighs in the mean, what the operator and the public can learn of it at most, and what you "
                   "are paid. You agree or decline before anything else is sent. On average "
                   f"{here.asked:,.0f} of {it.people:,} are asked for a record; the others are paid nothing.",
                   Table(columns=("payment", "amount"), rows=(
                       ("of whoever is asked for a record, on average", self.money(here.payments / here.asked)
                        if here.asked else self.money(0.0)),
                       ("of anybody, at most", self.coins(self.largest_coins)),
                       ("of whoever is not asked, or sends nothing", self.money(0.0))),
                       note="Yours stands on your contract, before you agree to it.")),
            answer(Question.LIES, lies(self.guarantees),
                   f"Why the truth is best: you are taken to want {self.money(it.price_per_nat)} for a nat of loss "
                   "towards the operator if you fear that leak alone, as much for a nat towards the public if you fear "
                   "that, and your number says where between them you are. No other number than yours gives you more, "
                   "once privacy is counted so, and taking part never costs you more than it pays: whatever the others "
                   "say. "
                   f"Payments are rounded up to {self.coins(1)}.",
                   "Nothing is promised of what another record than yours would gain: what is paid does not depend on "
                   "it."),
            answer(Question.TRUSTED,
                   "Nobody, with your record: your own device adds the noise. For what the public may learn, the "
                   "others, to add theirs, and the operator, to add it in the place of who vanished. The operator, "
                   "with what you fear, and with paying you what your contract says."),
            answer(Question.WITHDRAWING, *withdrawing(
                "Decline your contract: then another round is drawn up without you. Who vanishes after she agreed is "
                "not paid, and the operator adds the noise that is missing.",
                absent="your noisy record is left out, and you are not paid")),
        ]

    def to_dict(self) -> dict[str, Any]:
        it, here = self.mechanism, self.here
        return {
            "people": it.people, "order": it.order, "largest_local": it.caps.local, "largest_central": it.caps.central,
            "error_bound": self.guarantees.of(Accuracy)[0].bound, "largest_payment": it.largest_payment,
            "expected": {"error": here.root_error**2, "payments": here.payments, "payments_error": here.payments_error,
                         "asked": here.asked, "largest_local": here.local, "largest_central": here.central,
                         "bought": here.bought, "draws": here.draws},
            "identities": None if self.identities is None else {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in parts_of(self.identities).items()},
            "warnings": self.warnings(),
        }


def identities_section(plan: PlannedMean, found: SecondIdentities) -> Section:
    """The fewest identities that gain, what each gains, and what they do to the mean."""
    it = plan.mechanism
    rows: list[tuple[str, str]] = [
        ("ids of one person, who earns more than with one", "2"),
        ("  rent of one identity: its payment beyond the cost of its privacy", plan.money(found.rent)),
        ("  a second id with the same report adds to it", percent(found.adds) if found.rent > 0 else "not stated"),
        ("  an id whose record is made up is paid, at no cost of privacy and with the report that is paid most",
         plan.money(found.made_up)),
        ("people who agree, one of whom reports something else, and who are paid a coin more together",
         "none was found" if found.group is None else f"{found.group:,}"),
        *([] if found.group is None else [("  all of them together are paid more by", plan.money(found.group_gain))]),
        ("identities that can move the mean by its standard error",
         "none was found" if found.deciding is None else
         f"{found.deciding:,} ({percent(found.deciding / it.people, 2)} of the invited)"),
        *([] if found.deciding is None else [
            ("  each of them is paid, on average", plan.money(found.deciding_pay)),
            ("  the standard error", plan.measured(plan.here.root_error))]),
    ]
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("what", "figure"), rows=tuple(rows),
              note=f"Exact on {number(found.draws)} profiles of reports, made up from the belief in the campaign file: "
                   "averages of the first asked person, and the first profile for agreements and for what moves the "
                   "mean. Those who move it send the end of the range, and report what weighs most."),
        Text((_second(plan, found),
              "No report gains one person anything. That promise is about one identity: the operator has to see to it "
              "that nobody has two. Records are not checked, and what is paid does not depend on them.",))))


def _second(plan: PlannedMean, found: SecondIdentities) -> str:
    """What two ids leave their owner at most, in sentences."""
    if found.gain <= 0:
        return "With 2 ids of one person they gain nothing on average."
    return (f"With 2 ids of one person they gain {plan.money(found.gain)} more than with one, on average. This is the "
            "most by the routes computed here: the second id has a made-up record, which costs no privacy, and the "
            "report that is paid most. The first id does the same, with one id and with two, or it is honest.")


def identity_warnings(plan: PlannedMean, found: SecondIdentities) -> list[str]:
    """What the operator should know before anybody is asked."""
    said = few(found.deciding, plan.mechanism.people, "identities")
    return [] if said is None else [
        f"{said}, can move the mean by its standard error: whoever has so many ids chooses it within that"]
