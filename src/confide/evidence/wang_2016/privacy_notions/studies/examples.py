"""Examples 1 and 2: one bit through a noisy channel, under two priors."""

from __future__ import annotations

import math

from confide.channels.analyser import analyse
from confide.channels.constants import prior_level
from confide.channels.priors import IndependentRows
from confide.channels.risk import attack_risk
from confide.charts import intervals
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, printed_digits

_CHANNEL = [[0.6, 0.4], [0.4, 0.6]]
_EVEN, _SURE = [0.55, 0.45], [0.9, 0.1]


def _run(_quick: bool, progress: Progress | None) -> Findings:
    even, sure = analyse(_CHANNEL, _EVEN), analyse(_CHANNEL, _SURE)
    posterior = attack_risk(_CHANNEL, _SURE).guess_after
    compared = (
        printed_digits("identifiability, prior (.55, .45)", "0.6", even.identifiability,
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("best guess, prior (.55, .45)", "0.65", even.adversary_success,
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("least identifiability, prior (.55, .45)", "0.2", prior_level(IndependentRows([_EVEN])),
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("identifiability, prior (.9, .1)", "2.6", sure.identifiability,
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("least identifiability, prior (.9, .1)", "2.2", prior_level(IndependentRows([_SURE])),
                       origin=as_printed("Wang 2016, Example 1, line 231")),
        printed_digits("differential privacy, any prior", "0.4", sure.dp,
                       origin=as_printed("Wang 2016, Example 2, line 245")),
        printed_digits("best guess after output 0, prior (.9, .1)", "0.93", posterior,
                       origin=as_printed("Wang 2016, Example 2, line 245")),
        printed_digits("... as a factor e^x of the guess before", "0.03", math.log(posterior / 0.9),
                       origin=as_printed("Wang 2016, Example 2, line 245")),
        Compared(quantity="mutual information, prior (.55, .45), bits", published=None, ours=even.bits,
                 agreement="not published"),
    )
    rows = tuple((name, *(getattr(report, field) for report in (even, sure))) for name, field in (
        ("differential privacy, nats", "dp"), ("identifiability, nats", "identifiability"),
        ("mutual information, nats", "mutual_information"), ("changed rows", "distortion"),
        ("best guess", "adversary_success")))
    laws = {"prior (.55, .45)": _EVEN, "prior (.9, .1)": _SURE}
    risks = {name: attack_risk(_CHANNEL, law) for name, law in laws.items()}
    picture = intervals([(name, "", risk.guess_after, risk.guess_before, risk.guess_after)
                         for name, risk in risks.items()], title="Best guess, from before to after the release",
                        axis="probability", alt="The same channel moves the best guess from .55 to .647, and from .9 "
                                                "to .931: what is known afterwards is mostly the prior.")
    advance(progress, 1, 1)
    return Findings(compared=compared, blocks=(*picture, Table(
        columns=("of the channel", "prior (.55, .45)", "prior (.9, .1)"), rows=rows)))


STUDY = Study(
    name="channels-examples",
    title="One bit, two priors, two notions",
    source="Wang 2016, Examples 1 and 2",
    statement="A channel can be differentially private and still leave a bit all but known: the prior tells it.",
    run=_run,
)
