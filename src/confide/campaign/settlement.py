"""Settlement: collect, charge the ledger, run with secure noise, publish; each step once, in a store.

::

    open --collect--> closed --charge--> charged --run, publish--> settled

Where there are contracts, all of this but the run happens when they become final: from then on records are sent, so the
ledger is charged before them.

Each arrow is one transaction. The charge registers the settlement: it is debited once, before the run, and never given
back. Nothing leaves the process before the publication, so a settlement that died is resumed under the same debit with
fresh noise. Where a run may have to wait for something, or where the mechanism or its kind is not confide's, it is
resumed with the noise that it had (`confide.campaign.own_runs`). Of several settlers at once one publishes; the others
forget theirs and return the stored outcome, which is the same for ever, byte for byte. Of several stores one releases:
what an installation has released once, under its key, it settles nowhere else.

A run that fails has been charged for, and says so (`RunFailed`). What can be seen of a mechanism before that is seen
when the campaign is planned (`confide.campaign.trial`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from confide._lazy import moved
from confide.campaign.another import another_campaign
from confide.campaign.charging import charge_of
from confide.campaign.check import accepted, check_harm, harmful, may_stop
from confide.campaign.file import Planned
from confide.campaign.own_runs import (
    charged_code,
    forget,
    is_ours,
    kept_noise,
    run_noise,
    same_code,
    until_published,
)
from confide.campaign.pack import check_empty, check_place, public_files, write_pack
from confide.campaign.store.home import released_elsewhere
from confide.campaign.store.states import State
from confide.contract.encoding import column_bytes
from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput, Refused, RunFailed, StoreFailed
from confide.contract.kinds import Collection, ContractKind, PausingKind, Progress, ReportCodec
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.outcome_folder import rebuild
from confide.contract.running import Batches, as_data, check_shares, ran

if TYPE_CHECKING:
    from confide.campaign.store import Store, Stored

__all__ = ["Settled", "charged_once", "commit", "settle"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settled:
    """A settled campaign.

    Args:
        title: the campaign's.
        outcome: billboard, shares, guarantees; the rows of shares are empty once everybody is paid.
        tables: the public result in natural units, such as `coefficients`.
        folder: the folder in which its pack lies: public files alone.
        fresh: False when it had been settled before, or by somebody else meanwhile: this is the stored outcome.
        number: the campaign's number in the store.
    """

    title: str
    outcome: Outcome
    tables: Mapping[str, pa.Table]
    folder: Path
    fresh: bool
    number: int

    def __repr__(self) -> str:
        how = "settled now" if self.fresh else "settled before"
        return f"<campaign {self.title!r}, {how}, number {self.number} of its store, in {self.folder}>"


def settle(
    campaign: Planned, folder: Path, store: Store | None = None, *,
    progress: Progress | None = None, accept_unusable: bool = False,
) -> Settled:
    """Settle a campaign once; a campaign that was settled, or died on the way, is returned or resumed.

    Args:
        campaign: the campaign to settle.
        folder: the folder into which the pack goes.
        store: the store of the campaign; default the installation's own.
        progress: a function that receives the progress of the collection, and then that of the run where it takes long.
        accept_unusable: whether it goes on where too many rows of the operator's file cannot be used. It stands in
            nothing that is written.

    Raises:
        BudgetExceeded: the ledger does not admit it; no record was read.
        InvalidInput: too many rows of the operator's file cannot be used, or none; nothing was charged. It says why,
            and is for the operator alone.
        InvalidInput: the folder holds something else, such as the pack of the campaign as it was before its file was
            changed.
        Refused: this installation has settled the campaign in another store; nothing was charged here.
    """
    from confide.campaign.store import Store

    with Store() if store is None else nullcontext(store) as there:
        return _settle(campaign, there, folder, progress, accept_unusable)


def _settle(
    campaign: Planned, store: Store, place: Path, progress: Progress | None, accept_unusable: bool
) -> Settled:
    check_place(place)
    released = store.home.released(campaign.file.digest)  # before the look at the store: it was published there earlier
    known, fresh = store.find(campaign.file), False
    if known is None or known.state is not State.SETTLED:
        if released is not None:
            raise released_elsewhere()
        if known is not None:
            store.check_original(known)
        try:
            check_empty(place)  # before the charge: a bad path must not cost privacy budget
        except InvalidInput:
            known = store.find(campaign.file)
            if known is None or known.state is not State.SETTLED:  # else another settler was faster: it is its pack
                _check_whose(campaign, store, place)
                raise
        else:
            known, fresh = _advance(campaign, store, progress, accept_unusable)
    files = store.pack(known.number)
    outcome = Outcome(**rebuild(files, store.shares(known.number)))
    write_pack(place, files)
    forget(campaign.file, store.home)
    return Settled(title=campaign.file.title, outcome=outcome, folder=place, fresh=fresh, number=known.number,
                   tables=campaign.file.kind.tables(campaign.plan, outcome.published()))


def _check_whose(campaign: Planned, store: Store, place: Path) -> None:
    """A folder is not empty: whether it holds the pack of a campaign that this one may have been meant to be.

    Raises:
        InvalidInput: it does. Another folder would make another charge: that is said before one is suggested.
    """
    found = another_campaign(campaign.file, campaign.plan, store, place)
    if found:
        raise InvalidInput("out", f"{place} is not empty: {found}",
                           "if that is meant, choose another folder with --out")


def _advance(
    campaign: Planned, store: Store, progress: Progress | None, accept_unusable: bool
) -> tuple[Stored, bool]:
    """From wherever the campaign stands to its publication, and whether the published outcome is ours."""
    ours = False
    if isinstance(campaign.file.kind, ContractKind):
        known = _committed(campaign, store)
    else:
        known = _charged(campaign, store, partial(_collected, campaign, progress), accept_unusable)
    while known.state is not State.SETTLED:
        ours = _run_and_publish(campaign, store, known, progress)
        known = store.get(known.number)
    return known, ours


def commit(campaign: Planned, store: Store, batches: Iterable[Any]) -> None:
    """Keep the contracts that become final, and charge the ledger for the records on them; once.

    Args:
        campaign: the campaign of a kind with contracts.
        store: the store in which it will be settled.
        batches: the contracts, as the kind's codec packs them.

    Raises:
        BudgetExceeded: the ledger does not admit it; the campaign is over.
    """
    _charged(campaign, store, lambda: Collection(data=batches, rejected={}), accept_unusable=True)


def _committed(campaign: Planned, store: Store) -> Stored:
    """A campaign whose contracts became final, and were charged for, in this store.

    Args:
        campaign: of a kind with contracts.
        store: where it is settled.

    Raises:
        Refused: they did not, or the campaign is over.
    """
    known = store.find(campaign.file)
    if known is None or known.state in (State.OPEN, State.CLOSED):
        raise Refused("no contracts of this campaign are final in this store",
                      f"do `confide contracts {campaign.file.path} --final`, with the same --store")
    if known.state is State.CANCELLED:
        raise _over(known)
    return known


def _charged(
    campaign: Planned, store: Store, collect: Callable[[], Collection], accept_unusable: bool
) -> Stored:
    """Go from wherever the campaign stands to its charge, once: open, collect, charge.

    Args:
        campaign: what is charged.
        store: where.
        collect: gives the records, where none were stored yet.
        accept_unusable: whether it goes on where too many rows of the operator's file cannot be used.

    Raises:
        BudgetExceeded: the ledger does not admit it; the campaign is over.
        InvalidInput: too many rows cannot be used; nothing was charged.
        Refused: the campaign is over.
    """
    asked, codec = charge_of(campaign.file, campaign.plan), campaign.file.kind.codec(campaign.plan)
    code = charged_code(campaign.file, campaign.plan)
    known = store.open(campaign.file, max(1, len(asked.subjects)))
    watched, share = may_stop(campaign, store, known), 1.0
    if watched:
        share = accepted(campaign.file, store.home)
        watched = not accept_unusable

    def packed() -> Iterator[tuple[np.ndarray, Sequence[bytes]]]:
        found, usable = collect(), 0
        if codec is not None:
            for batch in found.data:
                slots, reports = codec.pack(batch)
                usable += len(slots)
                yield slots, reports
            if watched and harmful(usable, len(found.rejected), share):
                raise _Harmful
        # A custodian's table stays where it is; that it can be opened was seen now, before anything is charged.

    while not known.state.charged:
        if known.state not in (State.OPEN, State.CLOSED):
            raise _over(known)
        try:
            if known.state is State.OPEN:
                store.check_charge(asked, known.number)
                if watched and codec is None:
                    check_harm(campaign, store.home)
                store.collect(known.number, packed())
            else:
                store.charge(known.number, asked)
                if code:
                    store.home.charge(campaign.file.digest, code)
        except BudgetExceeded:  # for ever, as no budget is renewed: what was collected serves nothing more
            store.cancel(known.number)
            raise
        except _Harmful:  # nothing was stored; what is wrong with the file is told by another look
            check_harm(campaign, store.home)
        known = store.get(known.number)
    return known


class _Harmful(Exception):
    """Too many rows of the operator's file cannot be used."""


