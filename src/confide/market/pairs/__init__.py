"""Markets for bits that are correlated for any reason: payments for agreement with another report, and an estimate of
the bits' mean.
"""
