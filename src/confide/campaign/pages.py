"""What the store and a verification have to say, as sections."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from confide.campaign.store.ledger import Standing
from confide.campaign.store.payouts import Queue
from confide.campaign.verification import Verification
from confide.contract.kinds import PayoutTerms
from confide.contract.presentation import Section, Table, Text

__all__ = ["key_section", "ledger_sections", "payout_section", "subject_section", "verification_section"]


def key_section(fingerprint: str) -> Section:
    """How a participant can check the result later."""
    return Section(title="How you can check the result", blocks=(Text((
        f"The result will be signed with the key {fingerprint} of the operator who made this page. Keep it.",
        "`confide verify PACK --key FINGERPRINT` then checks the pack of published files without anybody's help; with "
        "your own file it checks your share too.",
    )),))


def ledger_sections(standings: Sequence[Standing]) -> list[Section]:
    """Who has been exposed to how much, by which campaigns."""
    if not standings:
        return [Section(title="The ledger", blocks=(Text(("Nothing has been charged yet.",)),))]
    rows: list[tuple[str | int | None, ...]] = []
    debits: list[tuple[str | int, ...]] = []
    for found in standings:
        least = "" if found.least_left is None else found.least_left.left
        rows.append((found.account.name, found.account.neighbours.value, found.account.audience.value,
                     str(found.filter.spent), found.filter.left, found.subjects, least))
        debits.extend((found.account.name, entry.day, entry.campaign, entry.title, entry.cost, entry.subjects)
                      for entry in found.debits)
    return [
        Section(title="The ledger", blocks=(
            Table(columns=("data set", "protects", "seen by", "spent", "left", "people", "least left of a person"),
                  rows=tuple(rows)),
            Text(("A budget is fixed by the first campaign on a data set; nothing renews it, and no charge is given "
                  "back.",)))),
        Section(title="Debits", blocks=(
            Table(columns=("data set", "day", "campaign", "title", "cost", "people"), rows=tuple(debits)),)),
    ]


def subject_section(identity: str, found: Standing | None) -> Section:
    """How one person stands: the operator's alone."""
    if found is None:
        return Section(title=f"Participant {identity}", private=True, blocks=(Text((
            "She was in no campaign on this data set.",)),))
    rows = (("spent", str(found.filter.spent)), ("left", found.filter.left))
    return Section(title=f"Participant {identity}, {found.account}", private=True, blocks=(
        Table(columns=("", "in all her campaigns"), rows=rows),
        Table(columns=("campaigns on this data set", "day", "cost"), rows=tuple(
            (entry.campaign, entry.day, entry.cost) for entry in found.debits))))


def payout_section(queue: Queue, terms: PayoutTerms) -> Section:
    """How the payouts stand: the operator's alone, as totals tell of records."""

    def money(coins: int) -> str:
        digits = len(str(terms.minor_units)) - 1
        return f"{Decimal(coins) / terms.minor_units:,.{digits}f} {terms.currency}"

    rows = tuple((state, queue.people[state], money(queue.coins[state])) for state in queue.people)
    text = []
    if terms.deposit:
        text.append(f"Each amount holds the deposit of {money(terms.deposit)} that was left with the report.")
    if queue.code:
        text.append(f"To approve what is queued, repeat its code: --approve {queue.code}")
    if queue.people["approved"]:
        text.append("Approved payouts wait for an export: --export FILE")
    if queue.done:
        text.append("All is paid; the reports have been erased.")
    return Section(title="Payouts (private: for the operator alone)", private=True, blocks=(
        Table(columns=("state", "people", "in all"), rows=rows), *((Text(tuple(text)),) if text else ())))


def verification_section(found: Verification) -> Section:
    """What a verification found."""
    rows = tuple((finding.check, finding.verdict, finding.detail) for finding in found.findings)
    whole = "The pack is whole." if found.complete else (
        "What could be checked holds, but not everything could be: this does not show that the pack is right."
        if found.passed else "The pack is not what it should be.")
    if found.passed and not found.known_signer:
        whole += " Who made it is not shown: compare the fingerprint with the one in your offer, or pass it with --key."
    same = (f"SHA-256 of what was signed: {found.digest}. Everybody should have been given the same.",)
    return Section(title=f"Verification of '{found.title}'", blocks=(
        Table(columns=("check", "verdict", "found"), rows=rows), Text((*(same if found.passed else ()), whole))))
