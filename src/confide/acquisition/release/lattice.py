"""The integer release: noisy records on one common lattice, so that the published sum does not reveal its summands.

Each contract states a weight and a noise scale as integers. A record is measured in `steps` a_i of one lattice, and a
participant's own client adds discrete Gaussian noise of whole standard deviation `noise_std` s_i. Only two numbers are
published: Y, the sum of the messages, and A', the sum of the steps. The estimate is low + (high - low) Y/A'. Lattice
noise under real-valued weights would be unsafe, because each value of a sum with such weights arises in only one way
and so reveals every summand.

A `LatticeContracts` object exists only if its integers keep the promised levels. The levels towards the platform and
the public are checked in exact arithmetic, and for every Renyi order. Let rho_i = epsilon_i/alpha be a promised level
divided by its order. Towards the platform, the code checks that a_i^2/(2 s_i^2) <= rho_i, because an integer shift of
discrete Gaussian noise costs at most b a_i^2/(2 s_i^2) at every order b. Towards the public, the probabilities of the
sum of the noises are within a factor e^(+-t) of the probabilities of one discrete Gaussian of variance T = sum s_j^2,
where t = 5 (active - 1) e^(-pi^2 min s^2) < 1e-260. The factor is so close to 1 because merging two noises leaves a
theta function of the unknown split, which is nearly constant. Therefore the divergence of order b towards the public is
at most b a_i^2/(2 T) + (2 b - 1) t/(b - 1). For b >= 1 + 2^-400 the bound on the divergence of order b is below b rho_i
as soon as

    (1 + 2^-400) (a_i^2/(2 T) + 2^401 t) <= rho_i.

The promised level also holds at orders below 1 + 2^-400, since the divergence increases with the order. The code checks
the inequality between contract and promised level for every participant.

A message has 64 bits for any record (`Perturbed.wire`) and is sent once, because two messages of one record compose.
The running time of a client depends on the contract and on its noise. The time depends on the record only by
nanoseconds, through integers of different lengths. Since the running time depends on the noise, messages are better
sent at a fixed time of day than right after they are made. The published numbers Y and A' are a single release: sums
over different sets of senders would reveal their difference.

Source: spec two_part_acquisition section 2 (release code).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Rational, Real
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.release.losses import (
    SMALLEST,
    ReleaseLosses,
    absentee_sigma,
    as_order,
    covered_noise_std,
    exact_sum,
    plausible,
)
from confide.contract.checks import finite, non_negative, positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.contract.parameters import Declared, Parameter
from confide.contract.probabilities import as_probabilities
from confide.contract.renamed import renamed
from confide.contract.words import counted
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.privacy.primitives.additive import add_discrete_gaussian, add_missing_noise

__all__ = [
    "COARSE",
    "FINE",
    "LatticeContract",
    "LatticeContracts",
    "LatticeRelease",
    "Perturbed",
    "aggregate",
    "integer_contracts",
    "lattice_for",
    "message_of",
    "perturb",
]

COARSE, FINE = 1 << 40, 1 << 50
"""Numbers of lattice steps for a weight of 1. COARSE is the default; FINE is for so many people that rounding weights
down would matter on the coarse lattice.
"""

ONE_RECORD = "one record"
"""Name of the line in the privacy charge for the message of one device."""

_ROOM = 2.0**19
_MARGIN = 1.0 + 2.0**-20  # of a sigma, so that the rounding of the others' weights costs nobody their level
_MERGED = Fraction(5, 2**896)  # what merging one more noise moves a log-probability, at most
_NEAR = Fraction(1, 2**400)  # orders nearer to 1 than this are judged at 1 + 2^-400
_WIDEST = int(LARGEST_SCALE)
_UP = 1.0 + 2.0**-48  # more than the rounding of a level's formula in doubles
_WHOLE = 1e-9  # how far weights may be from summing to 1

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@renamed(sigma="noise_std")
@dataclass(frozen=True)
class LatticeContract(Declared):
    """The contract of one participant: steps, noise and promised privacy levels. The contract is the only input of the
    participant's client besides the record.

    Raises:
        InvalidInput: a parameter out of range.
        NotGuaranteed: noise of this standard deviation does not keep the local level. The central level is not checked,
            since it depends on the others' noise.
    """

    steps: Annotated[int, Parameter(
        "number of lattice steps of the record's range; with 0, the person sends nothing",
                                    symbol="a_i", at_least=0, at_most=FINE)]
    noise_std: Annotated[int, Parameter(
        "standard deviation of the person's noise, at least 8; 0 if nothing is "
        "sent", symbol="s_i", unit="steps", at_least=0,
        at_most=_WIDEST)]
    epsilon_local: Annotated[float, Parameter(
        "promised Renyi divergence of this order towards the platform", unit="nats", at_least=0)]
    epsilon_central: Annotated[float, Parameter("promised Renyi divergence of this order towards the public",
                                                unit="nats", at_least=0)]
    order: Annotated[float, Parameter("order of both divergences", symbol="alpha", above=1)]
    low: Annotated[float, Parameter("public lower end of a record")] = 0.0
    high: Annotated[float, Parameter("public upper end of a record, above low")] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps:
            whole("noise_std", self.noise_std, at_least=SMALLEST)
        _check_range(self.low, self.high)
        _check_slack(np.array([self.epsilon_local]), np.array([self.epsilon_central]), asked=self.steps > 0)
        if self.steps and not _local_kept([self.steps], [self.noise_std], [self.epsilon_local], self.order):
            raise NotGuaranteed("the contract's local level", "the noise of the contract is too small",
                                "do not accept this contract")

    @property
    def active(self) -> bool:
        """Whether the contract asks for a message."""
        return self.steps > 0

    def admits(self, message: object) -> bool:
        """Whether an honest client can have sent a message: a whole number within 64 standard deviations of 0..steps.

        An honest message is further than 64 standard deviations from 0..steps with probability below e^-2000, for any
        record.
        """
        if isinstance(message, bool) or not isinstance(message, Integral):
            return False
        return bool(plausible(int(message), self.steps, self.noise_std))


@dataclass(frozen=True)
class Perturbed:
    """The message that a participant's client made of their record.

    Args:
        message: the only number that leaves the participant's side, a whole number of 64 bits; None where the contract
            asks for nothing.
        clamped: whether the record was outside the range and counts as the nearer end of the range. Only the
            participant may see `clamped`, because the frequency of clamping would be a function of private data.
    """

    message: int | None
    clamped: bool = field(repr=False)

    @property
    def wire(self) -> bytes:
        """The message in 8 bytes for any record, so that an observer of message lengths learns nothing."""
        return b"" if self.message is None else self.message.to_bytes(8, "big", signed=True)


def perturb(value: object, contract: LatticeContract, noise: Noise, *, stream: Stream = "record") -> Perturbed:
    """A participant's part of the protocol: the record is clamped to the range, measured in the lattice's steps, and
    noise is added, all exactly.

    Each call draws new noise, and two messages of one record compose. Send only one message, and store it in case the
    sending has to be repeated.

    Args:
        value: the participant's record, in the unit of the range.
        contract: the participant's own contract.
        noise: `Noise.secure()`.
        stream: name of the draw.

    Raises:
        InvalidInput: no record, or a record that is not a number. The error message is for the participant, who counts
            as absent.

    Example:
        >>> contract = LatticeContract(steps=1000, noise_std=500, epsilon_local=4.0, epsilon_central=1.0, order=2.0)
        >>> sent = perturb(1.7, contract, Noise.replayed({"record": [-31]}))
        >>> sent.message, sent.clamped
        (969, True)
    """
    if not contract.active:
        return Perturbed(None, clamped=False)
    record, clamped = _clamped(value, contract.low, contract.high)
    low, high = Fraction(contract.low), Fraction(contract.high)
    center = round(contract.steps * (record - low) / (high - low))
    sent = add_discrete_gaussian(noise, [center], noise_std=contract.noise_std,
                                 l2_sensitivity_squared=contract.steps**2, stream=stream, line=ONE_RECORD)
    return Perturbed(int(sent[0]), clamped)


def message_of(wire: bytes) -> int:
    """The message that `Perturbed.wire` encoded in 8 bytes.

    Raises:
        InvalidInput: the argument does not have 8 bytes.

    Example:
        >>> message_of(Perturbed(-3, clamped=False).wire)
        -3
    """
    if not isinstance(wire, bytes) or len(wire) != 8:
        raise InvalidInput("wire", "is not a message", "must be 8 bytes")
    return int.from_bytes(wire, "big", signed=True)


def _clamped(value: Any, low: float, high: float) -> tuple[Fraction, bool]:
    """A record moved into the range, exactly, and whether it was outside."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or math.isnan(value):
        raise InvalidInput("value", "is not a number", "a person without a record must decline before the contracts")
    if value < low:
        return Fraction(low), True
    if value > high:
        return Fraction(high), True
    if isinstance(value, Integral):
        return Fraction(int(value)), False
    return Fraction(value if isinstance(value, Rational) else float(value)), False


