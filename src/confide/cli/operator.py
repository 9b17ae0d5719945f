"""The operator's verbs after a run: campaigns, ledger, payouts, withdraw; and anybody's verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.options import AsJson, CampaignPath, StoreUrl, emit, head, load, open_store, store_if_any

__all__ = ["campaigns", "ledger", "payouts", "verify", "withdraw"]


def campaigns(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the campaigns of a store and where each stands."""
    from confide.campaign.pages import campaigns_section
    from confide.cli import output
    from confide.cli.render import show

    with store_if_any(store) as (name, there):
        parts = [campaigns_section(there.campaigns() if there else ())]
    if as_json:
        emit(output.CampaignsOutput(store=name, sections=output.sections(parts)))
        return
    show(parts)


def ledger(
    data_set: Annotated[str | None, typer.Option("--data-set", help="This data set alone.")] = None,
    identity: Annotated[str | None, typer.Option("--id", help="This person of the data set; private.")] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show who has been exposed to how much, by which campaign."""
    from confide.campaign.pages import ledger_sections, subject_section
    from confide.cli import output
    from confide.cli.render import show
    from confide.contract import InvalidInput

    with store_if_any(store) as (name, there):
        found = there.ledger(data_set) if there else ()
        if data_set is not None and not found:
            known = ", ".join(sorted({each.account.name for each in there.ledger()} if there else ())) or "none"
            raise InvalidInput("data-set", f"{data_set!r} has no account", f"known: {known}")
        if there is None or identity is None:
            parts = ledger_sections(found)
        else:
            parts = [subject_section(identity, there.subject(each.account, identity)) for each in found]
    if as_json:
        emit(output.LedgerOutput(store=name, sections=output.sections(parts)))
        return
    show(parts)


def verify(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="Folder that holds the pack.")],
    key: Annotated[str | None, typer.Option("--key", help="Fingerprint of the operator's key, from the offer.")] = None,
    own: Annotated[Path | None, typer.Option("--own", metavar="FILE", help="Your own file: checks your share.")] = None,
    as_json: AsJson = False,
) -> None:
    """Re-check a pack offline; exits 1 if something is broken, 3 if something could not be checked."""
    from confide.campaign import verify as check
    from confide.campaign.pages import verification_section
    from confide.cli import output
    from confide.cli.render import show

    found = check(pack, key=key, own=own)
    if as_json:
        emit(output.VerifyOutput(pack=str(pack), **found.to_dict()))
    else:
        show([verification_section(found)])
    if not found.complete:
        raise typer.Exit(3 if found.passed else 1)


def withdraw(
    campaign: CampaignPath,
    identity: Annotated[str, typer.Option("--id", help="The participant's id.")],
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Take a participant's record back: before the settlement it counts as empty, after it it is erased."""
    from confide.cli import output
    from confide.contract import InvalidInput, Refused

    it = load(campaign)
    ids = it.file.kind.identities(it.file.config)
    if identity not in ids:
        raise InvalidInput("id", f"{identity!r} is not on the public list of {len(ids)} ids")
    with store_if_any(store) as (name, there):
        known = there.find(it.file) if there else None
        if there is None or known is None:
            raise Refused(f"{name} does not know this campaign",
                          "before it is run, take her row out of the data file: the slots stay; if the campaign file "
                          "was changed since it was run, use the one that ran")
        before = there.withdraw(known.number, ids.index(identity))
    if as_json:
        emit(output.WithdrawOutput(**head(it), before_settlement=before))
    elif before:
        print("withdrawn: her record counts as empty")
    else:
        print("erased: her record and her share; the published result and the ledger stay")


def payouts(
    campaign: CampaignPath,
    approve: Annotated[str | None, typer.Option(metavar="CODE", help="Approve what is queued, by its code.")] = None,
    export: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what is approved: .csv, or .xml for "
                                                                     "ISO 20022 pain.001.")] = None,
    again: Annotated[int | None, typer.Option("--batch", help="Write this batch again instead.")] = None,
    payees: Annotated[Path | None, typer.Option(metavar="FILE", help="CSV of id,name,iban,bic; .xml needs it.")] = None,
    payer: Annotated[str | None, typer.Option(metavar="NAME,IBAN,BIC", help="Who pays; .xml needs it.")] = None,
    text: Annotated[str, typer.Option(help="What .xml writes on bank statements.")] = "Payment for taking part",
    read: Annotated[Path | None, typer.Option("--import", metavar="FILE", help="What the bank says: CSV or "
                                                                               "pain.002.")] = None,
    reopen: Annotated[bool, typer.Option("--reopen", help="Queue again what the bank could not pay.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show the payouts of a settled campaign, approve them, export them, take what the bank says."""
    from confide.campaign.pages import payout_section
    from confide.campaign.payouts import export_batch, import_confirmations
    from confide.cli import output
    from confide.cli.render import show
    from confide.contract import InvalidInput

    if export is None and (again is not None or payees is not None or payer is not None):
        raise InvalidInput("export", "missing", "--batch, --payees and --payer are for an export")
    it = load(campaign)
    terms = it.file.kind.payouts(it.plan)
    if terms is None:
        raise InvalidInput("campaign", f"{it.file.kind.name} pays nothing", "no payouts")
    done: dict[str, Any] = {}
    with open_store(store, it) as there:
        known = there.settled(it.file)
        if approve is not None:
            done["approved"] = there.approve(known.number, approve)
        if reopen:
            done["reopened"] = there.reopen(known.number)
        if export is not None:
            done["batch"] = export_batch(it, there, export, number=again, payees=payees, payer=payer,
                                          text=text)
        if read is not None:
            done |= import_confirmations(it, there, read)
        queue = there.payouts(known.number)
    if as_json:
        emit(output.PayoutsOutput(**head(it), done=done, currency=terms.currency, minor_units=terms.minor_units,
                                  people=dict(queue.people), coins={k: str(v) for k, v in queue.coins.items()},
                                  code=queue.code, batches=queue.batches))
        return
    for what, number in done.items():
        print(f"{what}: {number}")
    show([payout_section(queue, terms)])
