"""Solvers for the cheapest weights and noise: the certified optimum, and the grid on which truth is always a best
report.
"""
