"""Channels over joint types in whole numbers: their level is that of every database, and draws follow the table."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.stats import chisquare

from cases import fast
from confide.channels import Exchangeable, JointTypeMechanism, least_distortion, privacy_distortion
from confide.channels.channel import JointTypeChannel, joint_types
from confide.channels.mechanisms.coded import CodedTypes, coded_types
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.privacy import Noise
from confide.privacy.noise.balls import precision


def mixture(rows: int) -> Exchangeable:
    return Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], rows)


def listed(coded: CodedTypes) -> list[list[Fraction]]:
    """The probability of every database from every other one."""
    types, m, n = coded.types, coded.letters, coded.records
    x = np.stack(np.unravel_index(np.arange(m**n), (m,) * n), axis=1)
    out = []
    for one in x:
        line = []
        for other in x:
            counts = np.zeros((m, m), dtype=np.int64)
            np.add.at(counts, (one, other), 1)
            place = int(types.place(counts[None])[0])
            ways = math.prod(math.factorial(int(each)) for each in counts.sum(axis=1))
            ways //= math.prod(math.factorial(int(each)) for each in counts.reshape(-1))
            line.append(Fraction(coded.counts[place], ways << coded.bits))
        out.append(line)
    return out


@pytest.mark.parametrize(("letters", "rows"), [(2, 3), (3, 2)])
def test_the_level_is_that_of_all_databases(letters: int, rows: int) -> None:
    """Enumerated in fractions; the rounding up to a double is the only difference."""
    prior = Exchangeable.polya([1.0] * letters, rows)
    coded = least_distortion("dp", prior, 0.4).mechanism.coded
    table = listed(coded)
    assert all(sum(line) == 1 for line in table)
    digits = np.stack(np.unravel_index(np.arange(letters**rows), (letters,) * rows), axis=1)
    worst = max(table[i][y] / table[j][y] for i in range(len(table)) for j in range(len(table))
                if (digits[i] != digits[j]).sum() == 1 for y in range(len(table)))
    with precision(300):  # a double's own logarithm may be off by an ulp on some processors
        exact = (arb(worst.numerator) / worst.denominator).log()
        assert bool(coded.dp() >= exact)
        assert bool(math.nextafter(coded.dp(), 0.0) < exact)
    assert coded.dp() <= 0.4
    found, vector = coded.levels(prior), prior.vector()
    joint = [[Fraction(float(p)) * q for q in line] for p, line in zip(vector, table, strict=True)]
    worst = max(joint[i][y] / joint[j][y] for i in range(len(table)) for j in range(len(table))
                if (digits[i] != digits[j]).sum() == 1 for y in range(len(table)))
    assert found.identifiability == pytest.approx(math.log(worst), abs=1e-13)
    changed = sum(p * int((digits[i] != digits[y]).sum()) for i, line in enumerate(joint) for y, p in enumerate(line))
    assert found.distortion == pytest.approx(float(changed), abs=1e-12)


@pytest.mark.slow
def test_draws_follow_the_table() -> None:
    it = privacy_distortion("dp", mixture(4), 1.4).mechanism
    assert isinstance(it, JointTypeMechanism)
    row = [0, 1, 1, 0]
    drawn = [it.release(row, Noise.simulated(seed)) @ [8, 4, 2, 1] for seed in range(1000)]
    expected = np.array([float(p) for p in listed(it.coded)[6]])
    assert chisquare(np.bincount(drawn, minlength=16), 1000 * expected).pvalue > 1e-6


def test_digits_and_places() -> None:
    """The drawn number is in one joint type's share; rows then take its letters in a drawn order."""
    types = joint_types(2, 4)
    coded = coded_types(JointTypeChannel(types, np.exp(types.log_sequences) / 16))
    wanted = int(types.place(np.array([[[1, 1], [2, 0]]]))[0])
    which, sums = coded._by_input[2, 2]
    at = which.tolist().index(wanted)
    for drawn in ((sums[at - 1] if at else 0), sums[at] - 1):
        digits = [(drawn >> k) % 1024 for k in range(coded.bits - 10, -10, -10)]
        # The order 3, 1, 2, 0: of the zeros, row 3 stays and row 0 turns.
        noise = Noise.replayed({("release", "type"): digits, ("release", "place", 0): [3], ("release", "place", 1): [0],
                                ("release", "place", 2): [0]})
        assert coded.release([0, 1, 1, 0], noise, "release").tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("rows", fast(1, [10, 20, 30]))
def test_a_program_is_released_at_its_level(rows: int) -> None:
    """Acceptance 9, in whole numbers: spec's D* of the mixture at .5, from a mechanism whose level is certified."""
    found = least_distortion("dp", mixture(rows), 0.5, prior_provenance="public")
    expected = {10: 3.461715, 20: 6.433032, 30: 9.309220}[rows]
    assert found.value == pytest.approx(expected, abs=1e-6)
    levels = found.mechanism.levels(mixture(rows))
    assert levels.dp <= 0.5
    assert levels.distortion == pytest.approx(expected, abs=1e-5)
    assert len(found.mechanism.release([0, 1] * (rows // 2), Noise.secure())) == rows


def test_zero_beside_positive_has_no_level() -> None:
    """The raw simplex trap: a joint type that a solver set to 0."""
    types = joint_types(2, 2)
    found = np.exp(types.log_sequences) / 4
    gone = int(np.flatnonzero(types.changed == 2)[0])
    found[gone] = 0.0
    found /= np.bincount(types.inputs, found)[types.inputs]
    channel = JointTypeChannel(types, found)
    assert coded_types(channel).dp() == math.inf
    with pytest.raises(NotGuaranteed):
        JointTypeMechanism(types=channel).events()
    with pytest.raises(NotGuaranteed):
        JointTypeMechanism(types=channel, dp_at_most=0.5).dp()


def test_what_is_refused() -> None:
    channel = privacy_distortion("dp", mixture(4), 1.4).channel
    for arguments, name in (({"types": None}, "types"), ({"types": channel, "identifiability_at_most": 1.0}, "prior"),
                            ({"types": channel, "prior": [0.5]}, "prior"),
                            ({"types": channel, "dp_at_most": -1.0}, "dp_at_most")):
        with pytest.raises(InvalidInput, match=name):
            JointTypeMechanism(**arguments)
