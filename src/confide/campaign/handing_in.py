"""The collection of records that participants hand in. A collection is opened, and its records are read from one file
or taken one by one. In a rehearsal, the operator draws the reports of all participants.

If participants' devices draw the reports, each report already discloses something to the collector, even if the
campaign is never settled. The ledger is charged when a collection of reports from devices is opened, in the same
transaction, for all invited people. A campaign that is never settled keeps its debit. In a campaign with contracts,
nothing is drawn before the contracts are final, so the ledger is charged when a round becomes final. In all other
campaigns the participants trust the collector with their records, so the ledger is charged at the settlement.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from confide.campaign.charging import charge_of, cost_of
from confide.campaign.contracts import read_contract, round_of
from confide.campaign.file import Planned
from confide.campaign.own_runs import charged_code
from confide.campaign.store.home import Home, released_elsewhere
from confide.contract.checks import positive
from confide.contract.errors import InvalidInput, PublicWarning, Refused
from confide.contract.files import write_new
from confide.contract.kinds import Collection, ContractKind, Kind, LocalKind, Progress
from confide.privacy.noise import Noise
from confide.privacy.report_book import EVERYBODY, ReportBook

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from confide.campaign.store import Store, Stored

__all__ = ["When", "book_of", "charged_at", "collected", "hand_in", "open_collection", "opening_says", "rehearse",
           "submit"]

When = Literal["opening", "final round", "settlement"]
"""The step of a campaign at which the ledger is charged."""


def charged_at(kind: Kind) -> When:
    """The step at which the ledger is charged, for a campaign whose participants hand in their records one by one.

    Args:
        kind: the kind of the campaign.

    Example:
        >>> from confide.contract.kinds import kind
        >>> [charged_at(kind(name)) for name in ("bits", "mean", "regression")]
        ['opening', 'final round', 'settlement']
    """
    if isinstance(kind, ContractKind):
        return "final round"
    return "opening" if isinstance(kind, LocalKind) else "settlement"


def opening_says(campaign: Planned) -> str:
    """A text on the charge for opening a collection, or on the later step at which the ledger is charged.

    Args:
        campaign: the campaign that would be opened.
    """
    file = campaign.file
    when, cost = charged_at(file.kind), cost_of(file, campaign.plan)
    people = len(file.kind.identities(file.config))
    who = f"all {people:,} invited people of {file.budget.data_set!r}" if people else f"{file.budget.data_set!r}"
    if when == "opening":
        return (f"Opening charges the ledger {cost} for {who}, whether they report or not, since the collector sees "
                "each report that a device draws. The charge stays, even if the campaign is never settled. The "
                "settlement charges nothing more.")
    return (f"Opening charges nothing. The {when} charges the ledger {cost} for {who}. The ledger reserves nothing "
            "for this charge before.")


def open_collection(
    campaign: Planned, store: Store, also: Callable[[Connection, Stored], None] | None = None
) -> Stored:
    """Open a campaign's collection once. The ledger is charged at the opening if participants' devices draw the reports
    without contracts.

    Args:
        campaign: the campaign to open.
        store: the store of the campaign.
        also: a function that is called with the connection and the stored campaign, in the same transaction.

    Raises:
        BudgetExceeded: the ledger does not admit the campaign; nothing was opened.
        Refused: the collection must be charged when it is opened, but was opened before without a charge.
    """
    file, plan = campaign.file, campaign.plan
    asked, early = charge_of(file, plan), charged_at(file.kind) == "opening"
    if not early:
        store.check_charge(asked)
    code = charged_code(file, plan) if early else ""
    known = store.open(file, max(1, len(asked.subjects)), charge=asked if early else None, also=also)
    if code:
        store.home.charge(file.digest, code)
    return known


def collected(campaign: Planned, home: Home | None = None, progress: Progress | None = None) -> Collection:
    """The records from the data file that the campaign file names, as `Campaign.collect` reads them. In a campaign with
    contracts, these are the records that participants sent under their final contracts.
    """
    file, kind = campaign.file, campaign.kind
    if isinstance(kind, ContractKind):
        round_of(file, home, final=True)
    return kind.collect(file.config, campaign.plan, file.folder, progress)


def book_of(home: Home | None = None) -> ReportBook:
    """The private book in which an installation notes people's reports: see `Campaign.book`."""
    return ReportBook((Home.default() if home is None else home).folder / "own" / "reports.json")


