"""Settlement: charge the ledger, run with secure noise, publish all or nothing, once per folder.

The folder is the store for now: an outcome is written beside its place and moved there in one step, so a reader sees
either nothing or all of it, and a campaign that is settled there already returns what was stored. The ledger is the
caller's; the command line opens a new one for each run, so `[budget]` limits what one run may spend, and a run into a
second folder is a second release that no ledger adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from confide.campaign.file import CampaignFile
from confide.campaign.folder import NOTE, OPERATOR, REJECTED, check_place, earlier_study, fill, leftovers, replace
from confide.campaign.states import Event, State, advance
from confide.campaign.stored import note, stored
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience
from confide.contract.kinds import Collection, Plan
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.ledger import Account, Ledger
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise

__all__ = ["Settled", "charge", "settle", "settled", "simulate"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Settled:
    """A settled campaign.

    Args:
        outcome: billboard, shares, guarantees.
        tables: the public result in natural units, such as `coefficients`.
        folder: where it is stored.
        fresh: False when it had been settled before and the stored outcome is returned.
    """

    outcome: Outcome
    tables: Mapping[str, pa.Table]
    folder: Path
    fresh: bool

    @property
    def rejected(self) -> Path:
        """The operator's list of rejected records."""
        return self.folder / OPERATOR / REJECTED


def charge(file: CampaignFile, plan: Plan, ledger: Ledger) -> None:
    """Debit the whole campaign, before any record is touched.

    Raises:
        BudgetExceeded: the data set's budget does not admit the campaign's events.
    """
    budget = file.budget
    limit = ApproxDP(budget.epsilon, budget.delta) if budget.delta else PureDP(budget.epsilon)
    events = tuple(plan.mechanism.events())
    account = Account(name=budget.data_set, neighbours=events[0].neighbours, audience=Audience.PUBLIC)
    ledger.register(account, limit)
    delta = max((float(getattr(promise.loss, "delta", 0.0)) for promise in plan.guarantees.privacy), default=0.0)
    ledger.charge(account, *events, delta=delta)  # type: ignore[arg-type]  # the contract's Spend is privacy's Event


def settled(file: CampaignFile, plan: Plan, folder: Path) -> Settled | None:
    """What this campaign left in the folder, or None where nothing is."""
    outcome = stored(file, folder)
    if outcome is None:
        return None
    return Settled(outcome=outcome, tables=file.kind.tables(plan, outcome), folder=folder, fresh=False)


def settle(file: CampaignFile, plan: Plan, collection: Collection, folder: Path, ledger: Ledger) -> Settled:
    """Settle once with secure noise; a campaign that is settled already returns the stored outcome.

    Args:
        file: the campaign.
        plan: its plan.
        collection: what was collected; its data goes to the mechanism.
        folder: where manifest, columns, tables and shares go; must not exist or be empty, or hold a check's list alone.
        ledger: charged before the run.
    """
    before = settled(file, plan, folder)
    if before is not None:
        return before
    check_place(folder)  # before the charge: a bad path must not cost privacy budget
    leftovers(folder)
    state = advance(State.CLOSED, Event.CHARGE)
    charge(file, plan, ledger)
    outcome = plan.mechanism.run(collection.data, Noise.secure())
    state = advance(state, Event.RUN)
    if not isinstance(outcome, Outcome):
        raise InvalidInput("outcome", "is simulated", "only an outcome made with secure noise can be settled")
    tables = file.kind.tables(plan, outcome)
    advance(state, Event.PUBLISH)

    def write(draft: Path) -> None:
        fill(draft, outcome, tables, collection.rejected)
        (draft / "campaign.toml").write_text(file.text, encoding="utf-8", newline="")
        (draft / NOTE).write_bytes(note(file, draft))

    replace(folder, write, lambda: leftovers(folder), private=False)
    return Settled(outcome=outcome, tables=tables, folder=folder, fresh=True)


def simulate(file: CampaignFile, plan: Plan, collection: Collection, folder: Path, seed: int) -> SimulatedOutcome:
    """The same run with simulated noise: a study, for its owner's eyes. It replaces an earlier study, nothing else."""
    check_place(folder)
    earlier_study(folder)
    outcome = plan.mechanism.run(collection.data, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise InvalidInput("outcome", "is a release", "a study is made with simulated noise")
    tables = file.kind.tables(plan, outcome)
    replace(folder, lambda draft: fill(draft, outcome, tables, collection.rejected),
            lambda: earlier_study(folder, tables.keys()), private=True)
    return outcome
