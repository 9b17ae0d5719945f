"""Settlement: collect records, charge the ledger, run with secure noise, and publish. Each step of a settlement happens
only once in a store.

::

    open --collect--> closed --charge--> charged --run, publish--> settled

In a campaign with contracts, all steps before the run happen when the contracts become final. Participants send records
as soon as contracts are final, so the ledger is charged before any record is sent.

Each arrow in the diagram is one transaction. The charge is debited once, before the run, and never given back. Nothing
leaves the process before the publication, so a settlement that was interrupted is resumed under the same debit with
fresh noise. A run that may have to wait, or whose mechanism or kind is not part of confide, is resumed with its first
noise (`confide.campaign.own_runs`). If several processes settle a campaign at once, one process publishes its outcome.
All other processes that settle the campaign discard their outcomes and return the published outcome. The stored outcome
never changes by a byte. An installation that has released the outcome of a campaign does not settle this campaign in
another store.

The charge of a failed run stays, and the error says so (`RunFailed`). Faults of a mechanism that can be found earlier
are found when the campaign is planned (`confide.campaign.trial`).
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
        title: the campaign's title.
        outcome: the billboard (the public part of the result), the participants' shares, and the guarantees. All rows
            of the shares are empty once everybody is paid.
        tables: mapping from a name, such as `coefficients`, to a table of the public result in natural units.
        folder: the folder of the campaign's pack, which holds only public files.
        fresh: True if this call has published the outcome; False if the outcome was stored before, or another process
            has published an outcome meanwhile.
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
    """Settle a campaign once. For a campaign that is settled already, the stored outcome is returned. A settlement that
    was interrupted is resumed.

    Args:
        campaign: the campaign to settle.
        folder: the folder into which the pack is written.
        store: the store of the campaign; default the store of `Home.default()`.
        progress: a function that receives the progress of the collection, and then the progress of a long run.
        accept_unusable: whether the settlement goes on even if too many rows of the operator's data file cannot be
            used. No file that the settlement writes contains the value of `accept_unusable`.

    Raises:
        BudgetExceeded: the ledger does not admit the campaign; no record was read.
        InvalidInput: the operator's file has no rows, or has too many rows that cannot be used; nothing was charged.
            The message gives the reasons, and is for the operator alone.
        InvalidInput: the folder holds other files than this campaign's pack, such as the pack of the campaign with an
            earlier version of the campaign file.
        Refused: this installation has settled the campaign in another store; nothing was charged in this store.
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
    """Check that a folder that is not empty does not hold the pack of an earlier campaign that the user may have meant.

    Raises:
        InvalidInput: the folder holds the pack of an earlier campaign that the user may have meant. The message says
            that a run into another folder means another charge.
    """
    found = another_campaign(campaign.file, campaign.plan, store, place)
    if found:
        raise InvalidInput("out", f"{place} is not empty: {found}",
                           "choose another folder with --out for another campaign")


def _advance(
    campaign: Planned, store: Store, progress: Progress | None, accept_unusable: bool
) -> tuple[Stored, bool]:
    """Carry the campaign from its present state to its publication; the second result is whether this process has
    published.
    """
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
    """Store the contracts that become final, and charge the ledger once for the records that participants will send
    under these contracts.

    Args:
        campaign: a campaign whose kind has contracts.
        store: the store in which the campaign will be settled.
        batches: the contracts, in batches that the codec of the campaign's kind turns into bytes.

    Raises:
        BudgetExceeded: the ledger does not admit the campaign. The campaign is cancelled.
    """
    _charged(campaign, store, lambda: Collection(data=batches, rejected={}), accept_unusable=True)


def _committed(campaign: Planned, store: Store) -> Stored:
    """A campaign with final contracts that this store has charged.

    Args:
        campaign: a campaign whose kind has contracts.
        store: the store in which it is settled.

    Raises:
        Refused: no contracts are final in this store, or the campaign is over.
    """
    known = store.find(campaign.file)
    if known is None or known.state in (State.OPEN, State.CLOSED):
        raise Refused("no contracts of this campaign are final in this store",
                      f"run `confide contracts {campaign.file.path} --final`, with the same --store")
    if known.state is State.CANCELLED:
        raise _over(known)
    return known


def _charged(
    campaign: Planned, store: Store, collect: Callable[[], Collection], accept_unusable: bool
) -> Stored:
    """Carry the campaign from its present state to its charge: open, collect, charge, each once.

    Args:
        campaign: the campaign to charge.
        store: the store of the campaign.
        collect: a function that returns the records, called only where none are stored yet.
        accept_unusable: whether the settlement goes on where too many rows of the operator's file cannot be used.

    Raises:
        BudgetExceeded: the ledger does not admit the campaign. The campaign is cancelled.
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
        except _Harmful:  # nothing was stored; another look reports what is wrong with the file
            check_harm(campaign, store.home)
        known = store.get(known.number)
    return known


class _Harmful(Exception):
    """Too many rows of the operator's file cannot be used."""


def _over(known: Stored) -> Refused:
    return Refused(f"the campaign is {known.state.value}",
                   "plan another campaign: the ledger did not admit this one, and nothing renews a budget")


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
    """Run, or resume, a campaign that may have to wait, with noise that is kept until the publication."""
    file = campaign.file
    with kept_noise(file, kind, store.home) as kept:
        same_code(campaign, kept.noise)
        data = _held(campaign, progress)
        with charged_once(campaign, pausing=True):
            outcome = kind.play(file.config, campaign.plan, file.folder, data, kept.noise, kept.folder)
        day = kind.publish_on(file.config)
        if day is not None and _today() < day:  # the same run again gives the same outcome
            raise Refused(f"the run has ended, and the result is published on {day.isoformat()} or later (private: the "
                          "end of the run and its time are for the operator alone)",
                          "keep records, answers and the journal, and run again on that day: nothing more is charged "
                          "or drawn")
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
    """A custodian's rows, read after the charge.

    Raises:
        InvalidInput: the table can no longer be read, or is broken in a later row; the message says that the charge
            stays.
    """
    try:
        return as_data(_collected(campaign, progress))
    except InvalidInput as error:
        stays = ("correct the table and run again: the ledger was charged before any row was read, and nothing more is "
                 "charged")
        raise InvalidInput(error.field, error.problem, f"{error.limit}; {stays}" if error.limit else stays) from None


@contextmanager
def charged_once(campaign: Planned, *, pausing: bool = False) -> Iterator[None]:
    """Context manager for the code that runs after the ledger was charged. A fault in this code is raised as
    `RunFailed`, which says that the charge stays and how to go on. The error contains nothing of the fault, which may
    disclose records.

    Errors of confide's own mechanisms and kinds are built from public parameters, and are raised unchanged.

    Args:
        campaign: the campaign that runs.
        pausing: whether the campaign's kind may have to wait, which the kind reports by raising `Refused`.

    Raises:
        RunFailed: the code failed with any error besides `StoreFailed` and the errors that are raised unchanged.
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
