"""Optimal allocations with prices that prove their optimality, as the reference for private mechanisms."""
