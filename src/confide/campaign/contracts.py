"""Rounds of contracts: the signed offer to each person, before they hand anything in that could give them away.

The operator draws up a round from everybody's reports, shows each person theirs, and draws up another without those who
declined. Only the final round is acted on: participants' devices draw nothing for any other. There is one final round
of a campaign in an installation, whatever happens to the file: two records of one person would cost them twice.

A person's contract is one line of text, a token: the signed statement as base64.

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
from confide.contract.encoding import canonical, digest
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
    """One round of contracts: the operator's, since all reports follow from it.

    Args:
        number: the number of the round, from 1.
        final: whether it is acted on.
        without: ids that declined or stayed away.
        drawn: the contracts that the kind drew up.
        path: the path of its file.
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
    """The offer to one person.

    Args:
        identity: the participant's id.
        round: the number of the round.
        final: whether the participant's device may act on it.
        terms: the kind's.
        signer: fingerprint of the key that signed it.
        token: all of this as one line of text.
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
    """Draw up the next round from the file of reports; it replaces the one before.

    Args:
        campaign: the campaign of a kind with contracts.
        without: ids that declined or stayed away, in addition to those of the round before.
        again: ids of those that take part after all.
        progress: a function that receives the progress.
        home: the installation whose key signs; default `Home.default()`.
        reports: the folder in which the path of reports starts; default the campaign file's.

    Raises:
        Refused: the final round was drawn up, or another one meanwhile.
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
            raise InvalidInput("with", f"{each!r} was not left out", "it takes part already")
    drawn = kind.draw_up(file.config, campaign.plan, file.folder if reports is None else reports, tuple(gone), progress)
    number = 1 if before is None else before.number + 1
    found = Round(number=number, final=False, without=tuple(gone), drawn=drawn, path=path)
    with home.deciding(file.digest):  # while this was drawn up, another one may have been made final, or drawn up
        _check_not_final(file, home)
        if _stamp(path) != stood:
            raise Refused(worded("another round was drawn up meanwhile"),
                          worded("look at that one; draw up another if need be"))
        _write(file, found, home)
    return found


def finish(
    campaign: Planned, store: Store, home: Home | None = None, check: Callable[[Round], None] = lambda _: None,
    number: int | None = None,
) -> Round:
    """Make the round final; an earlier final round stays so. The ledger is charged: records are sent from here on.

    Args:
        campaign: the campaign of a kind with contracts.
        store: the store in which it will be settled.
        home: the installation whose key signs; default `Home.default()`.
        check: asked, before anything is noted, whether the round may become final; raises where it may not.
        number: the number of the round that was read; None makes final whichever stands.

    Raises:
        Refused: there is none, or another one than was read; another one was final; or this is a copy, whose original
            may have made one final.
        BudgetExceeded: the ledger does not admit the campaign.
    """
    file, home = campaign.file, Home.default() if home is None else home
    with home.deciding(file.digest):
        found = round_of(file, home)
        if number is not None and number != found.number:
            raise Refused(
                worded("round %(number)s is final, and not round %(read)s", number=found.number, read=number)
                if found.final else
                worded("round %(number)s stands, and not round %(read)s", number=found.number, read=number),
                worded("it was drawn up meanwhile: look at it first"))
        if found.final:
            return found
        known = store.find(file)
        if known is not None:
            store.check_original(known)
        if home.final_round(file.digest) is None:  # else whoever noted it has died since: nothing is to be decided
            check(found)
        found = Round(number=found.number, final=True, without=found.without, drawn=found.drawn, path=found.path)
        # Before the rest: what is noted there is never drawn up again.
        home.finish_round(file.digest, digest(_signed(file, found, home)))
        commit(campaign, store, _kind(file).committed(campaign.plan, found.drawn))  # before anybody can act on it
        _write(file, found, home)
    return found


