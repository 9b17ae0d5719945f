"""What all tests share: hypothesis profiles."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Time limits per example say more about the machine than about the code; examples are the same in every run, so that a
# red suite is red for everybody. `make test-all` looks further.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50,
                          suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
