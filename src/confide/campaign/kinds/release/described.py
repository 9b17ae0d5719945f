"""Texts that several pages of a release of answers share: on the mechanism, and on the record that stands for a missing
or unusable record.
"""

from __future__ import annotations

from confide.campaign.kinds.release.plan import QueriesPlan
from confide.contract.wire import wire_name
from confide.contract.words import counted
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.columns import Bit
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema

__all__ = ["compared_with", "described", "null_record"]


def described(plan: QueriesPlan) -> str:
    """The mechanism of the plan in one sentence, with its settings."""
    it = plan.mechanism
    match it:
        case DualQuery():
            return (f"DualQuery: {it.rounds:,} rounds of {it.samples:,} draws at step size {it.eta:.4g}, with one "
                    "synthetic record from each round")
        case Reweighted():
            game = it.dual_query
            return (f"DualQuery ({game.rounds:,} rounds of {game.samples:,} draws at step size {game.eta:.4g}), with "
                    f"weights of its records that are fitted to {counted(it.count, 'answer')} with Gaussian noise")
        case MarginalFit() if not it.split.tables:
            twice = (f" at first, and of {it.split.again:.4g} records in a second measurement" if it.split.again
                     else "")
            which = "the table of its one column" if len(it.schema.sizes) == 1 else "tables of single columns"
            return (f"MarginalFit: {which}, with Gaussian noise of standard deviation {it.split.one_way:.4g} records "
                    f"on every cell{twice}; a population of {it.population:,} synthetic rows is fitted")
        case MarginalFit():
            about = "about " if it.tables is None else ""
            decided = " (the noisy one-way tables decide the number of sets)" if about else ""
            return (f"MarginalFit: tables of every column, and of {about}{it.split.tables:,} sets of "
                    f"{' or '.join(map(str, it.widths))} columns, with Gaussian noise of standard deviation "
                    f"{it.split.one_way:.4g} and {about}{it.split.sigma:.4g} records on every cell{decided}; a "
                    f"population of {it.population:,} synthetic rows is fitted to these tables")
        case MWEM():
            return (f"MWEM: a histogram that is fitted to {it.rounds:,} noisy answers, each to a question on which it "
                    "was far off")
        case NoisyAnswers(law="laplace"):
            return f"Laplace noise of scale {it.noise_scale:.4g} records on every answer"
        case NoisyAnswers():
            return f"Gaussian noise of standard deviation {it.noise_std:.4g} records on every answer"
        case IndependentMarginals():
            return (f"Gaussian noise of standard deviation {it.noise_std:.4g} records on every attribute; answers are "
                    "products of attributes")
    return wire_name(it)


def null_record(schema: Schema) -> str:
    """The public null record, which stands for a missing or unusable record, in words; at most four columns are
    named.
    """
    names = []
    for place, column in enumerate(schema.columns[:4]):
        if isinstance(column, Bit):  # its cell 0 is no attribute
            names.append(schema.negated[int(schema.starts[place])])
        else:
            names.append(schema.names[int(schema.cell_attributes[place][0])])
    return ", ".join(names) + (", ..." if len(schema.columns) > 4 else "")


def compared_with(plan: QueriesPlan) -> str:
    """A phrase for the true answers with which released answers are compared. The phrase does not depend on the number
    of usable records.
    """
    return f"the true share of the {plan.records:,} records as the run read them"
