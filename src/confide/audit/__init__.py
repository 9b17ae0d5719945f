"""Audit: promised against measured. Families bring their attacks as plain functions; the harness knows no family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.audit.charging import charge_rows
    from confide.audit.comparing import Loss, charge_and_rest, exceeds, implies, loss_implies, strongest
    from confide.audit.concerns import completed, promise_rows
    from confide.audit.devices import DeviceNoise
    from confide.audit.engine import Audited, Examined, FullSize, Laws, Transcripts, audit, heard
    from confide.audit.exact import ExactAudit, exact_audit
    from confide.audit.faulty_noise import (
        DampedNoise,
        RepeatedNoise,
        ShiftedNoise,
        StuckNoise,
        inject_fault,
        part_controls,
    )
    from confide.audit.fixed_transcript import Neighbours, TranscriptAudit, fixed_transcript_audit
    from confide.audit.gallery import Exhibit, exhibits, gallery_section
    from confide.audit.history_loss import NOISY_MAX, SPARSE_VECTOR, UnreleasedIntermediate
    from confide.audit.incentives import BestResponse, best_response, best_response_among
    from confide.audit.power import detectable, flag_probability, samples_needed
    from confide.audit.replayed import ReplayedAudit, replayed_audit, supremum_audit
    from confide.audit.report import AuditReport, AuditRow, Concern, Control, Finding, Mutant, Verdict, controls
    from confide.audit.sampler import sampler_audit
    from confide.audit.seen_by_others import published, received
    from confide.audit.side_channels import told_run
    from confide.audit.statistical import (
        StatisticalAudit,
        ThresholdEvent,
        clopper_pearson,
        epsilon_lower_bound,
        statistical_audit,
    )
    from confide.audit.value_bytes import exact_bytes


__all__ = [
    "NOISY_MAX",
    "SPARSE_VECTOR",
    "AuditReport",
    "AuditRow",
    "Audited",
    "BestResponse",
    "Concern",
    "Control",
    "DampedNoise",
    "DeviceNoise",
    "ExactAudit",
    "Examined",
    "Exhibit",
    "Finding",
    "FullSize",
    "Laws",
    "Loss",
    "Mutant",
    "Neighbours",
    "RepeatedNoise",
    "ReplayedAudit",
    "ShiftedNoise",
    "StatisticalAudit",
    "StuckNoise",
    "ThresholdEvent",
    "TranscriptAudit",
    "Transcripts",
    "UnreleasedIntermediate",
    "Verdict",
    "audit",
    "best_response",
    "best_response_among",
    "charge_and_rest",
    "charge_rows",
    "clopper_pearson",
    "completed",
    "controls",
    "detectable",
    "epsilon_lower_bound",
    "exact_audit",
    "exact_bytes",
    "exceeds",
    "exhibits",
    "fixed_transcript_audit",
    "flag_probability",
    "gallery_section",
    "heard",
    "implies",
    "inject_fault",
    "loss_implies",
    "part_controls",
    "promise_rows",
    "published",
    "received",
    "replayed_audit",
    "sampler_audit",
    "samples_needed",
    "statistical_audit",
    "strongest",
    "supremum_audit",
    "told_run",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "charging": ("charge_rows",),
        "comparing": ("Loss", "charge_and_rest", "exceeds", "implies", "loss_implies", "strongest"),
        "concerns": ("completed", "promise_rows"),
        "devices": ("DeviceNoise",),
        "engine": ("Audited", "Examined", "FullSize", "Laws", "Transcripts", "audit", "heard"),
        "exact": ("ExactAudit", "exact_audit"),
        "faulty_noise": ("DampedNoise", "RepeatedNoise", "ShiftedNoise", "StuckNoise", "inject_fault", "part_controls"),
        "fixed_transcript": ("Neighbours", "TranscriptAudit", "fixed_transcript_audit"),
        "gallery": ("Exhibit", "exhibits", "gallery_section"),
        "history_loss": ("NOISY_MAX", "SPARSE_VECTOR", "UnreleasedIntermediate"),
        "incentives": ("BestResponse", "best_response", "best_response_among"),
        "power": ("detectable", "flag_probability", "samples_needed"),
        "replayed": ("ReplayedAudit", "replayed_audit", "supremum_audit"),
        "report": ("AuditReport", "AuditRow", "Concern", "Control", "Finding", "Mutant", "Verdict", "controls"),
        "sampler": ("sampler_audit",),
        "seen_by_others": ("published", "received"),
        "side_channels": ("told_run",),
        "statistical": (
            "StatisticalAudit", "ThresholdEvent", "clopper_pearson", "epsilon_lower_bound", "statistical_audit",
        ),
        "value_bytes": ("exact_bytes",),
    },
    renamed={"DoorAudit": "TranscriptAudit", "HiddenPart": "UnreleasedIntermediate", "PlantedBug": "Mutant",
             "beside_charge": "charge_and_rest", "door_audit": "fixed_transcript_audit", "mixed": "inject_fault"},
)
