"""Bits that go together for any reason: paying for agreement with another report, and estimating their mean."""
