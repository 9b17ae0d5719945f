"""Former import path of `audit_mechanism`, an audit of any mechanism. The audit is now in
`confide.audit.mechanism_audit`.
"""

from confide._lazy import moved

__getattr__ = moved(__name__, {"audit_mechanism": "confide.audit.mechanism_audit"})
