"""Every mechanism of the family run on tiny neighbours: what its draws tell, against what the ledger is charged.

One run is written down, and a run on a neighbour gets the same answers. Both must publish the same, bit for bit, and
the exact loss of each part of the noise along that history is held against the events that pay for this part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from confide.audit import (
    AuditRow,
    Examined,
    Loss,
    TranscriptAudit,
    charge_and_rest,
    fixed_transcript_audit,
)
from confide.contract.guarantees import Privacy
from confide.contract.mechanism import Mechanism
from confide.privacy.noise import Noise
from confide.release.audited_faults import Charge, Fault, charge, charges, faults, whole_charge
from confide.release.audited_tables import Run, neighbours, quiet, recast, twins

__all__ = ["audited", "histories", "measured_twin", "release_rows", "transcript_rows"]

def histories(seed: int) -> Callable[[int], Noise]:
    """Number of a pair -> its noise."""
    return lambda pair: Noise.simulated(seed * 1009 + pair)


def audited(
    it: Mechanism, seed: int, *, run: Run | None = None, pairs: int | None = None,
    charged: Iterable[Charge] | None = None, promised: bool = False,
) -> dict[str, TranscriptAudit]:
    """Each part of the noise, and everything, against what is charged for it.

    Args:
        it: a tiny mechanism, of `tiny` or `twins`.
        seed: of data and histories.
        run: another run than its own, such as one with less noise.
        pairs: how many of its pairs of data sets are walked; None for all.
        charged: other charges than its own.
        promised: whether everything is held against what the mechanism promises of itself, too.
    """
    claims: dict[str, Loss | Privacy] = dict(charges(it) if charged is None else charged)
    others: list[Privacy] = []
    if promised:
        claims[""], others = charge_and_rest(whole_charge(it), it.guarantees().privacy)
    own = run or (lambda data, noise: quiet(it, data, noise))
    return fixed_transcript_audit(own, islice(neighbours(it, seed), pairs), claims, histories(seed), promises=others)


def transcript_rows(
    it: Mechanism, name: str, seed: int = 1, run: Run | None = None, pairs: int | None = None
) -> list[AuditRow]:
    """What is promised of a mechanism's privacy, by its own run on neighbours.

    Args:
        it: a tiny mechanism, sound or broken.
        name: what it is called in the rows.
        seed: of data and histories.
        run: another run than its own.
        pairs: how many pairs of data sets are walked; None for all.

    Example:
        >>> from confide.release.audited_tables import twins
        >>> for row in transcript_rows(twins()["NoisyAnswers, laplace"], "Laplace noise"):
        ...     print(row.promise, row.verdict.value)
        what the ledger is charged is what is promised, as a share of it kept
        privacy: Laplace noise kept
    """
    return list(_rows(it, name, seed, run, pairs))


def _rows(it: Mechanism, name: str, seed: int, run: Run | None, pairs: int | None) -> Iterator[AuditRow]:
    yield charge(it)[0]
    for part, found in audited(it, seed, run=run, pairs=pairs, promised=True).items():
        what = str(found.claim) if part and found.promise is not None else part
        yield found.row(f"privacy: {name}{f', {what}' if what else ''}")


def measured_twin(it: Mechanism, name: str, seed: int = 1, pairs: int | None = None) -> Examined:
    """The same audit of the mechanism, and of it with each fault that it can have.

    Args:
        it: a tiny mechanism.
        name: what it is called in rows and controls.
        seed: of data and histories.
        pairs: how many pairs of data sets are walked; None for all.
    """

    def rows(fault: Fault | None) -> Iterator[AuditRow]:
        broken: Mechanism = it if fault is None or fault.kind is None else recast(it, fault.kind)

        def run(data: Any, noise: Noise) -> Any:
            return quiet(broken, data, noise if fault is None or fault.noise is None else fault.noise(noise))

        return _rows(broken, name, seed, run, pairs)

    return Examined(named=f"privacy: {name}", rows=rows, faults={fault.says: fault for fault in faults(it)})


def release_rows(seed: int = 1) -> list[AuditRow]:
    """The privacy promises of all mechanisms of the family but DualQuery's, which has audits of its own."""
    return [row for name, it in twins().items() for row in transcript_rows(it, name, seed)]
