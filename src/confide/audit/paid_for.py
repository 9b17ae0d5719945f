"""Audit of whether the lines of the charge pay for all draws of a run.

A run's meter records the payment for each draw of noise, and checks the arithmetic of declarations. A draw declares how
far one neighbour step moves the value to which noise is added, and pays for that distance. Only a comparison of
neighbours, with the same noisy answers, shows whether the noiseless value moves further than declared. The comparison
of neighbours gives the distance in noise scales, from which a price follows. The payment is known from the meter.
Therefore the loss of every stream, every session and every line of parallel groups is compared with the payment for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import groupby
from operator import add
from typing import Any

from confide.audit.among_others import among_others
from confide.audit.comparing import Loss, exceeds
from confide.audit.fixed_transcript import Neighbours
from confide.audit.history_loss import Pair, Unreleased, belongs, history_loss, promised_parameter
from confide.audit.report import AuditRow, Concern, Verdict
from confide.audit.side_channels import Failed, settled_run, side_channel_output
from confide.audit.unpublished import RAW, unpublished
from confide.audit.worst_case_neighbours import neighbours
from confide.contract.guarantees import Relation
from confide.contract.mechanism import Mechanism
from confide.contract.metered import Overspent
from confide.privacy.accounting.sums import float_up
from confide.privacy.charge import Parallel
from confide.privacy.events import ApproxEvent, BoundedRangeEvent, Event, GDPEvent, ZCDPEvent, flatten
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.meter import PaidDraws
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.tables.column_rows import Role

__all__ = ["PaidFor", "Underpaid", "paid_for", "underpaid"]

_PAID = "draws without a line of the charge, or above the amount of their line"
_PROBED = 5  # pairs on which a draw costs more than was paid, and on which is looked for whether it is published
_CONCENTRATED = (ZCDPEvent, GDPEvent, BoundedRangeEvent)


@dataclass(frozen=True)
class Underpaid:
    """Draws that cost more than their payment.

    Args:
        name: name of the stream, of the session or of the line of parallel groups that was paid for.
        streams: names of the random streams of these draws.
        paid: the loss that was paid for, in the notion `notion`; 0 for public randomness.
        true: the measured loss between two neighbours, in the notion `notion`.
        notion: notion of privacy of both numbers, "epsilon" (in nats) or "rho".
        how: words that follow the paid amount in the message of the audit, such as "was charged for these draws".
    """

    name: str
    streams: tuple[StreamName, ...]
    paid: float
    true: float
    notion: str
    how: str = "was charged for these draws"

    def __str__(self) -> str:
        return f"the draws of {self.name!r} cost {self.notion} {self.true:.6g}, and {self._declared}"

    @property
    def _declared(self) -> str:
        return f"{self.notion} {self.paid:.6g} {self.how}" if self.paid else "these draws were declared public"


def underpaid(
    first: Sequence[Draw], second: Sequence[Draw], unreleased: Unreleased, charge: Loss | None = None
) -> list[Underpaid]:
    """Draws that cost more than their payment, in two runs on neighbouring data with the same noisy answers.

    Args:
        first: recorded draws of the first run.
        second: recorded draws of the second run, with the noisy answers of the first run.
        unreleased: mapping from a prefix of random streams to the rule for their noisy answers, which are not
            published. All streams with one prefix are compared with the sum of their payments.
        charge: charge of the ledger for the whole run; None where the run's events have no price. If a run pays for
            some draws and not for others, all draws together are compared with the charge.
    """
    pairs = [(one, other) for one, other in zip(first, second, strict=False) if one.stream == other.stream
             and len(one.center) == len(other.center) and one.law not in ("split", *RAW)]
    paid = [(one.payment, one, other) for one, other in pairs if one.payment is not None]
    groups: dict[StreamName, list[tuple[PaidDraws, Pair]]] = {}
    for payment, one, other in paid:
        part = next((name for name in unreleased if belongs(one, name)), None)
        groups.setdefault(payment.stream if part is None else (part,), []).append((payment, (one, other)))
    found = [_beyond(_named(name), group, unreleased) for name, group in groups.items()]
    parallel = [(payment, (one, other)) for payment, one, other in paid if isinstance(payment.line, Parallel)]
    found += _together(parallel, unreleased)
    around = [one for one, _ in pairs if one.payment is None]
    if around and charge is not None and any(payment.line is not None for payment, *_ in paid):
        found.append(_over(", ".join(dict.fromkeys(_named(draw.stream) for draw in around)), pairs, charge, unreleased,
                           "is charged for these and all other draws, since the meter does not see these draws"))
    return [each for each in found if each is not None]


def _named(stream: StreamName) -> str:
    return "/".join(map(str, stream))


def _beyond(
    name: str, group: Sequence[tuple[PaidDraws, Pair]], unreleased: Unreleased
) -> Underpaid | None:
    """Excess cost of one stream or session, or of one unreleased part that several payments cover; None where there is
    no excess.
    """
    pairs, payments = [pair for _, pair in group], list({payment.stream: payment for payment, _ in group}.values())
    if all(one.center == other.center for one, other in pairs):
        return None
    if all(payment.free for payment in payments):
        pure = not any("gaussian" in one.law for one, _ in pairs)
        true = history_loss(pairs, PureDP(1.0) if pure else ZCDP(1.0), unreleased)
        streams = tuple(one.stream for one, _ in pairs)
        return Underpaid(name, streams, 0.0, true, "epsilon" if pure else "rho") if true > 0 else None
    return _over(name, pairs, _claim(payments), unreleased)


def _claim(payments: Sequence[PaidDraws]) -> PureDP | ZCDP:
    """The payment, in the notion in which the line is charged."""
    cost = reduce(add, (payment.whole for payment in payments)) if len(payments) > 1 else payments[0].whole
    events = [event for payment in payments if payment.line is not None for event in payment.line.events]
    if cost.pure is not None and not any(isinstance(leaf, _CONCENTRATED) for event in events
                                         for leaf, _ in flatten(event)):
        return PureDP(float_up(cost.pure))
    known = [each for each in (cost.rho, None if cost.mu_squared is None else cost.mu_squared / 2) if each is not None]
    return ZCDP(float_up(min(known, default=Fraction(0))))


def _together(group: Sequence[tuple[PaidDraws, Pair]], unreleased: Unreleased) -> Iterator[Underpaid | None]:
    """Excess costs of lines of parallel groups. A person in one group is in no other group, and moves only the draws of
    that group.
    """
    def line(each: tuple[PaidDraws, Pair]) -> Any:
        return each[0].line

    for its, members in groupby(sorted(group, key=lambda each: line(each).name), key=line):
        both = list(members)
        if len({payment.stream for payment, _ in both}) > 1:
            yield _over(its.name, [pair for _, pair in both], _loss(its.event), unreleased,
                        "is charged for each of its groups, but one person is in several groups")


def _loss(event: Event) -> Loss:
    match event:
        case ApproxEvent():
            return ApproxDP(event.epsilon, event.delta)
        case ZCDPEvent():
            return ZCDP(event.rho)
        case GDPEvent():
            return ZCDP(event.mu**2 / 2)
    return PureDP(getattr(event, "epsilon", 0.0))


def _over(
    name: str, pairs: Sequence[Pair], claim: Loss, unreleased: Unreleased, how: str = "was charged for these draws"
) -> Underpaid | None:
    true, paid = history_loss(pairs, claim, unreleased), promised_parameter(claim)
    if not exceeds(true, paid):
        return None
    notion = "rho" if isinstance(claim, ZCDP) else "epsilon"
    return Underpaid(name, tuple(one.stream for one, _ in pairs), paid, true, notion, how)


@dataclass(eq=False)
class PaidFor:
    """The payments that were recorded in audited runs.

    Args:
        run: the run of the correct mechanism, a function of data and noise.
        unreleased: mapping from a prefix of random streams to the rule for their noisy answers, which are not
            published.
        charge: charge of the ledger for the whole run; None where the run's events have no price.
        words: function from a pair of neighbours to a description of the pair.
        pairs: number of pairs that were compared.
        unmetered: names of the random streams with draws that the run's meter did not record.
        beyond: findings with draws that cost more than their payment, a mapping from the name of the draws
            (`Underpaid.name`) to a list. The list has an entry for each of the pairs with the largest costs: the draws,
            the pair of neighbours, and the seed.
    """

    run: Callable[[Any, Noise], Any]
    unreleased: Unreleased
    charge: Loss | None
    words: Callable[[Neighbours], str]
    pairs: int = 0
    unmetered: dict[StreamName, None] = field(default_factory=dict)
    beyond: dict[str, list[tuple[Underpaid, Neighbours, int]]] = field(default_factory=dict)

    def meet(
        self, first: RecordingNoise | ForcedNoise, second: RecordingNoise | ForcedNoise, pair: Neighbours, seed: int
    ) -> None:
        """Compare the payments of two runs with the loss between the runs. The runs are on neighbouring data sets, and
        got the same noisy answers.

        Args:
            first: the noise that recorded the draws of the run on the first data set.
            second: the noise that recorded the draws of the run on the second data set.
            pair: the two data sets.
            seed: seed of the noise that gave the answers.
        """
        self.pairs += 1
        self.unmetered |= dict.fromkeys((*first.unmetered, *second.unmetered))
        for each in underpaid(first.draws, second.draws, self.unreleased, self.charge):
            known = self.beyond.setdefault(each.name, [])
            known.append((each, pair, seed))
            known.sort(key=lambda of: -of[0].true)
            del known[_PROBED:]

    def row(self) -> AuditRow | None:
        """The row about draws that cost more than their payment, or may do so; None where each draw is paid for."""
        broken, unknown = list[tuple[Underpaid, Neighbours, int]](), list[tuple[Underpaid, Neighbours, int]]()
        for worst in self.beyond.values():
            histories = [(pair, seed) for _, pair, seed in worst]
            names = unpublished(self.run, histories, self.unreleased, worst[0][0].streams)
            (unknown if names else broken).append(worst[0])
        if broken:
            each, pair, seed = broken[0]
            why = among_others(self.run, pair, seed, each.streams, each.paid) if each.how == Underpaid.how else ""
            return _measured(float(len(broken)), f"{each}; {self.words(pair)}{why}")
        if unknown:
            return _not_measured(f"{unknown[0][0]}, if all noisy answers are published. This run publishes only a part "
                                 "of them: name the published part in `unreleased_streams`")
        return None


def paid_for(
    mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int, replayed: Sequence[PaidFor]
) -> AuditRow:
    """The row that says whether the lines of a mechanism's charge pay for all draws of a run. If the run removes or
    avoids its meter, the row is broken. If some draws are paid for by no line of the charge, the row is not measured,
    and names some of these draws.

    Args:
        mechanism: the mechanism, which is run once more.
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        seed: seed of the simulated noise.
        replayed: the payments that audits over pairs of neighbours recorded.
    """
    observed, overspent = RecordingNoise(Noise.simulated(seed)), list[str]()

    def run() -> Any:
        try:
            return settled_run(next(neighbours(roles, people, Relation.REPLACE)).first, observed, deepcopy(mechanism))
        except Overspent as error:
            overspent.append(str(error))
            raise

    outcome, _ = side_channel_output(run)
    if overspent:
        return _measured(1.0, overspent[0])
    unmetered = {_named(name) for name in (*observed.unmetered,
                                           *(name for each in replayed for name in each.unmetered))}
    if unmetered:
        some = ", ".join(map(repr, sorted(unmetered)[:3]))
        return _measured(float(len(unmetered)), f"the run's meter has no record of the draws of {some}: the run "
                                                "removes its meter, or avoids it")
    found = next((row for row in (each.row() for each in replayed) if row is not None), None)
    if found is not None:
        return found
    if isinstance(outcome, Failed):
        return _not_measured(f"a run failed ({outcome.how})")
    around = [draw.stream for draw in observed.draws if draw.line is None]
    if around:
        names = ", ".join(sorted({str(name[0]) for name in around})[:3])
        return _not_measured(f"the meter does not see {len(around)} of {len(observed.draws)} draws, such as {names!r}, "
                             "so no check in a release compares them to the charge; draw with "
                             "confide.privacy.primitives")
    pairs = sum(each.pairs for each in replayed)
    return _measured(0.0, f"one run on synthetic people, {len(observed.draws)} draws" + (
        f"; on {pairs:,} pairs of neighbours, no draw cost more than its charge" if pairs else ""))


def _measured(beyond: float, evidence: str) -> AuditRow:
    """The row about payments, where they were measured.

    Args:
        beyond: number of draws that are not paid for.
        evidence: description of the draws that are not paid for, or of all compared draws.
    """
    return AuditRow.at_most(_PAID, 0.0, beyond, evidence, concern=Concern.BUDGET, unit="draws")


def _not_measured(why: str) -> AuditRow:
    """The row about payments, where they were not measured."""
    return AuditRow(_PAID, 0.0, None, "", Verdict.NOT_MEASURED, why, concern=Concern.BUDGET, side="at most",
                    unit="draws")
