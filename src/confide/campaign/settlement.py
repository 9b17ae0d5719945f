"""Settlement: collect, charge the ledger, run with secure noise, publish; each step once, in a store.

::

    open --collect--> closed --charge--> charged --run, publish--> settled

Where there are contracts, all of this but the run happens when they become final: from then on records are sent, so the
ledger is charged before them.

Each arrow is one transaction. The charge registers the settlement: it is debited once, before the run, and never given
back. Nothing leaves the process before the publication, so a settlement that died is resumed under the same debit with
fresh noise; where a run may have to wait for something, with the noise that it had (`confide.campaign.pausing`), and so
where the mechanism or its kind is not confide's (`confide.campaign.own_runs`). Of several settlers at once one
publishes; the others forget theirs and return the stored outcome, which is the same for ever, byte for byte. Of several
stores one releases: what an installation has released once, under its key, it settles nowhere else.

A run that fails has been charged for, and says so (`RunFailed`). What can be seen of a mechanism before that is seen
when the campaign is planned (`confide.campaign.trial`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from confide.campaign.file import CampaignFile
from confide.campaign.folder import check_empty, check_place, earlier_study, fill, replace
from confide.campaign.harm import accepted, check_harm, harmful, may_stop
from confide.campaign.home import Home, released_elsewhere
from confide.campaign.own_code import is_ours
from confide.campaign.own_runs import charged_code, published, run_noise, same_code
from confide.campaign.pack import public_files, write_pack
from confide.campaign.pausing import forget, kept_noise
from confide.campaign.states import State
from confide.campaign.store.ledger import Charge
from confide.campaign.stored import unsettled
from confide.contract.encoding import column_bytes
from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput, Refused, RunFailed, StoreFailed
from confide.contract.files import as_path
from confide.contract.guarantees import Audience
from confide.contract.kinds import (
    CampaignPlan,
    Collection,
    ContractKind,
    HeldData,
    PausingKind,
    PayoutTerms,
    Progress,
    ReportCodec,
)
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.outcome_folder import rebuild
from confide.contract.remedies import printed
from confide.contract.running import Batches, ran
from confide.people.submissions import Submissions
from confide.privacy.covering import charged_for, check_covered, largest_delta
from confide.privacy.filter import Filter, price
from confide.privacy.ledger import Account
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise

if TYPE_CHECKING:
    from confide.campaign.campaign import Campaign
    from confide.campaign.store import Store, Stored

__all__ = ["Settled", "amounts", "charge_of", "charged_once", "check_budget", "check_shares", "commit",
           "data_set_charge", "existing", "ledger_says", "settle", "simulate", "stored_outcome"]

_BLOCK = 65_536


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settled:
    """A settled campaign.

    Args:
        title: the campaign's.
        outcome: billboard, shares, guarantees; the rows of shares are empty once everybody is paid.
        tables: the public result in natural units, such as `coefficients`.
        folder: where its pack lies: public files alone.
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


def charge_of(file: CampaignFile, plan: CampaignPlan) -> Charge:
    """What a campaign asks of the ledger."""
    return replace_fields(data_set_charge(file, plan), subjects=file.kind.identities(file.config))


def data_set_charge(file: CampaignFile, plan: CampaignPlan | PublicOutcome) -> Charge:
    """The same without its subjects, who may be millions; of a plan, or of what was settled.

    Raises:
        InvalidInput: the mechanism's events cost less than it promises: nothing may be charged for them.
    """
    budget = file.budget
    events = tuple(plan.mechanism.events())
    check_covered(events, plan.guarantees.privacy)  # type: ignore[arg-type] # Spend: an event
    # The rule "zcdp" converts once, at the delta of the budget.
    delta = 0.0 if budget.rule == "zcdp" else largest_delta(plan.guarantees.privacy)
    account = Account(name=budget.data_set, neighbours=events[0].neighbours, audience=Audience.PUBLIC)
    return Charge(account=account, events=events, delta=delta, rule=budget.rule,  # type: ignore[arg-type]
                  audiences=charged_for(plan.guarantees.privacy),
                  budget=_limit(budget.epsilon, budget.delta),
                  subject_budget=_limit(budget.epsilon if budget.subject_epsilon is None else budget.subject_epsilon,
                                        budget.delta if budget.subject_delta is None else budget.subject_delta))


