"""Settlement: charge the ledger, run with secure noise, publish all or nothing, once.

The folder is the store for now: an outcome is written beside its place and moved there in one step, so a reader sees
either nothing or all of it, and a campaign that is settled already returns what was stored.
"""

from __future__ import annotations

import csv
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


_STUDY_FILES = {"manifest.json", "columns", "shares", "report.html"}


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
    try:
        known = json.loads(note.read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidInput("out", f"{note} cannot be read ({type(error).__name__})") from None
    if not isinstance(known, dict) or known.get("sha256") != file.digest:
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
    _check_place(folder)  # before the charge: a bad path must not cost privacy budget
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
    """The same run with simulated noise: a study. An earlier study in the folder is replaced, nothing else is."""
    _check_place(folder)
    if (folder / "campaign.json").exists():
        raise InvalidInput("out", f"{folder} holds a settled campaign", "choose another folder for a study")
    earlier = _study_in(folder)
    outcome = plan.mechanism.run(collection.data, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise InvalidInput("outcome", "is a release", "a study is made with simulated noise")
    for path in earlier:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    outcome.save(folder)
    return outcome


def _check_place(folder: Path) -> None:
    """Refuse a place that cannot hold an outcome."""
    there = folder.absolute()
    if there.is_symlink() or (there.exists() and not there.is_dir()):
        raise InvalidInput("out", f"{folder} is not a folder", "choose another folder with --out")
    if there.exists() and there.samefile(Path.cwd()):
        raise InvalidInput("out", f"{folder} is the working directory", "choose another folder with --out")
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InvalidInput("out", f"{folder} cannot be written", "choose another folder with --out")


def _study_in(folder: Path) -> list[Path]:
    """The files of an earlier study, to be replaced.

    Raises:
        InvalidInput: the folder holds anything else; a study never removes what is not a study's.
    """
    found = sorted(folder.iterdir()) if folder.exists() else []
    if not found:
        return []
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        study = isinstance(manifest, dict) and manifest["format"] == FORMAT and manifest["release_safe"] is False
    except (OSError, ValueError, KeyError):
        study = False
    if not study or not {path.name for path in found} <= _STUDY_FILES:
        raise InvalidInput("out", f"{folder} holds files that are not a study's", "choose another folder with --out")
    return found


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
        with (operator / "rejected.csv").open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerows([("id", "reason"), *collection.rejected.items()])
        (draft / "campaign.toml").write_text(file.text, encoding="utf-8")
        note = {"format": FORMAT, "kind": file.kind.name, "title": file.title, "sha256": file.digest}
        (draft / "campaign.json").write_bytes(canonical(note))
        if folder.exists():
            folder.rmdir()  # empty, checked above
        os.replace(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
