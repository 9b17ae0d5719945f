"""Audit: promised against measured. Families bring their attacks as plain functions; the harness knows no family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.audit.charging import charge_rows
    from confide.audit.comparing import Loss, exceeds
    from confide.audit.concerns import completed
    from confide.audit.devices import DeviceNoise
    from confide.audit.engine import Audited, Laws, Measurement, Transcripts, audit, heard
    from confide.audit.exact import ExactAudit, exact_audit
    from confide.audit.faulty_noise import DampedNoise, RepeatedNoise, ShiftedNoise, StuckNoise
    from confide.audit.fixed_transcript import Neighbours, TranscriptAudit, fixed_transcript_audit
    from confide.audit.gallery import Exhibit, exhibits, gallery_section
    from confide.audit.history_loss import NOISY_MAX, SPARSE_VECTOR, UnreleasedIntermediate
    from confide.audit.implied import charge_and_rest, implies, loss_implies, strongest
    from confide.audit.incentives import BestResponse, best_response, best_response_among
    from confide.audit.injecting import inject_fault
    from confide.audit.parts import part_controls
    from confide.audit.power import detectable, flag_probability, samples_needed
    from confide.audit.priced import promise_rows
    from confide.audit.replayed import ReplayedAudit, replayed_audit, supremum_audit
    from confide.audit.report import AuditReport, AuditRow, Concern, Control, Finding, Mutant, Verdict, controls
    from confide.audit.sampler import sampler_audit
    from confide.audit.seen_by_others import published, received
    from confide.audit.statistical import (
        StatisticalAudit,
        ThresholdEvent,
        clopper_pearson,
        epsilon_lower_bound,
        statistical_audit,
    )
    from confide.audit.telling import told_run
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
    "Exhibit",
    "Finding",
    "Laws",
    "Loss",
    "Measurement",
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
        "comparing": ("Loss", "exceeds"),
        "concerns": ("completed",),
        "devices": ("DeviceNoise",),
        "fixed_transcript": ("TranscriptAudit", "Neighbours", "fixed_transcript_audit"),
        "engine": ("Audited", "Laws", "Measurement", "Transcripts", "audit", "heard"),
        "exact": ("ExactAudit", "exact_audit"),
        "gallery": ("Exhibit", "exhibits", "gallery_section"),
        "history_loss": ("NOISY_MAX", "SPARSE_VECTOR", "UnreleasedIntermediate"),
        "implied": ("charge_and_rest", "implies", "loss_implies", "strongest"),
        "incentives": ("BestResponse", "best_response", "best_response_among"),
        "injecting": ("inject_fault",),
        "parts": ("part_controls",),
        "faulty_noise": ("DampedNoise", "RepeatedNoise", "ShiftedNoise", "StuckNoise"),
        "power": ("detectable", "flag_probability", "samples_needed"),
        "priced": ("promise_rows",),
        "replayed": ("ReplayedAudit", "replayed_audit", "supremum_audit"),
        "report": ("AuditReport", "AuditRow", "Concern", "Control", "Finding", "Mutant", "Verdict", "controls"),
        "sampler": ("sampler_audit",),
        "telling": ("told_run",),
        "seen_by_others": ("published", "received"),
        "statistical": (
            "StatisticalAudit", "ThresholdEvent", "clopper_pearson", "epsilon_lower_bound", "statistical_audit",
        ),
        "value_bytes": ("exact_bytes",),
    },
    renamed={"DoorAudit": "TranscriptAudit", "HiddenPart": "UnreleasedIntermediate", "PlantedBug": "Mutant",
             "beside_charge": "charge_and_rest", "door_audit": "fixed_transcript_audit", "mixed": "inject_fault"},
)
