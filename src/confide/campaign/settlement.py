"""Settlement: charge the ledger, run with secure noise, publish all or nothing, once.

The folder is the store for now: an outcome is written beside its place and moved there in one step, so a reader sees
either nothing or all of it, and a campaign that is settled already returns what was stored.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from confide.campaign.file import CampaignFile
from confide.campaign.states import Event, State, advance
from confide.contract.encoding import canonical
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience
from confide.contract.kinds import Collection, Plan
from confide.contract.outcome import FORMAT, Outcome, SimulatedOutcome
from confide.privacy.ledger import Account, Ledger
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise

__all__ = ["Settled", "charge", "settle", "simulate", "stored"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Settled:
    """A settled campaign.

    Args:
        outcome: billboard, shares, guarantees.
        folder: where it is stored.
        fresh: False when it had been settled before and the stored outcome is returned.
    """

    outcome: Outcome
    folder: Path
    fresh: bool


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
    ledger.charge(account, *events)  # type: ignore[arg-type]  # the contract's Spend is privacy's Event


def stored(file: CampaignFile, folder: Path) -> Outcome | None:
    """The outcome that this campaign left in the folder, or None.

    Raises:
        InvalidInput: the folder holds the outcome of another campaign, or of an earlier text of this one.
    """
    note = folder / "campaign.json"
    if not note.exists():
        return None
    if json.loads(note.read_bytes()).get("sha256") != file.digest:
        raise InvalidInput("out", f"{folder} holds the outcome of another campaign or of an earlier text of this one",
                           "choose another folder with --out")
    return Outcome.load(folder)


def settle(file: CampaignFile, plan: Plan, collection: Collection, folder: Path, ledger: Ledger) -> Settled:
    """Settle once with secure noise; a campaign that is settled already returns the stored outcome.

    Args:
        file: the campaign.
        plan: its plan.
        collection: what was collected; its data goes to the mechanism.
        folder: where manifest, columns and shares go; must not exist or be empty.
        ledger: charged before the run.
    """
    before = stored(file, folder)
    if before is not None:
        return Settled(outcome=before, folder=folder, fresh=False)
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput("out", f"{folder} is not empty", "choose another folder with --out")
    state = advance(State.CLOSED, Event.CHARGE)
    charge(file, plan, ledger)
    outcome = plan.mechanism.run(collection.data, Noise.secure())
    state = advance(state, Event.RUN)
    if not isinstance(outcome, Outcome):
        raise InvalidInput("outcome", "is simulated", "only an outcome made with secure noise can be settled")
    advance(state, Event.PUBLISH)
    _publish(file, outcome, collection, folder)
    return Settled(outcome=outcome, folder=folder, fresh=True)


def simulate(plan: Plan, collection: Collection, folder: Path, seed: int) -> SimulatedOutcome:
    """The same run with simulated noise: a study. An earlier study in the folder is replaced."""
    if (folder / "campaign.json").exists():
        raise InvalidInput("out", f"{folder} holds a settled campaign", "choose another folder for a study")
    outcome = plan.mechanism.run(collection.data, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise InvalidInput("outcome", "is a release", "a study is made with simulated noise")
    if (folder / "manifest.json").exists():
        shutil.rmtree(folder)
    outcome.save(folder)
    return outcome


def _publish(file: CampaignFile, outcome: Outcome, collection: Collection, folder: Path) -> None:
    """Write everything into a new directory beside the folder, then move it into place in one step."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        draft.chmod(0o755)
        outcome.save(draft)
        operator = draft / "operator"
        operator.mkdir(mode=0o700)
        # Who was rejected is a function of private records: the operator's own file, never published.
        lines = ["id,reason", *(f'"{key}","{reason}"' for key, reason in collection.rejected.items())]
        (operator / "rejected.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (draft / "campaign.toml").write_text(file.text, encoding="utf-8")
        note = {"format": FORMAT, "kind": file.kind.name, "title": file.title, "sha256": file.digest}
        (draft / "campaign.json").write_bytes(canonical(note))
        if folder.exists():
            folder.rmdir()  # empty, checked above
        os.replace(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
