"""The parts that the campaign kinds `bits`, `bits-unknown-costs` and `bits-pair` share. Each of these kinds buys one
randomised bit from each participant.
"""
