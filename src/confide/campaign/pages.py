"""Sections of pages for participants and operators: contracts, shares, the ledger, payouts, and verifications."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from confide.campaign.ledger_gaps import alike
from confide.campaign.store.states import State
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import as_sentence, counted

if TYPE_CHECKING:
    import pyarrow as pa

    from confide.campaign.contracts import Contract, Round
    from confide.campaign.payouts.queue import Payouts
    from confide.campaign.store.debits import Debit, Standing
    from confide.campaign.store.store import Stored
    from confide.campaign.verification import Verification
    from confide.contract.kinds import CampaignPlan
    from confide.contract.payout_terms import PayoutTerms

__all__ = ["campaigns_section", "contract_note", "handed_section", "key_section", "ledger_sections", "payout_sections",
           "round_note", "share_section", "subject_section", "verification_section", "warning_sections",
           "withdrawn_section"]


def key_section(fingerprint: str, *, shares: bool = True) -> Section:
    """Explain how a participant can check the result later.

    Args:
        fingerprint: the fingerprint of the operator's key.
        shares: whether participants have shares of the result.
    """
    own = (" To check your share, too, first save it with confide share --write FILE. Then add --own FILE to the "
           "command confide verify.") if shares else ""
    who = "operator" if shares else "custodian"
    return Section(title="How you can check the result", blocks=(Text((
        f"The {who} will sign the result with a secret key. The public fingerprint of this key is {fingerprint}. Keep "
        f"the fingerprint: with it, you can check later that the result comes from the {who} who made this page, and "
        "that nobody has changed it.",
        "To check the result, you need a computer with the program confide; a phone is not enough. The published files "
        "together are called the pack. The command confide verify PACK --key FINGERPRINT checks the pack without "
        f"anybody's help: PACK is the folder of these files, and FINGERPRINT is the fingerprint above.{own}",
    )),))


def warning_sections(plan: CampaignPlan) -> list[Section]:
    """The warning at the top of a participant's page that the promise of privacy is too weak to hide anything; empty if
    the promise is strong enough.

    Args:
        plan: the plan of a campaign.
    """
    from confide.privacy.groups import right_at_most  # mechanisms come with numpy, which the lists do without
    from confide.privacy.hiding import hides_next_to_nothing

    promises = plan.guarantees.privacy
    found = hides_next_to_nothing(promises, partial(right_at_most, plan.mechanism, promises))
    return [Section(title="Warning", blocks=(Text(tuple(map(as_sentence, found))),))] if found else []


def share_section(share: Mapping[str, Any], terms: PayoutTerms | None = None, *, none: bool = False) -> Section:
    """The stored share of a participant without a stored record.

    Args:
        share: the share of one participant.
        terms: the terms of payment, which name the part of the share that is an amount of money; None if no part is
            money.
        none: whether it is known that the participant handed in no record; False if a record may have been erased.
    """
    rows = tuple((name.replace("_", " "), terms.money(value) if terms is not None and name == terms.column else
                  value if isinstance(value, str | int | float | None) else str(value))
                 for name, value in share.items())
    return Section(title="Your share", private=True, blocks=(
        Text((_NONE if none else _ERASED,)),
        Table(columns=("what", "value"), rows=rows)))


def handed_section(goods: pa.Table, *, none: bool = False) -> Section:
    """The goods of a participant without a stored record.

    Args:
        goods: a table with one line for each good; empty if the participant gets nothing.
        none: whether it is known that the participant handed in no record; False if a record may have been erased.
    """
    shown: tuple[Block, ...] = (Table(columns=tuple(name.replace("_", " ") for name in goods.column_names), rows=tuple(
        tuple(row.values()) for row in goods.to_pylist())),) if goods.num_rows else (Text(("You get nothing.",)),)
    return Section(title="Your share", private=True, blocks=(Text((_NONE if none else _ERASED,)), *shown))


def contract_note(contract: Contract) -> Section:
    """The participant's next step with a contract, and the fingerprint of the key that signed the contract."""
    state = ("The contract is final. Your device uses it to draw and hand in your record, once." if contract.final else
             "The contract is not final: agree or decline. If somebody declines, everybody's contract changes.")
    return Section(title=f"Round {contract.round}", private=True, blocks=(Text((
        state, f"The contract is signed with the key {contract.signer}: compare it with the key in your offer.",)),))


