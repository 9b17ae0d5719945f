"""The suite's false-alarm budget: how often any random test of it may fail although the code is right.

Every test whose outcome depends on random draws takes its failure probability from here, and fails only on evidence
rarer than that. Both ways of failing count: "broken" said of a sound mechanism, and a control that was missed. A test
with several cases, or several comparisons, says so (`cases`) and gets its share split. To add a test, add a line: a
name of the form room.subject.case and its share; the sum must stay within `SUITE_ALPHA` (tests/audit checks that, and
that no name is spent twice).

>>> alpha("audit.response.sound") <= SUITE_ALPHA
True
"""

from __future__ import annotations

SUITE_ALPHA = 1e-6
"""Of a million runs of the whole suite with fresh seeds on right code, at most one fails."""

SHARES: dict[str, float] = {
    # audit
    "audit.response.sound": 1e-9,
    "audit.response.leaky": 1e-9,
    "audit.laplace.sound": 1e-9,
    "audit.laplace.leaky": 1e-9,
    "audit.gaussian.sound": 1e-9,
    "audit.gaussian.leaky": 1e-9,
    "audit.planted.sampled": 1e-8,
    "audit.half_space": 1e-8,
    "audit.gallery": 1e-8,
    "audit.sampler": 1e-7,
    "audit.sampler.choices": 1e-8,
    "audit.sampler.lattice": 1e-8,
    # noise: 13 counts of draws with real entropy, at 1e-11 each
    "noise.secure.smoke": 2e-10,
    "noise.raw.sampler": 1e-9,
    # exact draws on a participant's device
    "device.law": 1e-9,
    # sparse vector and tree counter
    "privacy.sparse_vector.law": 1e-8,
    "privacy.tree_counter.sup": 1e-8,
    # channels
    "channels.response": 2e-9,
    "channels.kernel": 1e-9,
    "channels.counts": 1e-9,
    # market
    "market.simulation.counts": 1e-8,
    "market.simulation.acceptance": 1e-8,
    "market.simulation.means": 1e-8,
    "market.simulation.types": 1e-8,
    "market.simulation.parts": 1e-8,
    # regression
    "regression.printed": 1e-9,
    "regression.audit.sampler": 1e-7,
    "regression.audit.means": 4e-7,
    # acquisition
    "acquisition.release.error": 1e-8,
    "acquisition.audit.sampler": 5e-9,
    # query release
    "release.audit.dual": 1e-8,
    "release.draws": 1e-11,
    "release.baselines.noise": 1e-9,
    # allocation
    "allocation.coins": 1e-9,
    # convex programs
    "programs.flags.feasible": 1e-9,
    "programs.round_dude.feasible": 1e-9,
    # three comparisons
    "release.bars": 1e-9,
    # convex programs
    "programs.true.claims": 1e-9,
    "programs.true.lies": 1e-9,
    "programs.tight.rounding": 1e-9,
    "programs.tight.feasible": 1e-9,
    "programs.audit.separation": 1e-9,
    # targeted search; of contagions seven counts
    "search.infect": 1e-9,
    "search.call.law": 2e-9,
    "search.call.long": 2e-9,
    "search.random_order": 1e-9,
    "search.exact_law.runs": 4e-9,
}


def alpha(name: str, *, cases: int = 1) -> float:
    """The failure probability that one case of a test may have.

    Args:
        name: the test's name in `SHARES`.
        cases: how many cases or comparisons share it.
    """
    if name not in SHARES:
        raise KeyError(f"{name!r} has no share of the false-alarm budget: add it to SHARES in tests/false_alarms.py")
    if cases < 1:
        raise ValueError("a share is split over one case or more")
    return SHARES[name] / cases
