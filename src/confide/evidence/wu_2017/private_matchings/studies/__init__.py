"""Studies of Wu 2017, chapter 4: matchings and allocations of bundles under joint differential privacy.

Bidders are simulated with fixed, public seeds, according to instances A and B of spec allocation 4.3.
"""
