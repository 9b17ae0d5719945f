"""Synthetic instances for studies, benchmarks and predictions, and markets that measure how much a mechanism leaks.

In instance A tastes differ. In instance B needs differ too. In sparse instances each bidder values only a few goods.

The markets that measure leaks consist of small markets, called gadgets, each with one secret bit. For each market a
rule guesses the bits from an output. Exact prices of single copies reveal all bits, and an exact optimum lets spies
guess three bits in four. With a private mechanism nobody can guess many more than half of the bits.

Source: Wu 2017, proofs of Theorems 4.5.2 and 4.5.4; spec allocation 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator

__all__ = ["PriceGadgets", "SpyGadgets", "instance_a", "instance_b", "sparse_instance"]

# ---- instances

_CHUNK = 2**20  # numbers that are drawn in one go: a table needs no second copy
_COMMON, _OWN = 0.4, 0.6
_LEAST_NEED = 0.1


def instance_a(people: int, goods: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Instance A, in which tastes differ. The value of good j to bidder i is

        v_ij = 0.4 j/(k - 1) + 0.6 U_ij

    with independent U_ij, uniform on [0, 1).

    The exact optimal welfare per bidder, OPT/n, is .62588 with 10^5 bidders, 20 goods and 4,000 copies of each (seed 0;
    .62588 to .62602 on seeds 0 to 3). OPT/n is .63431 with 10^6 bidders, 50 goods and 16,000 copies of each.

    Args:
        people: number n >= 1 of bidders.
        goods: number k >= 1 of goods. With a single good, the first term is 0.
        seed: seed of the draws.

    Returns:
        Values in [0, 1], shape (n, k).

    Raises:
        InvalidInput: a size below 1.

    Source: spec allocation 4.3.

    Example:
        >>> instance_a(2, 3, seed=1).round(2).tolist() == instance_a(2, 3, seed=1).round(2).tolist()
        True
    """
    return _dense(people, goods, seed, needs=False)


