"""Audits, which compare measured numbers with promised numbers. Each family of mechanisms supplies attacks as plain
functions, and the code that runs the attacks depends on no family.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "charging": ("charge_rows",),
        "comparing": ("Loss", "charge_and_rest", "exceeds", "implies", "loss_implies", "strongest"),
        "concerns": ("completed", "promise_rows"),
        "devices": ("DeviceNoise",),
        "engine": ("Audited", "Examined", "FullSize", "Laws", "Transcripts", "audit", "observed"),
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
        "side_channels": ("run_with_steps",),
        "statistical": (
            "StatisticalAudit", "ThresholdEvent", "clopper_pearson", "epsilon_lower_bound", "statistical_audit",
        ),
        "value_bytes": ("exact_bytes",),
    },
    renamed={"DoorAudit": "TranscriptAudit", "HiddenPart": "UnreleasedIntermediate", "PlantedBug": "Mutant",
             "beside_charge": "charge_and_rest", "door_audit": "fixed_transcript_audit", "mixed": "inject_fault",
             "told_run": "run_with_steps"},
)
