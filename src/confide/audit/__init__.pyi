# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.audit.charging import charge_rows as charge_rows
from confide.audit.comparing import Loss as Loss
from confide.audit.comparing import charge_and_rest as charge_and_rest
from confide.audit.comparing import exceeds as exceeds
from confide.audit.comparing import implies as implies
from confide.audit.comparing import loss_implies as loss_implies
from confide.audit.comparing import strongest as strongest
from confide.audit.concerns import completed as completed
from confide.audit.concerns import promise_rows as promise_rows
from confide.audit.devices import DeviceNoise as DeviceNoise
from confide.audit.engine import Audited as Audited
from confide.audit.engine import Examined as Examined
from confide.audit.engine import FullSize as FullSize
from confide.audit.engine import Laws as Laws
from confide.audit.engine import Transcripts as Transcripts
from confide.audit.engine import audit as audit
from confide.audit.engine import observed as observed
from confide.audit.exact import ExactAudit as ExactAudit
from confide.audit.exact import exact_audit as exact_audit
from confide.audit.faulty_noise import DampedNoise as DampedNoise
from confide.audit.faulty_noise import RepeatedNoise as RepeatedNoise
from confide.audit.faulty_noise import ShiftedNoise as ShiftedNoise
from confide.audit.faulty_noise import StuckNoise as StuckNoise
from confide.audit.faulty_noise import inject_fault as inject_fault
from confide.audit.faulty_noise import part_controls as part_controls
from confide.audit.fixed_transcript import Neighbours as Neighbours
from confide.audit.fixed_transcript import TranscriptAudit as TranscriptAudit
from confide.audit.fixed_transcript import fixed_transcript_audit as fixed_transcript_audit
from confide.audit.gallery import Exhibit as Exhibit
from confide.audit.gallery import exhibits as exhibits
from confide.audit.gallery import gallery_section as gallery_section
from confide.audit.history_loss import NOISY_MAX as NOISY_MAX
from confide.audit.history_loss import SPARSE_VECTOR as SPARSE_VECTOR
from confide.audit.history_loss import UnreleasedIntermediate as UnreleasedIntermediate
from confide.audit.incentives import BestResponse as BestResponse
from confide.audit.incentives import best_response as best_response
from confide.audit.incentives import best_response_among as best_response_among
from confide.audit.power import detectable as detectable
from confide.audit.power import flag_probability as flag_probability
from confide.audit.power import samples_needed as samples_needed
from confide.audit.replayed import ReplayedAudit as ReplayedAudit
from confide.audit.replayed import replayed_audit as replayed_audit
from confide.audit.replayed import supremum_audit as supremum_audit
from confide.audit.report import AuditReport as AuditReport
from confide.audit.report import AuditRow as AuditRow
from confide.audit.report import Concern as Concern
from confide.audit.report import Control as Control
from confide.audit.report import Finding as Finding
from confide.audit.report import Mutant as Mutant
from confide.audit.report import Verdict as Verdict
from confide.audit.report import controls as controls
from confide.audit.sampler import sampler_audit as sampler_audit
from confide.audit.seen_by_others import published as published
from confide.audit.seen_by_others import received as received
from confide.audit.side_channels import run_with_steps as run_with_steps
from confide.audit.statistical import StatisticalAudit as StatisticalAudit
from confide.audit.statistical import ThresholdEvent as ThresholdEvent
from confide.audit.statistical import clopper_pearson as clopper_pearson
from confide.audit.statistical import epsilon_lower_bound as epsilon_lower_bound
from confide.audit.statistical import statistical_audit as statistical_audit
from confide.audit.value_bytes import exact_bytes as exact_bytes

__all__ = [
    "NOISY_MAX", "SPARSE_VECTOR", "AuditReport", "AuditRow", "Audited", "BestResponse", "Concern", "Control",
    "DampedNoise", "DeviceNoise", "ExactAudit", "Examined", "Exhibit", "Finding", "FullSize", "Laws", "Loss", "Mutant",
    "Neighbours", "RepeatedNoise", "ReplayedAudit", "ShiftedNoise", "StatisticalAudit", "StuckNoise", "ThresholdEvent",
    "TranscriptAudit", "Transcripts", "UnreleasedIntermediate", "Verdict", "audit", "best_response",
    "best_response_among", "charge_and_rest", "charge_rows", "clopper_pearson", "completed", "controls", "detectable",
    "epsilon_lower_bound", "exact_audit", "exact_bytes", "exceeds", "exhibits", "fixed_transcript_audit",
    "flag_probability", "gallery_section", "implies", "inject_fault", "loss_implies", "observed", "part_controls",
    "promise_rows", "published", "received", "replayed_audit", "run_with_steps", "sampler_audit", "samples_needed",
    "statistical_audit", "strongest", "supremum_audit",
]
