# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.release._dual_fit import MostDrawn as MostDrawn
from confide.release._dual_fit import SelectionRule as SelectionRule
from confide.release._dual_fit import Transcript as Transcript
from confide.release.answers import TrueAnswers as TrueAnswers
from confide.release.answers import true_answers as true_answers
from confide.release.baselines import AllZeros as AllZeros
from confide.release.baselines import FixedBillboard as FixedBillboard
from confide.release.baselines import IndependentBillboard as IndependentBillboard
from confide.release.baselines import IndependentMarginals as IndependentMarginals
from confide.release.baselines import NoisyAnswers as NoisyAnswers
from confide.release.baselines import NoisyBillboard as NoisyBillboard
from confide.release.baselines import Uniform as Uniform
from confide.release.columns import Binned as Binned
from confide.release.columns import Bit as Bit
from confide.release.columns import Levels as Levels
from confide.release.comparison import Comparison as Comparison
from confide.release.comparison import compare as compare
from confide.release.dual_query import DualQuery as DualQuery
from confide.release.guarantees import AnswersCertificate as AnswersCertificate
from confide.release.marginal_fit.fitted_marginals import FittedMarginals as FittedMarginals
from confide.release.marginal_fit.fitted_marginals import FittedMarginalsCertificate as FittedMarginalsCertificate
from confide.release.marginal_fit.measured import MeasuredTables as MeasuredTables
from confide.release.marginal_fit.mechanism import MarginalFit as MarginalFit
from confide.release.measured_sums import marginals_from_parities as marginals_from_parities
from confide.release.mwem import MWEM as MWEM
from confide.release.mwem import MWEMBillboard as MWEMBillboard
from confide.release.mwem import MWEMCertificate as MWEMCertificate
from confide.release.oracle.answer import Answer as Answer
from confide.release.oracle.answer import Oracle as Oracle
from confide.release.oracle.integer_program import Enumeration as Enumeration
from confide.release.oracle.integer_program import IntegerProgram as IntegerProgram
from confide.release.oracle.local_search import LocalSearch as LocalSearch
from confide.release.oracle.terms import Terms as Terms
from confide.release.planning import Prediction as Prediction
from confide.release.planning import ReleasePlan as ReleasePlan
from confide.release.planning import plan as plan
from confide.release.query_game import Hedge as Hedge
from confide.release.records import Codes as Codes
from confide.release.records import PackedBits as PackedBits
from confide.release.records import made_up_table as made_up_table
from confide.release.reweighted import Reweighted as Reweighted
from confide.release.reweighted import ReweightedCertificate as ReweightedCertificate
from confide.release.reweighted import ReweightedRecords as ReweightedRecords
from confide.release.schema import Schema as Schema
from confide.release.synthetic import Rounds as Rounds
from confide.release.synthetic import SyntheticRecords as SyntheticRecords
from confide.release.workload import Workload as Workload

__all__ = [
    "MWEM", "AllZeros", "Answer", "AnswersCertificate", "Binned", "Bit", "Codes", "Comparison", "DualQuery",
    "Enumeration", "FittedMarginals", "FittedMarginalsCertificate", "FixedBillboard", "Hedge", "IndependentBillboard",
    "IndependentMarginals", "IntegerProgram", "Levels", "LocalSearch", "MWEMBillboard", "MWEMCertificate",
    "MarginalFit", "MeasuredTables", "MostDrawn", "NoisyAnswers", "NoisyBillboard", "Oracle", "PackedBits",
    "Prediction", "ReleasePlan", "Reweighted", "ReweightedCertificate", "ReweightedRecords", "Rounds", "Schema",
    "SelectionRule", "SyntheticRecords", "Terms", "Transcript", "TrueAnswers", "Uniform", "Workload", "compare",
    "made_up_table", "marginals_from_parities", "plan", "true_answers",
]
