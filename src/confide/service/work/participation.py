"""Participation: everything that a participant reads, hands in, withdraws and gets. Each method gives access to the
participant's own part in the campaign alone.

Other participants' actions influence the results only through public facts, and through the participant's own contract
and share.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from confide.campaign.contracts import Contract, Round, contract_in
from confide.campaign.kinds import PeoplesKind
from confide.campaign.kinds.peoples_kind import retyped
from confide.campaign.pages import handed_section, share_section
from confide.campaign.store import Store
from confide.campaign.store.collecting import Facts, nothing_asked, withdrawn
from confide.campaign.store.states import State
from confide.contract.asked import Field, judge
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import replace_private
from confide.contract.kinds import ContractKind, HandingKind, LocalKind
from confide.contract.outcome_folder import rebuild
from confide.contract.presentation import Section
from confide.contract.worded import worded
from confide.privacy.device_odds import AnswerOdds, NoiseSize, device_odds
from confide.service.access.identity import Participant
from confide.service.work.intake import Intake
from confide.service.work.opened import Opened, OpenedCampaign, check_settled
from confide.service.work.rounds import DECLINED, FIRST, SECOND, CampaignRounds, current, nothing_to_decline

__all__ = ["ParticipantActions", "ParticipantStanding", "check_row", "known_file", "take_known"]

_WORD = re.compile(r"[0-9a-f]{16}")
_LARGEST_KNOWN = 1 << 28


@dataclass(frozen=True, kw_only=True)
class ParticipantStanding:
    """The state of one participant's part in a campaign, which only this participant sees.

    Args:
        state: state of the campaign.
        asks: action that the participant may take now: hand in a "record", hand in a "report" (from which contracts
            follow), decline the "contract" that they are shown, or "" for none.
        handed_in: whether the participant has handed in the requested record or report. If nothing is requested now,
            the value is about the last request.
        withdrawn: whether the participant has withdrawn before the settlement.
        declined: whether the participant has declined a contract, so that no final round of contracts includes them.
        local: whether the participant's device draws the requested record or report. If nothing is requested now, the
            value is about the last request. A device never draws a report from which contracts follow.
    """

    state: State
    asks: str
    handed_in: bool
    withdrawn: bool
    declined: bool
    local: bool


class ParticipantActions:
    """The actions of participants in the campaigns of a store.

    Args:
        store: store in which the campaigns are kept.
        opened: opened campaigns of the store.
        intake: intake of reports for the store.
    """

    def __init__(self, store: Store, opened: Opened, intake: Intake) -> None:
        self._store, self._opened, self._intake = store, opened, intake

    def identity(self, who: Participant) -> str:
        """The id of the participant on the public list."""
        return self._opened.get(who.campaign).identities[who.slot]

    def standing(self, who: Participant) -> ParticipantStanding:
        """The present state of the participant's part in the campaign."""
        opened = self._opened.get(who.campaign)
        return self._standing(opened, self._facts(opened, who))

    def _facts(self, opened: OpenedCampaign, who: Participant) -> Facts:
        return self._store.facts(who.campaign, who.slot, rows=opened.contracts is not None)

    def _standing(self, opened: OpenedCampaign, facts: Facts) -> ParticipantStanding:
        asks, phase = self._asks(opened, facts.known.state)
        handed = facts.reported if opened.contracts is None else phase in facts.phases
        return ParticipantStanding(state=facts.known.state, asks="" if facts.withdrawn else asks,
                                   withdrawn=facts.withdrawn,
                        declined=DECLINED in facts.phases, handed_in=handed,
                        local=opened.local is not None and (opened.contracts is None or phase == SECOND))

    def offer(self, who: Participant) -> Sequence[Section]:
        """The offer of the campaign, with the participant's contract if one was drawn up."""
        opened = self._opened.get(who.campaign)
        contract = self.contract(who)
        own = [] if contract is None else opened.campaign.contract_sections(contract)
        return [*opened.campaign.offer(home=self._store.home), *own]

    def form(self, who: Participant) -> Sequence[Field]:
        """The fields that the participant is asked to fill in now; empty if the participant is asked for nothing."""
        opened = self._opened.get(who.campaign)
        campaign, kind = opened.campaign, opened.campaign.file.kind
        asks = self.standing(who).asks
        if asks == "report" and opened.contracts is not None:
            return opened.contracts.asked_first(campaign.file.config, campaign.plan)
        return kind.asked(campaign.file.config, campaign.plan) if asks == "record" else ()

    def device(self, who: Participant) -> Mapping[str, Any] | None:
        """The instructions for the participant's device. The result is None if the device draws nothing, or if the
        participant is asked for nothing.
        """
        opened = self._opened.get(who.campaign)
        if opened.local is None or self.standing(who).asks != "record":
            return None
        return self._device(opened, opened.local, who)

    def unasked(self, who: Participant) -> bool:
        """Whether the participant's final contract asks for no record, so that no typed value would leave their
        device.
        """
        opened = self._opened.get(who.campaign)
        drawn = None if opened.contracts is None else self.device(who)
        return drawn is not None and drawn["law"] == "lattice" and int(drawn["steps"]) == 0

    def odds(self, who: Participant) -> AnswerOdds | NoiseSize | None:
        """The odds of the randomised answer, or the size of the noise, with which the participant's device draws their
        report. The figures follow from the exact probabilities of the draw. The result is None if the device draws
        nothing, or if the participant is asked for nothing.
        """
        instructions = self.device(who)
        return None if instructions is None else device_odds(instructions)

    def level(self, who: Participant) -> tuple[float, str] | None:
        """The largest privacy cost of a report, as stated in the offer, and the measure of this cost: "epsilon", or
        "rho" of zero-concentrated differential privacy. The result is None if the device draws nothing, or if the
        participant is asked for nothing.

        The participant's device refuses instructions with a larger cost.
        """
        opened = self._opened.get(who.campaign)
        if opened.local is None or self.device(who) is None:
            return None
        return opened.local.level(opened.campaign.plan), opened.local.notion

    def _device(self, opened: OpenedCampaign, kind: LocalKind, who: Participant) -> Mapping[str, Any]:
        contract, campaign = self.contract(who), opened.campaign
        return kind.device(campaign.file.config, campaign.plan, None if contract is None else contract.terms)

    def typed(self, who: Participant) -> Mapping[str, str] | None:
        """The stored values, in the fields of the form, that the participant typed earlier. Only the participant sees
        these values.

        The result is None if nothing is stored, if the participant is asked for nothing now, if the participant's
        device drew the report, or if the typed values cannot be recovered from the stored record.
        """
        opened, standing = self._opened.get(who.campaign), self.standing(who)
        if standing.local or not standing.handed_in or standing.asks not in ("record", "report"):
            return None
        campaign, kind = opened.campaign, opened.campaign.file.kind
        if opened.contracts is not None:
            row = self._store.row_of(who.campaign, who.slot, phase=FIRST)
            columns = {field.column for field in opened.contracts.asked_first(campaign.file.config, campaign.plan)}
            return None if row is None else {name: text for name, text in json.loads(row).items() if name in columns}
        report = self._store.report_of(who.campaign, who.slot)
        return None if report is None else retyped(
            kind, campaign.file.config, campaign.plan, opened.identities[who.slot], report)

    def empties(self, who: Participant, values: Mapping[str, str]) -> bool:
        """Whether the given values of a form are all empty, and would replace values that are stored."""
        standing = self.standing(who)
        if standing.local or not standing.handed_in or any(text.strip() for text in values.values()):
            return False
        stored = self.typed(who)
        return stored is None or any(text.strip() for text in stored.values())

    def submit(self, who: Participant, values: Mapping[str, str]) -> None:
        """Take the values that the participant hands in. Later values replace earlier ones, so that a repeated request
        does no harm.

        A report that the participant's device has drawn is not replaced, because a second draw would reveal more of
        their answer than the offer promises.

        Args:
            who: participant, as identified by the session.
            values: mapping from column to text, as in the participant's form; if their device draws the report, the row
                with the drawn report.

        Raises:
            InvalidInput: the values cannot be used. The error message is for the participant alone.
            Refused: the participant is asked for nothing now, takes no part, or has handed in another draw of their
                report before.
        """
        opened = self._opened.get(who.campaign)
        if opened.contracts is not None:
            self._submit_by_contract(opened, opened.contracts, who, values)
            return
        if opened.campaign.held:
            raise nothing_asked()
        try:
            slot, report = self._report(opened, who, values)
        except InvalidInput:
            self._check_asked(opened, who)  # that nothing is asked any more says more than what is wrong with it
            raise
        # Whether the collection is open, and the person takes part, is looked up once: where the report is stored.
        self._intake.submit(who.campaign, slot, report, once=opened.local is not None)

    def _report(self, opened: OpenedCampaign, who: Participant, values: Mapping[str, str]) -> tuple[int, bytes]:
        campaign, kind, local = opened.campaign, opened.campaign.file.kind, opened.local
        config, plan = campaign.file.config, campaign.plan
        if local is not None:
            check_row(self._device(opened, local, who), values)
            values = {**values, **self._known(opened, who.slot)}
        else:
            judge(kind.asked(config, plan), values)
        return kind.submission(config, plan, opened.identities[who.slot], values)

    def _check_asked(self, opened: OpenedCampaign, who: Participant) -> str:
        """Thing that the participant may hand in now: "record", or "report" if a contract follows."""
        standing = self._standing(opened, self._facts(opened, who))
        if standing.withdrawn:
            raise withdrawn()
        if standing.asks not in ("report", "record"):
            raise nothing_asked()
        return standing.asks

    def _submit_by_contract(
        self, opened: OpenedCampaign, kind: ContractKind, who: Participant, values: Mapping[str, str]
    ) -> None:
        campaign, identity = opened.campaign, opened.identities[who.slot]
        config, plan = campaign.file.config, campaign.plan
        if self._check_asked(opened, who) == "report":
            judge(kind.asked_first(config, plan), values)
            CampaignRounds(self._store).report(opened, who.slot, kind.reported(config, plan, identity, values))
            return
        check_row(self._device(opened, kind, who), values)
        contract = self.contract(who)
        if contract is not None:  # whether this device can have sent this, on its own contract
            kind.parse_record(config, plan, identity, {**values, "contract": contract.token})
        row = {**kind.row(config, identity, None), **values}
        self._store.hand_row(who.campaign, who.slot, json.dumps(row), phase=SECOND, states=(State.CHARGED,), once=True)

    def withdraw(self, who: Participant) -> bool:
        """Delete everything that the participant has handed in. A withdrawal is possible at any time. The result is
        True if it came before the settlement.

        Raises:
            Refused: a custodian holds the data.
        """
        opened = self._opened.get(who.campaign)
        before = opened.campaign.withdraw(opened.identities[who.slot], store=self._store)
        CampaignRounds.tidy(opened)  # rows that a process which died has left may belong to this person
        return before

    def contract(self, who: Participant) -> Contract | None:
        """The participant's contract in the present round of contracts; None if there is no round, or the participant
        has withdrawn.
        """
        opened = self._opened.get(who.campaign)
        found = self._round(opened)
        if found is None or self._store.has_withdrawn(who.campaign, who.slot):
            return None
        return contract_in(opened.campaign.file, found, opened.identities[who.slot], self._store.home)

    def decline(self, who: Participant) -> None:
        """Decline the contract that the participant is shown. The next round of contracts is drawn up as if the
        participant had never handed in a report.

        Raises:
            Refused: there is no contract, or it is final.
        """
        if self.standing(who).asks != "contract":
            raise nothing_to_decline()
        CampaignRounds(self._store).decline(self._opened.get(who.campaign), who.slot)

    def share(self, who: Participant, values: Mapping[str, str] | None = None) -> Sequence[Section]:
        """The participant's share and the reasons for it, computed from their record and the public result.

        Args:
            who: participant, as identified by the session.
            values: values that the participant handed in. If left out, the stored record is used; it is erased once
                everything is paid.

        Raises:
            Refused: the campaign is not settled, or is cancelled; the participant has withdrawn; or no values are
                given, and neither the record nor the share is stored any more.
            InvalidInput: the record cannot be used. The error message is for the participant alone.
        """
        opened = self._opened.get(who.campaign)
        campaign, kind, identity = opened.campaign, opened.campaign.file.kind, opened.identities[who.slot]
        check_settled(self._store.get(who.campaign).state)
        self._publish(opened)
        if self._store.has_withdrawn(who.campaign, who.slot):
            raise Refused(worded("the participant has withdrawn, so there is no share"),
                          worded("a deposit that the operator noted is returned") if opened.deposit else "")
        if values is not None:
            return campaign.share(identity, opened.pack, record=self._handed_in(opened, who, values))
        if opened.contracts is not None:
            sent, contract = self._store.row_of(who.campaign, who.slot, phase=SECOND), self.contract(who)
            if sent is not None and contract is not None:
                columns = {field.column for field in kind.asked(campaign.file.config, campaign.plan)}
                row = {name: text for name, text in json.loads(sent).items() if name in columns}
                return campaign.share(identity, opened.pack, record={**row, "contract": contract.token})
        codec = kind.codec(campaign.plan)
        report = None if opened.contracts is not None else self._store.report_of(who.campaign, who.slot)
        peoples: Any = kind
        if report is not None and codec is not None and isinstance(peoples, PeoplesKind):
            record = peoples.one(campaign.plan, codec.unpack(np.array([who.slot]), [report]), 0)
            return kind.explain(campaign.plan, campaign.public(opened.pack), record, who.slot)
        kept = kind.payouts(campaign.plan) is not None and not self._store.payouts(who.campaign).done
        return self._stored_share(opened, who.slot, none=kept)

    def share_form(self, who: Participant) -> Sequence[Field]:
        """The fields of the form from which the participant's share is computed again. The form has the fields that
        were handed in, and never the fields that only the participant's device knows.
        """
        opened = self._opened.get(who.campaign)
        campaign, kind = opened.campaign, opened.campaign.file.kind
        if opened.local is None:
            return kind.asked(campaign.file.config, campaign.plan)
        if opened.contracts is not None and self.contract(who) is None:
            return ()
        drawn = self._device(opened, opened.local, who)
        answers = tuple(drawn["answers"]) if drawn["law"] == "response" else ()
        return [Field(column=drawn["column"], label=drawn["column"], form="choice" if answers else "text",
                      choices=answers, required=False)]

    def _handed_in(self, opened: OpenedCampaign, who: Participant, values: Mapping[str, str]) -> Mapping[str, str]:
        """The participant's record, with the operator's known fields of the participant and with their contract."""
        if opened.contracts is not None:
            contract = self.contract(who)
            return values if contract is None or "contract" in values else {**values, "contract": contract.token}
        return {**self._known(opened, who.slot), **values}

    def _stored_share(self, opened: OpenedCampaign, slot: int, *, none: bool) -> Sequence[Section]:
        """The participant's share alone, if no record of theirs is stored, because it was erased or was never handed
        in.
        """
        shares = rebuild(self._store.pack(opened.number), self._store.shares(opened.number))["shares"]
        row = shares.slice(slot, 1).to_pylist()[0]
        if all(value is None for value in row.values()):
            raise Refused(worded("the participant's record and share are not stored any more"),
                          worded("type the record again: with the public result it gives the share"))
        kind, plan = opened.campaign.file.kind, opened.campaign.plan
        if isinstance(kind, HandingKind):
            listed = kind.handout(plan, opened.campaign.settled(store=self._store), opened.identities)
            return [handed_section(listed.filter(pc.equal(listed["id"], opened.identities[slot])).drop_columns(["id"]),
                                   none=none)]
        return [share_section(row, kind.payouts(plan), none=none)]

    def _publish(self, opened: OpenedCampaign) -> None:
        """Write the public files, if the worker has not written them on this machine yet."""
        if not opened.pack.exists():
            opened.campaign.settle(opened.pack, store=self._store)

    def _asks(self, opened: OpenedCampaign, state: State) -> tuple[str, int]:
        """Thing that is asked for now, and the phase of its rows; if nothing is asked for, the last phase."""
        if opened.contracts is None:
            return ("record" if state is State.OPEN and not opened.campaign.held else "", 0)
        if state is State.OPEN:
            return ("report", FIRST) if self._round(opened) is None else ("contract", FIRST)
        return ("record" if state is State.CHARGED else "", SECOND)

    def _round(self, opened: OpenedCampaign) -> Round | None:
        return None if opened.contracts is None else current(self._store, opened)

    def _known(self, opened: OpenedCampaign, slot: int) -> Mapping[str, str]:
        """The operator's known fields of a participant, which are added to the participant's row."""
        campaign, kind = opened.campaign, opened.local
        if kind is None or not kind.known(campaign.file.config, campaign.plan):
            return {}
        everybody = opened.read_once(known_file(opened), lambda: _read_known(opened)) or {}
        found = everybody.get(opened.identities[slot])
        if found is None:
            raise Refused(worded("the operator has not yet filled in the known fields of everybody who is invited"),
                          worded("come back in a while"))
        return found


