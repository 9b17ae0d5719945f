"""The kind `mean`, which buys the mean of a number. Participants first report whether they fear the operator's or the
public's knowledge more. Then participants agree to a contract, send one noisy record, and are paid.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from confide import acquisition
from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.reading import (
    Submissions,
    as_document,
    as_drawn,
    lattice_contract,
    read_reports,
    terms_of,
)
from confide.acquisition.records import Contracted, ContractedRecords, ContractTerms, RecordCodec
from confide.campaign.kinds import PeoplesKind
from confide.campaign.kinds.acquisition import pages
from confide.campaign.kinds.acquisition.plan import MeanConfig, PlannedMean
from confide.campaign.kinds.skeleton import KindSkeleton, no_rehearsal
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput, Refused
from confide.contract.file_words import FileWords
from confide.contract.files import read_bytes, reading
from confide.contract.kinds import Check, Collection, Progress, by_slots
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section
from confide.contract.remedies import Remedy
from confide.contract.replanned import nearest
from confide.contract.wire import wire_types
from confide.privacy.noise import Noise
from confide.tables import Measured, Roster, TableSource, Word, open_table
from confide.tables.column_rows import MOVED

__all__ = ["KIND", "MeanKind", "Rehearsed"]

_LARGEST_ROUND = 1 << 31
_NEARLY_ALWAYS = 0.95  # share of made-up profiles in which what a remedy names buys the mean
_STORED = ("DiscretePrior", "ErrorCertificate", "HistogramPrior", "MeanBillboard", "PowerPrior", "TwoPartMechanism",
           "UniformPrior")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Rehearsed:
    """The result of a rehearsal: public records, reports, and the noisy records that the participants' devices would
    send.

    Args:
        truth: true records of the n participants, shape (n,); nan for a participant without a record.
        reports: reports of the n participants, in [0, 1], shape (n,); nan for a participant without a report.
        records: contracts of all participants, together with the noisy records that were sent on these contracts.
    """

    truth: np.ndarray
    reports: np.ndarray
    records: ContractedRecords

    def __iter__(self) -> Any:
        yield self.records


class MeanKind(KindSkeleton, PeoplesKind):
    """Buy the mean of a number from participants who fear what the operator or the public may learn about them."""

    name: ClassVar[str] = "mean"
    summary: ClassVar[str] = ("buy the mean of a bounded number from people who fear leaks to the operator and to the "
                              "public")
    notion: Literal["epsilon", "rho"] = "rho"
    config: type[Any] = MeanConfig
    file_words = FileWords(keys={
        "privacy.most_local": "largest_local_loss", "privacy.grid": "approximation"})
    types: ClassVar[Mapping[str, type]] = wire_types(*(getattr(acquisition, name) for name in _STORED))
    runs = TwoPartMechanism

    def plan(self, config: MeanConfig) -> PlannedMean:
        return _plan(config)

    def codec(self, plan: PlannedMean) -> RecordCodec:
        """The codec that stores a contract together with the noisy record that was sent on this contract."""
        return RecordCodec()

    def payouts(self, plan: PlannedMean) -> PayoutTerms:
        it = plan.mechanism
        return PayoutTerms(column="payment", currency=it.currency, minor_units=it.minor_units,
                           highest=plan.largest_coins)

    def files(self, config: MeanConfig) -> Sequence[tuple[str, str]]:
        """The files that the campaign file names, as pairs (key, path): reports, contracts, noisy records, and the
        public records for a rehearsal.
        """
        played = [] if config.rehearsal is None else [("rehearsal.source", config.rehearsal.source)]
        return [("reports.source", config.reports.source), ("contracts.file", config.contracts.file),
                ("data.source", config.data.source), *played]

    # ---- the participant's side

    def asked_first(self, config: MeanConfig, plan: PlannedMean) -> Sequence[Field]:
        """The form field for the participant's report: a number from 0, for fear of the public's knowledge alone, to 1,
        for fear of the operator's knowledge alone. An empty answer means that the participant takes no part.
        """
        rule = plan.mechanism.rules[0]
        low, high = rule.support
        return [Field(
            column=config.reports.column, label="Which leak do you fear more, from 0 (only a leak to the public) "
                                                "to 1 (only a leak to the operator)?",
            form="number", lowest=low,
            highest=high, gaps=tuple((float(a), float(b)) for a, b in rule.gaps), required=False,
            note="1: you fear only the operator's knowledge about you. 0: you fear only the public's knowledge about "
                 "you. The operator sees this number. Leave it empty to take no part.")]

    def asked(self, config: MeanConfig, plan: PlannedMean) -> Sequence[Field]:
        """The form field for the participant's true record, which stays on their own device. An empty answer means that
        nothing is sent.
        """
        record = config.record
        return [Field(
            column=record.column, label=record.question, form="number", unit=record.unit, required=False,
            note=f"Give a number from {record.low:.12g} to {record.high:.12g}"
                 f"{f' (unit: {record.unit})' * bool(record.unit)}. {MOVED} The number itself does not leave your "
                 "device. Leave it empty to send nothing.")]

    def known(self, config: MeanConfig, plan: PlannedMean) -> Sequence[Field]:
        """The fields that the operator adds to a participant's row: none in this kind."""
        return ()

    def device(self, config: MeanConfig, plan: PlannedMean, terms: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Instructions for the participant's device: the range of records and the noise of the participant's contract.

        Raises:
            InvalidInput: `terms` is missing, or is not the terms of a contract.
            NotGuaranteed: the noise does not keep the contract's privacy level.
        """
        if terms is None:
            raise InvalidInput("contract", "is missing", "the participant's device needs their own contract")
        contract = lattice_contract(plan.mechanism, terms)
        plan.mechanism.check_contract(contract)
        column = config.record.column
        return {"law": "lattice", "column": column, "input": column, "low": _short(contract.low),
                "high": _short(contract.high), "steps": str(contract.steps), "sigma": str(contract.noise_std)}

    def question(self, config: MeanConfig) -> str:
        """The question to participants."""
        return config.record.question

    def level(self, plan: PlannedMean) -> float:
        """The largest privacy cost of one record, as rho of zero-concentrated differential privacy. With rho, campaigns
        with different Renyi orders can be compared.
        """
        return plan.mechanism.concentrated(plan.mechanism.caps.local)

    def private(self, config: MeanConfig, plan: PlannedMean, values: Mapping[str, str]) -> tuple[Any, float]:
        """A pair: the participant's first report, and its privacy cost 0. The device draws nothing for this report, and
        the report reveals nothing about the participant's record.
        """
        return self._concern(config, plan, values), 0.0

    def reported(
        self, config: MeanConfig, plan: PlannedMean, identity: str, values: Mapping[str, str]
    ) -> dict[str, str]:
        """The first row that the participant hands in, for the operator's file of reports: their id and their
        report.
        """
        concern = self._concern(config, plan, values)
        return {_id(config): identity, config.reports.column: "" if concern is None else repr(concern)}

    def on_terms(
        self, config: MeanConfig, plan: PlannedMean, values: Mapping[str, str], terms: Mapping[str, Any]
    ) -> tuple[Any, float]:
        """A pair: the participant's record together with their contract, and the rho that the record costs. The pair is
        (None, 0) where the contract asks for no record, or the participant gives none.
        """
        contract = lattice_contract(plan.mechanism, terms)
        plan.mechanism.check_contract(contract)
        if not contract.active:
            return None, 0.0
        value = self._value(config, values)
        rho = plan.mechanism.concentrated(contract.epsilon_local)
        return (None, 0.0) if value is None else ((value, contract), rho)

    def caution(self, config: MeanConfig, values: Mapping[str, str]) -> str:
        """The warning about a record outside of the public range, which the device shows to the participant alone;
        empty for a record inside of the range.
        """
        if config.record.column not in values:
            return ""
        value, low, high = self._value(config, values), config.record.low, config.record.high
        if value is None or low <= value <= high:
            return ""
        return (f"your record is outside of [{low:g}, {high:g}] and counts as the nearer end of this range; only you "
                "learn this")

    def row(self, config: MeanConfig, identity: str, report: Any) -> dict[str, str]:
        """The second row that the participant hands in, for the operator's file of records: their id and their noisy
        record.
        """
        return {_id(config): identity, config.record.column: "" if report is None else Word.spelled(int(report))}

    def rows(self, config: MeanConfig, data: Rehearsed) -> Sequence[dict[str, str]]:
        """The rows that all participants of a rehearsal hand in on their contracts. In a campaign without ids, the rows
        have the order of the public list, with an empty row for each person who sends no record.
        """
        it = data.records
        sent = {int(k): int(m) for k, m, there in zip(it.index, it.message, it.sent, strict=True) if there}
        people = range(config.people.count) if config.people.id == "row" else sent
        return [self.row(config, str(k + 1), sent.get(k)) for k in people]

    def _concern(self, config: MeanConfig, plan: PlannedMean, values: Mapping[str, str]) -> float | None:
        column = config.reports.column
        _known(values, (column,))
        if not str(values.get(column, "")).strip():
            return None
        concern, problem = _concerns(config).encode_one(values[column])
        rule = plan.mechanism.rules[0]
        if problem is None and not rule.admits([concern]).all():
            problem = (f"{column}: {concern:g} is impossible by the belief of the file; must be "
                       f"{rule.allowed()}")
        if problem:
            raise InvalidInput("record", problem)
        return concern

    def _value(self, config: MeanConfig, values: Mapping[str, str]) -> float | None:
        column = config.record.column
        _known(values, (column,))
        if not str(values.get(column, "")).strip():
            return None
        value, problem = Measured(column=column).encode_one(values[column])
        if problem:
            raise InvalidInput("record", problem)
        return value

    # ---- contracts

    def contracts_file(self, config: MeanConfig) -> str:
        """The path of the file with the contracts, as written in the campaign file."""
        return config.contracts.file

    def draw_up(
        self, config: MeanConfig, plan: PlannedMean, folder: Path, without: Sequence[str],
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Draw up the contracts of all participants from the file of reports, except the participants with the ids
        `without`.

        Raises:
            Refused: no report is usable, or `without` names everybody with a usable report.
        """
        reports, rejected = self._reports(config, plan, folder, progress)
        roster, usable = Roster(config.people.count), int(np.count_nonzero(~np.isnan(reports)))
        reports[[roster.rank(each) for each in without]] = math.nan
        if np.isnan(reports).all():
            first = next(iter(rejected.items()), None)
            raise Refused(f"no report in {config.reports.source} can be used" if usable == 0 else
                          "nobody with a report is left",
                          "collect reports first" if first is None else f"{first[0]}: {first[1]}")
        return {**as_document(plan.mechanism.contracts(reports).terms), "usable": usable, "rejected": rejected}

    def _reports(
        self, config: MeanConfig, plan: PlannedMean, folder: Path, progress: Progress | None
    ) -> tuple[np.ndarray, dict[str, str]]:
        rejected: dict[str, str] = {}
        source = _watched(open_table(config.reports.source, folder=folder), config, progress)
        found = read_reports(source, _concerns(config), Roster(config.people.count), config.people.id,
                             plan.mechanism.rules[0], rejected)
        return found, rejected

    def committed(self, plan: PlannedMean, drawn: Mapping[str, Any]) -> Iterable[ContractedRecords]:
        """One batch with all contracts, before any record is sent on a contract."""
        yield as_drawn(drawn, plan.mechanism.people).with_messages({})

    def answered(
        self, config: MeanConfig, plan: PlannedMean, folder: Path, batches: Iterable[ContractedRecords],
        progress: Progress | None = None,
    ) -> Submissions:
        """The stored contracts, with the noisy records that participants sent on these contracts."""
        return self._sent(config, ContractTerms.of_batches(batches), folder, progress)

    def round_sections(self, plan: PlannedMean, drawn: Mapping[str, Any]) -> Sequence[Section]:
        return pages.round_sections(plan, drawn)

    def terms(self, config: MeanConfig, drawn: Mapping[str, Any], identity: str) -> dict[str, Any]:
        return terms_of(drawn, Roster(config.people.count).rank(identity))

    def terms_sections(self, plan: PlannedMean, terms: Mapping[str, Any]) -> Sequence[Section]:
        return pages.terms_sections(plan, terms)

    # ---- records

    def submissions(
        self, config: MeanConfig, plan: PlannedMean, folder: Path, progress: Progress | None = None
    ) -> Submissions:
        """Open the file of records and the file of contracts. The rows of records are read later, during the run."""
        return self._sent(config, self._drawn(config, plan, folder), folder, progress)

    def _sent(self, config: MeanConfig, drawn: ContractTerms, folder: Path, progress: Progress | None) -> Submissions:
        source = _watched(open_table(config.data.source, folder=folder), config, progress)
        found = Submissions(source=source, role=Word(column=config.record.column), drawn=drawn,
                            roster=Roster(config.people.count), identity=config.people.id)
        found.check()
        return found

    def _drawn(self, config: MeanConfig, plan: PlannedMean, folder: Path) -> ContractTerms:
        path = folder / config.contracts.file
        data = read_bytes("contracts", path, _LARGEST_ROUND)
        with reading("contracts", path):
            return as_drawn(json.loads(data)["drawn"], plan.mechanism.people)

    def check(
        self, config: MeanConfig, plan: PlannedMean, folder: Path, progress: Progress | None = None
    ) -> Check:
        """Check the reports or, where contracts are drawn up already, the records. The findings are for the operator
        alone.
        """
        asked = None
        if not (folder / config.contracts.file).exists():
            reports, rejected = self._reports(config, plan, folder, progress)
            usable = int(np.count_nonzero(~np.isnan(reports)))
        else:
            data = self.submissions(config, plan, folder, progress)
            usable = sum(int(np.count_nonzero(batch.sent)) for batch in data)
            rejected, asked = data.rejected, len(data.drawn.index)
        return Check(slots=config.people.count, rows=usable + len(rejected), usable=usable, rejected=rejected,
                     tolerated=None, asked=asked)

    def one(self, plan: PlannedMean, batch: ContractedRecords, place: int) -> Contracted:
        """The contract of the participant at this position of the batch, and whether a record was sent on this
        contract.
        """
        return batch.one(place)

    def parse_record(
        self, config: MeanConfig, plan: PlannedMean, identity: str, values: Mapping[str, str]
    ) -> tuple[Contracted, int]:
        """The pair of the participant's contract and the participant's position in the public list of ids, from typed
        values.

        The value `contract` is the text of the participant's contract. The value of the column of records is the noisy
        record that the participant sent; without this value, no record counts as sent.
        """
        from confide.contract.tokens import token_terms

        column = config.record.column
        _known(values, ("contract", column))
        if "contract" not in values:
            raise InvalidInput("record", "has no contract",
                               "give contract=TEXT, with the text that you got from the operator")
        terms = token_terms(values["contract"], identity=self.identity(config, identity))
        contract = lattice_contract(plan.mechanism, terms)
        sent = bool(str(values.get(column, "")).strip())
        if sent:
            message, problem = Word(column=column).encode_one(values[column])
            if problem is None and not (contract.active and contract.admits(message)):
                problem = f"{column}: no device sends this record on this contract"
            if problem:
                raise InvalidInput("record", problem)
        return Contracted(steps=contract.steps, noise_std=contract.noise_std, epsilon_local=contract.epsilon_local,
                          epsilon_central=contract.epsilon_central, payment=int(terms["payment"]),
                          sent=sent), self.roster(config).rank(identity)

    def submission(
        self, config: MeanConfig, plan: PlannedMean, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Refuse to store the record of one participant alone. A stored contract holds the noise of all contracts
        together, so all contracts are stored together when they become final. The records that are sent on contracts
        are read from the file of records.
        """
        raise Refused("contracts are stored together, when they become final, and not one by one",
                      f"the row from the participant's device goes into {config.reports.source} first, and into "
                      f"{config.data.source} with the final contract")

    # ---- rehearsal

    def rehearse(
        self, config: MeanConfig, plan: PlannedMean, folder: Path, noise: Noise, progress: Progress | None = None
    ) -> Collection:
        """Draw the noisy records of all participants from records that are public already. The records are drawn on the
        existing contracts or, where there are none, on contracts that follow from the file of reports.

        Returns:
            A collection whose `data` is `Rehearsed`.

        Raises:
            Refused: the campaign file names no public records.
        """
        table = config.rehearsal
        if table is None:
            raise no_rehearsal("records")
        it, rejected = plan.mechanism, dict[str, str]()
        source = _watched(open_table(table.source, folder=folder), config, progress)
        truth = read_reports(source, Measured(column=table.column), Roster(config.people.count),
                             config.people.id if table.id is None else table.id,
                             None, rejected)
        reports, _ = self._reports(config, plan, folder, None)
        drawn = (self._drawn(config, plan, folder) if (folder / config.contracts.file).exists()
                 else it.contracts(reports).terms)
        records = drawn.with_messages(it.play_on(drawn, truth, noise))
        return Collection(data=Rehearsed(truth=truth, reports=reports, records=records), rejected=rejected)

    def audit(self, plan: PlannedMean, seed: int, progress: Progress | None = None) -> Any:
        from confide.acquisition import audited
        from confide.audit import audit

        return audit(audited.mean(plan.mechanism, seed), progress)


def _concerns(config: MeanConfig) -> Measured:
    return Measured(column=config.reports.column, lower=0.0, upper=1.0)


def _short(value: float) -> str:
    """A spelling of a double that every reader parses to the same double; without a decimal point where the number is
    whole and short.
    """
    text = repr(float(value))
    return text.removesuffix(".0")


def _id(config: MeanConfig) -> str:
    return config.people.id if config.people.id != "row" else "id"


def _known(values: Mapping[str, str], names: tuple[str, ...]) -> None:
    unknown = sorted(values.keys() - set(names))
    if unknown:
        raise InvalidInput("record", f"{unknown[0]!r} is not asked for in this campaign", f"give {', '.join(names)}")


def _watched(source: TableSource, config: MeanConfig, progress: Progress | None) -> TableSource:
    return source if progress is None else source.watched(by_slots(progress, config.people.count))


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def _plan(config: MeanConfig) -> PlannedMean:
    return _planned(config)


def _planned(config: MeanConfig, least: float = 0.0) -> PlannedMean:
    record, price, privacy = config.record, config.price, config.privacy
    try:
        mechanism = TwoPartMechanism(
            people=config.people.count, prior=config.belief.build(), mse_price=price.error, low=record.low,
            high=record.high, variance=record.variance, order=privacy.order, psi_floor=privacy.psi_floor,
            approximation=privacy.approximation, price_per_nat=price.nat, currency=config.payment.currency,
            largest_local_loss=privacy.largest_local_loss,
            known_error=None if price.known is None else price.known**2, minor_units=config.payment.minor_units)
    except InvalidInput as error:
        if error.field != "largest_local_loss":
            raise
        # It is well-formed, and hopeless.
        raise Refused(f"privacy.largest_local_loss: {error.problem}", _would_do(config)) from None
    found = PlannedMean(mechanism=mechanism, config=config, least=least, pages=pages)
    if found.here.bought == 0:
        raise Refused(f"the campaign would buy nothing: {found.here.why}", _would_do(config))
    if found.here.root_error >= (record.high - record.low) / 2:
        raise Refused(
            "the records would teach nothing. With the records, the standard error of the mean would be "
            f"{found.here.root_error:.4g} on average. Without any records, the error of guessing the middle of the "
            f"range is at most {(record.high - record.low) / 2:.4g}", _would_do(config))
    return found


def _would_do(config: MeanConfig) -> list[str | Remedy]:
    """Changes of a single key with which the mean is bought for nearly all reports; each change was tried exactly as
    printed.
    """
    def does(other: MeanConfig) -> bool:
        return _planned(other, _NEARLY_ALWAYS).here.bought >= _NEARLY_ALWAYS

    price, limit = config.price.error, config.privacy.largest_local_loss
    found = [
        *nearest(config, does, "people.count", config.people.count, farthest=1e4),
        *(() if limit is None else nearest(config, does, "privacy.largest_local_loss", limit, farthest=1e4)),
        *nearest(config, does, "price.error", price, up=False, farthest=1e4),
        *nearest(config, does, "price.error", price, farthest=1e4)]
    return [*found] or ["changing only one of [people] count, [privacy] largest_local_loss and [price] error is not "
                        "enough: change several of them"]


KIND = MeanKind()
