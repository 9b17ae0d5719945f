"""Studies of Wu 2017, chapter 4: matchings and allocations of bundles under joint differential privacy.

Bidders are simulated from public seeds: instances A and B of spec allocation 4.3.
"""