def round_note(drawn: Round) -> Section:
    """The state of a round of contracts, for the operator alone."""
    state = ("The round is final: devices use these contracts, and there is no other round. If a participant stays "
             "away now, the operator adds their noise, and they are not paid." if drawn.final else
             "Show each participant their contract (--id). If somebody declines or does not answer, draw up another "
             "round (--without). When all agree, make the round final (--final).")
    gone = f" Without {', '.join(drawn.without)}." if drawn.without else ""
    return Section(title=f"Round {drawn.number} of contracts (private: for the operator alone)", private=True,
                   blocks=(Text((state + gone,)),))


_ERASED = ("All records were erased after the settlement. This page shows the share of your record, or of an empty "
           "record if you handed in no record. Type your record again to see that your share follows only from your "
           "record and the public result.")
_NONE = "You handed in nothing. An empty record took your place, and this page shows the share of the empty record."
_UNLISTED = "everybody in it"
_CHARGED_FOR = ('The column "charged for" shows the audiences of the promises that the cost covers: public is '
                "everybody, others are all other people together, collector is the receiver of the reports, and "
                "fellows are participants who know their own noise. All costs add up in one account of the data set, "
                "since an audience that sees less learns no more.")


_WAITS = {
    State.OPEN: "open: the campaign waits for its records. The last column says whether the ledger was charged: the "
                "opening is charged if people's devices report one by one, as in the service. A run that cannot read "
                "the records leaves the campaign open. A changed file is another campaign.",
    State.CLOSED: "closed: the campaign has its records and waits for its run. If the opening was not charged, the "
                  "campaign also waits for the charge.",
    State.CHARGED: "charged: the campaign waits for the end of its run. The run costs nothing more.",
}
"""Mapping from each state of an unfinished campaign to a text on the event that the campaign waits for."""


def campaigns_section(campaigns: Sequence[Stored], charged: Collection[int]) -> Section:
    """The state of each campaign of a store. The section contains the numbers of withdrawals, so it is for the operator
    alone.

    Args:
        campaigns: the campaigns of a store.
        charged: the numbers (`Stored.number`) of the campaigns that the ledger has charged.
    """
    title = "Campaigns (private: for the operator alone)"
    if not campaigns:
        return Section(title=title, private=True, blocks=(Text(("There are no campaigns yet.",)),))
    rows = tuple((it.number, it.name, it.title, it.kind, it.state.value, it.slots, it.withdrawals,
                  "yes" if it.number in charged else "no") for it in campaigns)
    return Section(title=title, private=True, blocks=(
        Table(columns=("number", "file", "title", "kind", "state", "slots", "withdrew", "charged"), rows=rows,
              note=" ".join(said for state, said in _WAITS.items() if state in {it.state for it in campaigns})),))