def _over(known: Stored) -> Refused:
    return Refused(f"the campaign is {known.state.value}",
                   "the ledger did not admit it, and nothing renews a budget: plan another one")


def _run_and_publish(campaign: Planned, store: Store, known: Stored, progress: Progress | None) -> bool:
    file, plan = campaign.file, campaign.plan
    store.check_debit(known.number, charge_of(file, plan))
    codec = file.kind.codec(plan)
    if isinstance(file.kind, PausingKind):
        return _play_and_publish(campaign, store, known, file.kind, progress)
    ours = False
    with until_published(campaign, store, known.number):
        ours = _released(campaign, store, known, codec, progress)
    return ours  # noqa: RET504 - it stays False where somebody else has published


def _released(
    campaign: Planned, store: Store, known: Stored, codec: ReportCodec | None, progress: Progress | None
) -> bool:
    file, plan = campaign.file, campaign.plan
    if codec is None:
        data, withdrawals = _held(campaign, progress), known.withdrawals
        with run_noise(campaign, store, withdrawals) as noise, charged_once(campaign):
            outcome = ran(plan.mechanism, data, noise, progress)
        deposited = None
    else:
        with store.reports(known.number, codec) as taken:
            data, withdrawals = Batches(taken.data), taken.withdrawals
            if isinstance(file.kind, ContractKind):
                with charged_once(campaign):
                    data = file.kind.answered(file.config, plan, file.folder, data, progress)
            with run_noise(campaign, store, withdrawals) as noise, charged_once(campaign):
                outcome = ran(plan.mechanism, data, noise, progress)
            deposited = taken.deposited
    terms = file.kind.payouts(plan)
    if terms is not None and not is_ours(plan.mechanism, file.kind):  # ours may promise a bound but for a small chance
        with charged_once(campaign):
            terms.check_shares(outcome.shares)
    return _publish(campaign, store, known.number, outcome, withdrawals,
                    () if terms is None else terms.amounts(outcome.shares, deposited))