def check_budget(file: CampaignFile, plan: CampaignPlan | PublicOutcome) -> None:
    """Whether the campaign's own budgets admit it.

    Raises:
        BudgetExceeded: they do not, whatever was spent before; where they have no delta at all, it names the key.
    """
    asked = data_set_charge(file, plan)
    cost = price(asked.rule, asked.events, asked.delta)
    for key, budget, whose in (("delta", asked.budget, ""),
                               ("subject_delta", asked.subject_budget, "each subject of ")):
        account, fresh = f"{whose}{asked.account}", Filter(budget, asked.rule)
        if cost.delta and not fresh.limits[1]:
            spent = f"delta {float(cost.delta):.3g}"
            enough = printed(float(cost.delta), digits=3)
            raise BudgetExceeded(account, spent, f"no delta, since budget.{key} is 0",
                                 f"add {key} = {enough} or more to [budget], or spend no delta")
        if not fresh.admits(cost):  # what was spent of it, the ledger knows, and is not asked
            raise BudgetExceeded(account, fresh.asked(cost), fresh.allowed,
                                 "the budget itself is too small for this campaign, which has to ask for less",
                                 whole="[budget] of the campaign file")


def cost_of(file: CampaignFile, plan: CampaignPlan) -> str:
    """What the ledger would charge the data set for a campaign, whoever takes part, in words."""
    asked = data_set_charge(file, plan)
    return str(Filter(asked.budget, asked.rule, price(asked.rule, asked.events, asked.delta)).spent)


def ledger_says(
    file: CampaignFile, plan: CampaignPlan, store: Store | None
) -> tuple[Literal["admits", "refuses", "charged"], str]:
    """Whether the ledger would admit the campaign now, and in words.

    Args:
        file: the campaign.
        plan: its plan, which its own budgets admit.
        store: whose ledger; None where there is none yet, so that nothing was charged.
    """
    if store is None:
        return "admits", "The ledger admits the campaign: nothing was charged so far."
    known = store.find(file)
    charged = known is not None and store.is_charged(known.number)
    if known is not None and known.state is State.CANCELLED:
        if charged:
            return "refuses", "The campaign was cancelled; what its opening was charged stays charged."
        return "refuses", "The ledger has refused the campaign, and nothing renews a budget."
    if charged:
        return "charged", "The ledger has charged the campaign: a run costs nothing more."
    try:
        store.check_charge(charge_of(file, plan))
    except ConfideError as error:
        return "refuses", f"The ledger refuses the campaign: {error}."
    names = store.data_sets()
    if file.budget.data_set not in names:
        known_names = f": known {'is' if len(names) == 1 else 'are'} {', '.join(map(repr, names))}. "
        return "admits", (f"The ledger admits the campaign. {file.budget.data_set!r} is new to it"
                          + (f"{known_names}The same people under another name have another budget." if names else "."))
    return "admits", "The ledger admits the campaign as it stands now."


