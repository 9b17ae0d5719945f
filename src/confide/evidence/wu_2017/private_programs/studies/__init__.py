"""Studies of Wu 2017, chapters 5 and 6: convex programs under joint differential privacy.

Participants are simulated with fixed, public seeds. Only the network is real, from the package topohub.
"""