@renamed(sigma="noise_std")
@dataclass(frozen=True, eq=False)
class LatticeContracts(Declared):
    """Integer contracts of all participants. Only participants with at least one step are listed; the others send
    nothing.

    Args:
        index: (k,) ranks of the participants who send something, increasing.
        steps: (k,) steps a_i >= 1.
        noise_std: (k,) noise scales s_i in 8..2^55.
        epsilon_local: (k,) promised levels towards the platform, at the given order.
        epsilon_central: (k,) promised levels towards the public, at the given order.

    Raises:
        InvalidInput: a parameter out of range.
        NotGuaranteed: the integers do not keep a promised level.
    """

    people: Annotated[int, Parameter("people who registered", symbol="n", at_least=1)]
    index: Integers
    steps: Integers
    noise_std: Integers
    epsilon_local: Floats
    epsilon_central: Floats
    order: Annotated[float, Parameter("order of both divergences", symbol="alpha", above=1)]
    lattice: Annotated[int, Parameter("steps of a weight of 1", symbol="A", at_least=1, at_most=FINE)]
    low: Annotated[float, Parameter("public lower end of a record")] = 0.0
    high: Annotated[float, Parameter("public upper end of a record, above low")] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_range(self.low, self.high)
        size = len(self.index)
        for name in ("index", "steps", "noise_std"):
            _check_integers(name, getattr(self, name), size)
        for name in ("epsilon_local", "epsilon_central"):
            _check_levels(name, getattr(self, name), size)
        _check_slack(self.epsilon_local, self.epsilon_central, asked=True)
        if not size or self.index[0] < 0 or self.index[-1] >= self.people or (np.diff(self.index) <= 0).any():
            raise InvalidInput("index", "is not a list of people", f"must increase within 0..{self.people - 1}")
        if self.steps.min() < 1 or self.steps.max() > self.lattice:
            raise InvalidInput("steps", "are out of range", "must be positive and fit the lattice")
        if self.noise_std.min() < SMALLEST or self.noise_std.max() > LARGEST_SCALE:
            raise InvalidInput("noise_std", "is out of range", f"must be in {SMALLEST}..2^55")
        steps, sigma = self.steps.tolist(), self.noise_std.tolist()
        if not _local_kept(steps, sigma, self.epsilon_local.tolist(), self.order):
            raise NotGuaranteed("the contracts' local level", "the loss by the integers of the contracts is larger",
                                "use a finer lattice")
        if not self._central_kept(steps):
            raise NotGuaranteed("the contracts' central level", "the loss by the integers of the contracts is larger",
                                "use a finer lattice")

    @property
    def active(self) -> int:
        """Number of participants who are asked for a message."""
        return len(self.index)

    @cached_property
    def total_steps(self) -> int:
        """Sum A' of the steps that is published where nobody is absent."""
        return int(self.steps.sum())

    @cached_property
    def noise_variance(self) -> int:
        """The exact variance sum s_j^2 of the noise in the sum, in squared steps."""
        return sum(s * s for s in self.noise_std.tolist())

    @property
    def merging(self) -> Fraction:
        """Upper bound on t: the log-probabilities of the sum of noises differ by at most t from the log-probabilities
        of one discrete Gaussian.
        """
        return _MERGED * (self.active - 1)

    @cached_property
    def losses(self) -> ReleaseLosses:
        """Losses of the integer contracts for each of the n registered people towards every audience, up to rounding of
        doubles.
        """
        shifts, variances = np.zeros(self.people), np.zeros(self.people)
        shifts[self.index], variances[self.index] = self.steps, np.square(self.noise_std.astype(np.float64))
        return ReleaseLosses(shifts, variances, self.order)

    @property
    def delivered_local(self) -> Floats:
        """Actual loss of the integers towards the platform, alpha a_i^2/(2 s_i^2), shape (k,), rounded up by at most a
        relative 2^-48.
        """
        return self.losses.local[self.index] * _UP

    @property
    def delivered_central(self) -> Floats:
        """Actual loss of the integers towards the public, alpha a_i^2/(2 sum s_j^2), shape (k,), rounded up with room
        for t.
        """
        return self.losses.central[self.index] * _UP

    def of(self, person: int) -> LatticeContract:
        """The contract of the participant with the given rank among the registered people."""
        if whole("person", person) >= self.people:
            raise InvalidInput("person", f"{person} is out of range", f"must be in 0..{self.people - 1}")
        k = int(np.searchsorted(self.index, person))
        if k == self.active or self.index[k] != person:
            return LatticeContract(0, 0, 0.0, 0.0, self.order, self.low, self.high)
        return LatticeContract(int(self.steps[k]), int(self.noise_std[k]), float(self.epsilon_local[k]),
                               float(self.epsilon_central[k]), self.order, self.low, self.high)

    def mse(self, variance: float, present: ArrayLike | None = None) -> float:
        """Mean squared error of the estimate for records of the given variance, in squared widths of the range.

        Args:
            variance: variance of a record in squared widths, in [0, 1/4].
            present: (k,) whether each active participant sent their message; everybody did if left out. The noise that
                the platform adds for the absent is included in the error.

        Returns:
            `variance` * (sum of a_i^2)/A'^2 + (sum of s_i^2)/A'^2, where A' is the sum of the steps of the participants
            who are present. The rounding of records is not included; see `rounding_bias`.
        """
        here = _as_present(present, self.active)
        total = float(self.steps[here].sum())
        if not total:
            return math.inf
        spread = float(((self.steps[here] / total) ** 2).sum())
        return non_negative("variance", variance, at_most=0.25) * spread + self._variance_with(here) / total**2

    def rounding_bias(self, present: ArrayLike | None = None) -> float:
        """Largest change of the estimate by rounding records to steps, in widths of the range: active/(2A')."""
        here = _as_present(present, self.active)
        return float(np.count_nonzero(here) / (2 * self.steps[here].sum())) if here.any() else 0.0

    def _variance_with(self, here: NDArray[np.bool_]) -> int:
        sigma = [*self.noise_std[here].tolist(), absentee_sigma(self.noise_std[~here])]
        return sum(s * s for s in sigma)

    def _central_kept(self, steps: list[int]) -> bool:
        """Whether (1 + 2^-400) alpha (a^2/(2T) + 2^401 t) <= epsilon_central for every participant, computed in whole
        numbers.
        """
        alpha = Fraction(self.order)
        each = (1 + _NEAR) * alpha / (2 * self.noise_variance)
        rest = (1 + _NEAR) * alpha * 2 * self.merging / _NEAR
        common = each.denominator * rest.denominator
        unit, extra = int(each * common), int(rest * common)
        for a, level in zip(steps, self.epsilon_central.tolist(), strict=True):
            above, below = level.as_integer_ratio()
            if (a * a * unit + extra) * below > above * common:
                return False
        return True


