"""Least distortion and least information where no formula is known: convex programs with certified answers.

Differential privacy and identifiability lead to linear programs over pairs of databases or over joint types
(`programs`). An interior-point method solves the programs (`block_program`), and `ratio_program` repairs and bounds its
results. Mutual information goes through the slope solver (`information`).
"""
