"""What the release of answers promises, as typed guarantees, from public parameters alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Relation, Source
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.release.certificate import BASELINE_ERROR

if TYPE_CHECKING:
    from confide.release.certificate import AnswersCertificate
    from confide.release.dual_query import DualQuery

__all__ = ["DOCUMENT", "answers_accuracy", "concentrated_privacy", "dual_query_guarantees"]

DOCUMENT = "Wu 2017"
_SPEC = "query_release"
_STEP = "one record is replaced by another; how many there are is public"


def concentrated_privacy(events: Sequence[Event], source: Source) -> Privacy:
    """The zCDP guarantee towards the public of a list of events."""
    return Privacy(loss=ZCDP(Accountant(tuple(events)).rho()), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
                   source=source, note=_STEP)


def answers_accuracy(certificate: AnswersCertificate, source: Source, note: str) -> Accuracy:
    """The bound of a certificate as a guarantee; answering 1/2 to everything is off by at most 1/2."""
    return Accuracy(bound=certificate.bound, baseline=BASELINE_ERROR, source=source, note=note,
                    failure_probability=certificate.failure_probability, measure="the largest error of all answers")


def dual_query_guarantees(it: DualQuery) -> Guarantees:
    """zCDP, pure where nothing Gaussian was measured, (epsilon, delta) where a delta is given, and accuracy."""
    events = it.events()
    theorem = Source(document=DOCUMENT, statement="Theorem 3.4.1", spec=f"{_SPEC} D2")
    found: list[Privacy | Accuracy] = [concentrated_privacy(events, Source(
        document="confide", statement="a draw of range epsilon costs epsilon^2/8", spec=f"{_SPEC} A2 and D2"))]
    if it.free != "marginals":
        found.append(Privacy(loss=PureDP(it.epsilon(calculator="pure")), neighbours=Relation.REPLACE,
                             audience=Audience.PUBLIC, source=theorem, note=_STEP))
    if it.delta:
        found.append(Privacy(
            loss=ApproxDP(it.epsilon(), it.delta), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
            source=Source(document=DOCUMENT, statement=_STATEMENTS[it.calculator], spec=f"{_SPEC} A2 and D2"),
            note=f"by the calculator {it.calculator!r}; {_STEP}"))
    if it.workload is not None:
        found.append(answers_accuracy(it.planned_certificate, Source(
            document=DOCUMENT, statement="Theorem 3.4.5", spec=f"{_SPEC} D3",
            erratum="the sampling error enters once; any step size, rounds and samples"),
            note="with optimal best responses; the certificate after the run counts how far they may be from that"))
    return Guarantees(tuple(found))


_STATEMENTS = {"zcdp": "section 3.4, with concentrated composition", "theorem-3.4.2": "Theorem 3.4.2",
               "per-round": "section 3.4, with composition round by round", "pure": "Theorem 3.4.1"}