def _local_kept(steps: list[int], sigma: list[int], levels: list[float], order: float) -> bool:
    """Whether alpha a^2/(2 s^2) <= epsilon_local for every participant, computed in whole numbers."""
    p, q = float(order).as_integer_ratio()
    for a, s, level in zip(steps, sigma, levels, strict=True):
        above, below = level.as_integer_ratio()
        if p * a * a * below > 2 * q * s * s * above:
            return False
    return True


def lattice_for(people: int, cost_ratio: float) -> int:
    """Number of lattice steps, from public parameters alone, so that the offer can state it.

    Let w_j be the weights, y_j the local levels, S = sum w_j^2/y_j, and A the number of steps. Rounding weights down
    lowers sum a_j^2/y_j by a relative 2 R/A at most, where R = sum_active(w_j/y_j)/S. At the optimum w_j/y_j is
    proportional to the root of the virtual cost, so that R <= people sqrt(cost_ratio). The lattice allows a relative
    change of 2^-20.

    Args:
        people: number n of registered people.
        cost_ratio: largest finite virtual cost divided by the smallest one, >= 1, according to the public rules.

    Returns:
        2^40, or 2^50 where so many people may take part that 2^40 might not be enough.

    Example:
        >>> lattice_for(1000, 200.0) == COARSE, lattice_for(10**6, 200.0) == FINE
        (True, True)
    """
    ratio = positive("cost_ratio", cost_ratio)
    return COARSE if whole("people", people, at_least=1) * math.sqrt(max(1.0, ratio)) <= _ROOM else FINE


