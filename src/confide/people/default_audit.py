"""Old place of the audit of any mechanism: `confide.audit.mechanism_audit` has it now."""

from confide._lazy import moved

__getattr__ = moved(__name__, {"audit_mechanism": "confide.audit.mechanism_audit"})
