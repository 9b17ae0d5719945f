"""Studies of Wu 2017, chapters 5 and 6: convex programs under joint differential privacy.

Participants are made up, from public seeds; but for the network, which the package topohub ships.
"""
