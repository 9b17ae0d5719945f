"""The queue of payouts: what the bank says twice, late or in contradiction never pays anybody twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.store.counting import write
from campaign.store.faults import Died, Steps, counted
from campaign.store.invariants import lives
from confide.campaign import Campaign, Store
from confide.campaign.payouts import export_batch, import_confirmations
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
        with pytest.raises(Refused, match="does not belong to what is queued"):
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
        with pytest.raises(InvalidInput, match="is of no exported payout"):
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
    time, while the bank pays the second."""
    number = settled(campaign, store)
    first = sent(store, number)
    said = {first[0]: "failed", first[1]: "paid"}
    store.confirm(number, said)
    store.reopen(number)
    second = sent(store, number)
    assert set(second) == {0}
    assert not set(first.values()) & set(second.values())
    for late in (said, {first[0]: "failed"}, {first[0]: "paid"}):
        with pytest.raises(InvalidInput, match="or of one that was queued again"):
            store.confirm(number, late)
        assert states(store) == ["sent", "paid", "sent"]
    assert store.reopen(number) == 0


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
            waiting, batches = store.payouts(number).people["approved"], store.batches(number)
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
    with pytest.raises(InvalidInput, match="write it again as batch 1"):
        export_batch(campaign, store, tmp_path / "nowhere" / "batch.csv")
    assert export_batch(campaign, store, tmp_path / "batch.csv", number=1) == 1
