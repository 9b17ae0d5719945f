"""Rounds of contracts. In each round, every participant receives a signed offer before they hand in any record.

The operator draws up a round from the reports of all participants, shows each person their contract, and draws up
another round without the people who declined. Participants' devices draw records for the contracts of the final round
alone. One installation makes at most one round of a campaign final, even if the file of contracts is lost or changed,
since two records of one person would cost that person twice the privacy.

A person's contract is a token: one line of text that encodes the signed statement in base64.

Source: spec two_part_acquisition section 2 (drop-out after reporting).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.campaign.file import CampaignFile, Planned
from confide.campaign.settlement import commit
from confide.campaign.signatures import sign, signed_by
from confide.campaign.store.home import Home
from confide.contract.digests import canonical, digest
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import (
    check_unpublished,
    make_folder,
    parse_json,
    read_bytes,
    reading,
    replace_private,
    sweep_drafts,
)
from confide.contract.kinds import ContractKind, Progress
from confide.contract.tokens import as_token, read_token
from confide.contract.worded import worded
from confide.contract.words import cause

if TYPE_CHECKING:
    from confide.campaign.store import Store

__all__ = ["Contract", "Round", "contract_in", "contract_of", "draw_up", "finish", "read_contract", "round_of"]

_FORMAT = 1
_LARGEST = 1 << 31  # bytes of a round: some 200 a person with a contract


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Round:
    """One round of contracts; for the operator alone, since the contracts disclose the participants' reports.

    Args:
        number: the number of the round, from 1.
        final: whether the round is final, so that participants' devices draw records for the contracts.
        without: ids of participants who declined or stayed away.
        drawn: the contracts of all participants, in the form that the campaign's kind defines.
        path: the path of the file that holds the round.
    """

    number: int
    final: bool
    without: tuple[str, ...]
    drawn: Mapping[str, Any]
    path: Path

    def __repr__(self) -> str:
        return f"<{'final ' if self.final else ''}round {self.number} of contracts, private, in {self.path}>"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Contract:
    """The signed offer to one participant in a round of contracts.

    Args:
        identity: the participant's id.
        round: the number of the round.
        final: whether the contract is final, so that the participant's device may draw a record for it.
        terms: the terms of the contract, in the form that the campaign's kind defines.
        signer: the fingerprint of the key that signed the contract.
        token: the whole contract as one line of text.
    """

    identity: str
    round: int
    final: bool
    terms: Mapping[str, Any]
    signer: str
    token: str

    def __repr__(self) -> str:
        return f"<contract of {self.identity!r}, round {self.round}>"


def draw_up(
    campaign: Planned, without: Sequence[str], again: Sequence[str], progress: Progress | None,
    home: Home | None = None, reports: Path | None = None,
) -> Round:
    """Draw up the next round of contracts from the file of reports; the new round replaces the earlier one.

    Args:
        campaign: a campaign whose kind has contracts.
        without: ids of participants who declined or stayed away, in addition to participants who were left out of the
            earlier round.
        again: ids of participants who were left out of the earlier round, and take part after all.
        progress: a function that receives the progress.
        home: the installation whose key signs the contracts; default `Home.default()`.
        reports: the folder to which a relative path of the file of reports refers; default the folder of the campaign
            file.

    Raises:
        Refused: a round is final already, or somebody else drew up another round at the same time.
    """
    kind, file, home = _kind(campaign.file), campaign.file, Home.default() if home is None else home
    path = _path(kind, file)
    _check_not_final(file, home)
    stood = _stamp(path)
    before = None if stood is None else round_of(file, home)
    gone = dict.fromkeys([*(() if before is None else before.without),
                          *(kind.identity(file.config, each) for each in without)])
    for each in again:
        if gone.pop(kind.identity(file.config, each), gone) is gone:
            raise InvalidInput("with", f"{each!r} was not left out", "this participant already takes part")
    drawn = kind.draw_up(file.config, campaign.plan, file.folder if reports is None else reports, tuple(gone), progress)
    number = 1 if before is None else before.number + 1
    found = Round(number=number, final=False, without=tuple(gone), drawn=drawn, path=path)
    with home.deciding(file.digest):  # while this was drawn up, another one may have been made final, or drawn up
        _check_not_final(file, home)
        if _stamp(path) != stood:
            raise Refused(worded("another round was drawn up meanwhile"),
                          worded("look at the newer round first; draw up another round if necessary"))
        _write(file, found, home)
    return found


def finish(
    campaign: Planned, store: Store, home: Home | None = None, check: Callable[[Round], None] = lambda _: None,
    number: int | None = None,
) -> Round:
    """Make the current round final and charge the ledger, since participants' devices send records from now on. A final
    round stays final.

    Args:
        campaign: a campaign whose kind has contracts.
        store: the store in which the campaign will be settled.
        home: the installation whose key signs the contracts; default `Home.default()`.
        check: a function that receives the round before anything is noted, and raises an error if the round may not
            become final.
        number: the number of the round that the operator read; None if the current round is made final without a check
            of the number.

    Raises:
        Refused: there is no round, or the round has another number than `number`; another round is final already; or
            this installation is a restored copy, whose original may have made a round final.
        BudgetExceeded: the ledger does not admit the campaign.
    """
    file, home = campaign.file, Home.default() if home is None else home
    with home.deciding(file.digest):
        found = round_of(file, home)
        if number is not None and number != found.number:
            raise Refused(
                worded("round %(number)s is final, not round %(read)s", number=found.number, read=number)
                if found.final else
                worded("the present round is round %(number)s, not round %(read)s", number=found.number, read=number),
                worded("look at the present round first: it was drawn up meanwhile"))
        if found.final:
            return found
        known = store.find(file)
        if known is not None:
            store.check_original(known)
        if home.final_round(file.digest) is None:  # else that process has died since: nothing is to be decided
            check(found)
        found = Round(number=found.number, final=True, without=found.without, drawn=found.drawn, path=found.path)
        # Before the rest: what is noted there is never drawn up again.
        home.finish_round(file.digest, digest(_signed(file, found, home)))
        commit(campaign, store, _kind(file).committed(campaign.plan, found.drawn))  # before anybody can act on it
        _write(file, found, home)
    return found


def round_of(file: CampaignFile, home: Home | None = None, *, final: bool = False) -> Round:
    """The current round of contracts, read from the file of the round. A file without a signature of this
    installation's key is refused.

    Args:
        file: the campaign file.
        home: the installation; default `Home.default()`.
        final: whether a round that is not final is refused.

    Raises:
        Refused: there is no round, or `final` is True and the round is not final.
        InvalidInput: the file was altered, or belongs to another campaign or installation.
    """
    kind, home = _kind(file), Home.default() if home is None else home
    path = _path(kind, file)
    if not path.exists():
        raise Refused(f"no contracts were drawn up: {path} does not exist", f"run `confide contracts {file.path}`")
    data = read_bytes("contracts", path, _LARGEST)
    with reading("contracts", path):
        said = parse_json(data)
        if said["content"] != file.digest:
            raise InvalidInput("content", "belongs to another campaign file",
                               "restore the campaign file; or, for another campaign, name another [contracts] file")
        if signed_by(said) != home.fingerprint:
            raise InvalidInput("signature", "does not belong to this installation",
                               "the file was altered, or another installation wrote it")
        found = Round(number=int(said["round"]), final=said["final"] is True, without=tuple(said["without"]),
                      drawn=said["drawn"], path=path)
    known = home.final_round(file.digest)
    if found.final and known != digest(data):
        raise InvalidInput("contracts", f"{path} is not the final round of this installation")
    if final and not found.final:
        raise Refused("the contracts are not final",
                      f"when all participants have agreed, run `confide contracts {file.path} --final`")
    return found


def contract_of(file: CampaignFile, identity: str, home: Home | None = None) -> Contract:
    """The contract of one participant in the current round.

    Raises:
        Refused: no round was drawn up.
    """
    home = Home.default() if home is None else home
    return contract_in(file, round_of(file, home), identity, home)


def contract_in(file: CampaignFile, found: Round, identity: str, home: Home) -> Contract:
    """The contract of one participant in a given round.

    Args:
        file: the file of a campaign whose kind has contracts.
        found: the round to which the contract belongs.
        identity: the participant's id.
        home: the installation whose key signs the contract.
    """
    kind = _kind(file)
    person = kind.identity(file.config, identity)
    statement = {"format": _FORMAT, "content": file.digest, "round": found.number, "final": found.final, "id": person,
                 "terms": kind.terms(file.config, found.drawn, person)}
    return read_contract(file, person, as_token(sign(statement, home.signing_key)))


def read_contract(file: CampaignFile, identity: str, token: str, key: str | None = None) -> Contract:
    """The contract that a token encodes. A token without a valid signature is refused.

    Args:
        file: the campaign file.
        identity: the id of the participant to whom the contract should belong, as on the public list.
        token: the text of `Contract.token`.
        key: the fingerprint of the operator's key, from the offer. If `key` is None, a signature by any key is
            accepted. Such a signature does not prove that the operator made the token.

    Raises:
        InvalidInput: the token is no contract, was altered, belongs to another participant or campaign, or is signed
            with another key.
    """
    said = read_token(token)
    signer = signed_by(said)
    if signer is None:
        raise InvalidInput("contract", "has no valid signature", "use the text that the operator gave you")
    try:
        found = Contract(identity=said["id"], round=said["round"], final=said["final"] is True, terms=said["terms"],
                         signer=signer, token=token.strip())
        content = said["content"]
    except LookupError:
        raise InvalidInput("contract", "is a statement of another kind") from None
    if content != file.digest or found.identity != identity:
        raise InvalidInput("contract", "belongs to another campaign or another participant")
    if key is not None and key != found.signer:
        raise InvalidInput("contract", f"is signed with the key {found.signer}", f"must be {key}")
    return found


def _kind(file: CampaignFile) -> ContractKind:
    if not isinstance(file.kind, ContractKind):
        raise Refused(f"the kind {file.kind.name!r} has no contracts", "records are handed in as the offer says")
    return file.kind


def _path(kind: ContractKind, file: CampaignFile) -> Path:
    return file.folder / kind.contracts_file(file.config)


def _check_not_final(file: CampaignFile, home: Home) -> None:
    if home.final_round(file.digest) is not None:
        raise Refused(worded("the contracts of this campaign are final"),
                      worded("start another campaign for another round: devices may have sent records on these "
                             "contracts, and a second record would cost a person twice"))


def _stamp(path: Path) -> str | None:
    """Digest of the file of a round, different for any two rounds; None where the file does not exist."""
    return digest(read_bytes("contracts", path, _LARGEST)) if path.exists() else None


def _signed(file: CampaignFile, found: Round, home: Home) -> bytes:
    return canonical(sign({"format": _FORMAT, "content": file.digest, "round": found.number, "final": found.final,
                           "without": list(found.without), "drawn": dict(found.drawn)}, home.signing_key))


def _write(file: CampaignFile, found: Round, home: Home) -> None:
    """Replace the file of the earlier round in one step, since other processes may read the file at any time."""
    check_unpublished("contracts", found.path)
    try:
        make_folder(found.path.parent)
        sweep_drafts(found.path)
        replace_private(found.path, _signed(file, found, home).decode("utf-8"))
    except OSError as error:
        raise InvalidInput("contracts", f"{found.path} cannot be written: {cause(error)}") from None
