"""The operator's commands around a run: campaigns, ledger, payouts and withdraw. The module also has the command
verify, which anybody can use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.options import AsJson, CampaignPath, StoreUrl, emit, head, load, open_store, store_if_any

if TYPE_CHECKING:
    from confide.campaign.payouts import Payouts
    from confide.cli.output import PayoutsOutput

__all__ = ["campaigns", "ledger", "payouts", "verify", "withdraw"]


def campaigns(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List the campaigns of a store and the state of each."""
    from confide.campaign.pages import campaigns_section
    from confide.cli.render import show

    with store_if_any(store) as (name, there):
        parts = [campaigns_section(there.campaigns(), there.charged()) if there else campaigns_section((), ())]
    if as_json:
        from confide.cli import output

        emit(output.CampaignsOutput(store=name, sections=output.sections(parts)))
        return
    show(parts)


def ledger(
    data_set: Annotated[str | None, typer.Option("--data-set", help="Only this data set.")] = None,
    identity: Annotated[str | None, typer.Option("--id", help=
        "Only this person of the data set; the output is private.")] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show the privacy losses that were charged to each data set, by campaign. With --id, show the losses of one
    person.
    """
    from confide.campaign.ledger_gaps import other_releases
    from confide.campaign.pages import ledger_sections, subject_section
    from confide.cli.render import show
    from confide.contract import InvalidInput

    with store_if_any(store) as (name, there):
        found = there.ledger(data_set) if there else ()
        if data_set is not None and not found:
            known = ", ".join(there.data_sets() if there else ()) or "none"
            raise InvalidInput("data-set", f"{data_set!r} has no account", f"known: {known}")
        if there is None or identity is None:
            parts = ledger_sections(found, elsewhere=0 if there is None or data_set else other_releases(there))
        else:
            parts = [subject_section(identity, there.subject(each.account, identity), each) for each in found]
    if as_json:
        from confide.cli import output

        emit(output.LedgerOutput(store=name, sections=output.sections(parts)))
        return
    show(parts)


def verify(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="Folder that holds the pack, or its .zip.")],
    key: Annotated[str | None, typer.Option("--key", help="Fingerprint of the operator's key, from the offer.")] = None,
    own: Annotated[Path | None, typer.Option("--own", metavar="FILE", help=
                                             "Your own file: the command also checks your share.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check the public files of a settled campaign, offline. Exits 1 if something is broken, and 3 if something could
    not be checked.
    """
    from confide.campaign import verify as check
    from confide.campaign.pages import verification_section
    from confide.cli.render import show

    found = check(pack, key=key, own=own)
    if as_json:
        from confide.cli import output

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
    """Withdraw a participant's record. Before the settlement, the record then counts as empty. After the settlement,
    the participant's record and share are erased.
    """
    it = load(campaign)
    with store_if_any(store) as (_, there):
        before = it.withdraw(identity, store=there)
    if as_json:
        from confide.cli import output

        emit(output.WithdrawOutput(**head(it), before_settlement=before))
    elif before:
        print("withdrawn: the participant's record counts as empty")
    else:
        print("erased: the participant's record and share; the published result and the ledger stay")


def payouts(
    campaign: CampaignPath,
    approve: Annotated[str | None, typer.Option(metavar="CODE", help=
        "Approve the queued payouts by their code.")] = None,
    export: Annotated[Path | None, typer.Option(metavar="FILE", help=
        "Write the approved payouts: .csv, or .xml for ISO 20022 pain.001.")] = None,
    again: Annotated[int | None, typer.Option("--batch", help=
                                              "Write the batch with this number again, instead of a "
                                              "new batch.")] = None,
    payees: Annotated[Path | None, typer.Option(metavar="FILE", help="CSV of id,name,iban,bic; .xml needs it.")] = None,
    payer: Annotated[str | None, typer.Option(metavar="NAME,IBAN,BIC", help=
        "Name of the payer; .xml needs it.")] = None,
    text: Annotated[str | None, typer.Option(help=
        "Text on bank statements, for .xml [Payment for taking part].")] = None,
    read: Annotated[Path | None, typer.Option("--import", metavar="FILE", help=
        "The bank's answer: CSV or pain.002.")] = None,
    reopen: Annotated[bool, typer.Option("--reopen", help=
        "Queue again all payouts that the bank could not pay.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List every payout, and the participants who withdrew; the "
                                                        "output is private.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show the payouts of a settled campaign, approve them, export them, and import the bank's answer."""
    from confide.campaign.pages import payout_sections
    from confide.cli.render import show
    from confide.contract import InvalidInput

    if export is None and any(given is not None for given in (again, payees, payer, text)):
        raise InvalidInput("export", "is missing", "--batch, --payees, --payer and --text need --export")
    it = load(campaign)
    done: dict[str, int] = {}
    with open_store(store, it) as there:
        if approve is not None:
            done["approved"] = it.approve_payouts(approve, store=there)
        if reopen:
            done["reopened"] = it.reopen_payouts(store=there)
        if export is not None:
            done["batch"] = it.export_payouts(export, batch=again, payees=payees, payer=payer, text=text, store=there)
        if read is not None:
            done |= it.import_confirmations(read, store=there)
        found = it.payouts(store=there)
    if as_json:
        emit(_payouts_output(head(it), done, found, listed))
        return
    for line in _done(done, found, export):
        print(line)
    show(payout_sections(found, listed=listed))


def _done(done: dict[str, int], found: Payouts, export: Path | None) -> list[str]:
    """Sentences on the finished action and on the next step."""
    lines = []
    if "approved" in done:
        lines.append(f"approved {_count(done['approved'], 'payout')}" if done["approved"] else
                     "no payout waits for approval")
    if "reopened" in done:
        lines.append(f"queued {done['reopened']:,} again" if done["reopened"] else "nothing had failed")
    if "batch" in done:
        batch = found.queue.batches[done["batch"] - 1]
        lines.append(f"wrote batch {batch.number} with {_count(sum(batch.people.values()), 'payment')}, "
                     f"{found.terms.money(batch.coins or 0)} in all, to {export}; import the bank's answer with "
                     "--import")
    if "paid" in done:
        returned = f"{done['failed']:,} returned"
        if done["failed"]:
            returned += f": --reopen queues {'it' if done['failed'] == 1 else 'them'} again"
        lines.append(f"{done['paid']:,} paid, {returned}")
        lines.append(f"{done['known']:,} known before, {found.queue.people['sent']:,} still without an answer of the "
                     "bank")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _payouts_output(campaign: dict[str, Any], done: dict[str, int], found: Payouts, listed: bool) -> PayoutsOutput:
    from confide.cli import output

    queue = found.queue
    entries = withdrawn = None
    if listed:
        entries = [output.PayoutModel(**{**each, "coins": _words(each["coins"])}) for each in found.entries.to_pylist()]
        withdrawn = [output.WithdrawnModel(id=each["id"], deposit=str(each["deposit"]))
                     for each in found.withdrawn.to_pylist()]
    return output.PayoutsOutput(
        **campaign, done=done, currency=found.terms.currency, minor_units=found.terms.minor_units,
        people=dict(queue.people), coins={state: str(coins) for state, coins in queue.coins.items()}, code=queue.code,
        batches=[output.BatchModel(number=each.number, format=each.form, written=each.written, people=dict(each.people),
                                   coins=_words(each.coins)) for each in queue.batches],
        entries=entries, withdrawn=withdrawn)


def _words(coins: int | None) -> str | None:
    """A whole number as text, since JSON readers round large numbers."""
    return None if coins is None else str(coins)