def _publish(
    campaign: Planned, store: Store, number: int, outcome: Outcome | SimulatedOutcome, withdrawals: int,
    amounts: Iterable[list[tuple[int, int]]] = (),
) -> bool:
    with charged_once(campaign):
        if not isinstance(outcome, Outcome):
            raise InvalidInput("outcome", "is simulated", "only an outcome made with secure noise can be settled")
        if not campaign.held:
            check_shares(outcome.shares, len(campaign.file.kind.identities(campaign.file.config)))
        files, shares = public_files(campaign.file, campaign.plan, outcome), column_bytes(outcome.shares)
    return store.publish(number, withdrawals, files, shares, amounts)


def _play_and_publish(
    campaign: Planned, store: Store, known: Stored, kind: PausingKind, progress: Progress | None
) -> bool:
    """A run that may have to wait, or has waited: with the noise that is kept for it until the publication."""
    file = campaign.file
    with kept_noise(file, kind, store.home) as kept:
        same_code(campaign, kept.noise)
        data = _held(campaign, progress)
        with charged_once(campaign, pausing=True):
            outcome = kind.play(file.config, campaign.plan, file.folder, data, kept.noise, kept.folder)
        day = kind.publish_on(file.config)
        if day is not None and _today() < day:  # the same run again gives the same outcome
            raise Refused(f"the run has ended, and is published on {day.isoformat()} or later (private: that it has "
                          "ended, and when, is for the operator alone)",
                          "keep records, answers and the journal as they are, and run again then: nothing more is "
                          "charged, and nothing is drawn anew")
        published = _publish(campaign, store, known.number, outcome, known.withdrawals)
        if published:
            kept.destroy()
    return published


def _today() -> date:
    return datetime.now(UTC).date()


def _collected(campaign: Planned, progress: Progress | None) -> Collection:
    """The records that the campaign file names."""
    return campaign.kind.collect(campaign.file.config, campaign.plan, campaign.file.folder, progress)


def _held(campaign: Planned, progress: Progress | None) -> Any:
    """A custodian's rows, after the charge.

    Raises:
        InvalidInput: the table cannot be read any more, or is broken further down; says that the charge stays.
    """
    try:
        return as_data(_collected(campaign, progress))
    except InvalidInput as error:
        stays = ("the ledger was charged before any row was read; correct the table and run again, nothing more is "
                 "charged")
        raise InvalidInput(error.field, error.problem, f"{error.limit}; {stays}" if error.limit else stays) from None


@contextmanager
def charged_once(campaign: Planned, *, pausing: bool = False) -> Iterator[None]:
    """Raise a fault after the charge as one that says that the charge stays and how it goes on, and nothing of what it
    met, which may disclose records.

    What confide's own mechanisms and kinds refuse is built from public parameters, and raised as it is.

    Args:
        campaign: the campaign that runs.
        pausing: whether its kind may have to wait, and says so by a refusal.

    Raises:
        RunFailed: anything else went wrong.
    """
    try:
        yield
    except (StoreFailed, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # also what ends a process, such as `sys.exit`: its words may tell of records
        ours = is_ours(campaign.plan.mechanism, campaign.file.kind)
        if isinstance(error, ConfideError) and (pausing or ours):
            raise
        if _of_a_driver(error):  # the store tells it, without what it was about
            raise
        raise RunFailed(type(campaign.plan.mechanism).__name__, own=not ours) from error


def _of_a_driver(error: BaseException) -> bool:
    from sqlalchemy.exc import SQLAlchemyError

    return isinstance(error, SQLAlchemyError)


__getattr__ = moved(__name__, {
    **dict.fromkeys(("check_budget", "cost_of", "data_set_charge", "ledger_says"),
                    "confide.campaign.charging"),
    **dict.fromkeys(("existing", "stored_outcome"), "confide.campaign.stored"),
})