def instance_b(people: int, goods: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Instance B, in which needs differ too: instance A with the row of bidder i multiplied by 0.1 + 0.9 theta_i, where
    theta_i is uniform on [0, 1).

    In instance B it matters which bidders go without a good. Prices find the bidders who need a good least, and an
    order of arrival does not. The exact optimal welfare per bidder, OPT/n, is .40424 with 10^5 bidders, 20 goods and
    4,000 copies of each (seed 0; .40325 to .40424 on seeds 0 to 3). OPT/n is .26052 with 10^6 bidders, 50 goods and
    8,000 copies of each.

    Args:
        people: number n >= 1 of bidders.
        goods: number k >= 1 of goods.
        seed: seed of the draws. The tastes are those of instance A with the same seed.

    Returns:
        Values in [0, 1], shape (n, k).

    Raises:
        InvalidInput: a size below 1.

    Source: spec allocation 4.3.

    Example:
        >>> bool((instance_b(50, 4, seed=2) <= instance_a(50, 4, seed=2)).all())
        True
    """
    return _dense(people, goods, seed, needs=True)


def _dense(people: int, goods: int, seed: int, *, needs: bool) -> NDArray[np.float32]:
    n, k = whole("people", people, at_least=1), whole("goods", goods, at_least=1)
    draw = study_generator(seed, "instance")
    common = _common(k)
    need = np.ones(n)
    if needs:
        later = study_generator(seed, "instance")
        later.bit_generator.advance(n * k)  # type: ignore[attr-defined]  # needs are drawn after all tastes
        need = _LEAST_NEED + (1.0 - _LEAST_NEED) * later.random(n)
    table = np.empty((n, k), dtype=np.float32)
    height = max(1, _CHUNK // k)
    for start in range(0, n, height):
        part = table[start : start + height]
        part[:] = (common + _OWN * draw.random(part.shape)) * need[start : start + height, None]
    return table


def _common(goods: int) -> NDArray[np.float64]:
    return np.asarray(_COMMON * np.linspace(0.0, 1.0, goods))


def sparse_instance(people: int, goods: int, *, named: int = 20, seed: int = 0) -> scipy.sparse.csr_array:
    """A sparse instance: each bidder values `named` goods, drawn as a uniform random subset, with values as in instance
    A.

    The exact optimal welfare per bidder, OPT/n, is .62584 with 10^5 bidders, 1,000 goods and 80 copies of each (seed
    0). OPT/n is .62585 with 10^6 bidders, 10^4 goods and 80 copies of each.

    Args:
        people: number n >= 1 of bidders.
        goods: number k >= 1 of goods.
        named: number of goods that one bidder values, in 1..k.
        seed: seed of the draws.

    Returns:
        Sparse float32 table, shape (n, k), with `named` entries in each row. The values of all goods that were not
        drawn are 0.

    Raises:
        InvalidInput: a size out of range.

    Source: spec allocation 12.

    Example:
        >>> table = sparse_instance(1000, 300, named=20, seed=1)
        >>> table.shape, table.nnz, table.has_canonical_format
        ((1000, 300), 20000, True)
    """
    n, k = whole("people", people, at_least=1), whole("goods", goods, at_least=1)
    if whole("named", named, at_least=1) > k:
        raise InvalidInput("named", f"each person names {named} goods, but there are only {k}", f"must be at most {k}")
    draw = study_generator(seed, "sparse instance")
    common = _common(k)
    names, values = np.empty((n, named), dtype=np.int32), np.empty((n, named), dtype=np.float32)
    height = max(1, _CHUNK // (named if _seldom_twice(named, k) else k))
    for start in range(0, n, height):
        part = slice(start, min(n, start + height))
        chosen = _subsets(draw, part.stop - start, k, named)
        names[part] = chosen
        values[part] = common[chosen] + _OWN * draw.random(chosen.shape)
    starts = np.arange(0, n * named + 1, named, dtype=np.int64)
    table = scipy.sparse.csr_array((values.reshape(-1), names.reshape(-1), starts), shape=(n, k))
    table.has_canonical_format = True
    return table


def _seldom_twice(named: int, goods: int) -> bool:
    """Whether `named` independent choices among the goods seldom repeat a good."""
    return named * named <= goods


def _subsets(draw: Any, rows: int, goods: int, named: int) -> NDArray[np.int64]:
    """Uniform random subsets of `named` goods, one for each row, in ascending order."""
    if not _seldom_twice(named, goods):
        keys = draw.random((rows, goods))
        return np.sort(np.argpartition(keys, named - 1, axis=1)[:, :named], axis=1)
    chosen = np.sort(draw.integers(goods, size=(rows, named)), axis=1)
    while True:
        again = np.flatnonzero((np.diff(chosen, axis=1) == 0).any(axis=1))
        if not len(again):
            return chosen
        chosen[again] = np.sort(draw.integers(goods, size=(len(again), named)), axis=1)


# ---- gadgets

_Bits = NDArray[np.bool_]


def _bits(field: str, value: ArrayLike) -> _Bits:
    found = np.asarray(value)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "biu" or not np.isin(found, (0, 1)).all():
        raise InvalidInput(field, "is not a row of bits", "must be one bit or more, each 0 or 1")
    return found.astype(np.bool_)


def _rows(goods: NDArray[np.int64], worth: NDArray[np.float64], columns: int) -> scipy.sparse.csr_array:
    """A table of values in which each bidder wants one good."""
    return scipy.sparse.csr_array((worth, goods, np.arange(len(goods) + 1)), shape=(len(goods), columns))


@dataclass(frozen=True, kw_only=True, eq=False)
class PriceGadgets:
    """A market with two bidders and two goods, of one copy each, for each secret bit. The good that stands for the bit
    is worth 1 to both bidders of the bit. All other goods are worth 0 to them.

    The bidders of bit b are 2b and 2b + 1. Good 2b stands for a bit of 0, and good 2b + 1 for a bit of 1.

    Args:
        bits: secret bits, shape (b,).

    Raises:
        InvalidInput: an entry other than 0 and 1, or no bit.

    Example:
        >>> market = PriceGadgets(bits=[1, 0])
        >>> market.values.toarray().tolist()[1:3]
        [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
        >>> market.recovered([0.0, 1.0, 1.0, 0.0])
        1.0
    """

    bits: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", _bits("bits", self.bits))

    @classmethod
    def drawn(cls, gadgets: int, *, seed: int = 0) -> PriceGadgets:
        """Draw a market with independent bits, each 1 with probability 1/2."""
        return cls(bits=study_generator(seed, "price gadgets").random(whole("gadgets", gadgets, at_least=1)) < 0.5)

    @property
    def people(self) -> int:
        """The number of bidders, n."""
        return 2 * len(self.bits)

    @property
    def goods(self) -> int:
        """The number of goods, k."""
        return 2 * len(self.bits)

    @property
    def supply(self) -> int:
        """Number of copies of each good."""
        return 1

    @property
    def values(self) -> scipy.sparse.csr_array:
        """Valuations of all bidders, shape (n, k)."""
        wanted = np.repeat(2 * np.arange(len(self.bits)) + self.bits, 2)
        return _rows(wanted, np.ones(self.people), self.goods)

    def recovered(self, prices: ArrayLike) -> float:
        """The share of bits that prices reveal, in [0, 1]. A bit that the prices show correctly counts as 1, a bit that
        the prices show wrongly as 0, and any other bit as one half.

        The prices show a bit if one price of its gadget is above 1/2 and the other is not.

        Args:
            prices: price of each good, shape (k,).
        """
        at = np.asarray(prices, dtype=np.float64)
        if at.shape != (self.goods,):
            raise InvalidInput("prices", f"their shape is {at.shape}", f"must be ({self.goods},)")
        zero, one = at.reshape(-1, 2).T > 0.5
        return float(np.where(zero == one, 0.5, one == self.bits).mean())


@dataclass(frozen=True, kw_only=True, eq=False)
class SpyGadgets(Declared):
    """A market with one real bidder, s spies and two goods of s copies for each secret bit.

    The good that stands for the bit is worth 1 to the real bidder. All spies of a gadget want the same one of the two
    goods, drawn with probability 1/2 each. If all spies of a gadget hold the same good, they guess that the real bidder
    wants the other good. If the real bidder had wanted the spies' good, one spy would not have got a copy.

    The bidders of bit b are b (s + 1) to b (s + 1) + s, the real bidder first. Good 2b stands for a bit of 0, and good
    2b + 1 for a bit of 1.

    Raises:
        InvalidInput: a bit or taste other than 0 and 1, or a number out of range.

    Example:
        >>> market = SpyGadgets(supply=2, bits=[1], tastes=[0])
        >>> market.values.toarray().tolist()
        [[0.0, 1.0], [0.125, 0.0], [0.125, 0.0]]
        >>> market.recovered([1, 0, 0])
        1.0
    """

    supply: Annotated[int, Parameter("copies of each good, and spies of each gadget", symbol="s", at_least=1)]
    bits: Annotated[Any, Parameter("(b,) secret bit of each gadget")]
    tastes: Annotated[Any, Parameter("(b,) good that the spies of each gadget want")]
    worth: Annotated[float | None, Parameter("value of that good to the spies; by default the printed 1/(4s)", above=0,
                                             at_most=1)] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("bits", "tastes"):
            object.__setattr__(self, name, _bits(name, getattr(self, name)))
        if len(self.tastes) != len(self.bits):
            raise InvalidInput("tastes", f"{len(self.tastes)} for {counted(len(self.bits), 'bit')}",
                               "must be one for each bit")
        object.__setattr__(self, "worth", 1.0 / (4 * self.supply) if self.worth is None else float(self.worth))

    @classmethod
    def drawn(cls, gadgets: int, supply: int, *, worth: float | None = None, seed: int = 0) -> SpyGadgets:
        """Draw a market with independent bits and tastes of the spies, each 1 with probability 1/2."""
        draw = study_generator(seed, "spy gadgets").random((2, whole("gadgets", gadgets, at_least=1))) < 0.5
        return cls(supply=supply, bits=draw[0], tastes=draw[1], worth=worth)

    @property
    def people(self) -> int:
        """The number of bidders, n."""
        return len(self.bits) * (self.supply + 1)

    @property
    def goods(self) -> int:
        """The number of goods, k."""
        return 2 * len(self.bits)

    @property
    def values(self) -> scipy.sparse.csr_array:
        """Valuations of all bidders, shape (n, k)."""
        gadgets, s = len(self.bits), self.supply
        real = (np.arange(self.people) % (s + 1)) == 0
        wanted = np.repeat(2 * np.arange(gadgets), s + 1) + np.where(
            real, np.repeat(self.bits, s + 1), np.repeat(self.tastes, s + 1))
        return _rows(wanted, np.where(real, 1.0, float(self.worth or 0.0)), self.goods)

    def right(self, allocation: ArrayLike) -> NDArray[np.float64]:
        """The probability that the spies guess each bit right, shape (b,): 1, 0, or 1/2 for a random guess.

        Args:
            allocation: good of each bidder, shape (n,), with -1 for none. The guesses use only the goods of the spies.
        """
        held = np.asarray(allocation)
        if held.shape != (self.people,):
            raise InvalidInput("allocation", f"its shape is {held.shape}", f"must be ({self.people},)")
        spies = held.reshape(len(self.bits), self.supply + 1)[:, 1:] - 2 * np.arange(len(self.bits))[:, None]
        together = (spies == spies[:, :1]).all(axis=1) & np.isin(spies[:, 0], (0, 1))
        return np.where(together, ((spies[:, 0] == 0) == self.bits).astype(np.float64), 0.5)

    def recovered(self, allocation: ArrayLike) -> float:
        """The share of bits that the spies guess right, in [0, 1]. A random guess counts as one half.

        Args:
            allocation: good of each bidder, shape (n,), with -1 for none.
        """
        return float(self.right(allocation).mean())

    @property
    def optimum(self) -> NDArray[np.int64]:
        """An allocation with the largest welfare, shape (n,), with -1 for none. Every real bidder gets the good that
        they want. The spies get the remaining copies of the good that the spies want.
        """
        held = np.repeat(2 * np.arange(len(self.bits)) + self.tastes, self.supply + 1)
        held[:: self.supply + 1] = 2 * np.arange(len(self.bits)) + self.bits
        last = np.flatnonzero(self.bits == self.tastes) * (self.supply + 1) + self.supply
        held[last] = -1
        return held.astype(np.int64)