def hand_in(campaign: Planned, identity: str, values: Mapping[str, str], store: Store | None) -> None:
    """Take one participant's record into the store: see `Campaign.hand_in`."""
    from confide.campaign.store import Store

    file, plan = campaign.file, campaign.plan
    slot, report = file.kind.submission(file.config, plan, identity, values)  # its errors come first
    with Store() if store is None else nullcontext(store) as there:
        known = there.find(file)
        # What was opened without a charge, as by a run that then met no file, takes no report that has to be charged.
        free = known is not None and charged_at(file.kind) == "opening" and not there.is_charged(known.number)
        if known is None or free:  # nobody hands in what can never be settled
            if there.home.released(file.digest) is not None:
                raise released_elsewhere()
            known = open_collection(campaign, there)
        there.submit(known.number, slot, report, once=isinstance(file.kind, LocalKind))


def submit(
    campaign: Planned, kind: LocalKind, person: str, record: Mapping[str, str], *, contract: str | None,
    key: str | None, total: float | None, largest: float, home: Home | None,
) -> Mapping[str, str]:
    """Draw one participant's report on their own device, once: see `Campaign.submit`."""
    file, plan = campaign.file, campaign.plan
    largest, person = positive("largest", largest), kind.identity(file.config, person)
    if not isinstance(kind, ContractKind):
        if contract is not None:
            raise InvalidInput("contract", f"the kind {kind.name!r} has none", "leave it out")
        private, level = kind.private(file.config, plan, record)
    elif contract is None:
        return kind.reported(file.config, plan, person, record)
    else:
        found = read_contract(file, person, contract, key)
        if not found.final:
            raise Refused("this contract is not final: it changes if somebody declines",
                          "look at this contract, and wait for the final one")
        private, level = kind.on_terms(file.config, plan, record, found.terms)
    if level > largest:
        unit = "nats" if kind.notion == "epsilon" else "of rho"
        raise Refused(f"a report at level {level:g} {unit} discloses more than a report at {largest:g}, the largest "
                      "level at which this device draws", "take no part, or agree to a larger level (largest); the "
                                                    "device drew nothing")
    book, mechanism = book_of(home), plan.mechanism
    report = book.stored(person, file.digest)
    if report is None:
        report = mechanism.submit(None) if private is None else book.report(
            person=person, bit=file.budget.data_set, question=kind.question(file.config), campaign=file.digest,
            level=level, notion=kind.notion, total=total,
            draw=lambda: int(mechanism.submit(private, noise=Noise.secure())))
    return kind.row(file.config, person, report)


def _check_answers(rejected: Mapping[str, str], *, any_used: bool) -> None:
    """Refuse a rehearsal without any answer that can be used, and warn of the answers that are left out; all these
    answers are public.
    """
    if not any_used and not rejected:
        raise InvalidInput("rehearsal.source", "has no answer", "must have an answer of at least one participant")
    if rejected:
        name, why = next(iter(rejected.items()))
        if not any_used:
            raise InvalidInput("rehearsal.source", f"has no answer that can be used; the first is of {name}: {why}")
        others = f", and so are {len(rejected) - 1:,} others" if len(rejected) > 1 else ""
        warnings.warn(f"rehearsal.source: the answer of {name} is left out ({why}){others}", PublicWarning,
                      stacklevel=4)


def rehearse(
    campaign: Planned, kind: LocalKind, target: Path, total: float | None, home: Home | None,
    progress: Progress | None,
) -> int:
    """Draw the reports of all participants, and write the rows that they would hand in: see `Campaign.rehearse`."""
    file = campaign.file
    # Played once for nothing: a file without [rehearsal], or answers that cannot be used, must cost no level.
    played = kind.rehearse(file.config, campaign.plan, file.folder, Noise.simulated(0))
    _check_answers(played.rejected, any_used=bool(kind.rows(file.config, played.data)))
    if isinstance(kind, ContractKind):
        round_of(file, home, final=True)
    write_new("out", target, "", private=False)  # before anything is drawn: a bad path must cost no level
    drawn = False

    def draw() -> int:
        nonlocal drawn
        found = kind.rehearse(file.config, campaign.plan, file.folder, Noise.secure(), progress)
        rows, text = kind.rows(file.config, found.data), io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        target.write_text(text.getvalue(), encoding="utf-8")
        drawn = True
        return len(rows)

    try:
        count = book_of(home).report(
            person=EVERYBODY, bit=file.budget.data_set, question=kind.question(file.config), campaign=file.digest,
            level=kind.level(campaign.plan), notion=kind.notion, total=total, draw=draw)
        if not drawn:
            raise Refused("the reports of these people were simulated and written before",
                          "use the file with these reports")
    finally:
        if not drawn:
            target.unlink(missing_ok=True)
    return count