def settle(
    campaign: Campaign, store: Store | None = None, folder: str | os.PathLike[str] | None = None, *,
    progress: Progress | None = None, accept_unusable: bool = False,
) -> Settled:
    """Settle a campaign once; what was settled, or died on the way, is returned or resumed.

    Args:
        campaign: what to settle.
        store: where; default the installation's own.
        folder: where the pack goes; default `out/NAME` beside the campaign file.
        progress: told how far the collection is, and then the run where it takes long.
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

    place = campaign.default_folder if folder is None else as_path("folder", folder)
    with Store() if store is None else nullcontext(store) as there:
        return _settle(campaign, there, place, progress, accept_unusable)


def _settle(
    campaign: Campaign, store: Store, place: Path, progress: Progress | None, accept_unusable: bool
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


def _check_whose(campaign: Campaign, store: Store, place: Path) -> None:
    """A folder is not empty: whether it holds the pack of a campaign that this one may have been meant to be.

    Raises:
        InvalidInput: it does. Another folder would make another charge: that is said before one is suggested.
    """
    from confide.campaign.another import another_campaign

    found = another_campaign(campaign.file, campaign.plan, store, place)
    if found:
        raise InvalidInput("out", f"{place} is not empty: {found}",
                           "if that is meant, choose another folder with --out")


def _advance(
    campaign: Campaign, store: Store, progress: Progress | None, accept_unusable: bool
) -> tuple[Stored, bool]:
    """From wherever the campaign stands to its publication, and whether the published outcome is ours."""
    ours = False
    if isinstance(campaign.file.kind, ContractKind):
        known = _committed(campaign, store)
    else:
        known = _charged(campaign, store, lambda: campaign.collect(progress, home=store.home), accept_unusable)
    while known.state is not State.SETTLED:
        ours = _run_and_publish(campaign, store, known, progress)
        known = store.get(known.number)
    return known, ours


def commit(campaign: Campaign, store: Store, batches: Iterable[Any]) -> None:
    """Keep the contracts that become final, and charge the ledger for what is sent on them; once.

    Args:
        campaign: of a kind with contracts.
        store: where it will be settled.
        batches: the contracts, as the kind's codec packs them.

    Raises:
        BudgetExceeded: the ledger does not admit it; the campaign is over.
    """
    _charged(campaign, store, lambda: Collection(data=batches, rejected={}), accept_unusable=True)


def _committed(campaign: Campaign, store: Store) -> Stored:
    known = store.find(campaign.file)
    if known is None or known.state in (State.OPEN, State.CLOSED):
        raise Refused("no contracts of this campaign are final in this store",
                      f"do `confide contracts {campaign.file.path} --final`, with the same --store")
    if known.state is State.CANCELLED:
        raise _over(known)
    return known


def _charged(
    campaign: Campaign, store: Store, collect: Callable[[], Collection], accept_unusable: bool
) -> Stored:
    """From wherever the campaign stands to its charge."""
    asked, codec = charge_of(campaign.file, campaign.plan), campaign.file.kind.codec(campaign.plan)
    code = charged_code(campaign.file, campaign.plan)
    known = store.open(campaign.file, max(1, len(asked.subjects)))
    watched = may_stop(campaign, store, known)
    if watched:
        accepted(campaign, store.home)
        watched = not accept_unusable

    def packed() -> Iterator[tuple[np.ndarray, Sequence[bytes]]]:
        found, usable = collect(), 0
        if codec is not None:
            for batch in found.data:
                slots, reports = codec.pack(batch)
                usable += len(slots)
                yield slots, reports
            if watched and harmful(campaign, usable, len(found.rejected), store.home):
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


def _run_and_publish(campaign: Campaign, store: Store, known: Stored, progress: Progress | None) -> bool:
    file, plan = campaign.file, campaign.plan
    store.check_debit(known.number, charge_of(file, plan))
    codec = file.kind.codec(plan)
    if isinstance(file.kind, PausingKind):
        return _play_and_publish(campaign, store, known, file.kind, progress)
    return published(campaign, store, known.number, lambda: _released(campaign, store, known, codec, progress))


def _released(
    campaign: Campaign, store: Store, known: Stored, codec: ReportCodec | None, progress: Progress | None
) -> bool:
    file, plan = campaign.file, campaign.plan
    if codec is None:
        data, withdrawals = _held(campaign, store, progress), known.withdrawals
        with run_noise(campaign, store, withdrawals) as noise, charged_once(campaign):
            outcome = ran(plan.mechanism, data, noise, progress)
        deposited = np.zeros(0, np.int64)
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
    return _publish(campaign, store, known.number, outcome, withdrawals,
                    () if terms is None else amounts(terms, outcome.shares, deposited))


def _publish(
    campaign: Campaign, store: Store, number: int, outcome: Outcome | SimulatedOutcome, withdrawals: int,
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
    campaign: Campaign, store: Store, known: Stored, kind: PausingKind, progress: Progress | None
) -> bool:
    """A run that may have to wait, or has waited: with the noise that is kept for it until the publication."""
    file = campaign.file
    with kept_noise(file, kind, store.home) as kept:
        same_code(campaign, kept.noise)
        data = _held(campaign, store, progress)
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


def _held(campaign: Campaign, store: Store, progress: Progress | None) -> Any:
    """A custodian's rows, after the charge.

    Raises:
        InvalidInput: the table cannot be read any more, or is broken further down; says that the charge stays.
    """
    try:
        return _read(campaign.collect(progress, home=store.home))
    except InvalidInput as error:
        stays = "the ledger was charged before any row was read; mend the table and run again, nothing more is charged"
        raise InvalidInput(error.field, error.problem, f"{error.limit}; {stays}" if error.limit else stays) from None


@contextmanager
def charged_once(campaign: Campaign, *, pausing: bool = False) -> Iterator[None]:
    """Around what follows the charge: a fault says that the charge stays and how it goes on, and nothing of what it
    met, which may tell of records.

    What confide's own mechanisms and kinds refuse is built from public parameters, and told as it is.

    Args:
        campaign: whose run it is.
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


