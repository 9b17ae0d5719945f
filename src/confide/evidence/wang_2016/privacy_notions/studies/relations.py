"""Figure 2.1: how the notions are related, as inequalities with numbers for one prior."""

from __future__ import annotations

from confide.channels.closed_forms import closed_form
from confide.channels.constants import PriorConstants
from confide.channels.kernels import h, h_inverse
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
from confide.channels.notions import NOTIONS
from confide.channels.priors import Prior
from confide.charts import intervals
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Findings, Study, advance, bound, evaluated, in_words
from confide.evidence.wang_2016.privacy_notions.worked_priors import PAIR

__all__ = ["relations"]

_SHORT = ("least identifiability", "kernel: identifiability", "least dp", "kernel: information", "kernel: dp")


def relations(prior: Prior, distortion: float) -> Table:
    """The relations at one distortion, as certified inequalities.

    Args:
        prior: with all databases possible.
        distortion: in (0, h(eps~_X)].
    """
    found = PriorConstants.of(prior)
    level = h_inverse(distortion, prior.letters, prior.records)
    measured = KernelMechanism(prior=prior, epsilon=level).levels()
    least = {notion: closed_form(notion, prior, distortion, found) or 0.0
             for notion in NOTIONS}
    own = found.prior_level
    rows = (
        ("least identifiability is h^-1(D)", level, least["identifiability"], level),
        ("... and the kernel mechanism has it", level, measured.identifiability, level),
        ("least differential privacy, from least identifiability", level - own, least["dp"], level),
        ("the kernel mechanism has the least information", least["mutual-information"], measured.mutual_information,
         least["mutual-information"]),
        ("its differential privacy", least["dp"], measured.dp, least["dp"] + 2 * own),
    )
    return Table(columns=("relation, in nats", "at least", "computed", "at most"), rows=rows,
                 note=f"At D = {distortion:.4g}, eps_X = {own:.4g}.")


def _run(_quick: bool, progress: Progress | None) -> Findings:
    found = PriorConstants.of(PAIR)
    distortion = h(found.kernel_level + 0.5, 2, 2)
    table = relations(PAIR, distortion)
    slack = 1e-9
    hold = sum(float(low) - slack <= float(value) <= float(high) + slack  # type: ignore[arg-type]
               for _, low, value, high in table.rows)
    dp = float(table.rows[4][2] or 0.0) - float(table.rows[2][2] or 0.0)
    compared = (
        bound("relations that hold, of 5", float(hold), at_least=5.0,
              origin=in_words("Wang 2016, Theorems 1 and 2, Corollary 1, lines 334, 436 and 508")),
        bound("dp of the kernel mechanism above the least, nats", dp, at_most=2 * found.prior_level,
              remark="an upper bound; it is eps_X exactly", origin=evaluated("Wang 2016, Corollary 1, line 508")),
    )
    bars = [(name, "computed", float(value or 0), float(low or 0), float(high or 0))
            for name, (_, low, value, high) in zip(_SHORT, table.rows, strict=True)]
    picture = intervals(bars, title="The relations of the notions", axis="nats",
                        alt="Each relation as the interval that the source allows, with the computed value in it.")
    advance(progress, 1, 1)
    return Findings(compared=compared, blocks=(table, *picture))


STUDY = Study(
    name="channels-relations",
    title="How three notions are related",
    source="Wang 2016, Figure 2.1, Theorems 1 and 2, Corollary 1",
    statement="One mechanism is optimal for identifiability and information; its differential privacy within 2 eps_X.",
    run=_run,
)
