# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.campaign.verification.findings import Verdict as Verdict
from confide.campaign.verification.findings import Verification as Verification
from confide.campaign.verification.findings import VerificationFinding as VerificationFinding
from confide.campaign.verification.verifier import verify as verify

__all__ = [
    "Verdict", "Verification", "VerificationFinding", "verify",
]
