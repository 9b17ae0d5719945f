"""Targeted search: finding a hidden group in a private contact network under protected differential privacy."""
