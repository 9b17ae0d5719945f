"""An audit at a campaign's own size: the mechanism runs on a synthetic table with the campaign's number of records, and
on a neighbouring table.

Audits of tiny mechanisms check that the privacy charge is right for a mechanism's rules. Such audits cannot show faults
that occur only in large tables. In the audit at full size, the number of records, the schema, the noise and the rounds
are the campaign's own. The workload is shortened if the comparison of a transcript would take minutes.

Both runs receive the same noisy values (a fixed transcript), so the published data must not differ. The privacy loss
along the transcript is computed exactly for the pair of neighbouring tables. From the ratio of this privacy loss to the
charge follows the factor by which the noise must be too small for the audit to detect the fault.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confide.audit import (
    AuditRow,
    Concern,
    DampedNoise,
    FullSize,
    Neighbours,
    TranscriptAudit,
    fixed_transcript_audit,
    implies,
    strongest,
)
from confide.contract.mechanism import Mechanism
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise
from confide.release.answers import true_answers
from confide.release.audited_faults import charges
from confide.release.audited_tables import Run, published, quiet
from confide.release.baselines import NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.mwem import MWEM
from confide.release.records import Codes, table_of
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["full_size", "full_size_row"]

_NUMBERS = 40_000
"""Largest number of scores and counts in one transcript. For longer transcripts the audit leaves out queries."""

_HELD = "privacy: at the campaign's own size, everything that is published"
_TRIED = 24  # records that are tried for the pair
_FACTORS = (0.05, 0.01, 0.002)  # of the noise


class _Replay(NamedTuple):
    """The result of a fixed-transcript audit of one pair of tables.

    Args:
        share: largest ratio, over all parts of the noise, of the privacy loss of a part to the charge for this part.
        shows: mapping from a part of the noise to the fraction of its noise scale below which the audit would flag the
            noise.
        leak: description of data that became public without noise; an empty text if no data did.
        promises: results of the audit for each privacy promise from which the other promises follow.
    """

    share: float
    shows: dict[str, float]
    leak: str
    promises: tuple[TranscriptAudit, ...]


class _Pair(NamedTuple):
    """The mechanism at its own size, and two neighbouring tables."""

    it: Mechanism
    first: Any
    second: Any
    queries: int


def full_size(it: Mechanism, schema: Schema, seed: int = 0) -> FullSize:
    """The audit at full size, with control runs in which the noise is reduced. The audit must flag the control runs.

    Args:
        it: the campaign's mechanism.
        schema: public columns of the campaign.
        seed: seed of the table and of the transcript.
    """
    made = list[_Pair]()  # once, when it is replayed

    def rows(factor: float) -> list[AuditRow]:
        if not made:
            made.append(_pair(it, schema, seed))
        own = made[0]

        def run(data: Any, noise: Noise) -> Any:
            return quiet(own.it, data, noise if factor == 1 else DampedNoise(noise, factor))

        found = _replayed(own, seed, run)
        return [_row(own, found), *_held(it, own, found)]

    return FullSize(rows=rows, sound=1.0, damped=float, factors=_FACTORS)


def full_size_row(it: Mechanism, schema: Schema, seed: int = 0) -> AuditRow:
    """The audit row of the audit at full size, without control runs.

    Args:
        it: the campaign's mechanism, or a mutant of it.
        schema: public columns of the campaign.
        seed: seed of the table and of the transcript.

    Example:
        >>> from confide.release import NoisyAnswers, Schema, Workload
        >>> it = NoisyAnswers(records=3000, workload=Workload.complete(4, width=2), epsilon=1.0, delta=1e-6)
        >>> row = full_size_row(it, Schema.bits(4))
        >>> row.verdict.value, round(row.measured, 9)
        ('kept', 1.0)
    """
    pair = _pair(it, schema, seed)
    return _row(pair, _replayed(pair, seed))


def _row(pair: _Pair, found: _Replay) -> AuditRow:
    shown = "; ".join(f"{part or 'in all'} {share:.2g}" for part, share in found.shows.items())
    it: Any = pair.it
    asked = f", {pair.queries:,} queries" if pair.queries else ""
    return AuditRow.at_most(
        "privacy: at the campaign's own size, each part of the noise, as a share of its charge", 1.0,
        math.inf if found.leak else found.share,
        found.leak or f"{it.records:,} synthetic records{asked}, one record replaced; loss exact along one history",
        note=f"the audit would flag noise below these shares of its scale: {shown}" if not found.leak else "",
        vacuous=not found.leak and not found.share, unit="times the charge", concern=Concern.PRIVACY)


def _held(it: Mechanism, pair: _Pair, found: _Replay) -> list[AuditRow]:
    """Rows that compare the measured loss of the pair with each privacy promise of the campaign, in the unit of the
    promise.
    """
    records: int = pair.it.records  # type: ignore[attr-defined]
    evidence = (f"{records:,} synthetic records, one replaced: equal publications on equal noise, loss exact on one "
                "history")
    stated = [each for each in it.guarantees().privacy if each.claimable and not each.loss.vacuous]
    rows = []
    for audit in found.promises:
        row = audit.row(_HELD)
        row = row if audit.leaks else replace(row, evidence=evidence)
        rows.append(row.holding(*(each for each in stated
                                  if audit.promise is not None and implies(audit.promise, each))))
    fewer = "" if pair.it is it else f"{pair.queries:,} of the queries"
    return [row.smaller(fewer) for row in rows]


def _replayed(pair: _Pair, seed: int, run: Run | None = None) -> _Replay:
    claims = dict(charges(pair.it))
    stated = strongest(each for each in pair.it.guarantees().privacy if each.claimable and not each.loss.vacuous)
    found = fixed_transcript_audit(
        run or (lambda data, noise: quiet(pair.it, data, noise)), [Neighbours(pair.first, pair.second, published)],
        claims, lambda _: Noise.simulated(seed + 77_003), promises=[promise for promise, _ in stated])
    held = tuple(found.pop(promise.sentence()) for promise, _ in stated)
    leak = next((audit.leaks[0] for audit in found.values() if audit.leaks), "")
    shares = {part: audit.measured / audit.promised if audit.promised else math.inf if audit.measured else 0.0
              for part, audit in found.items()}
    # A loss in zCDP goes with the inverse square of the scale, the others with the inverse.
    shows = {part: math.sqrt(share) if isinstance(claims[part], ZCDP) else share for part, share in shares.items()}
    return _Replay(max(shares.values()), shows, leak, held)


# ---- the pair


def _pair(it: Mechanism, schema: Schema, seed: int) -> _Pair:
    small, workload = _fewer(it)
    n: int = small.records  # type: ignore[attr-defined]
    table = table_of(schema, n, seed=seed)
    at, record = _largest_move(table, workload)
    cells = table.cells.copy()
    cells[at] = record
    both: list[Any] = [table, Codes(schema=schema, cells=cells)]
    if workload is not None and isinstance(small, NoisyAnswers | DualQuery | MWEM) and \
            getattr(small, "free", "") != "marginals":
        both = [true_answers(each, workload) for each in both]
    return _Pair(small, both[0], both[1], 0 if workload is None else len(workload))


def _fewer(it: Mechanism) -> tuple[Mechanism, Workload | None]:
    """The mechanism, with so few queries that the transcript is not too long, and its workload."""
    workload: Workload | None = getattr(it, "workload", None)
    if workload is None or getattr(it, "law", "") == "structured":
        return it, workload
    most = max(16, _NUMBERS // _each(it))
    if len(workload) <= most:
        return it, workload
    some = workload.some(np.linspace(0, len(workload) - 1, most).astype(np.int64))
    match it:
        case Reweighted():
            game = replace(it.dual_query, workload=some)
            return replace(it, dual_query=game, listed=None, measured=min(it.count, most)), some
        case DualQuery() | MWEM() | NoisyAnswers():
            return replace(it, workload=some), some
    return it, workload


def _each(it: Mechanism) -> int:
    """Number of entries of a transcript that belong to one query."""
    match it:
        case DualQuery():
            return 2 * it.rounds
        case Reweighted():
            return 2 * it.dual_query.rounds + (it.count if it.selection == "private" else 0)
        case MWEM():
            return it.rounds
    return 1


def _largest_move(table: Codes, workload: Workload | None) -> tuple[int, Any]:
    """The position of the record to replace, and the new record. The function chooses the pair that changes the most
    answers among some candidates.
    """
    sizes = np.array(table.schema.sizes)
    some = table.cells[:_TRIED].astype(np.int64)
    every = (some + np.maximum(1, sizes // 2)) % sizes  # another value of each column that has one
    if workload is None:
        return 0, every[0].astype(np.uint16)
    before = _values(table.schema, some, workload)
    others = np.concatenate((every, some, (sizes - 1 - some), np.zeros((1, len(sizes)), np.int64)))
    after = _values(table.schema, others, workload)
    changed = before.sum(axis=1)[:, None] + after.sum(axis=1)[None, :] - 2 * before @ after.T
    at, to = np.unravel_index(int(np.argmax(changed)), changed.shape)
    return int(at), others[to].astype(np.uint16)


def _values(schema: Schema, cells: Any, workload: Workload) -> Any:
    """Table of 0 and 1, (records, queries): 1 if the record satisfies the query."""
    bits = Codes(schema=schema, cells=cells.astype(np.uint16)).packed().unpack()
    return np.array([workload.values(record) for record in bits], dtype=np.float64)
