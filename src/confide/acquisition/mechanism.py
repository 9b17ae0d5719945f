"""`TwoPartMechanism`: people report how they weigh two privacy losses, receive contracts, and send records with their
own noise.

The mechanism has three phases. First, each person reports c, the weight of their loss towards the platform; the weight
of their loss towards the public is 1 - c. Then `contracts` computes everybody's weight, noise and payment from all
reports and the public parameters. Last, each person's own device draws one noisy record under the contract (`submit`),
and `run` adds up the noisy records and publishes the sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, cast

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.caps import CappedCaps, Caps
from confide.acquisition.optimum.solver import Solution
from confide.acquisition.payments import PaymentRule, WeightCap
from confide.acquisition.priors import ConcernPrior
from confide.acquisition.records import (
    ContractedRecords,
    ContractTerms,
    as_contracted,
    as_record_batches,
    column_of_numbers,
    messages_of,
)
from confide.acquisition.release.lattice import (
    ONE_RECORD,
    LatticeContract,
    LatticeContracts,
    integer_contracts,
    lattice_for,
    perturb,
)
from confide.acquisition.release.losses import SMALLEST, covered_noise_std, exact_sum, least_right, plausible
from confide.acquisition.virtual_cost import VirtualCost
from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Relation
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, Certificate, RunOutcome, SimulatedOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.remedies import printed, tried
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.charge import Line, OnDevices
from confide.privacy.events import ZCDPEvent
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise
from confide.privacy.primitives.additive import add_missing_noise

__all__ = ["Contracts", "ErrorCertificate", "MeanBillboard", "TwoPartMechanism"]

_MOST_COINS = 2**62
_INTEGERS = 1.0 + 2.0**-16  # of an error: weights and noise in whole steps, weights rounded down


@wire("MeanBillboard", "total steps")
@dataclass(frozen=True, kw_only=True, eq=False)
class MeanBillboard(Billboard):
    """The public record of a mean that was bought.

    Args:
        total: sum Y of the noisy records, in steps of the integer lattice, including the noise that the platform adds
            in place of participants who sent nothing.
        steps: sum A' of the weights, in steps of the lattice, of the participants whose records are in the total; 0
            where there is no record.
    """

    total: int
    steps: int

    def __post_init__(self) -> None:
        whole("billboard.steps", self.steps)
        whole("billboard.total", self.total, at_least=-(2**127))


@wire("ErrorCertificate", "share mse")
@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorCertificate(Certificate):
    """Bound on the error of the mean, from the share of the weight that was received.

    Args:
        share: A'/A, the steps received over the steps of the lattice; about 1 where everybody sent their record.
        mse: bound on the mean squared error, in squared units of a record; infinite where nobody sent a record.
    """

    share: float
    mse: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Contracts:
    """Contracts of all participants. Only the platform may see the contracts, since they depend on all reports.

    Args:
        lattice: steps, noise and privacy levels of the people who are asked for a record; None where nothing is bought.
        payments: (k,) payment of each person who is asked for a record, in the smallest units of the currency, such as
            cents; paid if the person sends the record.
        solution: weights and privacy levels of all people, and the cost to the platform.
        exact: (n,) payments before rounding, in the currency.
    """

    lattice: LatticeContracts | None
    payments: NDArray[np.int64]
    solution: Solution
    exact: NDArray[np.float64]

    def __repr__(self) -> str:
        return "<contracts; private, see their fields>"

    def records(self, messages: Any) -> ContractedRecords:
        """The table of contracts, completed by the messages that were sent.

        Args:
            messages: mapping from a participant's rank to their message. The messages may also be a frame of pandas,
                Polars or Arrow, a file or a mapping, with the columns `index` (the rank) and `message`. A participant
                without an entry sent nothing.

        Raises:
            InvalidInput: the argument is no table of messages, a column of whole numbers has text (the error names the
                column), or a participant has two entries.
        """
        return self.terms.with_messages(messages_of(messages))

    @property
    def terms(self) -> ContractTerms:
        """The table of all contracts."""
        it = self.lattice
        if it is None:
            return ContractTerms.of_columns({}, 0)
        return ContractTerms(index=it.index, steps=it.steps, noise_std=it.noise_std, epsilon_local=it.epsilon_local,
                             epsilon_central=it.epsilon_central, payment=self.payments, variance=it.noise_variance)


@wire("TwoPartMechanism", "people prior mse_price low high variance order psi_floor grid most_local known_error "
      "nat_price currency minor_units",
      approximation="grid", largest_local_loss="most_local", price_per_nat="nat_price")
@renamed(grid="approximation", most_local="largest_local_loss", nat_price="price_per_nat")
@dataclass(frozen=True, kw_only=True)
class TwoPartMechanism(Mechanism[MeanBillboard, ErrorCertificate]):
    """Buy the mean of people's records, with privacy towards the platform and towards the public.

    The utility of a person with sensitivity c from an offer is payment - price_per_nat (c epsilon_local + (1 - c)
    epsilon_central), with losses in nats of Renyi divergence of the mechanism's order. Truth is a person's best report
    for any reports of the others, up to the stated gain from rounding payments. A truthful person's utility is never
    negative, because the payment is computed from the actual contract (ex post) and rounded up to whole smallest units
    of the currency. The class has no parameter epsilon and no `for_budget`, because losses follow from the reports and
    the price of an error. The parameter `largest_local_loss` limits the losses. The function `confide.acquisition.plan`
    finds the price of an error for a budget or a target error.

    Raises:
        InvalidInput: a parameter out of range.

    Example:
        >>> from confide.acquisition import TwoPartMechanism, UniformPrior
        >>> from confide.privacy.noise import Noise
        >>> study = TwoPartMechanism(people=3, prior=UniformPrior(), mse_price=40.0)
        >>> contracts = study.contracts([0.2, 0.5, 0.9])
        >>> contracts.solution.weights.round(3).tolist()
        [0.405, 0.336, 0.26]
        >>> outcome = study.simulate([0.2, 0.5, 0.9], [1.0, 0.0, 1.0], Noise.simulated(1))
        >>> outcome.shares["payment"].to_pylist() == contracts.payments.tolist()
        True
    """

    people: Annotated[int, Parameter("number of registered slots, fixed and public", symbol="n", at_least=1)]
    prior: Annotated[ConcernPrior | tuple[ConcernPrior, ...], Parameter(
        "law of everybody's c, or one law for each slot; public, with c independent across people and of their records",
        symbol="F")]
    mse_price: Annotated[float, Parameter(
        "cost of one squared unit of error of the mean to the buyer", symbol="gamma", unit="the currency", above=0)]
    low: Annotated[float, Parameter("public lower end of a record; a record below this end counts as this end")] = 0.0
    high: Annotated[float, Parameter("public upper end of a record")] = 1.0
    variance: Annotated[float | None, Parameter(
        "public bound on a record's variance, in squared units, never estimated from these records; default (high - "
        "low)^2/4, which is always a bound", at_least=0)] = None
    order: Annotated[float, Parameter("order of the Renyi divergence", symbol="alpha", above=1)] = 2.0
    psi_floor: Annotated[float, Parameter(
        "least virtual cost; with a larger value, the buyer buys less from people who fear only the public. With 0, "
        "the buyer would buy a record without noise", above=0)] = 0.01
    approximation: Annotated[float, Parameter(
        "largest excess of the cost over the least cost, as a share. With this excess no lie gains anything, for any "
        "prior. 0 for the exact least cost", symbol="delta", at_least=0, at_most=1)] = 0.001
    largest_local_loss: Annotated[float | None, Parameter(
        "the largest local loss of anybody, for any reports; the ledger is charged this loss. It limits all weights, "
        "and nobody with a virtual cost above 1 sells. If it is left out, some reports lead to a contract with the "
        "whole weight on one person", unit="nats", above=0)] = None
    known_error: Annotated[float | None, Parameter(
        "with largest_local_loss, the mean squared error of the best guess without any records, in squared units: the "
        "buyer buys nothing if the guess is cheaper. If it is left out, the error of the middle of the range, (high - "
        "low)^2/4", above=0)] = None
    price_per_nat: Annotated[float, Parameter(
        "cost of one nat of loss to a person who fears only this leak", unit="the currency", above=0)] = 1.0
    currency: Annotated[str, Parameter("of payments")] = ""
    minor_units: Annotated[int, Parameter(
        "number of smallest coins in one unit of the currency", at_least=1)] = 100

    phases: ClassVar[tuple[Phase, ...]] = (
        Phase(name="report", asks="weight of a loss towards the platform, against a loss towards the public"),
        Phase(name="contract", asks="whether the person agrees to weight, noise and payment"),
        Phase(name="submission", asks="one noisy record, drawn on the person's device"),
    )
    share_depends_on: ClassVar[str] = ("the person's own contract, which follows from all reports and has the "
                                       "platform's signature")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.prior, tuple) and len(self.prior) not in {1, self.people}:
            raise InvalidInput("prior", f"are {counted(len(self.prior), 'prior')} for {self.people} slots",
                               "must be one prior, such as UniformPrior(), or one prior for each slot")
        if not math.isfinite(self.high - self.low) or not self.high > self.low:
            raise InvalidInput("high", f"{self.high!r} is out of range", f"must be above low, which is {self.low!r}")
        if self.variance is not None and self.variance > (self.high - self.low) ** 2 / 4:
            most = printed((self.high - self.low) ** 2 / 4, up=False, digits=6)
            raise InvalidInput("variance", f"{self.variance!r} is out of range",
                               f"must be at most {most}, the largest variance of records in [{self.low!r}, "
                               f"{self.high!r}]")
        self._check_cap()
        if not self.largest_payment * self.minor_units <= _MOST_COINS:
            raise InvalidInput("minor_units", f"{self.minor_units:,} makes payments of more than 2^62 coins",
                               "choose larger coins, a smaller mse_price, or a smaller price_per_nat")

    def _check_cap(self) -> None:
        if self.largest_local_loss is None:
            if self.known_error is not None:
                raise InvalidInput("known_error", "has no effect without largest_local_loss", "give both, or neither")
            return
        if not (self.psi_floor <= 1 and self.approximation > 0):
            raise InvalidInput("psi_floor" if self.psi_floor > 1 else "approximation",
                               "cannot be combined with largest_local_loss",
                               "to limit the loss, give a psi_floor of at most 1 and an approximation above 0")
        least = self._single / self.people
        if self.largest_local_loss < least:
            again, many = partial(replace, self), math.ceil(self._single / self.largest_local_loss)
            raise InvalidInput(
                "largest_local_loss", f"{self.largest_local_loss:g} is too small: at this price of an error, "
                                      f"{self.people:,} people with equal weights may lose {printed(least, digits=4)} "
                                      "nats each",
                [*tried("allow {largest_local_loss} nats or more", again, largest_local_loss=least),
                 *tried("ask {people} people or more", again, people=None if isinstance(self.prior, tuple) else many),
                 "lower the price"])

    # ---- public numbers

    @property
    def width(self) -> float:
        """The width of the range, high - low."""
        return self.high - self.low

    @property
    def scaled_variance(self) -> float:
        """The variance VAR of a record, in squared widths of the range."""
        return 0.25 if self.variance is None else self.variance / self.width**2

    @property
    def error_price(self) -> float:
        """The price gamma of one squared width of error. The unit is `price_per_nat`."""
        return self.mse_price * self.width**2 / self.price_per_nat

    @property
    def variance_price(self) -> float:
        """The price of variance, g = gamma VAR."""
        return self.error_price * self.scaled_variance

    @property
    def noise_price(self) -> float:
        """The price of noise, kappa = gamma alpha/2."""
        return self.error_price * self.order / 2.0

    @cached_property
    def rules(self) -> tuple[VirtualCost, ...]:
        """Rules from reports to virtual costs, raised to at least `psi_floor`: one rule for all people, or one rule for
        each person. People with equal priors share a rule.
        """
        priors = self.prior if isinstance(self.prior, tuple) else (self.prior,)
        made: dict[ConcernPrior, VirtualCost] = {}
        for each in priors:
            if each not in made:
                cost = each.virtual_cost().floored(self.psi_floor)
                made[each] = cost if self.largest_local_loss is None else cost.ceiled(1.0)
        return tuple(made[each] for each in priors)

    @cached_property
    def payment_rule(self) -> PaymentRule:
        """The rule from reports to weights, privacy levels and payments. The unit of money is `price_per_nat`."""
        cap = None if self.weight_cap is None else WeightCap(
            weight_cap=self.weight_cap, outside=self.outside, psi_floor=self.psi_floor)
        return PaymentRule(self.rules if len(self.rules) > 1 else self.rules[0], self.variance_price, self.noise_price,
                           approximation=self.approximation or None, cap=cap)

    @property
    def weight_cap(self) -> float | None:
        """The largest weight that keeps `largest_local_loss`; None where `largest_local_loss` is not given."""
        return None if self.largest_local_loss is None else min(1.0, self.largest_local_loss / self._single)

    @property
    def outside(self) -> float:
        """The cost of buying nothing, in units of `price_per_nat`; infinite without `largest_local_loss`."""
        if self.largest_local_loss is None:
            return math.inf
        return self.error_price * (0.25 if self.known_error is None else self.known_error / self.width**2)

    def of_people(self, people: int) -> TwoPartMechanism:
        """The same mechanism with another number of people, who share one prior."""
        return replace(self, people=people)

    @cached_property
    def caps(self) -> Caps | CappedCaps:
        """Bounds on losses, error and payments that hold for any reports."""
        if self.weight_cap is not None:
            return self._capped(self.weight_cap)
        most = max(self.psi_floor, *(rule.top for rule in self.rules))
        return Caps(people=self.people, variance_price=self.variance_price, noise_price=self.noise_price,
                    psi_floor=self.psi_floor, psi_most=most, approximation=self.approximation)

    def _capped(self, weight_cap: float) -> CappedCaps:
        return CappedCaps(people=self.people, variance_price=self.variance_price, noise_price=self.noise_price,
                          psi_floor=self.psi_floor, weight_cap=weight_cap, outside=self.outside,
                          approximation=self.approximation)

    @cached_property
    def _single(self) -> float:
        """Largest local loss, with capped weights, of a person whose weight is 1."""
        return self._capped(1.0).local

    @property
    def largest_payment(self) -> float:
        """Upper bound of every payment, in the currency. A payment is epsilon_central + c d(c) + the integral of d from
        c to at most 1, where d is the local loss less the central loss as a function of the report. The difference d
        never exceeds the largest local loss.
        """
        caps = self.caps
        return self.price_per_nat * (caps.central + caps.local)

    @property
    def lattice(self) -> int:
        """Number A of lattice steps for a weight of 1, from public parameters alone."""
        finite_tops = [float(rule.levels.max(initial=self.psi_floor)) for rule in self.rules]
        return lattice_for(self.people, max(finite_tops) / self.psi_floor)

    # ---- promises

    def guarantees(self) -> Guarantees:
        from confide.acquisition.guarantees import two_part_guarantees

        return two_part_guarantees(self)

    def events(self) -> tuple[ZCDPEvent, ...]:
        """The privacy event of one record of each person, at the largest local loss that any reports can lead to."""
        return (ZCDPEvent(rho=self.concentrated(self.caps.local), neighbours=Relation.REPLACE,
                          label=ONE_RECORD),)

    def group_guess(self, size: int, audience: Audience) -> float:
        """Upper bound on the probability that an audience guesses right about the records of a group of `size` people.
        Towards an audience that sees single noisy records, the noise of each device protects the group. Towards the
        public, the noise in the sum protects the group.
        """
        alone = audience is not Audience.PUBLIC
        return least_right(size * self.caps.local if alone else size**2 * self.caps.central, self.order)

    def lines(self) -> tuple[Line, ...]:
        return tuple(OnDevices(name=ONE_RECORD, event=event) for event in self.events())

    def concentrated(self, epsilon: float) -> float:
        """The zCDP parameter rho = epsilon/alpha of a Renyi loss epsilon at the mechanism's order alpha, rounded up
        such that alpha rho is at least epsilon.
        """
        rho = epsilon / self.order
        return rho if Fraction(rho) * Fraction(self.order) >= Fraction(epsilon) else math.nextafter(rho, math.inf)

    # ---- the platform before records

    def contracts(self, reports: ArrayLike) -> Contracts:
        """Compute the weight, noise and payment of everybody. With `largest_local_loss`, the result may be that nothing
        is bought.

        The report of a participant who did not report, or who declined, is nan. Contracts are computed again without a
        participant who declines, before the first record is sent.

        Args:
            reports: (n,) sensitivities c, nan where there is none: an array, a series, an Arrow column, or a frame or a
                file of one column.

        Raises:
            InvalidInput: not n reports, no report at all, or a report that the prior cannot produce. The error does not
                say whose report is at fault.
        """
        c = column_of_numbers("reports", reports)
        if c.shape != (self.people,):
            raise InvalidInput("reports", f"have shape {c.shape}",
                               f"must have shape ({self.people},), with nan for no "
                               "report")
        here = ~np.isnan(c)
        if not here.any():
            raise InvalidInput("reports", "hold no report", "at least one person must take part")
        found = self.payment_rule.pay(np.where(here, c, 0.0), present=here)
        solution = found.solution
        exact = found.payments * self.price_per_nat
        if not solution.winners.size:
            return Contracts(lattice=None, payments=np.zeros(0, np.int64), solution=solution, exact=exact)
        lattice = integer_contracts(solution.weights, solution.epsilon_local, self.order, lattice=self.lattice,
                                    low=self.low, high=self.high)
        coins = np.ceil(exact[lattice.index] * self.minor_units)
        return Contracts(lattice=lattice, payments=coins.astype(np.int64), solution=solution, exact=exact)

    # ---- a participant's side

    def submit(self, private: Any, offer: Any = None, noise: NoiseSource | None = None) -> Any:
        """A person's report while there is no offer, or the person's record with their own noise under an offered
        contract.

        Args:
            private: sensitivity c of the person; with a contract, the person's record. The value None means that the
                person takes no part. A pair (record, contract) stands for a record under that contract.
            offer: the person's `LatticeContract`.
            noise: `Noise.secure()`, for a record. Each call of `submit` draws new noise, so only one result may be
                sent.

        Returns:
            The sensitivity c, or the noisy record as a whole number; None for taking no part.

        Raises:
            InvalidInput: a report that the prior cannot produce, or no valid record. The error message is for that
                person alone.
            NotGuaranteed: the contract's noise does not keep the level that it promises.
        """
        if isinstance(private, tuple):
            private, offer = private
        if private is None:
            return None
        if offer is None:
            weight = non_negative("private", private, at_most=1.0)
            if len(self.rules) == 1:
                self.rules[0].piece_of(weight)
            return weight
        if not isinstance(offer, LatticeContract):
            raise InvalidInput("offer", f"{type(offer).__name__} is not a contract", "must be a LatticeContract")
        self.check_contract(offer)
        return perturb(private, offer, as_noise(noise)).message

    def check_contract(self, contract: LatticeContract) -> None:
        """Check that a contract keeps the bounds that the plan sets for everybody.

        Raises:
            InvalidInput: the contract is for another range or order, or it promises less privacy than the plan's caps.
        """
        if (contract.order, contract.low, contract.high) != (self.order, self.low, self.high):
            raise InvalidInput("contract", "has another order or range", "must be a contract of this campaign")
        if contract.epsilon_local > self.caps.local or contract.epsilon_central > self.caps.central:
            local, central = (printed(each, up=False, digits=6) for each in (self.caps.local, self.caps.central))
            raise InvalidInput("contract", "has a larger loss than the plan allows for anybody",
                               f"must be at most {local} towards the platform, and {central} towards the public")

    # ---- the platform with records

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[MeanBillboard, ErrorCertificate]:
        """Add up the messages, with additional noise in place of participants who sent nothing.

        Args:
            data: `ContractedRecords`, or batches of them. A participant in no batch had no contract, or withdrew.
                `Contracts.records` builds `ContractedRecords` from a table of messages.
            noise: `Noise.secure()` for a release. Noise is drawn only where somebody sent nothing.
            progress: function that is called with the number of steps done and the number of all steps, 2. Step 1 is
                the sum of the messages, and step 2 is the release.

        Raises:
            InvalidInput: the data are no batches of `ContractedRecords`, or a participant has two entries. The error
                does not name the participant.
        """
        source = as_noise(noise)
        advance(progress, 0, 2)
        seen, payments = np.zeros(self.people, dtype=np.bool_), np.zeros(self.people, dtype=np.int64)
        levels = np.zeros((2, self.people))
        total = steps = present = rows = 0
        variances: set[int] = set()
        for batch in as_record_batches(data, self.people):
            seen[batch.index] = True
            rows += len(batch.index)
            here = batch.sent
            if not plausible(batch.message[here], batch.steps[here], batch.noise_std[here]).all():
                raise InvalidInput("data", "a message is beyond the range of a device",
                                   "leave out the record, or ask for it again")
            if len(batch.index):
                variances.add(batch.variance)
            total += exact_sum(batch.message[here])
            steps += int(batch.steps[here].sum())
            present += sum(s * s for s in batch.noise_std[here].tolist())
            payments[batch.index[here]] = batch.payment[here]
            levels[:, batch.index[here]] = batch.epsilon_local[here], batch.epsilon_central[here]
        if np.count_nonzero(seen) < rows:
            raise InvalidInput("data", "a person's contract occurs twice")  # never says whose
        advance(progress, 1, 2)
        variance = variances.pop() if variances else 0
        if variances or variance < present or steps > self.lattice:
            raise InvalidInput("data", "does not come from one round of contracts")
        absent = covered_noise_std(variance - present)
        if absent and steps:
            total = add_missing_noise(source, total, absent, missing_variance=variance - present)
        if not steps:
            total = 0
        board = MeanBillboard(total=total, steps=steps)
        advance(progress, 2, 2)
        return self._outcome(noise, billboard=board, certificate=self.certify(board), shares=pa.table({
            "payment": payments, "epsilon_local": levels[0], "epsilon_central": levels[1]}))

    def simulate(
        self, reports: ArrayLike, records: Sequence[float] | ArrayLike, noise: Noise
    ) -> SimulatedOutcome[MeanBillboard, ErrorCertificate]:
        """Simulate all three phases, with every participant's device, for a study.

        Args:
            reports: (n,) sensitivities c, nan where there is none.
            records: (n,) records of all people, in the unit of the range. A record beyond the range counts as the
                nearer end of the range.
            noise: `Noise.simulated(seed)`.

        Raises:
            InvalidInput: the noise is meant for a real release, or there are not n records.
        """
        x = column_of_numbers("records", records)
        if x.shape != (self.people,):
            raise InvalidInput("records", f"have shape {x.shape}",
                               f"must have shape ({self.people},), with nan for no "
                               "record")
        if as_noise(noise).release_safe and not noise.audited:
            raise InvalidInput("noise", "is secure, but a rehearsal is not a release", "use Noise.simulated(seed)")
        made = self.contracts(reports)
        outcome = self.run(made.records(self.play(made, x, noise)), noise)
        return cast("SimulatedOutcome[MeanBillboard, ErrorCertificate]", outcome)

    def play(self, contracts: Contracts, records: NDArray[np.float64], noise: Noise) -> dict[int, int]:
        """Mapping from a participant's rank to the message that the participant's device would send. A record of nan
        sends nothing.

        Args:
            contracts: contracts of all participants.
            records: (n,) records in the unit of the range.
            noise: source of the noise.
        """
        return self.play_on(contracts.terms, records, noise)

    def play_on(self, terms: ContractTerms, records: NDArray[np.float64], noise: Noise) -> dict[int, int]:
        """Mapping from a participant's rank to the message that the participant's device would send, from the table of
        contracts. A record of nan sends nothing.
        """
        sent = {}
        for row, rank in enumerate(terms.index.tolist()):
            if not math.isnan(records[rank]):
                own = LatticeContract(
                    int(terms.steps[row]), int(terms.noise_std[row]), float(terms.epsilon_local[row]),
                    float(terms.epsilon_central[row]), self.order, self.low, self.high)
                sent[rank] = perturb(float(records[rank]), own, noise, stream=("record", rank)).message
        return {rank: message for rank, message in sent.items() if message is not None}

    def estimate(self, billboard: MeanBillboard) -> float:
        """The estimate of the mean, in the unit of a record; nan where nobody sent a record."""
        if not billboard.steps:
            return math.nan
        share = Fraction(billboard.total, billboard.steps)
        return float(Fraction(self.low) + (Fraction(self.high) - Fraction(self.low)) * share)

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """One participant's payment and privacy losses, from their contract and whether their message arrived.

        Args:
            record: `Contracted`, or the participant's row of `ContractedRecords` in any form (`as_contracted`); None
                for a person without a contract.
            index: the participant's rank in the public list of ids.
            billboard: billboard of the run. The share does not depend on the numbers of the billboard.

        Returns:
            {"payment": in the smallest units of the currency, "epsilon_local": nats, "epsilon_central": nats}.
        """
        if not isinstance(billboard, MeanBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a MeanBillboard")
        if not 0 <= whole("index", index) < self.people:
            raise InvalidInput("index", f"{index} is out of range", f"must be in 0..{self.people - 1}")
        mine = as_contracted(record)
        if mine is None or not mine.sent:
            return {"payment": 0, "epsilon_local": 0.0, "epsilon_central": 0.0}
        return {"payment": mine.payment, "epsilon_local": mine.epsilon_local, "epsilon_central": mine.epsilon_central}

    @property
    def mse_bound(self) -> float:
        """Upper bound on the mean squared error for any reports, if everybody who agreed sends a record, in squared
        units of a record.
        """
        floor = self.people * (SMALLEST / self.lattice) ** 2  # no noise is less than so many steps
        return (self.caps.error_cost / self.error_price + floor) * self.width**2 * _INTEGERS

    def certify(self, billboard: Billboard) -> ErrorCertificate:
        """The certificate of a run. If a participant sends nothing, their weight is missing but the variance of the
        noise stays, so the bound on the error grows by a factor of at most (A/A')^2, where A' of the A steps were
        received.
        """
        if not isinstance(billboard, MeanBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a MeanBillboard")
        share = billboard.steps / self.lattice
        return ErrorCertificate(share=share, mse=self.mse_bound / share**2 if share else math.inf)

    def check(self, billboard: Billboard) -> None:
        """Check that the published steps and total are possible on the mechanism's lattice.

        Raises:
            InvalidInput: the steps are more than the lattice has, or the steps are 0 and the total is not 0.
        """
        if not isinstance(billboard, MeanBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a MeanBillboard")
        if billboard.steps > self.lattice:
            raise InvalidInput("billboard.steps", "exceed the number of steps of the lattice",
                               f"must be at most {self.lattice}")
        if not billboard.steps and billboard.total:
            raise InvalidInput("billboard.total", "is not 0, but the sum has no records", "must be 0")
