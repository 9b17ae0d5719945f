"""Trials of a mechanism before anything is charged: a settlement of synthetic participants, without the store.

A mechanism or kind that a user has written may fail, or may return something that cannot be published. After the
charge, such a fault would cost privacy budget. When the campaign is planned, each trial of a kind (`TriedKind`) goes
through the steps of a settlement. Records are stored and read, and the mechanism runs with simulated noise. The result
of the run becomes public files and is read back. Shares are decoded again, paid, and explained. All data in a trial are
synthetic, so a fault is reported with its type, place and message.

A trial cannot show faults that depend on the records of real participants, or on the number of participants.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

from confide.campaign.file import CampaignFile
from confide.campaign.pack import public_files
from confide.contract.digests import canonical
from confide.contract.encoding import column_bytes, table_from_bytes
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.kinds import CampaignPlan, Trial, TriedKind
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.outcome_folder import public_parts
from confide.contract.running import Batches, check_shares, ran, written
from confide.contract.words import fault
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.given_noise import given

__all__ = ["try_out"]

_DECODED = 200  # shares that are decoded again, at most
_SEED = 0
_ALONE = ("`run` draws noise without `center=` (stream {}). Give the value to protect as `center`: noise is rounded to "
          "multiples of 2^-grid, so a value that is added afterwards keeps all smaller digits without noise, and the "
          "audit cannot see the value.")
_NOTHING = "the trial used a simulated population: no record was read, and nothing was charged"


def try_out(file: CampaignFile, plan: CampaignPlan) -> tuple[str, ...]:
    """Run the trials that the campaign's kind defines for the campaign's mechanism. Nothing is done for a kind without
    trials.

    Args:
        file: the campaign file.
        plan: the plan of the campaign.

    Returns:
        Remarks, each one or more sentences, on findings that need not be faults.

    Raises:
        InvalidInput: the mechanism fails, or its result is wrong; the message names the step.
    """
    alone = dict[str, None]()
    if isinstance(file.kind, TriedKind):
        for trial in file.kind.trials(file.config, plan):
            alone |= dict.fromkeys(_tried(replace(file, config=trial.config), file.kind, trial))
    return (_ALONE.format(", ".join(alone)),) if alone else ()


class _Observed(RecordingNoise):
    """Simulated noise that records every draw."""

    @property
    def kind(self) -> str:
        return "simulated"

    @property
    def release_safe(self) -> bool:
        return False

    @property
    def audited(self) -> bool:
        return False


def _tried(file: CampaignFile, kind: TriedKind, trial: Trial) -> list[str]:
    """Run one trial; the result lists the streams of noise that `run` drew without a center."""
    with _reported(trial.plan.mechanism, "copying it"):  # what it may remember of made-up people must not be settled
        trial = deepcopy(trial)
    plan, it = trial.plan, trial.plan.mechanism
    batches = list(trial.batches)
    with _reported(it, "storing records by `codec`"):
        codec = kind.codec(plan)
        if codec is not None:
            batches = [codec.unpack(*codec.pack(batch)) for batch in batches]
    with _reported(it, "`run`"):
        noise = _Observed(Noise.simulated(_SEED))
        outcome = ran(it, Batches(batches), given(noise))
    if not isinstance(outcome, SimulatedOutcome):
        raise _wrong(it, f"`run` returns {type(outcome).__name__} under simulated noise",
                     "end it with `return self._outcome(noise, billboard=..., shares=...)`")
    with _reported(it, "the outcome of `run`"):
        check_shares(outcome.shares, len(kind.identities(trial.config)))
    with _reported(it, "publishing the outcome of `run`"):
        files = public_files(file, plan, cast("Outcome", outcome))
        found = SimulatedOutcome(**public_parts(files, release_safe=False),
                                 shares=table_from_bytes(column_bytes(outcome.shares)))
        same = canonical(found.to_dict()) == canonical(outcome.to_dict())
    if not same:
        raise _wrong(it, "the parameters, guarantees or billboard change when they are written and read back",
                     "declare fields by the types that they hold: lists come back as tuples")
    _compare(kind, trial, batches, found)
    with _reported(it, "paying shares by `payouts`"):
        terms = kind.payouts(plan)
        if terms is not None:
            terms.check_shares(found.shares)
    return [str(draw.stream[0]) for draw in noise.draws if not draw.centered]


def _compare(kind: TriedKind, trial: Trial, batches: Sequence[Any], found: SimulatedOutcome) -> None:
    """Compare the shares of the run with shares that are decoded one by one from public data, and make the pages for
    their owners.
    """
    it = trial.plan.mechanism
    with _reported(it, "reading one record by `one`"):
        records = {int(slot): kind.one(trial.plan, batch, place)
                   for batch in batches for place, slot in enumerate(batch.index)}
    people = found.shares.num_rows
    shown = sorted({*range(min(people, _DECODED)), *range(people - 1, people)})
    for slot in shown:
        with _reported(it, "`decode`"):
            decoded = dict(it.decode(records.get(slot), slot, found.billboard))
        if sorted(decoded) != sorted(found.shares.column_names):
            raise _wrong(it, f"shares of `run` have the columns {', '.join(found.shares.column_names)}, and `decode` "
                             f"gives {', '.join(map(str, decoded))}",
                         "give the shares the columns that `decode` returns")
        with _reported(it, "`decode`"):
            table = found.shares
            same = written(decoded, table.schema) == written(table.slice(slot, 1).to_pylist()[0], table.schema)
        if not same:
            with_record = "has a record" if slot in records else "has none"
            raise _wrong(it, f"the share of a slot that {with_record} differs from the share that `decode` gives",
                         "let `run` make each share by `decode`, from that slot's record, its index and the billboard")
    with_one, without = min(records, default=None), min(set(range(people)) - records.keys(), default=None)
    with _reported(it, "explaining a share"):
        for slot in (with_one, without):
            if slot is not None:
                kind.explain(trial.plan, found, records.get(slot), slot)


@contextmanager
def _reported(mechanism: Mechanism, what: str) -> Iterator[None]:
    """Run a block that calls a user's own code; a fault in it is raised as `InvalidInput`, with its type, its place and
    the first line of its message.
    """
    try:
        yield
    except ConfideError as error:
        raise _wrong(mechanism, f"{what} fails: {error}", "correct it") from error
    except Exception as error:
        own = getattr(sys.modules.get(type(mechanism).__module__), "__file__", None)
        raise _wrong(mechanism, f"{what} fails: {fault(error, [own] if own else [])}",
                     "correct it; CONFIDE_DEBUG=1 shows the traceback") from error


def _wrong(mechanism: Mechanism, problem: str, remedy: str) -> InvalidInput:
    return InvalidInput("mechanism", f"{type(mechanism).__name__}: {problem}", f"{remedy}; {_NOTHING}")
