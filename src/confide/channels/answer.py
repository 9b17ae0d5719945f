"""How private is a given randomisation? The answer is a page of text, numbers and pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confide.channels.analyser import ChannelReport, analyse
from confide.channels.channel import Channel, FiniteChannel
from confide.channels.closed_forms import closed_form, printed_bounds
from confide.channels.constants import PriorConstants
from confide.channels.distortion import PrivacyDistortion, known_constants, privacy_distortion
from confide.channels.notions import NOTIONS, Notion
from confide.channels.priors import IndependentRows, Prior, as_prior
from confide.channels.risk import AttackRisk, ReportMeanings, attack_risk, best_advantage, best_hits, report_meanings
from confide.channels.solvers.programs import as_exchangeable, program_seconds
from confide.channels.surveys import Usefulness, indistinguishable_letters, row_table, shared_table, usefulness
from confide.channels.translation import Step, translate
from confide.charts import curves
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.renamed import renamed
from confide.contract.wire import parts_of, wire_name
from confide.contract.words import counted, number

__all__ = ["ChannelAnswer", "how_private"]

_RATES = (0.01, 0.05, 0.1)
_NAMES: dict[str, str] = {"dp": "differential privacy", "identifiability": "identifiability",
                          "mutual-information": "mutual information"}
_POINTS = 60
_MOMENT = 0.1  # seconds of a program that a page waits for
_INFORMED = 4096  # databases whose least information takes a moment
_NAMED = 10  # letters in a sentence
_DRAWN = 9  # databases of a prior a curve of whose programs takes a moment


@renamed(rows="records")
@dataclass(frozen=True, kw_only=True, eq=False)
class ChannelAnswer:
    """Privacy levels, attack risk, usefulness and bounds of one channel under one prior.

    Args:
        title: title of the page.
        records: number of rows, n.
        letters: number m of letters, which are the values that a row can have.
        report: levels of the channel.
        risk: success probability of the strongest attacker.
        constants: constants of the prior, such as its privacy level before any release.
        steps: bounds in the other notions that follow from the channel's differential privacy alone.
        prior: prior of the database.
        prior_given: whether the caller gave a prior; if not, the prior is uniform.
        channel: the randomisation, as probabilities of the outputs for each database.
        names: names of the letters; empty if the letters have no names.
        outputs: names of the outputs of one row; empty if the outputs have no names.
        groups: number of independent copies of these rows in a survey, such as households; 1 for a single copy.
    """

    title: str
    records: int
    letters: int
    report: ChannelReport
    risk: AttackRisk
    constants: PriorConstants
    steps: tuple[Step, ...]
    prior: Prior
    prior_given: bool
    channel: FiniteChannel
    names: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    groups: int = 1

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary. Infinite levels stay floats, although JSON has no infinity; the command line writes
        them as "Infinity".
        """
        return {
            "title": self.title, "letters": self.letters, "records": self.records, "prior_given": self.prior_given,
            "levels": self.report.to_dict(), "risk": self.risk.to_dict(), "prior": self._known_constants(),
            "least": {notion.replace("-", "_"): None if found is None else found.to_dict()
                      for notion, found in self.least.items()},
            "reports": None if self.reports is None else self.reports.to_dict(),
            "usefulness": None if self.usefulness is None else self.usefulness.to_dict(),
            "translation": [step.to_dict() for step in self.steps],
        }

    def _known_constants(self) -> dict[str, float | None]:
        found: dict[str, float | None] = parts_of(self.constants)
        if self.prior.positive and math.isinf(self.constants.kernel_level):
            found["kernel_level"] = None  # takes minutes
        return found

    @cached_property
    def least(self) -> dict[Notion, PrivacyDistortion | None]:
        """The least level of each notion at this channel's distortion. A notion's entry is None where the level is
        infinite or outputs are not databases.

        A linear or convex program is solved only where the solution is quick: for few databases, and for exchangeable
        rows. In all other cases formulas give the level, or bounds where no formula is known.
        """
        spent = self.report.distortion
        if spent is None:
            return dict.fromkeys(NOTIONS)
        return {notion: self._least(notion, spent) for notion in NOTIONS}

    def _least(self, notion: Notion, distortion: float) -> PrivacyDistortion | None:
        if notion == "identifiability" and not self.prior.positive:
            return None
        solve = self._solved or (notion == "mutual-information" and self.prior.cells <= _INFORMED)
        return privacy_distortion(notion, self.prior, min(distortion, float(self.records)), solve=solve)

    @cached_property
    def usefulness(self) -> Usefulness | None:
        """Accuracy with which the population's shares can be estimated; None unless all rows go through the same table,
        each row independently.
        """
        if shared_table(self.channel) is None:
            return None
        least = {notion: (_reached(found), found.channel) for notion, found in self.least.items()
                 if found is not None and _reached(found)}
        return usefulness(self.channel, self.prior, self.names, least, epsilon=self.report.dp, groups=self.groups)

    @cached_property
    def reports(self) -> ReportMeanings | None:
        """Evidence of each report about one person; None unless all rows go through the same table, each row
        independently.
        """
        if self.records > 1 and shared_table(self.channel) is None:
            return None
        return report_meanings(self.channel, self.prior, names=self.names, outputs=self.outputs)

    @cached_property
    def _solved(self) -> bool:
        return isinstance(self.prior, IndependentRows) or program_seconds(as_exchangeable(self.prior)) <= _MOMENT

    def sections(self) -> list[Section]:
        """Sections of the page, in order."""
        found = [
            Section(title="How private it is", blocks=(Text(tuple(self._words())), self._levels())),
            *([] if self.reports is None else [self.reports.section()]),
            Section(title="What an attacker can do", blocks=(
                Text((_ATTACKER, self._who_knows_less())), self._tests(),
                *self._trade_off())),
        ]
        if self.report.distortion is not None:
            found.append(Section(title="How private it could be", blocks=tuple(self._frontier())))
        elif self.usefulness is not None:
            found.append(Section(title="How private it could be", blocks=(Text((_NO_DISTORTION,)),)))
        if self.usefulness is not None:
            found.append(self.usefulness.section())
        found.append(Section(title="From one notion to the others", blocks=(self._translation(),)))
        return found

    # ---- words

    def _words(self) -> list[str]:
        it, risk = self.report, self.risk
        words = []
        if not self.prior_given:
            words.append("No prior was given, so every value has the same probability before the release. "
                         "Identifiability, information and guesses depend on it; differential privacy does not.")
        words += self._alike()
        if math.isinf(it.dp):
            words.append("There is no differential privacy: some output excludes a value with certainty.")
        else:
            words.append("For a person who knows all other rows, any output changes the odds between any two values of "
                         f"one row by a factor of at most {_factor(it.dp)}.")
        if self.records > 1 and not isinstance(self.prior, IndependentRows):
            words.append("Under this prior, rows depend on each other, so the outputs of the other rows also disclose "
                         "something about a row: " + (
                             "for a person who does not know the other rows, the odds may change by more, up to this "
                             "factor for each row." if risk.others_unknown is None else
                             "for a person who knows no other row, the odds change by a factor of at most "
                             f"{_factor(risk.others_unknown.level)}."))
        words.append("A person who knows all other rows guesses one row right with probability at most "
                     f"{number(risk.guess_after)}; without the release, the probability is "
                     f"{number(risk.guess_before)}.")
        entropy = self.prior.entropy / math.log(2.0)
        if entropy > 0:
            words.append(f"On average the release discloses {number(it.bits)} of the {number(entropy)} bits that the "
                         f"rows hold ({number(100 * it.bits / entropy)}%). An average says nothing about a rare "
                         "output.")
        if it.distortion is not None:
            words.append(f"The release changes {number(it.distortion)} of {number(self.records)} "
                         f"{'row' if self.records == 1 else 'rows'} on average.")
        return words

    def _alike(self) -> list[str]:
        """Sentences about groups of letters under which every output has the same probability, so that no number of
        reports distinguishes the letters of a group.
        """
        if self.reports is None:
            return []
        names, found = self.reports.names, []
        for group in indistinguishable_letters(row_table(self.channel)):
            who = [names[x] for x in group[:_NAMED]]
            more = f" and {len(group) - _NAMED} others" if len(group) > _NAMED else f" and {who.pop()}"
            what = ("this design discloses nothing." if len(group) == len(names) else
                    "no number of reports distinguishes these values.")
            found.append(f"{', '.join(who)}{more} have the same probability of every report: {what}")
        return found

    def _levels(self) -> Table:
        it = self.report
        rows: list[tuple[str | float | None, ...]] = [
            ("differential privacy", it.dp, "nats", "disclosure of the release, at worst; needs no prior"),
            ("identifiability", it.identifiability, "nats", "knowledge after the release, at worst"),
            ("knowledge from the prior alone", it.prior_level, "nats", "lower bound for every release"),
            ("mutual information", it.mutual_information, "nats", "disclosure on average"),
            ("", it.bits, "bits", ""),
            ("changed rows", it.distortion, "rows", "what it costs"),
        ]
        return Table(columns=("notion", "level", "unit", "what it says"), rows=tuple(rows))

    def _tests(self) -> Table:
        risk, own, unknown = self.risk, self.report.dp, self.risk.others_unknown
        rows: list[tuple[str | float | None, ...]] = []
        for rate in _RATES:
            more = () if unknown is None else (float(unknown.hits[np.searchsorted(risk.false_alarms, rate)]),)
            rows.append((f"hits at {100 * rate:g}% false alarms", risk.hits_at(rate), *more,
                         float(best_hits(rate, own))))
        rows.append(("advantage: largest difference of hits and false alarms", risk.advantage,
                     *(() if unknown is None else (unknown.advantage,)), best_advantage(own)))
        note = "" if risk.exact else ("There are too many pairs of neighbours, so the table has the bounds from "
                                      "differential privacy.")
        known = ("this channel",) if unknown is None else ("all others known", "no other known")
        columns = ("test between two values of a row", *known, "any channel with its differential privacy")
        return Table(columns=columns, rows=tuple(rows), note=note)

    def _who_knows_less(self) -> str:
        if isinstance(self.prior, IndependentRows) or self.records == 1:
            return _ALONE
        return _TOGETHER if self.risk.others_unknown is None else _UNKNOWN

    def _trade_off(self) -> list[Block]:
        risk, own = self.risk, self.report.dp
        rows = [(float(a), float(b), "this channel") for a, b in zip(risk.false_alarms, risk.hits, strict=True)]
        if own < math.inf:
            rates = sorted([*risk.false_alarms.tolist(), 1.0 / (1.0 + math.exp(min(own, 700.0)))])  # with the corner
            rows += [(rate, float(best_hits(rate, own)), "any channel with its level") for rate in rates]
        rows += [(0.0, 0.0, "blind guess"), (1.0, 1.0, "blind guess")]
        return list(curves(rows, title="Test between two values", x="false alarms", y="hits",
                           alt="The largest rate of hits at each rate of false alarms. It exceeds the rate of a blind "
                               f"guess by at most {number(risk.advantage)}."))

    def _frontier(self) -> list[Block]:
        it = self.report
        spent = float(it.distortion or 0.0)
        printed = printed_bounds(self.prior, min(spent, float(self.records)), self.constants)
        rows: list[tuple[str | float | None, ...]] = []
        own: tuple[tuple[Notion, float, tuple[float | None, float | None]], ...] = (
            ("dp", it.dp, printed.dp), ("identifiability", it.identifiability, printed.identifiability),
            ("mutual-information", it.mutual_information, (None, None)))
        for notion, level, bounds in own:
            found = self.least[notion]
            if notion == "identifiability" and not self.prior.positive:
                rows.append((_NAMES[notion], level, math.inf, "", None, None))
                continue
            rows.append((_NAMES[notion], level, _shown(found), _reached(found), *bounds))
        columns = ("nats", "this channel", "least possible", "reached by", "source's lower bound", "... upper bound")
        table = Table(columns=columns, rows=tuple(rows),
                      note="The least level of all releases that change the same number of rows on average. The source "
                           "of these notions is Wang 2016, and the bounds of the source are those of its Theorem 1.")
        unknown = [f"For {_NAMES[notion]}, {found.note}." for notion, found in self.least.items()
                   if found is not None and found.note]
        ruled = [] if self.prior.positive else [_RULED_OUT]
        return [table, Text((*unknown, *ruled, _TRUST)), *self._curves(spent)]

    def _known(self, notion: Notion, last: float) -> list[tuple[float, float]]:
        """Pairs of distortion and least level, up to the distortion beyond which neither a formula nor a quick program
        gives the level. No point follows beyond the first unknown level, because a line across the gap would claim
        values that nobody computed.
        """
        found, solved = [], self.prior.cells <= _DRAWN and not isinstance(self.prior, IndependentRows)
        points = _POINTS // 3 if solved else _POINTS
        for distortion in np.linspace(last / points, last, points).tolist():
            level = closed_form(notion, self.prior, distortion, self.constants)
            if level is None and solved:
                level = privacy_distortion(notion, self.prior, distortion).upper
            if level is None or math.isinf(level):
                break
            found.append((distortion, level))
        return found

    def _curves(self, spent: float) -> list[Block]:
        end = self.constants.constant_distortion
        last = min(max(1.1 * end, 1.05 * spent), float(self.records))
        rows = [(*point, f"least {_NAMES[notion]}") for notion in NOTIONS[:2] for point in self._known(notion, last)]
        own = {"dp": self.report.dp, "identifiability": self.report.identifiability}
        marks = [(spent, own[notion], f"yours, {_NAMES[notion]}") for notion in own if math.isfinite(own[notion])]
        if not end > 0 or not rows:
            return []
        return list(curves(rows, marks=marks, title="Privacy at a distortion", x="changed rows on average",
                           y="level, nats",
                           alt="The least levels of all releases at each distortion, and this channel. No release is "
                               "below the curve. Above the curve, some release is better."))

    def _translation(self) -> Table:
        own = {"identifiability": self.report.identifiability, "guess of a row": self.risk.guess_after,
               "advantage between two values of a row": self.risk.advantage,
               "mutual information": self.report.mutual_information, "changed rows": self.report.distortion}
        shown = [step for step in self.steps
                 if step.quantity != "changed rows" or self.report.distortion is not None]
        rows = tuple((step.quantity, f"{step.bound} {number(step.value)} {step.unit}", own.get(step.quantity),
                      step.needs) for step in shown)
        return Table(columns=("quantity", "bound from differential privacy alone", "this channel", "needs"), rows=rows,
                     note="The second column is a bound for all channels with this differential privacy. The third "
                          "column is measured on this channel.")