def check_shares(shares: Any, slots: int) -> None:
    """Whether shares can be published: a row for each slot, and something in it.

    Args:
        shares: of a run.
        slots: invited.

    Raises:
        InvalidInput: they are no table of that many rows, or leave a cell empty, as only the erasure of a share does.

    Example:
        >>> check_shares(pa.table({"like": [3, 0]}), 2)
        >>> check_shares(pa.table({"like": [3, None]}), 2)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: shares: like is empty somewhere; must hold a value for each slot: ...
    """
    if not isinstance(shares, pa.Table):
        raise InvalidInput("shares", f"{type(shares).__name__} is no table", "must be a pyarrow.Table")
    if shares.num_rows != slots:
        raise InvalidInput("shares", f"have {shares.num_rows:,} rows", f"must have one for each of {slots:,} slots")
    empty = [name for name in shares.column_names if shares[name].null_count]
    if empty:
        raise InvalidInput("shares", f"{', '.join(empty)} is empty somewhere",
                           "must hold a value for each slot: an empty share is one that was erased")


def _read(collection: Collection) -> Any:
    """What a run takes."""
    data = collection.data
    if isinstance(data, Submissions):
        return Batches(data)
    return data.read() if isinstance(data, HeldData) else data


def amounts(terms: PayoutTerms, shares: pa.Table, deposited: np.ndarray) -> Iterator[list[tuple[int, int]]]:
    """(slot, amount) of everybody who is paid: her share and the deposit that she left, never below 0.

    Args:
        terms: how shares become money.
        shares: whole coins, one row a slot.
        deposited: the slots of who left a deposit, with her report.
    """
    coins = shares[terms.column].to_numpy().copy()
    coins[deposited] += terms.deposit
    paid = np.flatnonzero(coins > 0)
    for start in range(0, len(paid), _BLOCK):
        block = paid[start : start + _BLOCK]
        yield list(zip(block.tolist(), coins[block].tolist(), strict=True))


def stored_outcome(campaign: Campaign, store: Store | None = None) -> Outcome:
    """The outcome of a settled campaign, with its shares.

    Raises:
        Refused: it is not settled in this store.
    """
    with existing(campaign.file) if store is None else nullcontext(store) as there:
        number = there.settled(campaign.file).number
        return Outcome(**rebuild(there.pack(number), there.shares(number)))


def existing(file: CampaignFile, url: str | None = None) -> Store:
    """Open the store in which a campaign was settled; to be closed, as by `with`. None is made.

    Args:
        file: the campaign.
        url: of the store; default the installation's own.

    Raises:
        Refused: the installation has no store of its own yet, so nothing is settled there.
        InvalidInput: the named store is not there.
    """
    from confide.campaign.store import Store

    found = Store.existing(url)
    if found is None:
        raise unsettled(file, Home.default().store_name, "it is settled in another store, name that with --store")
    return found


def simulate(
    file: CampaignFile, plan: CampaignPlan, collection: Collection, folder: Path, seed: int,
    progress: Progress | None = None,
) -> SimulatedOutcome:
    """The same run with simulated noise: a study, for its owner's eyes. It replaces an earlier study, nothing else."""
    check_place(folder)
    earlier_study(folder)
    noise = Noise.simulated(seed)
    if isinstance(file.kind, PausingKind):
        outcome = file.kind.play(file.config, plan, file.folder, _read(collection), noise, None)
    else:
        outcome = ran(plan.mechanism, _read(collection), noise, progress)
    if not isinstance(outcome, SimulatedOutcome):
        raise InvalidInput("outcome", "is a release", "a study is made with simulated noise")
    tables = file.kind.tables(plan, outcome)
    replace(folder, lambda draft: fill(draft, outcome, tables, collection.rejected),
            lambda: earlier_study(folder, tables.keys()), private=True)
    return outcome


def _limit(epsilon: float, delta: float) -> PureDP | ApproxDP:
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
