"""The queue of payouts: what the bank says twice, late or in contradiction never pays anybody twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.payouts.answers import report, single
from campaign.store.counting import name, write
from campaign.store.faults import Died, Steps, counted
from campaign.store.invariants import lives
from confide.campaign import Campaign, Store
from confide.campaign.payouts import export_batch, import_confirmations
from confide.campaign.payouts.payment import message
from confide.campaign.store import schema
from confide.contract import InvalidInput, Refused


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return write(tmp_path, {0: 1, 1: 20, 2: 300})


def settled(campaign: Campaign, store: Store) -> int:
    return campaign.settle(store=store).number


def states(store: Store) -> list[str]:
    """Of the first three slots."""
    return [state for _, (_, state, _) in sorted(lives(store)["How much in all?"].payouts.items())]


def sent(store: Store, number: int) -> dict[int, str]:
    """Approve and export all that is queued: slot -> reference."""
    store.approve(number, store.payouts(number).code)
    return {slot: reference for slot, reference, _ in store.batch(number, store.export(number, "csv")).payments}


def test_nothing_is_exported_that_was_not_approved(campaign: Campaign, store: Store) -> None:
    number = settled(campaign, store)
    with pytest.raises(Refused, match="no payout is approved"):
        store.export(number, "csv")
    code = store.payouts(number).code
    for wrong in ("", "0" * 8, code[:-1], code + "0"):
        with pytest.raises(Refused, match="does not belong to the queued payouts"):
            store.approve(number, wrong)
    assert states(store) == ["queued"] * 3
    references = sent(store, number)
    store.confirm(number, {references[0]: "failed", references[1]: "failed"})
    store.reopen(number)
    with pytest.raises(Refused, match="does not belong"):
        store.approve(number, code)  # of another queue
    with pytest.raises(Refused, match="no payout is approved"):
        store.export(number, "csv")  # what was queued again was not approved again
    assert states(store) == ["queued", "queued", "sent"]


def test_a_code_is_good_once(campaign: Campaign, store: Store) -> None:
    number = settled(campaign, store)
    code = store.payouts(number).code
    assert store.approve(number, f" {code.upper()} ") == 3  # as people type
    assert store.approve(number, code) == 0
    assert lives(store)["How much in all?"].events[-1:] == ("approve",)


def test_a_file_is_taken_whole_or_not(campaign: Campaign, store: Store) -> None:
    number = settled(campaign, store)
    references = sent(store, number)
    for wrong in ({"nobody's": "paid"}, {references[0].upper(): "paid"}, {"": "paid"}):
        with pytest.raises(InvalidInput, match="belongs to no payout that was exported here"):
            store.confirm(number, {references[1]: "paid", references[2]: "failed", **wrong})
    assert states(store) == ["sent"] * 3


def test_who_was_paid_is_paid(campaign: Campaign, store: Store) -> None:
    """The bank says that it failed after all: somebody has to look, and nothing is queued again."""
    number = settled(campaign, store)
    references = sent(store, number)
    assert store.confirm(number, {references[0]: "paid"}) == {"paid": 1, "failed": 0, "known": 0}
    for _ in range(2):
        with pytest.raises(InvalidInput, match="was confirmed as paid before"):
            store.confirm(number, {references[1]: "paid", references[0]: "failed"})
        assert store.confirm(number, {references[0]: "paid"}) == {"paid": 0, "failed": 0, "known": 1}
    assert store.reopen(number) == 0
    assert states(store) == ["paid", "sent", "sent"]


def test_who_was_not_paid_may_be_paid_after_all(campaign: Campaign, store: Store) -> None:
    number = settled(campaign, store)
    references = sent(store, number)
    store.confirm(number, {references[0]: "failed"})
    assert store.confirm(number, {references[0]: "paid"}) == {"paid": 1, "failed": 0, "known": 0}
    assert store.reopen(number) == 0


def test_a_late_answer_is_not_taken_for_the_next_attempt(campaign: Campaign, store: Store) -> None:
    """The same file is imported again, after its failure was queued and sent once more: she is not queued a third
    time, while the bank pays the second. If the first is said to be paid now, somebody has to look."""
    number = settled(campaign, store)
    first = sent(store, number)
    said = {first[0]: "failed", first[1]: "paid"}
    store.confirm(number, said)
    store.reopen(number)
    second = sent(store, number)
    assert set(second) == {0}
    assert not set(first.values()) & set(second.values())
    for late in (said, {first[0]: "failed"}):
        assert store.confirm(number, late) == {"paid": 0, "failed": 0, "known": len(late)}
        assert states(store) == ["sent", "paid", "sent"]
    for outcome in ("sent", "failed", "paid"):
        if outcome != "sent":
            store.confirm(number, {second[0]: outcome})
        with pytest.raises(InvalidInput, match="failed before, and was sent again under another reference"):
            store.confirm(number, {first[2]: "paid", first[0]: "paid"})
        assert states(store) == [outcome, "paid", "sent"]
    assert store.reopen(number) == 0


def test_who_was_queued_again_may_be_paid_after_all(campaign: Campaign, store: Store) -> None:
    """As long as nothing was sent since: she is not sent a second payment."""
    number = settled(campaign, store)
    first = sent(store, number)
    store.confirm(number, dict.fromkeys(first.values(), "failed"))
    store.reopen(number)
    code = store.payouts(number).code
    assert store.confirm(number, {first[0]: "paid", first[1]: "failed"}) == {"paid": 1, "failed": 0, "known": 1}
    with pytest.raises(Refused, match="does not belong"):
        store.approve(number, code)  # the queue is another one
    store.approve(number, store.payouts(number).code)
    assert store.confirm(number, {first[1]: "paid", first[0]: "paid"}) == {"paid": 1, "failed": 0, "known": 1}
    assert lives(store)["How much in all?"].payouts[1][1:] == ("paid", 1)
    assert [slot for slot, _, _ in store.batch(number, store.export(number, "csv")).payments] == [2]


def test_a_batch_is_written_again_until_the_bank_has_answered(
    campaign: Campaign, store: Store, tmp_path: Path
) -> None:
    """The same file or none: a smaller one would be a new order to pay those who are in it."""
    number = settled(campaign, store)
    store.approve(number, store.payouts(number).code)
    first = tmp_path / "first.csv"
    assert export_batch(campaign, store, first) == 1
    assert export_batch(campaign, store, tmp_path / "again.csv", number=1) == 1
    assert (tmp_path / "again.csv").read_bytes() == first.read_bytes()
    reference = first.read_text().splitlines()[1].partition(",")[0]
    (tmp_path / "said.csv").write_text(f"reference,status\n{reference},failed\n")
    import_confirmations(campaign, store, tmp_path / "said.csv")

    def refused() -> None:
        with pytest.raises(Refused, match="the bank has answered batch 1"):
            export_batch(campaign, store, tmp_path / "late.csv", number=1)
        assert not (tmp_path / "late.csv").exists()

    refused()
    store.reopen(number)
    refused()
    store.approve(number, store.payouts(number).code)
    refused()
    assert export_batch(campaign, store, tmp_path / "second.csv") == 2
    refused()
    assert len((tmp_path / "second.csv").read_text().splitlines()) == 2
    with pytest.raises(InvalidInput, match="3 does not exist"):
        export_batch(campaign, store, tmp_path / "late.csv", number=3)


def test_a_batch_is_written_again_in_its_own_format(campaign: Campaign, store: Store, tmp_path: Path) -> None:
    """Who pays by the bank's order and by hand from a table pays twice."""
    number = settled(campaign, store)
    (tmp_path / "payees.csv").write_text("id,name,iban\n" + "".join(
        f"{name(slot)},A person,DE89370400440532013000\n" for slot in range(3)))
    names = {"payees": tmp_path / "payees.csv", "payer": "A buyer,DE89370400440532013000"}
    for batch, (form, mine, other) in enumerate([("pain.001", "xml", "csv"), ("csv", "csv", "xml")], 1):
        campaign.approve_payouts(store.payouts(number).code, store=store)
        assert campaign.export_payouts(tmp_path / f"first.{mine}", store=store, **names) == batch
        with pytest.raises(Refused, match=rf"batch {batch} was written as {form}, and .* ends in \.{mine}"):
            campaign.export_payouts(tmp_path / f"other.{other}", batch=batch, store=store)
        assert not (tmp_path / f"other.{other}").exists()
        again = tmp_path / f"again-{batch}.{mine}"
        campaign.export_payouts(again, batch=batch, store=store, **names)
        assert again.read_bytes() == (tmp_path / f"first.{mine}").read_bytes()
        store.confirm(number, dict.fromkeys(store.attempts(number)[batch], "failed"))
        store.reopen(number)