def ledger_sections(standings: Sequence[Standing], *, elsewhere: int = 0) -> list[Section]:
    """The spent and remaining budget of each data set, and the debits of each campaign.

    Args:
        standings: the budget, the spend and the debits of each data set that the reader may see.
        elsewhere: the number of campaigns whose results this installation has released although this ledger does not
            know the campaigns.
    """
    gaps = [] if not elsewhere else [
        f"This installation has released {counted(elsewhere, 'campaign')} that this ledger does not know: "
        "another store was charged, or this store was restored from an earlier day. The ledger does not count the cost "
        "of these campaigns."]
    if not standings:
        return [Section(title="The ledger", blocks=(Text(("Nothing has been charged yet.", *gaps)),))]
    gaps += [f"The names {' and '.join(map(repr, names))} are almost the same. If these data sets hold the same "
             "people, these people have a budget under each name: use one name in the future."
             for names in alike(dict.fromkeys(found.account.name for found in standings))]
    rows: list[tuple[str | int | None, ...]] = []
    debits: list[tuple[str | int, ...]] = []
    for found in standings:
        least = "" if found.least_left is None else found.least_left.left
        rows.append((found.account.name, found.account.neighbours.words, str(found.filter.spent), found.filter.left,
                     found.subjects or _UNLISTED, least))
        debits.extend((found.account.name, entry.day, entry.campaign, entry.title, _charged_for(entry), entry.cost,
                       entry.subjects or _UNLISTED) for entry in found.debits)
    return [
        Section(title="The ledger", blocks=(
            Table(columns=("data set", "protects", "spent", "left", "people", "smallest remaining budget of a person"),
                  rows=tuple(rows)),
            Text(("The first campaign on a data set fixes its budget. Nothing renews the budget, and every charge "
                  "stays. If people's devices draw their reports one by one, a campaign is charged when its collection "
                  "opens, even if it is never settled.",
                  *gaps)))),
        Section(title="Debits", blocks=(
            Table(columns=("data set", "day", "campaign", "title", "charged for", "cost", "people"), rows=tuple(debits),
                  note=_CHARGED_FOR),)),
    ]


def _charged_for(entry: Debit) -> str:
    """The audiences that a debit covers, in words; "not recorded" for debits of an older store."""
    return ", ".join(entry.audiences) or "not recorded"


def subject_section(identity: str, found: Standing | None, data_set: Standing | None = None) -> Section:
    """The spent and remaining budget of one person, for the operator alone.

    Args:
        identity: the participant's id.
        found: the participant's own budget and spend, with the debits of the data set; None if the ledger does not list
            the participant.
        data_set: the budget, the spend and the debits of the data set; used only if `found` is None.
    """
    if found is None and data_set is not None and any(not entry.subjects for entry in data_set.debits):
        return Section(title=f"Participant {identity}, {data_set.account}", private=True, blocks=(Text((
            "A custodian holds this data set, so the ledger lists nobody for some campaigns on it. Everybody in the "
            "data set was in these campaigns, and was exposed to at most the spend of the whole data set: "
            f"{data_set.filter.spent}. The ledger does not know whether this person is in it.",)),))
    if found is None:
        return Section(title=f"Participant {identity}", private=True, blocks=(Text((
            "This person was in no campaign on this data set.",)),))
    rows = (("spent", str(found.filter.spent)), ("left", found.filter.left))
    account = found.account
    return Section(title=f"Participant {identity}, {account.name} ({account.neighbours.words})", private=True, blocks=(
        Table(columns=("", "in all campaigns of this person"), rows=rows),
        Table(columns=("all campaigns on this data set, with or without this "
                       "person", "day", "charged for", "cost"), rows=tuple(
            (entry.campaign, entry.day, _charged_for(entry), entry.cost) for entry in found.debits),
              note=_CHARGED_FOR)))