_RULED_OUT = ("The prior gives some values probability 0. No release makes these values possible again, so "
              "identifiability is unlimited for every release. Differential privacy and information are not unlimited "
              "for this reason.")
_NO_DISTORTION = ("The outputs of this channel are not values of a row, so the number of changed rows has no meaning, "
                  "and there is no least level at such a number. Compare designs by their errors, below.")
_TRUST = ("Top-k reports only the k likeliest values, and replaces every other value by one of these values. "
          "Water-filling leaves out the rarest values, as far as the number of changed rows allows. These two "
          "mechanisms and randomised response can run on each person's device. A kernel mechanism (an output with "
          "fewer changed rows is likelier) and tables of all rows need a custodian who sees all true rows.")
_ATTACKER = ("The attacker knows the channel, the prior and all rows but one, and tests which of two values that row "
             "has.")
_ALONE = "If rows are independent, less knowledge never helps."
_UNKNOWN = ("These rows depend on each other: a person who knows the prior and no other row tests with the outputs of "
            "all rows, and may have more hits. Both figures are exact. The last column is a bound for a person who "
            "knows all other rows.")
_TOGETHER = ("These rows depend on each other: a person who does not know the other rows tests with their outputs, "
             "too, and may have more hits than the table states.")


def how_private(channel: FiniteChannel | ArrayLike, prior: Prior | ArrayLike | None = None, *,
                title: str = "A channel", names: Sequence[str] = (), outputs: Sequence[str] = (),
                groups: int = 1) -> ChannelAnswer:
    """Levels, attack risk and usefulness of one channel, and bounds in the other notions of privacy.

    Args:
        channel: a channel object of this package, or the table of one row, shape (m, outputs): probabilities of the
            outputs, one line for each letter.
        prior: prior of the database; uniform if left out.
        title: title of the page.
        names: names of the letters; the numbers of the letters if left out.
        outputs: names of the outputs of one row; if left out and there are as many outputs as letters, the names of the
            letters.
        groups: number of independent copies of these rows, such as households, that a survey asks. The errors of the
            survey's estimates fall as the number of groups grows; levels and risk refer to a single copy.

    Returns:
        An answer with `.report`, `.risk`, `.sections()` for a page, and `.to_dict()`.

    Raises:
        InvalidInput: the channel is no channel, the prior is no probability distribution, or their sizes differ.

    Example:
        >>> answer = how_private([[0.6, 0.4], [0.4, 0.6]], [0.9, 0.1])
        >>> print(answer.sections()[0].blocks[0].paragraphs[1])  # doctest: +NORMALIZE_WHITESPACE
        A person who knows all other rows guesses one row right with probability at most 0.931; without the release,
        the probability is 0.9.
    """
    it = channel if isinstance(channel, FiniteChannel) else Channel(channel)
    if names and len(names) != it.letters:
        raise InvalidInput("names", counted(len(names), "name"), f"must be {it.letters}, one for each letter")
    law = (IndependentRows([np.full(it.letters, 1.0 / it.letters)], [it.records]) if prior is None
           else as_prior(prior, it.letters, it.records))
    report = analyse(it, law)
    return ChannelAnswer(title=title, records=it.records, letters=it.letters, report=report, risk=attack_risk(it, law),
                         constants=known_constants(law), steps=translate("dp", report.dp, law), prior=law,
                         prior_given=prior is not None, channel=it, names=tuple(names), outputs=tuple(outputs),
                         groups=whole("groups", groups, at_least=1))


def _shown(found: PrivacyDistortion | None) -> str | float | None:
    if found is None:
        return None
    return f"{number(found.lower)} to {number(found.upper)}" if found.value is None else found.value


def _reached(found: PrivacyDistortion | None) -> str:
    """Name of the mechanism that reaches a level. Where only an interval is known, the text names the mechanism that
    reaches the upper end of the interval. The text is empty where no mechanism reaches the level.
    """
    if found is None or math.isinf(found.upper):
        return ""
    if found.upper == 0.0 and found.notion != "identifiability":
        return "a constant"
    return "" if found.mechanism is None else wire_name(found.mechanism)


def _factor(level: float) -> str:
    return number(math.exp(level)) if level < 700 else f"e^{level:.4g}"
