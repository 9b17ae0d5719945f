"""Channels that draw releases: their probabilities are coded as whole numbers, and their levels are certified in
integers.
"""
