"""The output of `--json`: one JSON object for each command. The schema of all outputs is `schema.json` in this
package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from confide.cli.budget import Budget
from confide.contract.presentation import Section
from confide.contract.words import json_ready

__all__ = ["AnswerModel", "AnswerOutput", "AuditOutput", "ChannelOutput", "CheckOutput", "ClaimModel",
           "ClaimsOutput", "ContractsOutput", "KindsOutput", "MeasuredModel", "MigrateOutput", "MigratedModel",
           "OfferOutput", "Output", "PlanOutput", "RehearseOutput", "Rejected", "ReproduceAllOutput", "ReproduceOutput",
           "ReproducedModel", "RowsOutput", "RunOutput", "ShareOutput", "StudiesOutput", "SubmitOutput",
           "VerifiedModel", "schema"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)  # most processes print one of them, or none


class TextBlock(_Model):
    """A block of paragraphs."""

    text: list[str]


class TableBlock(_Model):
    """A table."""

    columns: list[str]
    rows: list[list[str | int | float | None]]
    note: str


class PictureBlock(_Model):
    """A picture: what it shows, and its Vega-Lite specification."""

    picture: str
    vega_lite: dict[str, Any]


class SectionModel(_Model):
    """A section with a title."""

    title: str
    study: bool = Field(description="made with private data under simulated noise: not a release")
    private: bool = Field(description="for one participant or the operator")
    blocks: list[TextBlock | TableBlock | PictureBlock]


class _Campaign(_Model):
    format: Literal[1] = 1
    campaign: str = Field(description="path of the campaign file")
    kind: str
    title: str


_PROMISES = ("each promise: its fields, in_full with its condition and its note, and whether it says anything")
_GROUPS = ("privacy losses of one person, and of groups of 2, 5 and 10 people together, towards each audience; none if "
           "no loss is promised")


class PlanOutput(_Campaign):
    """Output of `confide plan --json`."""

    command: Literal["plan"] = "plan"
    plan: dict[str, Any] = Field(description="the planned numbers, by the kind's own names")
    guarantees: list[dict[str, Any]] = Field(description=_PROMISES)
    groups: list[dict[str, Any]] = Field(description=_GROUPS)
    budget: Budget
    offer: list[SectionModel]


class OfferOutput(_Campaign):
    """Output of `confide offer --json`."""

    command: Literal["offer"] = "offer"
    sections: list[SectionModel]


class Rejected(_Model):
    """A row of a table that gives no usable record."""

    id: str
    reason: str


class CheckOutput(_Campaign):
    """Output of `confide check --json`, for the operator alone."""

    command: Literal["check"] = "check"
    private: Literal[True] = Field(default=True, description="follows from private records: for the operator alone")
    slots: int = Field(description="invited slots; public")
    asked: int | None = Field(description="number of invited people who are asked for a record; null if all are asked")
    rows: int = Field(description="rows that were read")
    usable: int = Field(description="records that a run would use")
    rejected: int = Field(description="all other rows")
    reasons: dict[str, int] = Field(description="rejected rows by reason")
    cells: list[str] = Field(description="problems of cells, by column and reason, with counts")
    stop: str | None = Field(description="reason why a run stops before the charge, unless unusable rows are accepted; "
                                         "null if it does not stop")
    first: list[Rejected] = Field(description="the first rejected rows")
    written: str | None = Field(description="file that lists all rejected rows; null without --write")
    withdrawn: int = Field(description="participants who withdrew before the run: their records count as empty in it")
    ledger: Literal["admits", "refuses", "charged"] = Field(description="the ledger's answer to a run now")
    another: str | None = Field(description="the campaign before its file was changed, and the new charge of a run; "
                                            "null if there is none")


class RunOutput(_Campaign):
    """Output of `confide run --json`."""

    command: Literal["run"] = "run"
    noise: Literal["secure", "simulated"]
    release_safe: bool
    stored: bool = Field(description="true when the campaign was settled before and the stored outcome is shown")
    out: str = Field(description="folder of the outcome")
    files: dict[str, str] = Field(description="its files: name -> path")
    handout: str | None = Field(description="file of the goods and their receivers, private, if --handout asked for it")
    guarantees: list[dict[str, Any]] = Field(description=_PROMISES)
    groups: list[dict[str, Any]] = Field(description=_GROUPS)
    sections: list[SectionModel]


class SubmitOutput(_Campaign):
    """Output of `confide submit --json`."""

    command: Literal["submit"] = "submit"
    id: str
    report: dict[str, str]
    spent: float = Field(description="privacy spent under this data set or question so far, by the participant's own "
                                     "book")
    notion: Literal["epsilon", "rho"] = Field(description="unit of the spend: epsilon in nats, or rho")
    drawn_before: bool = Field(description="true: this is the report of the record that was given first; the record of "
                                           "this call was not used")


class ContractsOutput(_Campaign):
    """Output of `confide contracts --json`. Private, except for the contract of one person."""

    command: Literal["contracts"] = "contracts"
    round: int
    final: bool
    file: str | None = Field(description="of the round; null if the command shows one person's contract")
    contract: str | None = Field(description="contract of one person, as one line of text")
    sections: list[SectionModel]


class RehearseOutput(_Campaign):
    """Output of `confide rehearse --json`."""

    command: Literal["rehearse"] = "rehearse"
    out: str
    reports: int


class ShareOutput(_Campaign):
    """Output of `confide share --json`."""

    command: Literal["share"] = "share"
    id: str
    sections: list[SectionModel]


class AuditRowModel(_Model):
    """A promise and its measurement."""

    concern: Literal["privacy", "incentives", "accuracy", "participation", "budget"]
    promise: str
    promised: float | str = Field(description="a number, or a text with its unit; infinities are texts")
    measured: float | str | None = Field(description="null if nothing was measured, or promised")
    evidence: str
    verdict: Literal["kept", "broken", "vacuous", "not measured", "no promise"]
    note: str
    false_alarm: float = Field(description='probability that a kept promise gets the verdict "broken"; 0 for exact '
                                           'evidence')
    holds: list[str] = Field(description="sentences of the plan's guarantees for which this row is evidence; empty if "
                                         "there is no promise")
    side: Literal["", "at most", "at least", "exactly"] = Field(description="of the promised number")
    unit: str = Field(description='unit of both numbers, such as "nats" or a currency; empty if they have none')
    among: str = Field(description='the data of the measurement, if smaller than the campaign, such as "8 synthetic '
                                   "bidders\"; empty at the campaign's own size")


class ControlModel(_Model):
    """A mechanism broken on purpose, which the audit must flag."""

    name: str
    planted_bug: str
    flagged: bool


class ReportModel(_Model):
    """The report of an audit: promises and their measurements by concern, and the controls."""

    passed: bool
    problems: list[str]
    false_alarm: float
    unmeasured: int = Field(description="promises that were not measured; their rows say why")
    counts: dict[str, int] = Field(description="numbers of rows. measured: at the campaign's own size; smaller: "
                                               "measured on smaller data; kept and broken: verdicts of both; vacuous "
                                               "and not_measured: promises; unpromised: concerns without a promise")
    rows: list[AuditRowModel]
    controls: list[ControlModel]


class AuditOutput(_Campaign):
    """Output of `confide audit --json`."""

    command: Literal["audit"] = "audit"
    passed: bool
    report: ReportModel


class KindsOutput(_Model):
    """Output of `confide kinds --json`."""

    command: Literal["kinds"] = "kinds"
    kinds: dict[str, str]
    broken: dict[str, str] = Field(default={}, description="kinds of installed packages that cannot be used, and why")


class StudyModel(_Model):
    """A study, which computes a published statement again."""

    name: str
    title: str
    source: str
    statement: str


class StudiesOutput(_Model):
    """Output of `confide reproduce --json` without a name."""

    command: Literal["studies"] = "studies"
    studies: list[StudyModel]
    full_seconds: dict[str, float] = Field(description="name -> processor time of a full run, in seconds")
    machine: str = Field(description="where that was")
    day: str = Field(description="day of the measurement, as YYYY-MM-DD")


class ReproduceOutput(_Model):
    """Output of `confide reproduce NAME --json`."""

    command: Literal["reproduce"] = "reproduce"
    study: StudyModel
    quick: bool
    seconds: float = Field(description="of the computation")
    cached: bool = Field(description="true if the result was computed before and stored")
    out: str = Field(description="folder of the pictures and tables")
    files: dict[str, str] = Field(description="its files: name -> path")
    undrawn: str = Field(description="command that installs the drawing of pictures, if it is missing; else empty")
    sections: list[SectionModel]


class ReproducedModel(_Model):
    """A study among several, with a single number: the first number that the source states, if it states any."""

    study: StudyModel
    quick: bool
    seconds: float = Field(description="of the computation")
    cached: bool = Field(description="true if the result was computed before and stored")
    quantity: str = Field(description="name of the number")
    published: float | str | None = Field(description="the number to compare with, as `kind` says")
    ours: float | str = Field(description="an infinity is a string")
    relation: str = Field(description="comparison of our number with the other, in words")
    kind: Literal["printed number", "evaluated from the printed formula", "read off a printed figure",
                  "stated in words", ""] = Field(description=
                      "the source's wording of the other number; empty if it has none")
    origin: str = Field(description="the source's wording, with its place in the source; empty if there is no "
                                    "comparison")
    stand: int = Field(description="number of compared numbers, bounds and statements that hold")
    differ: int = Field(description="how many differ")
    files: dict[str, str] = Field(description="written files: name -> path")


class ReproduceAllOutput(_Model):
    """Output of `confide reproduce --json` with --all, several names, --gallery or --times."""

    command: Literal["reproduce-all"] = "reproduce-all"
    quick: bool
    out: str | None = Field(description="folder with one folder for each study; null if the command wrote a gallery")
    written: list[str] = Field(description="the gallery's page, the file of times")
    undrawn: str = Field(description="command that installs the drawing of pictures, if it is missing; else empty")
    studies: list[ReproducedModel]
    failed: dict[str, str] = Field(description="name -> reason why the study could not be computed")


ClaimVerdict = Literal["holds", "holds-with-correction", "false", "vacuous-at-practical-size"]


class MeasuredModel(_Model):
    """The last stored result of evidence that takes long to compute."""

    claimed: float | str = Field(description="the number that the claim gives; an infinity is a string")
    found: float | str = Field(description="the number that was found")
    day: str = Field(description="when, as YYYY-MM-DD")
    seconds: float


class VerifiedModel(_Model):
    """The result of the evidence for a claim."""

    recomputed: bool = Field(description="false: recomputing takes long, so the stored figures are shown")
    verdict: ClaimVerdict | Literal["fault"] = Field(description="fault: the evidence failed")
    changed: bool = Field(description="true if the table has another verdict")
    claimed: float | str = Field(description="the number that the claim gives; an infinity is a string")
    found: float | str = Field(description="the number that was found")
    seconds: float
    fault: str = Field(description="type of the exception that the evidence raised; empty if it raised none")


class ClaimModel(_Model):
    """A published claim, its verdict and its evidence."""

    id: str
    family: str
    document: str
    statement: str = Field(description="theorem, algorithm, figure or section of the document")
    line: int = Field(description="line in the document's text that was used")
    claim: str = Field(description="in our words")
    verdict: ClaimVerdict
    ours: str = Field(description="the corrected claim, and its figures")
    evidence: str = Field(description="dotted name of the function that recomputes the claim")
    cost: Literal["fast", "slow"]
    command: str = Field(description="recomputes this row alone")
    measured: MeasuredModel | None = Field(description="null if the evidence is fast")
    verified: VerifiedModel | None = Field(description="null without --verify")


class ClaimsOutput(_Model):
    """Output of `confide claims --json`."""

    command: Literal["claims"] = "claims"
    counts: dict[str, int] = Field(description="verdict -> rows")
    claims: list[ClaimModel]
    changed: list[str] | None = Field(description="ids of claims with another verdict of the evidence; null without "
                                                  "--verify")
    drifted: list[str] | None = Field(description="ids of claims with another verdict or other figures than the pinned "
                                                  "ones; null without --verify")
    written: str | None = Field(description="the written page; null without --write")


class CampaignsOutput(_Model):
    """Output of `confide campaigns --json`, for the operator alone."""

    command: Literal["campaigns"] = "campaigns"
    store: str = Field(description="the database, without its password")
    sections: list[SectionModel]


class LedgerOutput(_Model):
    """Output of `confide ledger --json`, for the operator alone."""

    command: Literal["ledger"] = "ledger"
    store: str = Field(description="the database, without its password")
    sections: list[SectionModel]


class FindingModel(_Model):
    """One check of a verification."""

    check: str
    verdict: Literal["holds", "broken", "not checked"]
    detail: str


class VerifyOutput(_Model):
    """Output of `confide verify --json`."""

    command: Literal["verify"] = "verify"
    pack: str
    title: str
    signer: str = Field(description="fingerprint of the key that signed; empty where the signature is broken")
    known_signer: bool = Field(description="true if this is the key that the user passed")
    digest: str = Field(description="SHA-256 of the signed content; empty if the signature is broken")
    passed: bool = Field(description="nothing is broken")
    complete: bool = Field(description="true if every check was made and holds")
    findings: list[FindingModel]


class RowsOutput(_Model):
    """Output of `confide rows --json`, made from a public pack at no privacy cost."""

    command: Literal["rows"] = "rows"
    pack: str
    title: str
    out: str = Field(description="the file that was written")
    rows: int
    columns: list[str]


class AnswerModel(_Model):
    """The answer of a release to a further query."""

    query: str
    answer: float = Field(description="share of the records, in [0, 1]")
    uncut: float | None = Field(default=None, description="the answer before it was cut to [0, 1], if it was measured; "
                                                          "use these numbers in sums")
    plus_minus: float | None = Field(default=None, description=
                                     "bound on the effect of noise, with probability 95 %; "
                                     "null if the error is unknown")
    added: int | None = Field(default=None, description="number of measured answers in this answer")


class AnswerOutput(_Model):
    """Output of `confide answer --json`, made from a public pack at no privacy cost."""

    command: Literal["answer"] = "answer"
    pack: str
    title: str
    out: str | None = Field(description="the written file; null without --out")
    answers: list[AnswerModel]


class WithdrawOutput(_Campaign):
    """Output of `confide withdraw --json`."""

    command: Literal["withdraw"] = "withdraw"
    before_settlement: bool = Field(description="true: the participant's record counts as empty; false: it was erased")


class BatchModel(_Model):
    """An export of payouts."""

    number: int
    format: str = Field(description="csv or pain.001")
    written: str = Field(description="when, UTC")
    people: dict[str, int] = Field(description="sent, paid, failed, reopened -> number of payments")
    coins: str | None = Field(description="the amount that was not reopened, in the smallest coin; null once erased")


class PayoutModel(_Model):
    """One payout."""

    id: str
    coins: str | None = Field(description="in the smallest coin; null once erased")
    state: str
    batch: int | None = Field(description="null while it waits")


class WithdrawnModel(_Model):
    """A participant who withdrew before the settlement."""

    id: str
    deposit: str = Field(description="deposit within the participant's payout, in the smallest coin; 0 if they left "
                                     "none")


class PayoutsOutput(_Campaign):
    """Output of `confide payouts --json`, for the operator alone."""

    command: Literal["payouts"] = "payouts"
    private: Literal[True] = Field(default=True, description="totals follow from private records")
    done: dict[str, int] = Field(description="result of this call")
    currency: str
    minor_units: int
    people: dict[str, int] = Field(description="state -> number of payouts")
    coins: dict[str, str] = Field(description="state -> sum in the smallest coin")
    code: str = Field(description="code that approves the queued payouts; empty if none is queued")
    batches: list[BatchModel]
    entries: list[PayoutModel] | None = Field(description="every payout, with --list")
    withdrawn: list[WithdrawnModel] | None = Field(description=
                                                   "participants who withdrew before the settlement, with --list")


class ChannelOutput(_Model):
    """Output of `confide channel --json`, with levels in nats."""

    command: Literal["channel"] = "channel"
    file: str
    title: str
    letters: int = Field(description="values of a row")
    records: int
    prior_given: bool = Field(description="whether the file has a prior; otherwise it is uniform")
    levels: dict[str, Any] = Field(description="differential privacy, identifiability, mutual information; "
                                               "information_privacy is the largest |ln| of the ratio between an "
                                               "output's probability given a database and its probability over the "
                                               "prior")
    risk: dict[str, Any] = Field(description="success of the strongest attacker, who knows all other rows; "
                                             "others_unknown: success of an attacker who knows no row, null if it is "
                                             "the same or not computed")
    prior: dict[str, Any] = Field(description="constants of the prior; null if they would take minutes")
    least: dict[str, Any] = Field(description="least levels at this distortion, with the class of the mechanism that "
                                              "reaches them; a note gives the reason if only bounds are known. Null if "
                                              "there are none")
    reports: dict[str, Any] | None = Field(description="meaning of each report: probability of each value after this "
                                                       "report, one row for each output; null if the rows are "
                                                       "correlated")
    usefulness: dict[str, Any] | None = Field(description="standard errors of shares; null if the rows are correlated")
    translation: list[dict[str, Any]] = Field(description="the channel's differential privacy in other notions")
    sections: list[SectionModel]


class WordModel(_Model):
    """A word of a campaign file that was rewritten."""

    line: int
    place: str = Field(description="of the key, as the file writes it")
    old: str
    new: str


class MigratedModel(_Model):
    """A campaign file, and the words that were rewritten in it."""

    file: str
    what: Literal["campaign", "pack", "store", "backup", "own record", "contracts", "channel"]
    changes: list[WordModel] = Field(description="words that are no longer used: rewritten, or, with --check, to be "
                                                 "rewritten")
    copy_of_before: str | None = Field(description="copy of the file before the change; null if nothing was written")
    refused: str | None = Field(description="reason why a new campaign with this file is refused; null if it is not")


class MigrateOutput(_Model):
    """Output of `confide migrate --json`."""

    command: Literal["migrate"] = "migrate"
    files: list[MigratedModel]


Output = (PlanOutput | OfferOutput | CheckOutput | RunOutput | ShareOutput | SubmitOutput | ContractsOutput
          | RehearseOutput | AuditOutput | KindsOutput | StudiesOutput | ReproduceOutput
          | ReproduceAllOutput | ClaimsOutput
          | CampaignsOutput | LedgerOutput | VerifyOutput | RowsOutput | AnswerOutput | WithdrawOutput | PayoutsOutput
          | ChannelOutput | MigrateOutput)


def sections(parts: Sequence[Section]) -> list[SectionModel]:
    """The JSON models of sections."""
    return [SectionModel.model_validate(json_ready(part.to_dict())) for part in parts]


def schema() -> dict[str, Any]:
    """The JSON schema of all outputs."""
    from pydantic import TypeAdapter

    out = TypeAdapter(Output).json_schema()
    out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    out["title"] = "confide --json"
    return out