def test_a_code_approves_one_queue(campaign: Campaign, store: Store, tmp_path: Path) -> None:
    """Not the same people and amounts, queued again after all of them failed, and not those of another campaign."""
    number = settled(campaign, store)
    code = store.payouts(number).code
    store.confirm(number, dict.fromkeys(sent(store, number).values(), "failed"))
    assert store.reopen(number) == 3
    assert states(store) == ["queued"] * 3
    with pytest.raises(Refused, match="does not belong"):
        store.approve(number, code)
    other = write(tmp_path, {0: 1, 1: 20, 2: 300}, title="other", file="other").settle(store=store).number
    with store.database.writing() as connection:
        connection.execute(schema.payout.update().values(amount=7))
    assert store.payouts(other).code != store.payouts(number).code


def test_an_answer_for_a_message_some_of_which_was_queued_again(
    campaign: Campaign, store: Store, tmp_path: Path
) -> None:
    """It is understood, or refused with the reason."""
    number, path = settled(campaign, store), tmp_path / "answer.xml"
    first = sent(store, number)
    order = message("How much in all?", 1, first.values())
    store.confirm(number, {first[0]: "failed"})
    store.reopen(number)

    def answer(*singles: str, code: str) -> dict[str, int]:
        path.write_text(report(*singles, message=order, group=code))
        return import_confirmations(campaign, store, path)

    with pytest.raises(InvalidInput, match="paid as a whole, but the bank reported before that 1 of its payments "
                                           "failed"):
        answer(code="ACSC")
    assert states(store) == ["queued", "sent", "sent"]
    assert answer(single(first[0], "RJCT"), single(first[2], "PDNG"), code="ACSC") == {
        "paid": 1, "failed": 0, "known": 1}
    assert states(store) == ["queued", "paid", "sent"]
    sent(store, number)
    assert answer(single(first[1], "ACSC"), code="PART") == {"paid": 0, "failed": 0, "known": 1}
    store.confirm(number, {first[2]: "failed"})
    store.reopen(number)
    with pytest.raises(InvalidInput, match="is paid as a whole, but the bank reported before that 2"):
        answer(code="ACSC")
    with pytest.raises(InvalidInput, match="was confirmed as paid before"):
        answer(code="RJCT")
    assert states(store) == ["sent", "paid", "queued"]