def integer_contracts(
    weights: ArrayLike,
    epsilon_local: ArrayLike,
    order: float,
    *,
    epsilon_central: ArrayLike | None = None,
    lattice: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> LatticeContracts:
    """Contracts in whole numbers from weights and local levels. The levels are checked again from the integers.

    The integers are a_i = floor(A w_i) and s_i = max(8, ceil((1 + 2^-20) a_i sqrt(alpha/(2 y_i)))). A participant
    without any step sends nothing.

    Args:
        weights: (n,) weights w_i >= 0, which sum to 1.
        epsilon_local: (n,) local levels y_i, > 0 and finite where w_i > 0.
        order: order alpha > 1 of the divergences.
        epsilon_central: (n,) promised central levels; by default w_i^2/S with S = sum w_i^2/y_i.
        lattice: number of steps A, a power of two up to 2^50. By default A is 2^40, or 2^50 where sum(w/y) > 2^19 S
            over the active people. The default number of steps therefore depends on the reports, while `lattice_for`
            depends on public numbers alone.
        low: public lower end of a record.
        high: public upper end of a record.

    Raises:
        InvalidInput: a parameter out of range, nobody active, or a noise scale that is larger than a contract can
            state.
        NotGuaranteed: the integers exceed a promised level.

    Source: spec two_part_acquisition section 2.

    Example:
        >>> contracts = integer_contracts([0.5, 0.5, 0.0], [1.0, 2.0, 0.0], 2.0)
        >>> contracts.steps.tolist() == [2**39, 2**39], contracts.active, contracts.of(2).active
        (True, 2, False)
        >>> contracts.delivered_central.round(5).tolist(), contracts.epsilon_central.round(5).tolist()
        ([0.66667, 0.66667], [0.66667, 0.66667])
        >>> (contracts.delivered_central <= contracts.epsilon_central).all()
        np.True_
    """
    alpha = as_order(order)
    _check_range(finite("low", low), finite("high", high))
    w = _as_weights(weights)
    y = _as_numbers("epsilon_local", epsilon_local, len(w))
    active = w > 0
    if not (np.isfinite(y[active]).all() and (y[active] > 0).all()):
        raise InvalidInput(
            "epsilon_local", "the message of a record with a weight would have no noise, or only noise",
            "must be positive and finite for a positive weight; a positive psi_floor keeps it finite")
    ratios = w[active] / y[active]
    spread = float(np.sum(w[active] * ratios))
    if epsilon_central is None:
        with np.errstate(over="ignore"):
            central = w * (w / spread)
    else:
        central = _as_numbers("epsilon_central", epsilon_central, len(w))
    if lattice is None:
        lattice = FINE if float(ratios.sum()) > _ROOM * spread else COARSE
    if whole("lattice", lattice, at_least=1) > FINE or lattice & (lattice - 1):
        raise InvalidInput("lattice", f"{lattice} cannot be used", "must be a power of two up to 2^50")
    steps = np.minimum(np.floor(lattice * w), lattice)  # exact: the lattice is a power of two
    index = np.flatnonzero(steps > 0)
    if not index.size:
        raise InvalidInput("weights", "no weight reaches one step of the lattice", "use a finer lattice")
    sigma = np.maximum(SMALLEST, np.ceil(_MARGIN * steps[index] * np.sqrt(alpha / (2.0 * y[index]))))
    if not (sigma <= LARGEST_SCALE).all() or np.sqrt(np.sum(np.square(sigma))) > LARGEST_SCALE:
        raise InvalidInput("epsilon_local", "the noise would exceed 64-bit messages",
                           "must be larger; a larger mse_price gives larger levels")
    return LatticeContracts(len(w), index, steps[index].astype(np.int64), sigma.astype(np.int64), y[index],
                            central[index], alpha, lattice, low, high)


@dataclass(frozen=True)
class LatticeRelease:
    """The published numbers of the integer release.

    Args:
        total: sum Y of the messages and of the platform's noise for absentees.
        steps: sum A' of the steps of the participants who are present.
        low: public lower end of a record.
        high: public upper end of a record.
    """

    total: int
    steps: int
    low: float = 0.0
    high: float = 1.0

    @property
    def estimate(self) -> float:
        """The estimate low + (high - low) Y/A', without bias where all records lie in the range."""
        low, high = Fraction(self.low), Fraction(self.high)
        return float(low + (high - low) * Fraction(self.total, self.steps))

    @property
    def clipped(self) -> float:
        """The estimate, clipped to the range. The clipped estimate is at least as near to every possible mean, but it
        has a bias.
        """
        return min(max(self.estimate, self.low), self.high)


def aggregate(
    contracts: LatticeContracts, index: ArrayLike, messages: ArrayLike, noise: Noise | None = None
) -> LatticeRelease:
    """The platform's part of the protocol: the exact sum of the messages, with noise in place of absentees.

    For absentees the platform adds discrete Gaussian noise of their total variance, rounded up, and divides by the
    steps of the participants who are present. Every level stays as contracted, also towards fellow participants, and
    only the error grows. Absence must not depend on records. A message that arrives later must not be added, because
    two messages of one record compose.

    Args:
        contracts: the contracts as they were signed.
        index: (m,) ranks of the senders among the registered people, in any order.
        messages: (m,) messages of the senders, whole numbers of 64 bits.
        noise: `Noise.secure()`; needed where somebody is absent.

    Raises:
        InvalidInput: the messages do not belong to the contracts. The error does not say whose message it is.
        Refused: nobody sent anything, or somebody is absent and there is no noise.

    Example:
        >>> contracts = integer_contracts([0.5, 0.5], [1.0, 1.0], 2.0, lattice=2**10)
        >>> release = aggregate(contracts, [1], [384], Noise.replayed({"absentees": [-64]}))
        >>> release.total, release.steps, release.estimate
        (320, 512, 0.625)
    """
    who, sent = _as_int64("index", index), _as_int64("messages", messages)
    if len(who) != len(sent):
        raise InvalidInput("messages", f"{counted(len(sent), 'message')} for {len(who)} people",
                           "must be one message for each person")
    at = np.minimum(np.searchsorted(contracts.index, who), contracts.active - 1)
    if (contracts.index[at] != who).any():
        raise InvalidInput("index", "a person sent a message without a contract")
    here = np.zeros(contracts.active, dtype=np.bool_)
    here[at] = True
    if np.count_nonzero(here) < len(who):
        raise InvalidInput("index", "a person's message occurs twice",
                           "give one message for each person, since the losses of two messages add up")
    if not plausible(sent, contracts.steps[at], contracts.noise_std[at]).all():
        raise InvalidInput("messages", "a message is beyond the range of a correct device",
                                                      "refuse such a message at its submission")
    if not here.any():
        raise Refused("nobody sent a message, so there is nothing to publish")
    total = exact_sum(sent)
    missing = sum(s * s for s in contracts.noise_std[~here].tolist())
    absent = covered_noise_std(missing)
    if absent:
        if noise is None:
            raise Refused("a person who accepted a contract sent nothing",
                          "give noise for the missing message, or stop the campaign")
        total = add_missing_noise(noise, total, absent, missing_variance=missing)
    return LatticeRelease(total, int(contracts.steps[here].sum()), contracts.low, contracts.high)


def _check_range(low: float, high: float) -> None:
    if not 0 < high - low < math.inf:
        raise InvalidInput("high", f"{high!r} is out of range", f"must be above low, which is {low!r}")


def _check_slack(local: Floats, central: Floats, *, asked: bool) -> None:
    """Check that no offer has a central level above its local level, which truthfulness requires, and that the central
    level of a record is not 0.
    """
    if (central > local * _UP).any():
        raise InvalidInput("epsilon_central", "exceeds the local level",
                           "must be at most the local level, even after a declared slack is added")
    if asked and not (central > 0).all():
        raise InvalidInput("epsilon_central", "is 0 for a record with a weight", "must be positive")


def _as_weights(weights: ArrayLike) -> Floats:
    w = _as_numbers("weights", weights, None, probabilities=True)
    if not abs(math.fsum(w) - 1.0) <= _WHOLE:
        raise InvalidInput("weights", "do not sum to 1", f"must be >= 0 and sum to 1 within {_WHOLE:g}")
    return w


def _as_numbers(field_name: str, values: ArrayLike, size: int | None, probabilities: bool = False) -> Floats:
    """Array of numbers >= 0, one per person. Infinite numbers are accepted."""
    try:
        array = as_probabilities(values) if probabilities else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(field_name, "is not an array of numbers") from None
    if array.ndim != 1 or not array.size or (size is not None and len(array) != size):
        raise InvalidInput(field_name, f"shape {array.shape}", "must be one-dimensional, one number per person")
    if not (array >= 0).all():
        raise InvalidInput(field_name, "an entry is negative, or not a number", "must be >= 0")
    return array


def _as_int64(field_name: str, values: ArrayLike) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype != np.int64):
        raise InvalidInput(field_name, f"an array of shape {array.shape} and type {array.dtype}",
                           "must be one-dimensional whole numbers of 64 bits")
    return array.astype(np.int64)


def _check_integers(field_name: str, values: object, size: int) -> None:
    if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.shape != (size,):
        raise InvalidInput(field_name, "is not an array of 64-bit integers", "must be one entry per active person")


def _check_levels(field_name: str, values: object, size: int) -> None:
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != (size,):
        raise InvalidInput(field_name, "is not an array of 64-bit floats", "must be one entry per active person")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InvalidInput(field_name, "is out of range", "must be finite and >= 0")


def _as_present(present: ArrayLike | None, size: int) -> NDArray[np.bool_]:
    if present is None:
        return np.ones(size, dtype=np.bool_)
    here = np.asarray(present)
    if here.dtype != np.bool_ or here.shape != (size,):
        raise InvalidInput("present", f"an array of shape {here.shape} and type {here.dtype}",
                           "must be true or false, one entry per active person")
    return here