def round_of(file: CampaignFile, home: Home | None = None, *, final: bool = False) -> Round:
    """The round as it lies in its file, if this installation's key signed it.

    Args:
        file: the campaign's.
        home: the installation; default `Home.default()`.
        final: whether only a final one will do.

    Raises:
        Refused: there is none, or it is not final.
        InvalidInput: it was altered, or is of another campaign or installation.
    """
    kind, home = _kind(file), Home.default() if home is None else home
    path = _path(kind, file)
    if not path.exists():
        raise Refused(f"no contracts were drawn up: {path} does not exist", f"do `confide contracts {file.path}`")
    data = read_bytes("contracts", path, _LARGEST)
    with reading("contracts", path):
        said = parse_json(data)
        if said["content"] != file.digest:
            raise InvalidInput("content", "was drawn up for another campaign file",
                               "put the file back as it was; or, for another campaign, name another [contracts] file")
        if signed_by(said) != home.fingerprint:
            raise InvalidInput("signature", "is not this installation's", "the file was altered, or made elsewhere")
        found = Round(number=int(said["round"]), final=said["final"] is True, without=tuple(said["without"]),
                      drawn=said["drawn"], path=path)
    known = home.final_round(file.digest)
    if found.final and known != digest(data):
        raise InvalidInput("contracts", f"{path} is not the final round of this installation")
    if final and not found.final:
        raise Refused("the contracts are not final",
                      f"once all have agreed, do `confide contracts {file.path} --final`")
    return found


def contract_of(file: CampaignFile, identity: str, home: Home | None = None) -> Contract:
    """One person's contract of the round as it stands.

    Raises:
        Refused: no round was drawn up.
    """
    home = Home.default() if home is None else home
    return contract_in(file, round_of(file, home), identity, home)


def contract_in(file: CampaignFile, found: Round, identity: str, home: Home) -> Contract:
    """One person's contract of a round that was read before.

    Args:
        file: the campaign, of a kind with contracts.
        found: the round of the contract.
        identity: the participant's own identity.
        home: the installation whose key signs.
    """
    kind = _kind(file)
    person = kind.identity(file.config, identity)
    statement = {"format": _FORMAT, "content": file.digest, "round": found.number, "final": found.final, "id": person,
                 "terms": kind.terms(file.config, found.drawn, person)}
    return read_contract(file, person, as_token(sign(statement, home.signing_key)))


def read_contract(file: CampaignFile, identity: str, token: str, key: str | None = None) -> Contract:
    """The contract in a token, if its signature is good.

    Args:
        file: the campaign's.
        identity: the id that the contract should be for, as on the public list.
        token: the text of `Contract.token`.
        key: fingerprint of the operator's key, from the offer; without it whoever made the token signed it.

    Raises:
        InvalidInput: no contract, altered, somebody else's, or signed with another key.
    """
    said = read_token(token)
    signer = signed_by(said)
    if signer is None:
        raise InvalidInput("contract", "its signature is not good", "use it as the operator gave it")
    try:
        found = Contract(identity=said["id"], round=said["round"], final=said["final"] is True, terms=said["terms"],
                         signer=signer, token=token.strip())
        content = said["content"]
    except LookupError:
        raise InvalidInput("contract", "is a statement of another kind") from None
    if content != file.digest or found.identity != identity:
        raise InvalidInput("contract", "is of another campaign or another participant")
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
                      worded("devices may have sent records on them, and a second record would cost a person twice; "
                             "for another round, start another campaign"))


def _stamp(path: Path) -> str | None:
    """What tells one round from every other; None where none was drawn up."""
    return digest(read_bytes("contracts", path, _LARGEST)) if path.exists() else None


def _signed(file: CampaignFile, found: Round, home: Home) -> bytes:
    return canonical(sign({"format": _FORMAT, "content": file.digest, "round": found.number, "final": found.final,
                           "without": list(found.without), "drawn": dict(found.drawn)}, home.signing_key))


def _write(file: CampaignFile, found: Round, home: Home) -> None:
    """Put a round in the place of the one before, whole or not at all: it is read by others meanwhile."""
    check_unpublished("contracts", found.path)
    try:
        make_folder(found.path.parent)
        sweep_drafts(found.path)
        replace_private(found.path, _signed(file, found, home).decode("utf-8"))
    except OSError as error:
        raise InvalidInput("contracts", f"{found.path} cannot be written: {cause(error)}") from None
