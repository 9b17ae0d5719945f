# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.channels.analyser import ChannelReport as ChannelReport
from confide.channels.analyser import analyse as analyse
from confide.channels.answer import ChannelAnswer as ChannelAnswer
from confide.channels.answer import how_private as how_private
from confide.channels.channel import Channel as Channel
from confide.channels.channel import ExponentialForm as ExponentialForm
from confide.channels.channel import RowProduct as RowProduct
from confide.channels.channel_file import ChannelFile as ChannelFile
from confide.channels.channel_file import read_channel as read_channel
from confide.channels.channel_file import read_channel_file as read_channel_file
from confide.channels.closed_forms import PrintedBounds as PrintedBounds
from confide.channels.closed_forms import closed_form as closed_form
from confide.channels.closed_forms import printed_bounds as printed_bounds
from confide.channels.constants import PriorConstants as PriorConstants
from confide.channels.distortion import PrivacyDistortion as PrivacyDistortion
from confide.channels.distortion import least_distortion as least_distortion
from confide.channels.distortion import privacy_distortion as privacy_distortion
from confide.channels.mechanisms.base import ReleasedLetters as ReleasedLetters
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism as KernelMechanism
from confide.channels.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from confide.channels.mechanisms.row_mechanisms import TopK as TopK
from confide.channels.mechanisms.row_mechanisms import WaterFilling as WaterFilling
from confide.channels.mechanisms.table_mechanism import JointTypeMechanism as JointTypeMechanism
from confide.channels.mechanisms.table_mechanism import TableMechanism as TableMechanism
from confide.channels.notions import Infeasible as Infeasible
from confide.channels.planning import ChannelPlan as ChannelPlan
from confide.channels.planning import plan as plan
from confide.channels.priors import Exchangeable as Exchangeable
from confide.channels.priors import FullPrior as FullPrior
from confide.channels.priors import IndependentRows as IndependentRows
from confide.channels.priors import Prior as Prior
from confide.channels.risk import AttackRisk as AttackRisk
from confide.channels.risk import OthersUnknown as OthersUnknown
from confide.channels.risk import ReportMeanings as ReportMeanings
from confide.channels.risk import attack_risk as attack_risk
from confide.channels.risk import best_advantage as best_advantage
from confide.channels.risk import best_hits as best_hits
from confide.channels.risk import report_meanings as report_meanings
from confide.channels.surveys import ShareEstimate as ShareEstimate
from confide.channels.surveys import group_errors as group_errors
from confide.channels.surveys import survey_errors as survey_errors
from confide.channels.surveys import survey_shares as survey_shares
from confide.channels.translation import Step as Step
from confide.channels.translation import composed_level as composed_level
from confide.channels.translation import translate as translate

__all__ = [
    "AttackRisk", "Channel", "ChannelAnswer", "ChannelFile", "ChannelPlan", "ChannelReport", "Exchangeable",
    "ExponentialForm", "FullPrior", "IndependentRows", "Infeasible", "JointTypeMechanism", "KernelMechanism",
    "OthersUnknown", "PrintedBounds", "Prior", "PriorConstants", "PrivacyDistortion", "RandomizedResponse",
    "ReleasedLetters", "ReportMeanings", "RowProduct", "ShareEstimate", "Step", "TableMechanism", "TopK",
    "WaterFilling", "analyse", "attack_risk", "best_advantage", "best_hits", "closed_form", "composed_level",
    "group_errors", "how_private", "least_distortion", "plan", "printed_bounds", "privacy_distortion", "read_channel",
    "read_channel_file", "report_meanings", "survey_errors", "survey_shares", "translate",
]