def test_sums_are_exact_beyond_what_a_database_counts_in(campaign: Campaign, store: Store) -> None:
    number, each = settled(campaign, store), 2**62 + 2**40 + 1
    with store.database.writing() as connection:
        connection.execute(schema.payout.update().values(amount=each))
    assert store.payouts(number).coins["queued"] == 3 * each > 2**63
    references = sent(store, number)
    assert store.payouts(number).batches[0].coins == 3 * each
    store.confirm(number, dict.fromkeys(references.values(), "paid"))
    assert store.payouts(number).coins["paid"] == lives(store)["How much in all?"].paid == 3 * each


def test_an_export_that_dies_can_be_written(campaign: Campaign, store: Store, tmp_path: Path) -> None:
    """At whatever step: nothing was taken, or the batch is there to be written."""
    number = settled(campaign, store)
    store.approve(number, store.payouts(number).code)
    for step in range(1, 100):
        path = tmp_path / f"batch-{step}.csv"
        try:
            with counted(Steps(step)):
                export_batch(campaign, store, path)
        except Died:
            assert not path.exists()
            waiting, batches = store.payouts(number).people["approved"], store.attempts(number)
            assert (waiting, len(batches)) in ((3, 0), (0, 1))
            if batches:
                break
        else:
            pytest.fail("nothing died after the batch was taken")
    assert export_batch(campaign, store, path, number=1) == 1
    assert len(path.read_text().splitlines()) == 4


def test_a_file_that_exists_is_kept(campaign: Campaign, store: Store, tmp_path: Path) -> None:
    number = settled(campaign, store)
    store.approve(number, store.payouts(number).code)
    (tmp_path / "mine.csv").write_text("mine")
    for path in (tmp_path / "mine.csv", tmp_path / "batch.pdf", tmp_path / "batch.xml"):
        with pytest.raises(InvalidInput):
            export_batch(campaign, store, path)
    assert (tmp_path / "mine.csv").read_text() == "mine"
    assert store.payouts(number).people["approved"] == 3
    with pytest.raises(InvalidInput, match="write the export again as batch 1"):
        export_batch(campaign, store, tmp_path / "nowhere" / "batch.csv")
    assert export_batch(campaign, store, tmp_path / "batch.csv", number=1) == 1
