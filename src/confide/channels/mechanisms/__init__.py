"""Channels that draw releases. Their probabilities are stored as whole numbers, and their privacy levels are computed
from these whole numbers.
"""
