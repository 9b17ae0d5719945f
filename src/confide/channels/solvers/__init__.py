"""Least distortion and least information where no formula is known: convex programs whose answers are certified.

Levels go through linear programs (`programs`: pairs of databases in `full_program`, joint types in `joint_types`),
solved by an interior-point method (`block_program`) and repaired and bounded in `certificates`; mutual information
through the slope solver (`slope_solver`, `information`).
"""
