"""The least distortion at a privacy level, and the least information at a distortion, for cases without a known
formula. Convex programs give the answers, with certified bounds.

Differential privacy and identifiability lead to linear programs over pairs of databases or over joint types
(`programs`). An interior-point method solves the programs (`block_program`), and `ratio_program` repairs and bounds its
results. The least mutual information is found by the slope solver (`information`).
"""
