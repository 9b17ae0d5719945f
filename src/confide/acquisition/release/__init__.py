"""Noisy records on a common integer lattice, and the privacy losses of a record towards each audience."""
