"""Least distortion and least information where no formula is known: convex programs whose answers are certified.

Levels go through linear programs (`programs`: pairs of databases, or joint types), solved by an interior-point method
(`block_program`) and repaired and bounded in `ratio_program`; mutual information through the slope solver
(`information`).
"""