def check_row(instructions: Mapping[str, Any], values: Mapping[str, str]) -> None:
    """Check that a row can come from a device with these instructions. The row must have exactly one column, with a
    text that the device can draw, or an empty text.

    Args:
        instructions: instructions to the device, as returned by `LocalKind.device`.
        values: mapping from column to text, as received from the device.

    Raises:
        InvalidInput: the row has another column, or a text that the device cannot draw. The message repeats no part of
            the row.

    Example:
        >>> check_row({"law": "response", "column": "report", "answers": ["no", "yes"]}, {"report": "yes"})
    """
    column = instructions.get("column", "")
    if set(values) != {column}:
        raise InvalidInput("report", worded("is not a row of a participant's device"),
                           worded("must have %(column)s and nothing else", column=f"{column!r}"))
    text = values[column]
    right = text in instructions["answers"] if instructions["law"] == "response" else _WORD.fullmatch(text)
    if text and not right:
        raise InvalidInput(column, worded("is not a text of a participant's device"),
                           worded("hand in the text from the page"))


def known_file(opened: OpenedCampaign) -> Path:
    """The path of the private file with the fields that the operator fills in for all participants."""
    return opened.folder / "known.csv"


def take_known(opened: OpenedCampaign, text: str) -> int:
    """Take the fields that the operator fills in for all participants, from CSV with the column "id" and a column for
    each field that the kind names. The result is the number of rows.

    Raises:
        Refused: the kind has no field that the operator fills in.
        InvalidInput: a column or an id is missing, unknown or repeated, a value cannot be used, or the text is too
            long.
    """
    campaign, kind = opened.campaign, opened.local
    fields = () if kind is None else kind.known(campaign.file.config, campaign.plan)
    if not fields:
        raise Refused(worded("this campaign asks the operator nothing about people"),
                      worded("people type all values themselves"))
    if len(text) > _LARGEST_KNOWN:
        raise InvalidInput("known", worded("is too long"),
                           worded("must have at most %(largest_known)s letters", largest_known=f"{_LARGEST_KNOWN:,}"))
    rows, names = list(csv.DictReader(io.StringIO(text))), [field.column for field in fields]
    ids = set(opened.identities)
    seen = set[str]()
    for number, row in enumerate(rows, 2):
        if set(row) != {"id", *names}:
            raise InvalidInput("known", worded("line %(number)s has other columns", number=number),
                               worded("must have id, %(names)s", names=', '.join(names)))
        if row["id"] not in ids or row["id"] in seen:
            raise InvalidInput("known",
                               worded("line %(number)s: the id is not on the public list, or it is there twice",
                                    number=number))
        seen.add(row["id"])
        judge(fields, {name: row[name] for name in names})
    if len(seen) < len(ids):
        raise InvalidInput("known", worded("has %(seen)s of %(ids)s ids", seen=f"{len(seen):,}", ids=f"{len(ids):,}"),
                           worded("must have the id of everybody who is invited"))
    replace_private(known_file(opened), text)
    return len(rows)


def _read_known(opened: OpenedCampaign) -> dict[str, dict[str, str]]:
    with known_file(opened).open(encoding="utf-8", newline="") as file:
        return {row.pop("id"): row for row in csv.DictReader(file)}