def payout_sections(found: Payouts, *, listed: bool, commands: bool = True) -> list[Section]:
    """The sections of a page on the state of payouts, for the operator alone, since totals disclose information about
    records.

    Args:
        found: the result of `Campaign.payouts`.
        listed: whether single payouts and the people who withdrew are listed.
        commands: whether the texts name the commands for the next steps.
    """
    queue, money = found.queue, found.terms.money
    text = []
    held = found.deposits
    if held is not None:
        number, deposit = sum(held.values()), money(found.terms.deposit)
        every = number == sum(queue.people.values())
        text.append(f"Each amount includes the deposit of {deposit} that the participant left with the "
                    "report." if every else
                    f"{number:,} of these amounts {'includes' if number == 1 else 'include'} a deposit of {deposit}. "
                    "The campaign pays out no other deposit.")
    if commands and queue.code:
        text.append(f"To approve the queued payouts, repeat their code: --approve {queue.code}")
    if commands and queue.people["approved"]:
        text.append("Approved payouts wait for an export: --export FILE")
    if commands and queue.people["failed"]:
        text.append("To queue failed payouts again, use --reopen.")
    if queue.done:
        text.append("All payouts are paid. Reports, shares and single amounts have been "
                    "erased." if queue.people["paid"] else
                    "No payouts are due. The reports have been erased.")
    blocks = [Table(columns=("state", "people", "in all", *(["without the deposits"] if held is not None else [])),
                    rows=tuple((state, number, money(queue.coins[state]), *([money(
                        queue.coins[state] - held.get(state, 0) * found.terms.deposit)] if held is not None else []))
                               for state, number in queue.people.items()))]
    if queue.batches:
        blocks.append(Table(
            columns=("batch", "written", "as", "in all", "sent", "paid", "failed", "queued again"),
            rows=tuple((str(each.number), each.written, each.form, _amount(each.coins, found), *(
                each.people[state] for state in ("sent", "paid", "failed", "reopened"))) for each in queue.batches)))
    parts = [Section(title="Payouts (private: for the operator alone)", private=True, blocks=(
        *blocks, *((Text(tuple(text)),) if text else ())))]
    return [*parts, *(_lists(found) if listed else ())]


def _lists(found: Payouts) -> list[Section]:
    """The list of single payouts, and the list of people who withdrew."""
    entries = Table(columns=("id", "amount", "state", "batch"), rows=tuple(
        (each["id"], _amount(each["coins"], found), each["state"], str(each["batch"] or ""))
        for each in found.entries.to_pylist()))
    gone = Table(columns=("id", "deposit in their payout"), rows=tuple(
        (each["id"], found.terms.money(each["deposit"]) if each["deposit"] else "no deposit was left")
        for each in found.withdrawn.to_pylist()))
    return [Section(title=f"{title} (private: for the operator alone)", private=True, blocks=(table,))
            for title, table in (("Payouts, one by one", entries), ("Withdrawn before the settlement", gone))
            if table.rows]


def _amount(coins: int | None, found: Payouts) -> str:
    return "erased" if coins is None else found.terms.money(coins)


def withdrawn_section(identity: str, deposit: str | None, *, pays: bool = True) -> Section:
    """The page of one participant who withdrew before the settlement.

    Args:
        identity: the participant's id.
        deposit: the deposit that is returned to the participant, as a text such as "5.00 EUR"; empty if the participant
            left no deposit; None if the campaign asks for no deposits.
        pays: whether the campaign pays anybody.
    """
    nothing = "nothing is paid for this record" if pays else "no result follows from this record"
    back = "" if deposit is None else " This participant left no deposit." if not deposit else (
        f" Their deposit of {deposit} is returned with the payouts.")
    return Section(title=f"Participant {identity}: withdrew before the settlement", private=True, blocks=(Text((
        f"This participant's record counts as empty; {nothing}.{back}",)),))


def verification_section(found: Verification) -> Section:
    """The findings of a verification."""
    rows = tuple((finding.check, finding.verdict, finding.detail) for finding in found.findings)
    whole = "The pack is whole." if found.complete else (
        "All possible checks hold, but some checks were not possible. So the verification does not show that the pack "
        "is right."
        if found.passed else "The pack is broken: at least one check failed.")
    if found.passed and not found.complete and found.wrote:
        left = ", ".join(each.check for each in found.findings if each.verdict == "not checked")
        whole += (f" The pack says that confide {found.wrote} wrote it, and only that version can compare its own "
                  f"words and layout ({left}): verify the pack with that version, too.")
    if found.passed and not found.known_signer:
        whole += (" The signer is not known: compare the fingerprint with the fingerprint in your offer, or pass your "
                  "fingerprint with --key.")
    same = (f"SHA-256 of the signed content: {found.digest}. Everybody should have the same digest.",)
    return Section(title=f"Verification of '{found.title}'", blocks=(
        Table(columns=("check", "verdict", "found"), rows=rows), Text((*(same if found.passed else ()), whole))))
